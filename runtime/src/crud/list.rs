//! A page of records: `GET /<path>`.

use std::borrow::Cow;
use std::io::Write;

use sea_orm::QueryResult;

use super::{include, store};
use crate::catalog::{Entry, Source};
use crate::context::Context;
use crate::custom_field;
use crate::db::{Dialect, Sql};
use crate::error::{Error, Result};
use crate::query::{Condition, MOST_VALUES, Plan, Planner, Request, parse, write_condition, write_order};
use crate::record::{Shape, write_from, write_record};
use crate::view;

/// Answers the page that a query string asks for, of the records for which `within` holds.
///
/// text → [`Request`] → saved view merged → [`Plan`] → SQL → rows → JSON.
pub async fn list(context: &Context<'_>, entry: &Entry, within: Condition, query: &str) -> Result<Vec<u8>> {
    let mut request = parse(query)?;
    let view = match request.view_id.take() {
        Some(id) => Some(view::find(context, entry, &id).await?),
        None => None,
    };
    let custom = if entry.meta.custom_fields && (view.is_some() || mentions_custom_fields(&request)) {
        custom_field::load_types(context.db(), entry.meta.plural).await?
    } else {
        custom_field::CustomFieldTypes::default()
    };
    let planner = Planner { catalog: context.catalog(), entry, custom: &custom };
    planner.settle(&mut request);
    let viewed = match &view {
        Some(view) => view.apply(planner, &mut request),
        None => Condition::always(),
    };
    let plan = planner.plan(&request)?;
    let condition = store::listed(context, entry)?.and(within).and(viewed).and(plan.condition.clone());
    if condition.values() > MOST_VALUES {
        return Err(Error::invalid("q", format!("must have at most {MOST_VALUES} values in all")));
    }
    let mut shape = match (&view, &plan.fields) {
        (_, Some(fields)) => Cow::Owned(entry.shape(fields.iter().copied())),
        (Some(view), None) => Cow::Owned(view.shape(planner)),
        (None, None) => Cow::Borrowed(&entry.list),
    };
    include::prepare(&mut shape, entry, &plan.includes);

    let rows = fetch(context, entry, &shape, &condition, &plan).await?;
    let total = count(context, entry, &condition, &plan, rows.len()).await?;
    let related = include::load(context, entry, &shape, &rows, &plan.includes).await?;

    let mut out = Vec::with_capacity(256 + rows.len() * 512);
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(entry.meta.plural.as_bytes());
    out.extend_from_slice(b"\":[");
    for (index, row) in rows.iter().enumerate() {
        out.extend_from_slice(if index > 0 { b",{" } else { b"{" });
        write_record(&mut out, &shape, row)?;
        related.write(&mut out, index);
        out.push(b'}');
    }
    let _ = write!(out, "],\"meta\":{{\"total\":{total},\"per_page\":{},\"page\":{}", plan.per_page, plan.page);
    if let Some(view) = &view {
        let _ = write!(out, ",\"view\":{}", view.meta());
    }
    out.extend_from_slice(b"}}");
    Ok(out)
}

fn mentions_custom_fields(request: &Request) -> bool {
    let sorted = request.sort.iter().flatten().any(|key| key.contains("cf."));
    sorted || request.terms.iter().any(|term| term.name.contains("cf."))
}

async fn fetch(
    context: &Context<'_>,
    entry: &Entry,
    shape: &Shape,
    condition: &Condition,
    plan: &Plan,
) -> Result<Vec<QueryResult>> {
    let mut asked = Vec::new();
    condition.sources(&mut asked);
    let mut sql = Sql::new(context.state().db.dialect(), String::with_capacity(1024));
    // SQLite reads whole rows before it sorts them. Of the many that the index of a custom field may find it takes the
    // ids first, which are in the index.
    if sql.dialect == Dialect::Sqlite && plan.order.is_empty() && condition.is_stretch() {
        shape.write_select(&mut sql, &[]);
        sql.push(" WHERE t.\"id\" IN (SELECT t.\"id\"");
        write_from(&mut sql, entry.meta.table, &asked);
        write_page(&mut sql, condition, plan);
        sql.push(") ORDER BY t.\"id\"");
    } else {
        let sources: Vec<Source> = plan.sources().into_iter().chain(asked).collect();
        shape.write_select(&mut sql, &sources);
        write_page(&mut sql, condition, plan);
    }
    sql.all(context.db()).await
}

/// Which records, in which order.
fn write_page(sql: &mut Sql, condition: &Condition, plan: &Plan) {
    sql.push(" WHERE ");
    write_condition(sql, condition);
    write_order(sql, &plan.order, condition);
    sql.push(" LIMIT ").push(&plan.per_page.to_string());
    // PostgreSQL plans a statement with an OFFSET parameter anew on every call: the first page does without.
    if plan.page > 1 {
        sql.push(" OFFSET ").bind(plan.offset());
    }
}

/// The exact total. A page that is not full tells it without counting.
async fn count(context: &Context<'_>, entry: &Entry, condition: &Condition, plan: &Plan, found: usize) -> Result<i64> {
    let found = i64::try_from(found).unwrap_or(i64::MAX);
    if found < plan.per_page && (found > 0 || plan.page == 1) {
        return Ok(plan.offset() + found);
    }
    let mut sources = Vec::new();
    condition.sources(&mut sources);
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT COUNT(*) AS \"total\"");
    write_from(&mut sql, entry.meta.table, &sources);
    sql.push(" WHERE ");
    write_condition(&mut sql, condition);
    let row = sql.one(context.db()).await?;
    Ok(row.map(|row| row.try_get("", "total")).transpose()?.unwrap_or(0))
}
