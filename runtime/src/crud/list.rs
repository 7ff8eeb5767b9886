//! A page of records, or all of them: `GET /<path>`.

use std::borrow::Cow;
use std::fmt::Write as _;

use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::sync::OnceCell;

use super::export::{Exported, Format};
use super::include;
use super::page::{self, Reading};
use super::{explain, export, restore, store, written};
use crate::catalog::Entry;
use crate::context::Context;
use crate::custom_field;
use crate::error::{Error, FieldErrors, Result};
use crate::query::{Condition, Cursor, MOST_VALUES, Pair, Planner, Request, decode, parse, too_many_values};
use crate::view::{self, View};

/// What is asked of a list.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'r> {
    pub path: &'r str,
    pub query: &'r str,
    /// The form in which all of it is wanted, instead of a page.
    pub format: Option<Format>,
    /// Whether only the head of the answer is wanted.
    pub head: bool,
}

/// The answer to a list.
pub enum Listed {
    Page {
        body: Bytes,
        /// Where the first and the next page are, of a list that is read by cursors (RFC 8288).
        link: Option<String>,
    },
    /// How the page would be read.
    Plan(Vec<u8>),
    All(Format, Exported),
}

/// A header of more bytes is more than some clients take: `meta.next_cursor` alone says where the next page is.
const LONGEST_LINK: usize = 4_096;

/// What a part of a query string is made of without escapes.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',');

/// Answers the page that a query string asks for, of the records for which `within` holds; or all of the list, or how the
/// page would be read.
///
/// text → [`Request`] → saved view merged → [`Plan`](crate::query::Plan) → SQL → rows → JSON.
pub async fn list(context: &Context<'_>, entry: &Entry, within: Condition, ask: Asked<'_>) -> Result<Listed> {
    let mut request = parse(ask.query)?;
    if request.explain.is_some() {
        context.caller().need_ability(explain::ABILITY)?;
    } else if let Some(format) = ask.format {
        format.check(&request)?;
    }
    let mut errors = FieldErrors::default();
    let deleted = errors.note(restore::asks_for_deleted(context, entry, &request))?.unwrap_or(false);
    let view = match request.view_id.take() {
        Some(id) => errors.note(view::find(context, entry, &id).await)?,
        None => None,
    };
    let custom = if entry.meta.custom_fields && (view.is_some() || mentions_custom_fields(&request)) {
        custom_field::load_types(context, entry.meta.plural).await?
    } else {
        custom_field::CustomFieldTypes::default()
    };
    let planner = Planner { catalog: context.catalog(), entry, custom: &custom, deleted };
    planner.settle(&mut request);
    let viewed = match &view {
        Some(view) => view.apply(planner, &mut request),
        None => Condition::always(),
    };
    let filtered = match &request.filters {
        Some(text) => errors.note(view::filtered(planner, text))?,
        None => None,
    };
    let plan = planner.plan(&request, errors)?;
    let counts = [
        ("view_id", viewed.values()),
        ("filters", filtered.as_ref().map_or(0, Condition::values)),
        ("q", plan.condition.values()),
    ];
    let asked = within.and(viewed).and(filtered.unwrap_or_else(Condition::always)).and(plan.condition.clone());
    let name = if deleted { Cow::Owned(format!("deleted {}", entry.meta.plural)) } else { entry.meta.plural.into() };
    let read = |text: &String| {
        let cursors = Cursor::of_list(context.state().db.dialect(), &name, &asked, plan.ranking());
        Ok::<_, Error>((cursors, cursors.read(text)?))
    };
    let cursor = plan.cursor.as_ref().map(read).transpose()?;
    let condition = store::listed(context, entry, deleted)?.and(asked);
    if condition.values() > MOST_VALUES {
        // What has most of them is what to make shorter.
        let (name, _) = counts.into_iter().max_by_key(|(_, count)| *count).unwrap_or(("q", 0));
        return Err(Error::invalid(name, too_many_values()));
    }
    let mut shape = match (&view, &plan.fields) {
        (_, Some(fields)) => Cow::Owned(entry.shape(fields.iter().copied())),
        (Some(view), None) => Cow::Owned(view.shape(planner)),
        (None, None) if deleted => Cow::Owned(entry.shape(restore::shown_in_list(entry))),
        (None, None) => Cow::Borrowed(&entry.list),
    };
    for field in &plan.embedded {
        shape.to_mut().embed(field);
    }
    include::prepare(&mut shape, entry, &plan.includes);

    let cursor = cursor.as_ref().map(|(cursors, place)| (*cursors, place.as_ref()));
    let narrowed = OnceCell::new();
    let reading = Reading { entry, shape: &shape, condition: &condition, plan: &plan, cursor, narrowed: &narrowed };
    if request.explain.is_some() {
        return Ok(Listed::Plan(explain::explain(context, reading).await?));
    }
    if let Some(format) = ask.format {
        let columns = view.as_ref().filter(|_| plan.fields.is_none()).map(View::columns);
        let exported = export::export(context, reading, format, columns, ask.head).await?;
        return Ok(Listed::All(format, exported));
    }
    let page = page::read(context, reading).await?;
    let related = include::load(context, entry, &shape, &page.rows(), &plan.includes).await?;
    let body = written::written(reading, &page, &related, view.as_ref())?;
    let link = match cursor {
        Some(_) => link(ask, page.next.as_deref())?,
        None => None,
    };
    Ok(Listed::Page { body, link })
}

/// `<path?...&cursor=>; rel="first", <path?...&cursor=...>; rel="next"`, with what the request said beside its cursor.
fn link(ask: Asked<'_>, next: Option<&str>) -> Result<Option<String>> {
    // Two strokes at its beginning would name a host.
    let mut address = format!("</{}?", ask.path.trim_start_matches('/'));
    for Pair { name, value } in decode(ask.query)? {
        if name != "cursor" {
            let _ = write!(address, "{}={}&", utf8_percent_encode(&name, PLAIN), utf8_percent_encode(&value, PLAIN));
        }
    }
    let mut link = format!("{address}cursor=>; rel=\"first\"");
    if let Some(next) = next {
        let _ = write!(link, ", {address}cursor={next}>; rel=\"next\"");
    }
    Ok((link.len() <= LONGEST_LINK).then_some(link))
}

fn mentions_custom_fields(request: &Request) -> bool {
    let sorted = request.sort.iter().flatten().any(|key| key.contains("cf."));
    let filtered = request.filters.as_ref().is_some_and(|text| text.contains("cf."));
    sorted || filtered || request.terms.iter().any(|term| term.name.contains("cf."))
}
