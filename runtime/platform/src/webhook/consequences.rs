//! Consequences of deleting webhooks and rotating their secrets, for the page that asks first.

use super::delivery::AttemptKind;
use charter_core::error::Result;
use charter_core::ops::Context;
use charter_core::ops::consequences::{Consequence, Counted, DELETE, Effect, Subject, begin_count, finish_count};

const DROPPED: Effect = Effect::new("is dropped", "are dropped");
const SWITCHES: Effect =
    Effect::new("has 24 hours to switch to the new secret", "have 24 hours to switch to the new secrets");
const INVALID_AT_ONCE: Effect =
    Effect::new("of an earlier rotation stops working at once", "of earlier rotations stop working at once");

/// Consequences of an operation on webhooks that the caller may see.
pub(super) async fn of_webhooks(context: &Context<'_>, verb: &str, ids: &[i64]) -> Result<Vec<Consequence>> {
    let dialect = context.state().db.dialect();
    let mut found = Vec::new();
    match verb {
        DELETE => {
            let mut pending = 0;
            for kind in AttemptKind::ALL {
                let mut sql = begin_count(dialect);
                sql.push(" FROM \"webhook_deliveries\" d WHERE ").in_ids("d.\"webhook_id\"", ids);
                sql.push(" AND ").push(kind.condition());
                pending += finish_count(context, sql).await?;
            }
            let subject = Subject::Named("pending delivery", "pending deliveries");
            found.extend(Counted::of(pending, true).affects(subject, DROPPED));
            let mut sql = begin_count(dialect);
            sql.push(" FROM \"webhook_logs\" WHERE ").in_ids("\"webhook_id\"", ids);
            let logs = finish_count(context, sql).await?;
            let subject = Subject::Named("log entry", "log entries");
            found.extend(Counted::of(logs, true).affects(subject, Effect::DELETED));
        }
        "rotate_secret" => {
            let receivers = i64::try_from(ids.len()).unwrap_or(i64::MAX);
            found.extend(Counted::of(receivers, true).affects(Subject::Named("receiver", "receivers"), SWITCHES));
            let mut sql = begin_count(dialect);
            sql.push(" FROM \"webhooks\" WHERE ").in_ids("\"id\"", ids);
            sql.push(" AND \"previous_secret_until\" > ").bind(context.now());
            let previous = finish_count(context, sql).await?;
            found.extend(Counted::of(previous, true).affects(Subject::Named("secret", "secrets"), INVALID_AT_ONCE));
        }
        _ => {}
    }
    Ok(found)
}
