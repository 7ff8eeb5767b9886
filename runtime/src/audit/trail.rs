//! Entries into the trail: in the transaction of the change that they tell of.

use chrono::SubsecRound;
use sea_orm::{QueryResult, Value};

use super::difference::{write_difference, write_removal};
use crate::catalog::Entry;
use crate::context::Context;
use crate::db::{Dialect, Operand, Sql};
use crate::error::Result;
use crate::ops::Changes;

/// Enters a new or changed record.
pub async fn changed(context: &Context<'_>, entry: &Entry, action: &str, id: i64, changes: &Changes) -> Result<()> {
    let mut difference = Vec::with_capacity(512);
    write_difference(&mut difference, changes)?;
    enter(context, entry, action, id, difference).await
}

/// Enters a record that is gone, with the values that it had.
pub async fn removed(context: &Context<'_>, entry: &Entry, id: i64, row: &QueryResult) -> Result<()> {
    let mut difference = Vec::with_capacity(1024);
    write_removal(&mut difference, entry.meta, row)?;
    enter(context, entry, "delete", id, difference).await
}

async fn enter(context: &Context<'_>, entry: &Entry, action: &str, id: i64, difference: Vec<u8>) -> Result<()> {
    let mut sql = Sql::new(context.state().db.dialect(), "");
    let values = values(context, id, &difference).map(|(_, value)| Operand::Bound(value));
    write_insert(&mut sql, entry, action, values);
    sql.run(context.db()).await.map(drop)
}

/// What an entry says beside what happened to what, each with what it is called among other values: the record, who changed
/// it and in which request, the difference, and when.
pub fn values(context: &Context<'_>, id: i64, difference: &[u8]) -> [(&'static str, Value); 6] {
    [
        ("charter_record", id.into()),
        ("charter_user", context.caller().user_id.into()),
        ("charter_token", context.caller().token_id.into()),
        ("charter_request", context.request_id().map(str::to_string).into()),
        ("charter_changes", String::from_utf8_lossy(difference).into_owned().into()),
        ("charter_entered_at", context.now().trunc_subsecs(0).into()),
    ]
}

/// Writes `INSERT INTO "audit_entries" (...) SELECT ...`, behind which a `FROM` may follow; with what stands for each of
/// [`values`].
pub fn write_insert(sql: &mut Sql, entry: &Entry, action: &str, values: [Operand<'_>; 6]) {
    sql.push(
        "INSERT INTO \"audit_entries\" (\"action\", \"entity_type\", \"record_id\", \"user_id\", \"token_id\", \
         \"request_id\", \"changes\", \"created_at\") SELECT ",
    );
    let [record, user, token, request, changes, at] = values;
    sql.bind(action).push(", ").bind(entry.meta.plural);
    for operand in [record, user, token, request, changes] {
        sql.push(", ").operand(operand);
    }
    // It is JSON already, and need not be read to be written.
    sql.push(if sql.dialect == Dialect::Postgres { "::text::jsonb, " } else { ", " }).operand(at);
}
