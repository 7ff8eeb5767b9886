//! Reminders: the job of loans marks overdue ones once, and a webhook that receives `loan.updated` sends the mail.

use charter_runtime::generated::*;
use chrono::Days;
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use crate::generated::loan::{Behaviour, Column, Entity};

/// Days after the due date until a reader is reminded.
pub struct Grace(pub Days);

impl Behaviour for Entity {
    async fn remind_overdue(context: &Context<'_>) -> Result<()> {
        let last = context.now().date_naive() - context.extension::<Grace>()?.0;
        let late = Entity::find()
            .filter(Column::ReturnedAt.is_null())
            .filter(Column::RemindedAt.is_null())
            .filter(Column::DueOn.lt(last))
            .all(context.db())
            .await?;
        for loan in late {
            revise::<Entity>(context, loan.id, |draft| {
                draft.model.reminded_at = Set(Some(context.now()));
                Ok(())
            })
            .await?;
        }
        Ok(())
    }
}
