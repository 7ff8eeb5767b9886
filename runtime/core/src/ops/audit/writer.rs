//! Writer of audit log entries, in the transaction of the change.

use chrono::SubsecRound;
use sea_orm::{QueryResult, Value};
use serde_json::{Map, json};

use super::diff::{write_deletion_diff, write_diff};
use crate::catalog::Entry;
use crate::db::{Dialect, Operand, Sql};
use crate::error::Result;
use crate::ops::Changes;
use crate::ops::Context;

/// Inserts an entry for a created or updated record.
pub async fn record_change(
    context: &Context<'_>,
    entry: &Entry,
    action: &str,
    id: i64,
    changes: &Changes,
) -> Result<()> {
    let mut diff = Vec::with_capacity(512);
    write_diff(&mut diff, changes)?;
    insert(context, entry.meta.plural, action, id, &diff).await
}

/// Record id of an entry about no single record, such as an export.
pub const NO_RECORD: i64 = 0;

/// Inserts an entry for an event that changes no field, such as a sign-in. `details` appear as new values.
pub async fn record_event(
    context: &Context<'_>,
    (entity_type, id): (&str, i64),
    action: &str,
    details: &[(&str, serde_json::Value)],
) -> Result<()> {
    let changes: Map<String, serde_json::Value> =
        details.iter().map(|(name, value)| (name.to_string(), json!({ "old": null, "new": value }))).collect();
    insert(context, entity_type, action, id, serde_json::Value::Object(changes).to_string().as_bytes()).await
}

/// [`record_event`] in a transaction of its own, for a request that writes nothing else.
pub async fn record_event_alone(
    context: &Context<'_>,
    record: (&str, i64),
    action: &str,
    details: &[(&str, serde_json::Value)],
) -> Result<()> {
    let transaction = context.state().db.begin().await?;
    record_event(&context.with_connection(&transaction), record, action, details).await?;
    transaction.commit().await
}

/// Inserts an entry for a deleted record, with its last values.
pub async fn record_deletion(context: &Context<'_>, entry: &Entry, id: i64, row: &QueryResult) -> Result<()> {
    let mut diff = Vec::with_capacity(1024);
    write_deletion_diff(&mut diff, entry.meta, row)?;
    insert(context, entry.meta.plural, "delete", id, &diff).await
}

async fn insert(context: &Context<'_>, entity_type: &str, action: &str, id: i64, diff: &[u8]) -> Result<()> {
    let mut sql = Sql::new(context.state().db.dialect(), "");
    let values = entry_values(context, id, diff).map(|(_, value)| Operand::Bound(value));
    write_insert(&mut sql, entity_type, action, values);
    sql.run(context.db()).await.map(drop)
}

/// Values of an entry besides action and resource, each with its column name in a batch statement: record, user, token,
/// request, client address, import, diff and time.
pub fn entry_values(context: &Context<'_>, id: i64, diff: &[u8]) -> [(&'static str, Value); 8] {
    [
        ("charter_record", id.into()),
        ("charter_user", context.caller().user_id.into()),
        ("charter_token", context.caller().token_id.into()),
        ("charter_request", context.request_id().map(str::to_string).into()),
        ("charter_address", context.client_address().map(|address| address.to_string()).into()),
        ("charter_import", context.import_id().into()),
        ("charter_changes", String::from_utf8_lossy(diff).into_owned().into()),
        ("charter_entered_at", context.now().trunc_subsecs(0).into()),
    ]
}

/// Writes `INSERT INTO "audit_entries" (...) SELECT ...`, which a `FROM` clause may follow. `values` has an operand for
/// each of [`entry_values`].
pub fn write_insert(sql: &mut Sql, entity_type: &str, action: &str, values: [Operand<'_>; 8]) {
    sql.push(
        "INSERT INTO \"audit_entries\" (\"action\", \"entity_type\", \"record_id\", \"user_id\", \"token_id\", \
         \"request_id\", \"address\", \"import_id\", \"changes\", \"created_at\") SELECT ",
    );
    let [record, user, token, request, address, import, changes, at] = values;
    sql.bind(action).push(", ").bind(entity_type);
    for operand in [record, user, token, request, address, import, changes] {
        sql.push(", ").operand(operand);
    }
    // Already JSON text: the cast avoids parsing it here.
    sql.push(if sql.dialect == Dialect::Postgres { "::text::jsonb, " } else { ", " }).operand(at);
}
