//! Undo of the caller's own requests, from the audit log: an update sets the old values back, and a soft deletion is
//! restored. A record that something else changed since stays as it is.

use std::cmp::Reverse;
use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use super::on_delete::{self, Referring};
use super::restore;
use super::update::{self, lock};
use crate::catalog::Entry;
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::meta::{Access as FieldAccess, OnDelete, Operation};
use crate::ops::endpoints::RouteOperation;
use crate::ops::etag::Preconditions;
use crate::ops::input::body::Body;
use crate::ops::{Access, Context, Transaction};
use crate::query::Condition;

/// Records that can be undone together.
pub const MAX_RECORDS: usize = 1_000;
/// Records of one transaction.
const BATCH_RECORDS: usize = 100;

/// The requests to undo.
#[derive(Debug, Clone, Copy)]
pub struct Requests<'r> {
    /// Their ids, which are in the audit log.
    pub ids: &'r [String],
    /// When the first one began.
    pub since: DateTime<Utc>,
}

/// The result, in records.
#[derive(Debug, Default)]
pub struct Undone {
    pub done: Vec<i64>,
    /// Something else changed them since, or deleted them.
    pub changed_since: Vec<i64>,
    /// Records that could not be changed back, each with the error.
    pub rejected: Vec<(i64, Error)>,
}

/// An entry of the audit log.
struct Recorded {
    entry_id: i64,
    record_id: i64,
    is_deletion: bool,
    changes: Map<String, Value>,
}

/// Undoes the updates and soft deletions of a resource in requests of the caller, in several transactions. Each record
/// succeeds or fails on its own.
///
/// # Errors
/// 403 if the caller may not update or restore records; when the database fails.
pub async fn undo(context: &Context<'_>, entry: &Entry, requests: Requests<'_>) -> Result<Undone> {
    let (mut undone, mut records) = (Undone::default(), HashMap::new());
    let recorded = read(context, entry, requests).await?;
    for batch in recorded.chunks(BATCH_RECORDS) {
        let transaction = Transaction::begin(context.state()).await?;
        let within = context.in_transaction(&transaction);
        for change in batch {
            // A hook can change a record again in the same request. Its last change decides about all of them.
            let is_later_undone = records.get(&change.record_id).copied();
            if is_later_undone == Some(false) {
                continue;
            }
            let result =
                transaction.attempt(undo_one(&within, entry, requests, change, is_later_undone.is_some())).await?;
            records.insert(change.record_id, matches!(result, Ok(true)));
            match result {
                Ok(true) if is_later_undone.is_some() => {}
                Ok(true) => undone.done.push(change.record_id),
                Ok(false) | Err(Error::NotFound) => undone.changed_since.push(change.record_id),
                Err(error) => undone.rejected.push((change.record_id, error)),
            }
        }
        transaction.commit(context).await?;
    }
    Ok(undone)
}

/// The entries of the requests by record, those of each record in the reverse order of its changes.
async fn read(context: &Context<'_>, entry: &Entry, requests: Requests<'_>) -> Result<Vec<Recorded>> {
    let Some(user_id) = context.caller().user_id else { return Ok(Vec::new()) };
    let mut sql = Sql::new(
        context.state().db.dialect(),
        "SELECT \"id\", \"record_id\", \"action\", \"changes\" FROM \"audit_entries\" WHERE \"entity_type\" = ",
    );
    sql.bind(entry.meta.plural).push(" AND \"user_id\" = ").bind(user_id);
    sql.push(" AND \"created_at\" >= ").bind(requests.since).push(" AND \"action\" IN ('update', 'delete')");
    sql.push(" AND \"request_id\" IN (");
    for (index, id) in requests.ids.iter().enumerate() {
        sql.push(if index > 0 { ", " } else { "" }).bind(id.as_str());
    }
    sql.push(&format!(") ORDER BY \"id\" DESC LIMIT {MAX_RECORDS}"));
    if requests.ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut recorded = Vec::new();
    for row in sql.all(context.db()).await? {
        let (action, changes): (String, Value) = (row.try_get("", "action")?, row.try_get("", "changes")?);
        recorded.push(Recorded {
            entry_id: row.try_get("", "id")?,
            record_id: row.try_get("", "record_id")?,
            is_deletion: action == "delete",
            changes: changes.as_object().cloned().unwrap_or_default(),
        });
    }
    // Records are locked in the order of their ids, as by a bulk write, which prevents deadlocks.
    recorded.sort_by_key(|change| (change.record_id, Reverse(change.entry_id)));
    Ok(recorded)
}

/// Undoes one change. Returns false if another one followed it, unless that is undone already.
async fn undo_one(
    context: &Context<'_>,
    entry: &Entry,
    requests: Requests<'_>,
    change: &Recorded,
    is_later_undone: bool,
) -> Result<bool> {
    let (id, always, conditions) = (change.record_id, Condition::always, Preconditions::default());
    let operation = match change.is_deletion {
        true => RouteOperation::Restore,
        false => RouteOperation::Operation(Operation::Update),
    };
    Access::write(entry, operation.verb()).check(context.caller())?;
    if change.is_deletion && !entry.meta.keeps_deleted() {
        return Ok(false);
    }
    // Changes wait for the lock, so that the audit log has every change of the record.
    if !change.is_deletion {
        lock(context, entry, id, always(), &conditions).await?;
    }
    if !is_later_undone && !is_latest(context, entry, change).await? {
        return Ok(false);
    }
    if change.is_deletion {
        restore::restore(context, entry, id, always(), &conditions).await?;
        set_back_cleared(context, entry, id, requests).await?;
        return Ok(true);
    }
    let old = old_values(entry, &change.changes)?.to_string();
    update::update(context, entry, id, always(), &conditions, &Body::read(old.as_bytes(), None)?, None).await?;
    Ok(true)
}

/// Sets the references to a restored record back that its deletion cleared. One that changed since, or that the caller
/// may not change, stays as it is.
async fn set_back_cleared(context: &Context<'_>, entry: &Entry, id: i64, requests: Requests<'_>) -> Result<()> {
    let Some(transaction) = context.transaction() else { return Ok(()) };
    let referring = on_delete::referring(context.catalog(), entry);
    for Referring { entry: other, field, .. } in referring.into_iter().filter(|by| by.effect == OnDelete::Clear) {
        let is_cleared = |change: &Recorded| {
            let reference = &change.changes[field.name];
            !change.is_deletion && reference["old"] == id && reference["new"].is_null()
        };
        let recorded = read(context, other, requests).await?;
        for change in recorded.iter().filter(|change| change.changes.contains_key(field.name) && is_cleared(change)) {
            transaction.attempt(Box::pin(undo_one(context, other, requests, change, false))).await?.ok();
        }
    }
    Ok(())
}

async fn is_latest(context: &Context<'_>, entry: &Entry, change: &Recorded) -> Result<bool> {
    let mut sql = Sql::new(
        context.state().db.dialect(),
        "SELECT MAX(\"id\") AS \"latest\" FROM \"audit_entries\" WHERE \"entity_type\" = ",
    );
    sql.bind(entry.meta.plural).push(" AND \"record_id\" = ").bind(change.record_id);
    let latest: Option<i64> = sql.one(context.db()).await?.map_or(Ok(None), |row| row.try_get("", "latest"))?;
    Ok(latest == Some(change.entry_id))
}

/// The body of the update that sets the old values of writable fields back, from changes as the audit log has them. Hooks
/// compute the other fields again.
///
/// # Errors
/// 422 for a secret, whose old value the audit log does not have.
pub fn old_values(entry: &Entry, changes: &Map<String, Value>) -> Result<Value> {
    let mut body = Map::new();
    for (name, change) in changes {
        match entry.field(name).map(|field| field.access) {
            Some(FieldAccess::Writable | FieldAccess::WriteOnly) => {}
            Some(FieldAccess::Secret) => {
                return Err(Error::invalid(name, "is a secret, whose old value is not stored"));
            }
            _ => continue,
        }
        let old = match change["new"].as_object() {
            // Of custom fields the audit log has the changed ones. One without an old value had none.
            Some(new) if name == "custom_fields" => {
                let empty = new.keys().map(|name| (name.clone(), Value::from("")));
                let old = change["old"].as_object().into_iter().flatten();
                empty.chain(old.map(|(name, value)| (name.clone(), cleared(value)))).collect()
            }
            _ => cleared(&change["old"]),
        };
        body.insert(name.clone(), old);
    }
    Ok(Value::Object(body))
}

/// An update leaves a field as it is for null, and clears it for the empty text.
fn cleared(value: &Value) -> Value {
    if value.is_null() { Value::from("") } else { value.clone() }
}
