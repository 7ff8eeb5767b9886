//! One record: `GET /<path>/{id}`, and what every write answers.

use std::borrow::Cow;

use sea_orm::QueryResult;

use super::list::include;
use super::write::restore;
use super::{etag, records, visibility};
use crate::catalog::Entry;
use crate::context::Context;
use crate::db::{SharedRow, Sql};
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{FieldMeta, IncludeMeta};
use crate::query::{Condition, Planner, Request, decode, parse, write_condition};
use crate::record::write_record;

/// Answers a record under its singular key, with the includes and the fields that the query string asks for, and the
/// entity tag of this answer.
pub async fn show(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    within: Condition,
    query: &str,
) -> Result<(Vec<u8>, String)> {
    let request = match parse(query) {
        Ok(request) => request,
        Err(unread) => {
            find(context, entry, id, &within, query).await?;
            return Err(unread);
        }
    };
    let mut errors = FieldErrors::default();
    let deleted = errors.note(restore::asks_for_deleted(context, entry, &request))?.unwrap_or(false);
    let seen = |other: &Entry| visibility::hidden(context, other);
    let planner = Planner { catalog: context.catalog(), entry, custom: &Default::default(), deleted, visible: &seen };
    let includes = planner.includes(&request.include, &mut errors);
    let mut fields = request.fields.as_ref().map(|names| planner.fields(names, &mut errors));
    fields.iter_mut().for_each(|fields| fields.extend(planner.embedded(&request.include)));
    if !errors.is_empty() {
        // What is not there is 404 before its parameters are judged.
        find(context, entry, id, &within, query).await?;
    }
    errors.into_result()?;
    let condition = shown(context, entry, deleted).and(within);
    let form = Form { includes: &includes, only: fields.as_deref(), deleted };
    let read = read(context, entry, id, &condition, form).await?.ok_or(Error::NotFound)?;
    Ok((wrap(entry.meta.name, read.answer()), read.tag()))
}

/// Whether the record is there that is asked for, whatever else is wrong with the request.
///
/// # Errors
/// [`Error::NotFound`]; 403 for deleted records to whom they are not shown.
pub async fn find(context: &Context<'_>, entry: &Entry, id: i64, within: &Condition, query: &str) -> Result<()> {
    // Which one that is, a query string tells of which something else cannot be read.
    let deleted = decode(query).unwrap_or_default().into_iter().rfind(|pair| pair.name == "deleted");
    let request = Request { deleted: deleted.map(|pair| pair.value), ..Request::default() };
    let asked = FieldErrors::default().note(restore::asks_for_deleted(context, entry, &request))?;
    let condition = shown(context, entry, asked.unwrap_or(false)).and(within.clone());
    records::load(context, entry, id, &condition, false).await?.map(drop).ok_or(Error::NotFound)
}

/// What a record has to meet to be shown.
fn shown(context: &Context<'_>, entry: &Entry, deleted: bool) -> Condition {
    if deleted { visibility::deleted(context, entry) } else { visibility::visible(context, entry) }
}

/// A record that was read.
pub struct Read {
    /// What a version is told by: every field, without what is computed or included.
    record: Vec<u8>,
    /// As it is answered, where that is something else.
    form: Option<Vec<u8>>,
}

impl Read {
    /// A record of which nothing is computed, embedded or included, from a row of its single shape.
    pub fn plain(entry: &Entry, row: &QueryResult) -> Result<Read> {
        let mut record = Vec::with_capacity(1024);
        record.push(b'{');
        write_record(&mut record, &entry.single, row.into())?;
        record.push(b'}');
        Ok(Read::whole(record))
    }

    /// One that is written already, as a plain `GET` answers it.
    pub fn whole(record: Vec<u8>) -> Read {
        Read { record, form: None }
    }

    /// The record as it is answered, without its key.
    pub fn answer(&self) -> &[u8] {
        self.form.as_ref().unwrap_or(&self.record)
    }

    /// The entity tag of the answer.
    pub fn tag(&self) -> String {
        match &self.form {
            Some(form) => etag::tag_of_form(&self.record, form),
            None => etag::tag(&self.record),
        }
    }
}

/// The record as a plain `GET` answers it: for writes and events. `None` when it is not there.
pub async fn single(context: &Context<'_>, entry: &Entry, id: i64) -> Result<Option<Read>> {
    read(context, entry, id, &Condition::always(), Form::default()).await
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

/// In which form a record is answered.
#[derive(Debug, Clone, Copy, Default)]
struct Form<'f> {
    includes: &'f [&'static IncludeMeta],
    only: Option<&'f [&'static FieldMeta]>,
    /// With the time of its deletion.
    deleted: bool,
}

async fn read(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    condition: &Condition,
    Form { includes, only, deleted }: Form<'_>,
) -> Result<Option<Read>> {
    let mut shape = Cow::Borrowed(&entry.single);
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
    related.write_embedded(&mut record, 0, |_| true);
    let form = if only.is_some() || deleted || related.has_more() {
        let wanted = |name: &str| only.is_none_or(|only| only.iter().any(|field| field.name == name));
        let mut form = if only.is_none() && !deleted {
            record.clone()
        } else {
            let mut form = vec![b'{'];
            let narrowed = shape.narrowed(wanted);
            let told = if deleted && wanted("deleted_at") { narrowed.with("deleted_at") } else { narrowed };
            write_record(&mut form, &told, row)?;
            related.write_embedded(&mut form, 0, wanted);
            form
        };
        related.write_beside(&mut form, 0, wanted);
        form.push(b'}');
        Some(form)
    } else {
        None
    };
    record.push(b'}');
    Ok(Some(Read { record, form }))
}
