//! One record: `GET /<path>/{id}`, and what every write answers.

use std::borrow::Cow;

use super::include;
use super::store;
use crate::catalog::Entry;
use crate::context::Context;
use crate::db::Sql;
use crate::error::{Error, FieldErrors, Result};
use crate::meta::IncludeMeta;
use crate::query::{Condition, Planner, parse, write_condition};
use crate::record::{Shape, write_record};

/// Answers a record under its singular key, with the includes and the fields that the query string asks for.
pub async fn show(context: &Context<'_>, entry: &Entry, id: i64, within: Condition, query: &str) -> Result<Vec<u8>> {
    let request = parse(query)?;
    let planner = Planner { catalog: context.catalog(), entry, custom: &Default::default() };
    let mut errors = FieldErrors::default();
    let includes = planner.includes(&request.include, &mut errors);
    let fields = request.fields.as_ref().map(|names| planner.fields(names, &mut errors));
    let condition = store::visible(context, entry)?.and(within);
    if !errors.is_empty() {
        // What is not there is 404 before its parameters are judged.
        store::load(context, entry, id, &condition, false).await?.ok_or(Error::NotFound)?;
    }
    errors.into_result()?;
    let shape = match fields {
        Some(fields) => Cow::Owned(entry.shape(fields.into_iter())),
        None => Cow::Borrowed(&entry.single),
    };
    let record = read(context, entry, shape, id, &condition, &includes).await?.ok_or(Error::NotFound)?;
    Ok(wrap(entry.meta.name, &record))
}

/// The record as `show` answers it, without its key: for writes and events. `None` when it is not there.
pub async fn single(context: &Context<'_>, entry: &Entry, id: i64) -> Result<Option<Vec<u8>>> {
    read(context, entry, Cow::Borrowed(&entry.single), id, &Condition::always(), &[]).await
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

async fn read(
    context: &Context<'_>,
    entry: &Entry,
    mut shape: Cow<'_, Shape>,
    id: i64,
    condition: &Condition,
    includes: &[&'static IncludeMeta],
) -> Result<Option<Vec<u8>>> {
    include::prepare(&mut shape, entry, includes);
    let mut sources = Vec::new();
    condition.sources(&mut sources);
    let mut sql = Sql::new(context.state().db.dialect(), String::with_capacity(1024));
    shape.write_select(&mut sql, &sources);
    sql.push(" WHERE t.\"id\" = ").bind(id).push(" AND ");
    write_condition(&mut sql, condition);
    let rows = sql.all(context.db()).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let related = include::load(context, entry, &shape, &rows, includes).await?;
    let mut out = Vec::with_capacity(1024);
    out.push(b'{');
    write_record(&mut out, &shape, row)?;
    related.write(&mut out, 0);
    out.push(b'}');
    Ok(Some(out))
}
