//! A page of records: `GET /<path>`.

use std::borrow::Cow;
use std::io::Write;

use super::page::{self, Page};
use super::{explain, include, store};
use crate::catalog::Entry;
use crate::context::Context;
use crate::custom_field;
use crate::error::{Error, Result};
use crate::query::{Condition, MOST_VALUES, Planner, Request, parse};
use crate::record::write_record;
use crate::server::JSON;
use crate::view;

/// The answer to a list.
pub struct Listed {
    /// Its media type.
    pub kind: &'static str,
    pub body: Vec<u8>,
}

/// Answers the page that a query string asks for, of the records for which `within` holds; or how it would be read.
///
/// text → [`Request`] → saved view merged → [`Plan`](crate::query::Plan) → SQL → rows → JSON.
pub async fn list(context: &Context<'_>, entry: &Entry, within: Condition, query: &str) -> Result<Listed> {
    let mut request = parse(query)?;
    if request.explain.is_some() {
        context.caller().need_ability(explain::ABILITY)?;
    }
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

    if request.explain.is_some() {
        let told = explain::explain(context, entry, &shape, &condition, &plan).await?;
        return Ok(Listed { kind: explain::MEDIA_TYPE, body: told });
    }
    let Page { rows, total } = page::read(context, entry, &shape, &condition, &plan).await?;
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
    out.extend_from_slice(b"],\"meta\":{");
    if let Some(total) = total {
        let _ = write!(out, "\"total\":{total},");
    }
    let _ = write!(out, "\"per_page\":{},\"page\":{}", plan.per_page, plan.page);
    if let Some(view) = &view {
        let _ = write!(out, ",\"view\":{}", view.meta());
    }
    out.extend_from_slice(b"}}");
    Ok(Listed { kind: JSON, body: out })
}

fn mentions_custom_fields(request: &Request) -> bool {
    let sorted = request.sort.iter().flatten().any(|key| key.contains("cf."));
    sorted || request.terms.iter().any(|term| term.name.contains("cf."))
}
