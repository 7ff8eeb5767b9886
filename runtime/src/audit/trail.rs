//! Entries into the trail: in the transaction of the change that they tell of.

use sea_orm::QueryResult;

use super::difference::{write_difference, write_removal};
use crate::catalog::Entry;
use crate::context::Context;
use crate::crud::Changes;
use crate::db::{Dialect, Sql};
use crate::error::Result;

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
    write_insert(&mut sql, context, entry, action, id, &difference);
    sql.run(context.db()).await.map(drop)
}

/// Writes `INSERT INTO "audit_entries" (...) SELECT ...`, behind which a `FROM` may follow.
pub fn write_insert(sql: &mut Sql, context: &Context<'_>, entry: &Entry, action: &str, id: i64, difference: &[u8]) {
    sql.push(
        "INSERT INTO \"audit_entries\" (\"action\", \"entity_type\", \"record_id\", \"user_id\", \"token_id\", \
         \"request_id\", \"changes\", \"created_at\") SELECT ",
    );
    sql.bind(action).push(", ").bind(entry.meta.plural).push(", ").bind(id).push(", ");
    sql.bind(context.caller().user_id).push(", ").bind(context.caller().token_id).push(", ");
    sql.bind(context.request_id().map(str::to_string)).push(", ");
    sql.bind(String::from_utf8_lossy(difference).into_owned());
    // It is JSON already, and need not be read to be written.
    sql.push(if sql.dialect == Dialect::Postgres { "::text::jsonb, " } else { ", " }).bind(context.now());
}
