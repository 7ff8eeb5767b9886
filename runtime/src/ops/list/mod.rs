//! A page of records, or all of them: `GET /<path>`.

pub(crate) mod csv;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod include;
pub(crate) mod render;
pub(crate) mod response_cache;
pub(crate) mod select;
pub(crate) mod total;

use std::borrow::Cow;
use std::fmt::Write as _;

use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::sync::OnceCell;

use self::export::{Exported, Format};
use self::response_cache::{CacheKey, CachedPage, Versioned};
use self::select::Reading;
use super::etag::Preconditions;
use super::visibility;
use super::write::restore;
use crate::catalog::Entry;
use crate::context::Context;
use crate::custom_field::{self, CustomFieldTypes, Types};
use crate::error::{Error, FieldErrors, Result};
use crate::query::{Condition, Cursor, MAX_BOUND_VALUES, Pair, Planner, Request, decode, parse, too_many_values};
use crate::view::{self, View};

/// What is asked of a list.
#[derive(Debug, Clone, Copy)]
pub struct ListRequest<'r> {
    pub path: &'r str,
    pub query: &'r str,
    /// The form in which all of it is wanted, instead of a page.
    pub format: Option<Format>,
    /// Whether only the head of the answer is wanted.
    pub head: bool,
    /// The tags of the answers that the client has.
    pub conditions: &'r Preconditions,
}

/// The answer to a list.
pub enum ListResponse {
    Page {
        body: Bytes,
        /// Where the first and the next page are, of a list that is read by cursors (RFC 8288).
        link: Option<String>,
        /// The entity tag, unless the answer depends on more than the database.
        tag: Option<String>,
    },
    /// The client has the page of this tag.
    Unchanged {
        tag: String,
    },
    /// How the page would be read.
    Plan(Vec<u8>),
    All(Format, Exported),
}

/// A header of more bytes is more than some clients take: `meta.next_cursor` alone says where the next page is.
const MAX_LINK_BYTES: usize = 4_096;

/// What a part of a query string is made of without escapes.
const UNESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',');

/// Answers the page that a query string asks for, of the records for which `within` holds; or all of the list, or how the
/// page would be read.
///
/// text → [`Request`] → saved view merged → [`Plan`](crate::query::Plan) → SQL → rows → JSON.
pub async fn list(
    context: &Context<'_>,
    entry: &Entry,
    within: Condition,
    ask: ListRequest<'_>,
) -> Result<ListResponse> {
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
    let plural = entry.meta.plural;
    let names_custom = entry.meta.custom_fields && (view.is_some() || mentions_custom_fields(&request));
    let begun = PreparedList { entry, within, ask, request, errors, deleted, view };
    if !names_custom {
        return begun.answer(context, None).await?.listed();
    }
    if let Some(types) = context.state().custom_fields.types(plural).filter(|_| begun.is_page()) {
        match begun.clone().answer(context, Some(PlannedTypes { types: &types, is_cached: true })).await {
            // A name or a value that the cached types refuse may be right by now.
            Ok(Attempt::StaleTypes) | Err(Error::Invalid(_)) => {}
            answered => return answered?.listed(),
        }
    }
    let types = custom_field::load_types(context, plural).await?;
    begun.answer(context, Some(PlannedTypes { types: &types, is_cached: false })).await?.listed()
}

/// The custom-field types that a list is planned with. Cached ones are compared with the database, in the statement that reads
/// the versions of the tables.
#[derive(Clone, Copy)]
struct PlannedTypes<'t> {
    types: &'t Types,
    is_cached: bool,
}

/// A list that is asked for, of which it is not known yet what the custom fields are that it names.
#[derive(Clone)]
struct PreparedList<'r> {
    entry: &'r Entry,
    within: Condition,
    ask: ListRequest<'r>,
    request: Request,
    errors: FieldErrors,
    deleted: bool,
    view: Option<View>,
}

enum Attempt {
    Listed(ListResponse),
    /// The cached types of custom fields are not those of the database, or cannot be checked.
    StaleTypes,
}

impl Attempt {
    fn listed(self) -> Result<ListResponse> {
        match self {
            Attempt::Listed(listed) => Ok(listed),
            Attempt::StaleTypes => Err(Error::internal("types that were just read are stale")),
        }
    }
}

impl PreparedList<'_> {
    fn is_page(&self) -> bool {
        self.ask.format.is_none() && self.request.explain.is_none()
    }

    /// Answers it with the custom fields that it may name.
    async fn answer(self, context: &Context<'_>, planned: Option<PlannedTypes<'_>>) -> Result<Attempt> {
        let definitions = planned.filter(|_| self.is_page()).map(|planned| planned.types.changes);
        let none = CustomFieldTypes::default();
        let custom = planned.map_or(&none, |planned| &planned.types.of);
        let PreparedList { entry, within, ask, mut request, mut errors, deleted, view } = self;
        let seen = |other: &Entry| visibility::hidden(context, other);
        let planner = Planner { catalog: context.catalog(), entry, custom, deleted, visible: &seen };
        planner.expand_defaults(&mut request);
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
        let name =
            if deleted { Cow::Owned(format!("deleted {}", entry.meta.plural)) } else { entry.meta.plural.into() };
        let read = |text: &String| {
            let cursors = Cursor::of_list(context.state().db.dialect(), &name, &asked, plan.ranking());
            Ok::<_, Error>((cursors, cursors.read(text)?))
        };
        let cursor = plan.cursor.as_ref().map(read).transpose()?;
        let condition = visibility::listed(context, entry, deleted).and(asked);
        if condition.values() > MAX_BOUND_VALUES {
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
        include::extend_projection(&mut shape, entry, &plan.includes);

        let cursor = cursor.as_ref().map(|(cursors, place)| (*cursors, place.as_ref()));
        let narrowed = OnceCell::new();
        let reading = Reading {
            entry,
            shape: &shape,
            condition: &condition,
            plan: &plan,
            cursor,
            narrowed: &narrowed,
            definitions,
        };
        if request.explain.is_some() {
            let listed = ListResponse::Plan(explain::explain(context, reading).await?);
            return Ok(Attempt::Listed(listed));
        }
        if let Some(format) = ask.format {
            let columns = view.as_ref().filter(|_| plan.fields.is_none()).map(View::columns);
            let exported = export::export(context, reading, format, columns, ask.head).await?;
            return Ok(Attempt::Listed(ListResponse::All(format, exported)));
        }
        let mut versioned = match CacheKey::of(context, reading, view.as_ref())? {
            Some(key) => key.versioned(context).await?,
            None => None,
        };
        let is_current = definitions.is_none() || versioned.as_ref().is_some_and(|now| now.definitions == definitions);
        if !is_current && planned.is_some_and(|planned| planned.is_cached) {
            return Ok(Attempt::StaleTypes);
        }
        let tag = versioned.as_ref().map(Versioned::tag);
        if let Some(tag) = &tag
            && ask.conditions.matches_any(tag)
        {
            return Ok(Attempt::Listed(ListResponse::Unchanged { tag: tag.clone() }));
        }
        let known = versioned.as_mut().and_then(|versioned| versioned.answer.take());
        let answer = match known {
            Some(answer) => answer,
            None => {
                let page = select::read(context, reading).await?;
                let related = include::load(context, entry, &shape, &page.rows(), &plan.includes).await?;
                let body = render::render(reading, &page, &related, view.as_ref())?;
                let answer = CachedPage { body, next: page.next };
                if let Some(versioned) = versioned.filter(|_| is_current) {
                    versioned.store(context, &answer);
                }
                answer
            }
        };
        let link = match cursor {
            Some(_) => link(ask, answer.next.as_deref())?,
            None => None,
        };
        Ok(Attempt::Listed(ListResponse::Page { body: answer.body, link, tag }))
    }
}

/// `<path?...&cursor=>; rel="first", <path?...&cursor=...>; rel="next"`, with what the request said beside its cursor.
fn link(ask: ListRequest<'_>, next: Option<&str>) -> Result<Option<String>> {
    // Two strokes at its beginning would name a host.
    let mut address = format!("</{}?", ask.path.trim_start_matches('/'));
    for Pair { name, value } in decode(ask.query)? {
        if name != "cursor" {
            let _ = write!(
                address,
                "{}={}&",
                utf8_percent_encode(&name, UNESCAPED),
                utf8_percent_encode(&value, UNESCAPED)
            );
        }
    }
    let mut link = format!("{address}cursor=>; rel=\"first\"");
    if let Some(next) = next {
        let _ = write!(link, ", {address}cursor={next}>; rel=\"next\"");
    }
    Ok((link.len() <= MAX_LINK_BYTES).then_some(link))
}

fn mentions_custom_fields(request: &Request) -> bool {
    let sorted = request.sort.iter().flatten().any(|key| key.contains("cf."));
    let filtered = request.filters.as_ref().is_some_and(|text| text.contains("cf."));
    sorted || filtered || request.terms.iter().any(|term| term.name.contains("cf."))
}
