//! Behaviour of loans: four weeks by default, and the return.

use charter_runtime::generated::*;
use chrono::Days;
use sea_orm::ActiveValue::Set;

use super::generated::loan::{Behaviour, Entity};

const FOUR_WEEKS: Days = Days::new(28);

impl Behaviour for Entity {
    async fn before_save(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if draft.before.is_none() && !draft.model.due_on.is_set() {
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

    async fn remind_overdue(context: &Context<'_>) -> Result<()> {
        crate::reminders::remind_overdue(context).await
    }
}
