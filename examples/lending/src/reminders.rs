//! Reminders: a job marks overdue loans once, and a webhook that receives `loan.updated` sends the mail.

use std::time::Duration;

use charter_runtime::job::Job;
use charter_runtime::ops::{BoxFuture, Context, revise};
use charter_runtime::{Error, Result};
use chrono::Days;
use sea_orm::prelude::Json;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use crate::generated::loan;

pub const REMIND_OVERDUE: Job = Job::every(Duration::from_secs(60 * 60), "remind_overdue", remind_overdue);

/// Days after the due date until a reader is reminded.
pub struct Grace(pub Days);

fn remind_overdue<'a>(context: &'a Context<'a>, _: &'a Json) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let last = context.now().date_naive() - context.extension::<Grace>()?.0;
        let late = loan::Entity::find()
            .filter(loan::Column::ReturnedAt.is_null())
            .filter(loan::Column::RemindedAt.is_null())
            .filter(loan::Column::DueOn.lt(last))
            .all(context.db())
            .await?;
        let loans = context.catalog().get("loan")?;
        let reminded_at = loans.field("reminded_at").ok_or(Error::NotFound)?;
        for loan in late {
            revise(context, loans, loan.id, reminded_at, |_| Ok(context.now().into())).await?;
        }
        Ok(())
    })
}
