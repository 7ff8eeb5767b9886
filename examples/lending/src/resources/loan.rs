//! Behaviour of loans: one reader at a time, four weeks by default.

use charter_runtime::generated::*;
use chrono::Days;
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::generated::book;
use super::generated::loan::{Behaviour, Column, Entity};

const FOUR_WEEKS: Days = Days::new(28);

impl Behaviour for Entity {
    async fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if draft.before.is_some() {
            return Ok(());
        }
        // The row lock serializes concurrent loans of one book.
        let id = *draft.model.book_id.as_ref();
        book::Entity::find_by_id(id).lock_exclusive().one(context.db()).await?;
        let lent = Entity::find().filter(Column::BookId.eq(id)).filter(Column::ReturnedAt.is_null());
        if lent.one(context.db()).await?.is_some() {
            draft.error("book_id", "is lent already");
        }
        if !draft.model.due_on.is_set() {
            draft.model.due_on = Set(*draft.model.lent_on.as_ref() + FOUR_WEEKS);
        }
        Ok(())
    }

    /// The second return of a book changes nothing.
    async fn give_back(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let returned = draft.before.as_ref().and_then(|loan| loan.returned_at);
        draft.model.returned_at = Set(Some(returned.unwrap_or(context.now())));
        Ok(())
    }
}
