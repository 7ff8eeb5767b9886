//! `GET /<path>/{id}`: one record as JSON, also for the responses of writes.

use std::borrow::Cow;

use sea_orm::QueryResult;

use super::list::{include, include_access};
use super::write::restore;
use super::{etag, field_access, records, visibility};
use crate::catalog::Entry;
use crate::db::{SharedRow, Sql};
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{FieldMeta, IncludeMeta};
use crate::ops::Context;
use crate::query::{Condition, Planner, RelativeTo, Request, decode, parse, write_condition};
use crate::record::write_record;

/// Returns a record under its singular key, with the includes and fields of the query string, and the entity tag of
/// this representation.
pub async fn show(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    within: Condition,
    query: &str,
) -> Result<(Vec<u8>, String)> {
    let request = match parse(query) {
        Ok(request) => request,
        Err(error) => {
            find(context, entry, id, &within, query).await?;
            return Err(error);
        }
    };
    let mut errors = FieldErrors::default();
    let deleted = errors.collect(restore::asks_for_deleted(context, entry, &request))?.unwrap_or(false);
    let hidden = |other: &Entry| visibility::hidden(context, other);
    let planner = Planner {
        catalog: context.catalog(),
        entry,
        custom: &Default::default(),
        deleted,
        caller: context.caller(),
        visible: &hidden,
        // A single record has no conditions.
        relative_to: &RelativeTo::in_utc(context.now(), context.caller().user_id),
    };
    let includes = planner.includes(&request.include, &mut errors);
    let mut fields = request.fields.as_ref().map(|names| planner.fields(names, &mut errors));
    fields.iter_mut().for_each(|fields| fields.extend(planner.embedded(&request.include)));
    if !errors.is_empty() {
        // A missing record is 404 before its parameters are validated.
        find(context, entry, id, &within, query).await?;
    }
    errors.into_result()?;
    include_access::check_access(context, entry, &includes)?;
    let condition = visibility_condition(context, entry, deleted).and(within);
    let representation = Representation { includes: &includes, fields: fields.as_deref(), deleted };
    let record = read(context, entry, id, &condition, representation).await?.ok_or(Error::NotFound)?;
    Ok((wrap(entry.meta.name, record.readable()), record.tag()))
}

/// Checks that the requested record exists, whatever else is wrong with the request.
///
/// # Errors
/// [`Error::NotFound`]; 403 for a deleted record if the caller may not see deleted ones.
pub async fn find(context: &Context<'_>, entry: &Entry, id: i64, within: &Condition, query: &str) -> Result<()> {
    // `deleted` counts even if the rest of the query string is malformed.
    let deleted = decode(query).unwrap_or_default().into_iter().rfind(|pair| pair.name == "deleted");
    let request = Request { deleted: deleted.map(|pair| pair.value), ..Request::default() };
    let wants_deleted = FieldErrors::default().collect(restore::asks_for_deleted(context, entry, &request))?;
    let condition = visibility_condition(context, entry, wants_deleted.unwrap_or(false)).and(within.clone());
    records::load(context, entry, id, &condition, false).await?.map(drop).ok_or(Error::NotFound)
}

/// The condition for a record that the caller may read.
fn visibility_condition(context: &Context<'_>, entry: &Entry, deleted: bool) -> Condition {
    if deleted { visibility::deleted(context, entry) } else { visibility::visible(context, entry) }
}

/// A record as JSON.
pub struct RenderedRecord {
    /// Every field, without computed fields and includes. The record's version is the hash of this, as far as the caller may
    /// read it: from a hash over other fields, their values could be guessed.
    record: Vec<u8>,
    /// The same without the fields that the caller may not read, if there are such fields.
    version: Option<Vec<u8>>,
    /// The requested representation, if it differs.
    representation: Option<Vec<u8>>,
    /// The requested representation without the fields that the caller may not read, if there are such fields.
    readable: Option<Vec<u8>>,
}

impl RenderedRecord {
    /// Renders a row of the single projection, for a resource without computed and embedded fields.
    pub fn plain(entry: &Entry, row: &QueryResult) -> Result<RenderedRecord> {
        let mut record = Vec::with_capacity(1024);
        record.push(b'{');
        write_record(&mut record, &entry.single, row.into())?;
        record.push(b'}');
        Ok(RenderedRecord::whole(record))
    }

    /// A rendered record, as a plain `GET` returns it.
    pub fn whole(record: Vec<u8>) -> RenderedRecord {
        RenderedRecord { record, version: None, representation: None, readable: None }
    }

    /// The JSON of the requested representation, without the singular key, for the caller.
    pub fn readable(&self) -> &[u8] {
        self.readable.as_deref().unwrap_or_else(|| self.json())
    }

    /// The same JSON with every field, for events.
    pub fn json(&self) -> &[u8] {
        self.representation.as_ref().unwrap_or(&self.record)
    }

    /// The entity tag of the requested representation.
    pub fn tag(&self) -> String {
        let version = self.version.as_ref().unwrap_or(&self.record);
        match &self.representation {
            Some(_) => etag::tag_of_representation(version, self.readable()),
            None => etag::tag(version),
        }
    }
}

/// The record as a plain `GET` returns it, for writes and events. `None` if it does not exist.
pub async fn single(context: &Context<'_>, entry: &Entry, id: i64) -> Result<Option<RenderedRecord>> {
    read(context, entry, id, &Condition::always(), Representation::default()).await
}

/// `{"product": {...}}`
pub fn wrap(key: &str, record: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(record.len() + key.len() + 5);
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
    out.extend_from_slice(record);
    out.push(b'}');
    out
}

/// The requested representation of a record.
#[derive(Debug, Clone, Copy, Default)]
struct Representation<'r> {
    includes: &'r [&'static IncludeMeta],
    /// The fields of the query parameter `fields`; `None` for all.
    fields: Option<&'r [&'static FieldMeta]>,
    /// Adds `deleted_at`.
    deleted: bool,
}

async fn read(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    condition: &Condition,
    Representation { includes, fields, deleted }: Representation<'_>,
) -> Result<Option<RenderedRecord>> {
    let mut shape = Cow::Borrowed(&entry.single);
    field_access::narrow(context, entry, &mut shape);
    include::extend_projection(&mut shape, entry, includes);
    if deleted {
        shape.to_mut().hide(entry.meta, "deleted_at");
    }
    let mut sources = Vec::new();
    condition.sources(&mut sources);
    let mut sql = Sql::new(context.state().db.dialect(), String::with_capacity(1024));
    shape.write_select(&mut sql, &sources);
    sql.push(" WHERE ");
    write_condition(&mut sql, condition);
    let position = shape.position("id").unwrap_or_default();
    let sql = sql;
    let found = context.state().db.record(context.db(), sql, id, position).await?;
    let Some(row) = found.as_ref().and_then(SharedRow::row) else { return Ok(None) };
    let related = include::load(context, entry, &shape, &[row], includes).await?;
    let mut record = Vec::with_capacity(1024);
    record.push(b'{');
    write_record(&mut record, &shape, row)?;
    let hides_any = field_access::hides_any(context, entry);
    let has_right = |right: &str| context.caller().has_right(right);
    let hides_in = |field: &&FieldMeta| !field_access::hidden_in(context.catalog(), field, has_right).is_empty();
    // Events and the version of the record need the fields of embedded records that the caller may not read.
    let whole = match hides_any && shape.embedded.iter().any(hides_in) {
        true => Some(include::load_whole_embedded(context, &shape, &[row]).await?),
        false => None,
    };
    let whole = whole.as_ref().unwrap_or(&related);
    whole.write_embedded(&mut record, 0, |_| true);
    let is_requested = |name: &str| fields.is_none_or(|fields| fields.iter().any(|field| field.name == name));
    let select =
        |is_requested: &dyn Fn(&str) -> bool, embedded: &include::Related, with_more: bool| -> Result<Vec<u8>> {
            let mut out = vec![b'{'];
            let narrowed = shape.narrowed(is_requested);
            let shape =
                if with_more && deleted && is_requested("deleted_at") { narrowed.with("deleted_at") } else { narrowed };
            write_record(&mut out, &shape, row)?;
            embedded.write_embedded(&mut out, 0, is_requested);
            if with_more {
                related.write_computed_and_included(&mut out, 0, is_requested);
            }
            out.push(b'}');
            Ok(out)
        };
    let representation = match fields.is_some() || deleted || related.has_computed_or_included() {
        true => Some(select(&is_requested, whole, true)?),
        false => None,
    };
    let may_read = |name: &str| entry.field(name).is_none_or(|field| entry.may_read_field(field, context.caller()));
    let (version, readable) = match hides_any {
        true => {
            let version = select(&may_read, &related, false)?;
            (Some(version), Some(select(&|name| is_requested(name) && may_read(name), &related, true)?))
        }
        false => (None, None),
    };
    record.push(b'}');
    Ok(Some(RenderedRecord { record, version, representation, readable }))
}
