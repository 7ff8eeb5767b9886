//! `POST /<path>/bulk`: several writes in one request, atomic or each independent.
//!
//! Every write calls the function of the single operation, in the transaction of the request: rules, hooks, events,
//! totals and audit entries are the same.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::on_delete::locks_references;
use super::restore::{self, RESTORE};
use super::result::{StoredResponse, WriteResult};
use super::{create, delete, update};
use crate::catalog::Entry;
use crate::db::{Dialect, Sql};
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{Kind, Operation};
use crate::ops::endpoints::RouteOperation;
use crate::ops::etag::Preconditions;
use crate::ops::input::body::{Body, RawJson};
use crate::ops::list::render::MAX_PAGE_BYTES;
use crate::ops::records;
use crate::ops::{Access, Context};
use crate::query::{Condition, read_boolean, read_value};
use crate::rollups::{self, Children};

/// Maximum operations in one request.
pub const MAX_OPERATIONS: usize = 1_000;

/// Operations that count as one request of the rate limit: a bulk write is cheaper than its operations one by one.
const OPERATIONS_PER_REQUEST: usize = 10;

/// The name of a method, its operation and its status.
pub type BulkMethod = (&'static str, RouteOperation, u16);

const METHODS: [BulkMethod; 4] = [
    ("create", RouteOperation::Operation(Operation::Create), 201),
    ("update", RouteOperation::Operation(Operation::Update), 200),
    ("delete", RouteOperation::Operation(Operation::Delete), 204),
    (RESTORE, RouteOperation::Restore, 200),
];

/// True if a resource has a bulk path. An upload is not JSON, and attachments are changed through their records.
pub fn is_served(entry: &Entry) -> bool {
    !entry.meta.singleton && !entry.receives_file() && methods(entry).next().is_some()
}

/// The methods of a resource.
pub fn methods(entry: &Entry) -> impl Iterator<Item = &'static BulkMethod> {
    METHODS.iter().filter(|(_, call, _)| match call {
        RouteOperation::Operation(operation) => entry.meta.operations.contains(operation),
        _ => entry.meta.keeps_deleted(),
    })
}

/// The parent in the path, and the condition that a record belongs to it.
pub struct Site {
    pub parent: Option<i64>,
    pub within: Condition,
}

/// The request body.
struct Bulk<'b> {
    atomic: bool,
    operations: Vec<&'b RawValue>,
}

/// One operation, as far as it can be read.
struct Single<'b> {
    method: Option<&'static BulkMethod>,
    /// The id of the record, except for a create.
    id: Option<i64>,
    fields: Body<'b>,
    conditions: Preconditions,
    /// Validation errors of the operation itself.
    errors: FieldErrors,
}

/// Runs the operations in order, in the context's transaction. Returns `{"results": [...]}`, and whether a result
/// contains a secret.
///
/// # Errors
/// 403 if the caller lacks the ability for one of the methods; 422 with every error under `operations.<index>` if the request is atomic; 422 under `operations` if the response is
/// longer than 32 MiB; an internal error, or an unavailable database, in any case.
pub async fn run(context: &Context<'_>, entry: &Entry, site: &Site, bytes: &[u8]) -> Result<(StoredResponse, bool)> {
    let Bulk { atomic, operations } = Bulk::read(bytes)?;
    let transaction = context.transaction().ok_or_else(|| Error::internal("a bulk write needs a transaction"))?;
    let (mut errors, mut reveals) = (FieldErrors::default(), false);
    let mut body = b"{\"results\":[".to_vec();
    let operations: Vec<_> = operations.into_iter().map(|raw| Single::read(entry, raw)).collect();
    for (verb, ..) in operations.iter().filter_map(|operation| operation.method) {
        Access::write(entry, verb).check(context.caller())?;
    }
    lock(context, entry, &operations).await?;
    for (index, operation) in operations.into_iter().enumerate() {
        let result = transaction.attempt(run_one(context, entry, site, operation)).await?;
        body.extend_from_slice(if index > 0 { b"," } else { b"" });
        match result {
            Ok((status, result)) => {
                reveals |= result.reveals;
                write_result(&mut body, status, &result);
            }
            Err(error) if atomic => errors.merge(errors_of_operation(error, index)),
            Err(error) => {
                let request_id = context.request_id().unwrap_or("-");
                let failed = json!({ "status": error.status(), "error": error.body(request_id) });
                serde_json::to_writer(&mut body, &failed).map_err(Error::internal)?;
            }
        }
        check_length(body.len() + END.len())?;
    }
    errors.into_result()?;
    body.extend_from_slice(END);
    Ok((StoredResponse { status: 200, location: None, etag: None, body }, reveals))
}

/// The requests as which a body counts, at least 1.
pub fn request_weight(bytes: &[u8]) -> u32 {
    let operations = Bulk::read(bytes).map_or(0, |bulk| bulk.operations.len());
    u32::try_from(operations.div_ceil(OPERATIONS_PER_REQUEST)).unwrap_or(u32::MAX).max(1)
}

/// End of the response body.
const END: &[u8] = b"]}";

/// Refuses a response of more than [`MAX_PAGE_BYTES`].
fn check_length(bytes: usize) -> Result<()> {
    match bytes > MAX_PAGE_BYTES {
        true => Err(Error::invalid(
            "operations",
            "have a response that is too long; nothing was written: send fewer operations",
        )),
        false => Ok(()),
    }
}

/// Locks all records that the operations change, in the order of their ids, and then those whose rollups they change, so that
/// concurrent bulk writes cannot deadlock.
async fn lock(context: &Context<'_>, entry: &Entry, operations: &[Single<'_>]) -> Result<()> {
    if context.state().db.dialect() == Dialect::Sqlite {
        return Ok(());
    }
    let ids: Vec<i64> = operations.iter().filter_map(Single::changed_record).map(|(_, id)| id).collect();
    // Creates can wait for other transactions too, so one changed record among several operations is locked as well.
    if operations.len() > 1 && !ids.is_empty() {
        let is_delete = |single: &Single<'_>| {
            matches!(single.changed_record(), Some((RouteOperation::Operation(Operation::Delete), _)))
        };
        let deletes = operations.iter().any(is_delete) && locks_references(context.catalog(), entry);
        let mut sql = Sql::new(Dialect::Postgres, "SELECT t.\"id\" FROM ");
        sql.name(entry.meta.table).push(" t WHERE ").in_ids("t.\"id\"", &ids).push(" ORDER BY t.\"id\"");
        sql.push(if deletes { " FOR UPDATE" } else { " FOR NO KEY UPDATE" });
        sql.all(context.db()).await?;
    }
    if operations.len() > 1 {
        // Their triggers would lock them in the order of the operations.
        let references = references(entry, operations);
        let children = Children { meta: entry.meta, ids, references, locked: None };
        rollups::lock_parents(context.db(), context.catalog(), &[children]).await?;
    }
    Ok(())
}

/// The references that the operations set, each with the id of its record. A value that is no id is reported where the operation
/// is read.
fn references(entry: &Entry, operations: &[Single<'_>]) -> Vec<(&'static str, i64)> {
    let fields = operations.iter().flat_map(|operation| &operation.fields.fields);
    let set = fields.filter_map(|(name, raw)| {
        let field = entry.field(name).filter(|field| matches!(field.kind, Kind::Ref { .. }))?;
        let value = RawJson::read(raw);
        Some((field.name, value.scalar().ok()?.parse().ok()?))
    });
    set.collect()
}

/// Runs one operation. A missing record is reported before errors of the operation's fields, as for a single request.
async fn run_one(
    context: &Context<'_>,
    entry: &Entry,
    site: &Site,
    operation: Single<'_>,
) -> Result<(u16, WriteResult)> {
    let within = || site.within.clone();
    let changed = operation.changed_record();
    let Single { method, fields, conditions, errors, .. } = operation;
    if !errors.is_empty() {
        match changed {
            Some((RouteOperation::Restore, id)) => restore::find(context, entry, id, within()).await?,
            Some((_, id)) => records::require(context, entry, id, within()).await?,
            None => {}
        }
    }
    errors.into_result()?;
    let (_, _, status) = method.ok_or_else(|| Error::internal("an operation without a method"))?;
    let result = match changed {
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
    Ok((*status, result))
}

/// `{"status":201,"etag":"...","product":{...}}`
fn write_result(out: &mut Vec<u8>, status: u16, result: &WriteResult) {
    out.extend_from_slice(format!("{{\"status\":{status},").as_bytes());
    if let Some(tag) = &result.tag {
        out.extend_from_slice(format!("\"etag\":{},", Value::from(tag.as_str())).as_bytes());
    }
    // The body of a single write is a JSON object.
    out.extend_from_slice(result.body.get(1..).unwrap_or(b"}"));
}

/// The errors of one operation, under its index.
fn errors_of_operation(error: Error, index: usize) -> FieldErrors {
    let key = format!("operations.{index}");
    match error {
        Error::Invalid(errors) => errors.with_prefix(&key),
        other => {
            let mut errors = FieldErrors::default();
            // The message of a field error completes "this value ..." and has no full stop.
            errors.add(key, format!("is refused: {}", other.message("-").trim_end_matches('.')));
            errors
        }
    }
}

/// The names of the fields in all operations, repeated for each; none for a body that cannot be read.
pub fn field_names<'b>(singular: &str, bytes: &'b [u8]) -> Vec<Cow<'b, str>> {
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
                ("atomic", value) => match value.scalar().and_then(read_boolean) {
                    Ok(value) => atomic = value,
                    Err(problem) => errors.add("atomic", problem),
                },
                ("operations", RawJson::Nested(json)) if json.starts_with('[') => {
                    operations = serde_json::from_str::<Vec<&RawValue>>(json).ok();
                }
                ("operations", _) => errors.add("operations", "must be a list"),
                (name, _) => errors.add(name, "is not a field of a bulk write; its fields are atomic, operations"),
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
    /// The record that it changes, and the operation.
    fn changed_record(&self) -> Option<(RouteOperation, i64)> {
        match (self.method, self.id) {
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
        let (mut method_name, mut id, mut fields, mut tag): (_, _, _, Option<Cow<'b, str>>) = (None, None, None, None);
        let body = Body::nested(raw.get()).unwrap_or_else(|problem| {
            errors.add("method", format!("is required in every operation, which {problem}"));
            Body::default()
        });
        for (name, raw) in body.fields {
            match (name.as_ref(), RawJson::read(raw)) {
                ("method" | "id" | "if_match", RawJson::Null) => {}
                (name, RawJson::Null) if name == singular => {}
                ("method", value) => method_name = Some(value.scalar().unwrap_or_default().to_string()),
                ("id", value) => match value.scalar().and_then(|text| read_value(Kind::BigInt, text)) {
                    Ok(sea_orm::Value::BigInt(Some(number))) => id = Some(number),
                    _ => errors.add("id", "must be an integer"),
                },
                ("if_match", RawJson::Text(text)) => tag = Some(text),
                ("if_match", _) => errors.add("if_match", "must be a string with the value of an `If-Match` header"),
                (name, RawJson::Nested(json)) if name == singular => match Body::nested(json) {
                    Ok(body) => fields = Some(body),
                    Err(problem) => errors.add(singular, problem),
                },
                (name, _) if name == singular => errors.add(singular, "must be an object"),
                (name, _) => errors.add(
                    name,
                    format!("is not a field of an operation; its fields are method, id, if_match, {singular}"),
                ),
            }
        }
        let method = methods(entry).find(|(name, ..)| method_name.as_deref() == Some(*name));
        if method.is_none() && !errors.contains("method") {
            let names: Vec<&str> = methods(entry).map(|(name, ..)| *name).collect();
            errors.add("method", format!("must be one of {}", names.join(", ")));
        }
        let creates = matches!(method, Some((_, RouteOperation::Operation(Operation::Create), _)));
        match id {
            Some(_) if creates => errors.add("id", "cannot be given for a create"),
            None if method.is_some() && !creates && !errors.contains("id") => errors.add("id", "is required"),
            _ => {}
        }
        if creates && tag.is_some() {
            errors.add("if_match", "cannot be given for a create");
        }
        match method {
            Some((_, RouteOperation::Operation(Operation::Delete), _)) if fields.is_some() => {
                errors.add(singular, "cannot be given for a delete");
            }
            Some((_, RouteOperation::Restore, _)) if fields.is_some() => {
                errors.add(singular, "cannot be given for a restore");
            }
            _ => {}
        }
        let conditions = Preconditions::read(tag.as_deref(), None).unwrap_or_else(|_| {
            errors.add("if_match", "must be `*` or a list of entity tags in double quotes");
            Preconditions::default()
        });
        Single { method, id, fields: fields.unwrap_or_default(), conditions, errors }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_response_is_limited_to_32_mib() {
        assert!(check_length(32 * 1024 * 1024).is_ok());
        assert!(check_length(32 * 1024 * 1024 + 1).is_err());
    }

    #[test]
    fn error_of_an_operation_is_a_field_error_under_its_index() {
        let refused = Error::Invalid(errors_of_operation(Error::NotFound, 3));
        assert_eq!(refused.message("-"), "The request is not valid: operations.3 is refused: Not found.");
    }
}
