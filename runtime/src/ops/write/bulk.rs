//! Many writes in one request: `POST /<path>/bulk`, all of them or each for itself.
//!
//! Each is the operation that it would be alone, in the transaction of the request: its rules, hooks, events, totals and
//! audit entry are the same, because the functions are.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::restore::{self, RESTORE};
use super::result::{StoredResponse, WriteResult};
use super::{create, delete, update};
use crate::catalog::Entry;
use crate::context::Context;
use crate::db::{Dialect, Sql};
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{Kind, Operation};
use crate::ops::endpoints::RouteOperation;
use crate::ops::etag::Preconditions;
use crate::ops::input::body::{Body, RawJson};
use crate::ops::list::render::MAX_PAGE_BYTES;
use crate::ops::records;
use crate::query::{Condition, read_boolean, read_value};

/// At most so many operations in one request.
pub const MAX_OPERATIONS: usize = 1_000;

/// A word for what is done with one record, what that is, and its status.
pub type BulkMethod = (&'static str, RouteOperation, u16);

const METHODS: [BulkMethod; 4] = [
    ("create", RouteOperation::Operation(Operation::Create), 201),
    ("update", RouteOperation::Operation(Operation::Update), 200),
    ("delete", RouteOperation::Operation(Operation::Delete), 204),
    (RESTORE, RouteOperation::Restore, 200),
];

/// Whether a resource has a path for many writes. An upload is no JSON, and what hangs on others is theirs to change.
pub fn is_served(entry: &Entry) -> bool {
    !entry.meta.singleton && !entry.is_attached() && methods(entry).next().is_some()
}

/// What can be done with the records of a resource.
pub fn methods(entry: &Entry) -> impl Iterator<Item = &'static BulkMethod> {
    METHODS.iter().filter(|(_, call, _)| match call {
        RouteOperation::Operation(operation) => entry.meta.operations.contains(operation),
        _ => entry.meta.keeps_deleted(),
    })
}

/// Where the operations are: below a parent, or at the top.
pub struct Site {
    pub parent: Option<i64>,
    pub within: Condition,
}

/// The body of the request.
struct Bulk<'b> {
    atomic: bool,
    operations: Vec<&'b RawValue>,
}

/// One operation of it, as far as it can be read.
struct Single<'b> {
    deed: Option<&'static BulkMethod>,
    /// The record, unless it is new.
    id: Option<i64>,
    fields: Body<'b>,
    conditions: Preconditions,
    /// What is wrong with it in itself.
    problems: FieldErrors,
}

/// Carries out the operations in the context's transaction, in their order. Answers `{"results": [...]}`, and whether a
/// result shows a secret.
///
/// # Errors
/// 422 with every problem under `operations.<index>` when all of them are to be done or none; 422 under `operations` when
/// the answers have more than 32 MiB; a fault of the server, or of the database, in any case.
pub async fn run(context: &Context<'_>, entry: &Entry, site: &Site, bytes: &[u8]) -> Result<(StoredResponse, bool)> {
    let Bulk { atomic, operations } = Bulk::read(bytes)?;
    let transaction = context.transaction().ok_or_else(|| Error::internal("many writes need a transaction"))?;
    let (mut problems, mut reveals) = (FieldErrors::default(), false);
    let mut body = b"{\"results\":[".to_vec();
    let operations: Vec<_> = operations.into_iter().map(|raw| Single::read(entry, raw)).collect();
    lock(context, entry, &operations).await?;
    for (index, operation) in operations.into_iter().enumerate() {
        let done = transaction.attempt(one(context, entry, site, operation)).await?;
        body.extend_from_slice(if index > 0 { b"," } else { b"" });
        match done {
            Ok((status, outcome)) => {
                reveals |= outcome.reveals;
                write_result(&mut body, status, &outcome);
            }
            Err(error) if atomic => problems.merge(located(error, index)),
            Err(error) => {
                let request_id = context.request_id().unwrap_or("-");
                let failed = json!({ "status": error.status().as_u16(), "error": error.body(request_id) });
                serde_json::to_writer(&mut body, &failed).map_err(Error::internal)?;
            }
        }
        check_length(body.len() + END.len())?;
    }
    problems.into_result()?;
    body.extend_from_slice(END);
    Ok((StoredResponse { status: 200, location: None, etag: None, body }, reveals))
}

/// Ends the answer.
const END: &[u8] = b"]}";

/// Refuses an answer that is longer than one may be.
fn check_length(bytes: usize) -> Result<()> {
    match bytes > MAX_PAGE_BYTES {
        true => Err(Error::invalid("operations", "have answers too long for one request; nothing is done: send fewer")),
        false => Ok(()),
    }
}

/// Holds all records that are changed, in the order of their ids: who changes the same ones in another order waits, and does
/// not hold what this one waits for.
async fn lock(context: &Context<'_>, entry: &Entry, operations: &[Single<'_>]) -> Result<()> {
    if context.state().db.dialect() == Dialect::Sqlite {
        return Ok(());
    }
    let ids: Vec<i64> = operations.iter().filter_map(Single::changed).map(|(_, id)| id).collect();
    // Who makes something beside may wait for others too.
    if operations.len() > 1 && !ids.is_empty() {
        let mut sql = Sql::new(Dialect::Postgres, "SELECT t.\"id\" FROM ");
        sql.name(entry.meta.table)
            .push(" t WHERE ")
            .in_ids("t.\"id\"", &ids)
            .push(" ORDER BY t.\"id\" FOR NO KEY UPDATE");
        sql.all(context.db()).await?;
    }
    Ok(())
}

/// One operation, as it would be alone: what is not there is told before what is wrong with the rest.
async fn one(context: &Context<'_>, entry: &Entry, site: &Site, operation: Single<'_>) -> Result<(u16, WriteResult)> {
    let within = || site.within.clone();
    let changed = operation.changed();
    let Single { deed, fields, conditions, problems, .. } = operation;
    if !problems.is_empty() {
        match changed {
            Some((RouteOperation::Restore, id)) => restore::find(context, entry, id, within()).await?,
            Some((_, id)) => records::require(context, entry, id, within()).await?,
            None => {}
        }
    }
    problems.into_result()?;
    let (_, _, status) = deed.ok_or_else(|| Error::internal("an operation without a method"))?;
    let outcome = match changed {
        None => create::create(context, entry, &fields, site.parent).await?,
        Some((RouteOperation::Operation(Operation::Update), id)) => {
            update::update(context, entry, id, within(), &conditions, &fields, None).await?
        }
        Some((RouteOperation::Restore, id)) => restore::restore(context, entry, id, within(), &conditions).await?,
        Some((_, id)) => {
            delete::delete(context, entry, id, within(), &conditions).await?;
            WriteResult::plain(format!("{{\"id\":{id}}}").into_bytes())
        }
    };
    Ok((*status, outcome))
}

/// `{"status":201,"etag":"...","product":{...}}`
fn write_result(out: &mut Vec<u8>, status: u16, outcome: &WriteResult) {
    out.extend_from_slice(format!("{{\"status\":{status},").as_bytes());
    if let Some(tag) = &outcome.tag {
        out.extend_from_slice(format!("\"etag\":{},", Value::from(tag.as_str())).as_bytes());
    }
    // What it answers alone is an object.
    out.extend_from_slice(outcome.body.get(1..).unwrap_or(b"}"));
}

/// The problems of one operation among those of all.
fn located(error: Error, index: usize) -> FieldErrors {
    let place = format!("operations.{index}");
    match error {
        Error::Invalid(problems) => problems.under(&place),
        other => {
            let mut problems = FieldErrors::default();
            // A problem completes "this value ...", and has no full stop.
            problems.add(place, format!("is refused: {}", other.message("-").trim_end_matches('.')));
            problems
        }
    }
}

/// The names of the fields that the operations give, once for each time; what cannot be read gives none.
pub fn given<'b>(singular: &str, bytes: &'b [u8]) -> Vec<Cow<'b, str>> {
    let operations = Bulk::read(bytes).map(|bulk| bulk.operations).unwrap_or_default();
    let records = operations.into_iter().filter_map(|raw| {
        let mut parts = Body::nested(raw.get()).ok()?.fields.into_iter();
        parts.find(|(name, _)| name == singular).and_then(|(_, record)| Body::nested(record.get()).ok())
    });
    records.flat_map(|record| record.fields.into_iter().map(|(name, _)| name)).collect()
}

impl<'b> Bulk<'b> {
    fn read(bytes: &'b [u8]) -> Result<Bulk<'b>> {
        let (mut errors, mut atomic, mut operations) = (FieldErrors::default(), true, None);
        for (name, raw) in Body::read(bytes, None)?.fields {
            match (name.as_ref(), RawJson::read(raw)) {
                ("atomic" | "operations", RawJson::Null) => {}
                ("atomic", given) => match given.scalar().and_then(read_boolean) {
                    Ok(value) => atomic = value,
                    Err(problem) => errors.add("atomic", problem),
                },
                ("operations", RawJson::Nested(json)) if json.starts_with('[') => {
                    operations = serde_json::from_str::<Vec<&RawValue>>(json).ok();
                }
                ("operations", _) => errors.add("operations", "must be a list"),
                (name, _) => errors.add(name, "is not a field here; known are atomic, operations"),
            }
        }
        match &operations {
            None if !errors.contains("operations") => errors.add("operations", "is required"),
            Some(list) if list.is_empty() || list.len() > MAX_OPERATIONS => {
                errors.add("operations", format!("must have 1 to {MAX_OPERATIONS} elements"));
            }
            _ => {}
        }
        errors.into_result()?;
        Ok(Bulk { atomic, operations: operations.unwrap_or_default() })
    }
}

impl<'b> Single<'b> {
    /// The record that it changes, and how.
    fn changed(&self) -> Option<(RouteOperation, i64)> {
        match (self.deed, self.id) {
            (Some((_, call, _)), Some(id)) if !matches!(call, RouteOperation::Operation(Operation::Create)) => {
                Some((*call, id))
            }
            _ => None,
        }
    }

    /// Reads `{"method", "id", "if_match", "<singular>": {...}}`.
    fn read(entry: &Entry, raw: &'b RawValue) -> Single<'b> {
        let singular = entry.meta.name;
        let mut errors = FieldErrors::default();
        let (mut method, mut id, mut fields, mut tag): (_, _, _, Option<Cow<'b, str>>) = (None, None, None, None);
        let body = Body::nested(raw.get()).unwrap_or_else(|problem| {
            errors.add("method", format!("must stand in an operation, which {problem}"));
            Body::default()
        });
        for (name, raw) in body.fields {
            match (name.as_ref(), RawJson::read(raw)) {
                ("method" | "id" | "if_match", RawJson::Null) => {}
                (name, RawJson::Null) if name == singular => {}
                ("method", given) => method = Some(given.scalar().unwrap_or_default().to_string()),
                ("id", given) => match given.scalar().and_then(|text| read_value(Kind::BigInt, text)) {
                    Ok(sea_orm::Value::BigInt(Some(number))) => id = Some(number),
                    _ => errors.add("id", "must be a whole number"),
                },
                ("if_match", RawJson::Text(text)) => tag = Some(text),
                ("if_match", _) => errors.add("if_match", "must be a text, as `If-Match` is"),
                (name, RawJson::Nested(json)) if name == singular => match Body::nested(json) {
                    Ok(body) => fields = Some(body),
                    Err(problem) => errors.add(singular, problem),
                },
                (name, _) if name == singular => errors.add(singular, "must be an object"),
                (name, _) => {
                    errors.add(name, format!("is not a field here; known are method, id, if_match, {singular}"))
                }
            }
        }
        let known = methods(entry).find(|(word, ..)| method.as_deref() == Some(*word));
        if known.is_none() && !errors.contains("method") {
            let words: Vec<&str> = methods(entry).map(|(word, ..)| *word).collect();
            errors.add("method", format!("must be one of {}", words.join(", ")));
        }
        let creates = matches!(known, Some((_, RouteOperation::Operation(Operation::Create), _)));
        match id {
            Some(_) if creates => errors.add("id", "cannot be given: the record is new"),
            None if known.is_some() && !creates && !errors.contains("id") => errors.add("id", "is required"),
            _ => {}
        }
        if creates && tag.is_some() {
            errors.add("if_match", "cannot be given: the record is new");
        }
        match known {
            Some((_, RouteOperation::Operation(Operation::Delete), _)) if fields.is_some() => {
                errors.add(singular, "cannot be given: the record goes");
            }
            Some((_, RouteOperation::Restore, _)) if fields.is_some() => {
                errors.add(singular, "cannot be given: the record comes back as it was");
            }
            _ => {}
        }
        let conditions = Preconditions::read(tag.as_deref(), None).unwrap_or_else(|_| {
            errors.add("if_match", "must be `*` or a list of entity tags in double quotes");
            Preconditions::default()
        });
        Single { deed: known, id, fields: fields.unwrap_or_default(), conditions, problems: errors }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_32_mib_at_most() {
        assert!(check_length(32 * 1024 * 1024).is_ok());
        assert!(check_length(32 * 1024 * 1024 + 1).is_err());
    }

    #[test]
    fn what_is_wrong_with_an_operation_is_said_as_of_a_field() {
        let refused = Error::Invalid(located(Error::NotFound, 3));
        assert_eq!(refused.message("-"), "The request is not valid: operations.3 is refused: There is nothing here.");
    }
}
