//! `GET /<path>`: a page of records, an export, or the query plan. `GET /<path>/summary`: aggregates of the records.

pub mod allowed_actions;
pub mod csv;
pub mod explain;
pub mod export;
pub mod include;
pub mod include_access;
mod include_cache_key;
mod include_links;
pub mod render;
pub mod response_cache;
pub mod select;
pub mod summary;
pub mod total;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use chrono_tz::Tz;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::sync::OnceCell;

use self::csv::CsvForm;
use self::export::{Exported, Format};
use self::response_cache::{CacheKey, CachedPage, Versioned};
use self::select::ListQuery;
use self::summary::SummaryQuery;
use super::BoxFuture;
use super::etag::Preconditions;
use super::input::choices;
use super::write::restore;
use super::{company_zone, field_access, visibility};
use crate::catalog::{EXPLAIN_ABILITY, Entry};
use crate::custom_field::{self, CustomFieldTypes, Types};
use crate::error::{Error, FieldErrors, Result};
use crate::ops::{Context, State};
use crate::principal::Principal;
use crate::query::{
    Condition, Cursor, MAX_BOUND_VALUES, Pair, Planner, RelativeTo, Request, SavedView, SummaryRequest, decode,
    filters_condition, mentions_time, parse, pinned_time, too_many_values,
};

/// Finds the saved view that `view_id` names.
pub type FindView = for<'a> fn(&'a Context<'a>, &'a Entry, &'a str) -> BoxFuture<'a, Result<SavedView>>;

/// Loads the current rights of a caller, which an export checks repeatedly.
pub type Revalidate = for<'a> fn(&'a Arc<State>, &'a Principal) -> BoxFuture<'a, Result<Principal>>;

/// A list request.
#[derive(Debug, Clone, Copy)]
pub struct ListRequest<'r> {
    pub path: &'r str,
    pub query: &'r str,
    /// True for aggregates of the records, instead of a page.
    pub is_summary: bool,
    /// Format of an export, instead of a page.
    pub format: Option<Format>,
    /// True if the request is `HEAD`.
    pub head: bool,
    /// Entity tags that the client has.
    pub conditions: &'r Preconditions,
    pub find_view: FindView,
    pub revalidate: Revalidate,
}

/// Response to a list request.
pub enum ListResponse {
    Page {
        body: Bytes,
        /// `Link` header with the first and the next page of a cursor-paginated list (RFC 8288).
        link: Option<String>,
        /// The entity tag, unless the response depends on more than the database.
        tag: Option<String>,
    },
    /// 304: the client has the page with this tag.
    Unchanged {
        tag: String,
    },
    /// The query plan (`explain`).
    Plan(Vec<u8>),
    All(Format, Exported),
}

/// Maximum length of the `Link` header, which some clients limit. Without it, `meta.next_cursor` has the next page.
const MAX_LINK_BYTES: usize = 4_096;

/// Characters that are not percent-encoded in `Link`.
const UNESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',');

/// Returns the page that a query string requests, of the records for which `within` holds; or an export, or the query
/// plan.
///
/// text → [`Request`] → saved view merged → [`Plan`](crate::query::Plan) → SQL → rows → JSON.
pub async fn list(
    context: &Context<'_>,
    entry: &Entry,
    within: Condition,
    list_request: ListRequest<'_>,
) -> Result<ListResponse> {
    let mut request = parse(list_request.query)?;
    if request.explain.is_some() {
        context.caller().need_ability(EXPLAIN_ABILITY)?;
    } else if let Some(format) = list_request.format {
        format.check(&request)?;
    } else if request.csv.is_some() && !list_request.is_summary {
        return Err(Error::invalid("csv", export::NOT_CSV));
    }
    let mut errors = FieldErrors::default();
    let deleted = errors.collect(restore::asks_for_deleted(context, entry, &request))?.unwrap_or(false);
    let view = match request.view_id.take() {
        Some(id) => errors.collect((list_request.find_view)(context, entry, &id).await)?,
        None => None,
    };
    let plural = entry.meta.plural;
    let summary = list_request.is_summary.then(|| SummaryRequest::parse(list_request.query)).transpose()?;
    let in_summary = summary.iter().flat_map(SummaryRequest::names).any(|name| name.starts_with("cf."));
    let mentions_any = view.is_some() || in_summary || mentions_custom_fields(&request);
    let uses_custom_fields = entry.meta.custom_fields && mentions_any;
    let prepared = PreparedList { entry, within, list_request, request, errors, deleted, view, summary };
    if !uses_custom_fields {
        return prepared.run(context, None).await?.response();
    }
    if let Some(types) = context.state().custom_fields.types(plural).filter(|_| prepared.is_page()) {
        match prepared.clone().run(context, Some(PlannedTypes { types: &types, is_cached: true })).await {
            // A custom field that the cached types do not have may exist by now.
            Ok(Attempt::StaleTypes) | Err(Error::Invalid(_)) => {}
            result => return result?.response(),
        }
    }
    let types = {
        let state = context.state();
        custom_field::load_types(&state.custom_fields, &state.db, context.db(), plural).await?
    };
    prepared.run(context, Some(PlannedTypes { types: &types, is_cached: false })).await?.response()
}

/// Custom-field types that a list is planned with. The statement that reads the table versions also validates cached
/// types.
#[derive(Clone, Copy)]
struct PlannedTypes<'t> {
    types: &'t Types,
    is_cached: bool,
}

/// A list request before the types of its custom fields are known.
#[derive(Clone)]
struct PreparedList<'r> {
    entry: &'r Entry,
    within: Condition,
    list_request: ListRequest<'r>,
    request: Request,
    errors: FieldErrors,
    deleted: bool,
    view: Option<SavedView>,
    summary: Option<SummaryRequest>,
}

enum Attempt {
    Done(ListResponse),
    /// The cached types of custom fields are outdated, or could not be validated.
    StaleTypes,
}

impl Attempt {
    fn response(self) -> Result<ListResponse> {
        match self {
            Attempt::Done(response) => Ok(response),
            Attempt::StaleTypes => Err(Error::internal("custom-field types are stale right after they were read")),
        }
    }
}

impl PreparedList<'_> {
    fn is_page(&self) -> bool {
        self.list_request.format.is_none() && self.request.explain.is_none()
    }

    /// Plans and runs the list with these custom-field types.
    async fn run(self, context: &Context<'_>, planned: Option<PlannedTypes<'_>>) -> Result<Attempt> {
        let definitions = planned.filter(|_| self.is_page()).map(|planned| planned.types.changes);
        let none = CustomFieldTypes::default();
        let custom = planned.map_or(&none, |planned| &planned.types.of);
        let PreparedList { entry, within, list_request, mut request, mut errors, deleted, view, summary } = self;
        let hidden = |other: &Entry| visibility::hidden(context, other);
        let relative_to = relative_to(context, &request, view.as_ref()).await?;
        let planner = Planner {
            catalog: context.catalog(),
            entry,
            custom,
            deleted,
            caller: context.caller(),
            visible: &hidden,
            relative_to: &relative_to,
        };
        planner.expand_defaults(&mut request);
        let summary = summary.map(|asked| planner.summary(&asked, &request, &mut errors));
        let view_condition = match &view {
            Some(view) => view.apply(planner, &mut request, &mut errors),
            None => Condition::always(),
        };
        let filters_condition = match &request.filters {
            Some(text) => errors.collect(filters_condition(planner, text))?,
            None => None,
        };
        let choices = match &request.choices_of {
            Some(name) => errors.collect(choices::named(context, entry, name))?,
            None => None,
        };
        let plan = planner.plan(&request, errors)?;
        include_access::check_access(context, entry, &plan.includes)?;
        let counts = [
            ("view_id", view_condition.values()),
            ("filters", filters_condition.as_ref().map_or(0, Condition::values)),
            ("q", plan.condition.values()),
        ];
        let requested = within
            .and(view_condition)
            .and(filters_condition.unwrap_or_else(Condition::always))
            .and(choices.unwrap_or_else(Condition::always))
            .and(plan.condition.clone());
        let name =
            if deleted { Cow::Owned(format!("deleted {}", entry.meta.plural)) } else { entry.meta.plural.into() };
        let time = relative_to.uses_time().then_some(relative_to.now);
        let read = |text: &String| {
            let cursors = Cursor::of_list(context.state().db.dialect(), &name, &requested, plan.ranking(), time);
            Ok::<_, Error>((cursors, cursors.read(text)?))
        };
        let cursor = plan.cursor.as_ref().map(read).transpose()?;
        let condition = visibility::listed(context, entry, deleted).and(requested);
        if condition.values() > MAX_BOUND_VALUES {
            // The error names the parameter with the most values.
            let (name, _) = counts.into_iter().max_by_key(|(_, count)| *count).unwrap_or(("q", 0));
            return Err(Error::invalid(name, too_many_values()));
        }
        let mut shape = match (&view, &plan.fields) {
            _ if summary.is_some() => Cow::Owned(entry.shape(std::iter::empty())),
            (_, Some(fields)) => Cow::Owned(entry.shape(fields.iter().copied())),
            (Some(view), None) => Cow::Owned(view.shape(planner)),
            (None, None) if deleted => field_access::shape_of(context, entry, restore::shown_in_list(entry)),
            (None, None) => field_access::list_shape(context, entry),
        };
        field_access::narrow(context, entry, &mut shape);
        for field in &plan.embedded {
            shape.to_mut().embed(field);
        }
        include::extend_projection(&mut shape, entry, &plan.includes);

        let cursor = cursor.as_ref().map(|(cursors, position)| (*cursors, position.as_ref()));
        let narrowed = OnceCell::new();
        let query = ListQuery {
            entry,
            shape: &shape,
            condition: &condition,
            plan: &plan,
            cursor,
            narrowed: &narrowed,
            definitions,
            uses_instant: relative_to.uses_instant(),
        };
        let summary = match &summary {
            Some(summary) => Some(SummaryQuery::of(context, query, summary, view.as_ref()).await?),
            None => None,
        };
        if request.explain.is_some() {
            let (order, statements) = match &summary {
                Some(summary) => (summary.order(), vec![summary.statement(context).await?]),
                None => (explain::order(&plan), select::statements(context, query).await?),
            };
            let plan = explain::explain(context, query.condition, order, statements).await?;
            return Ok(Attempt::Done(ListResponse::Plan(plan)));
        }
        if let Some(format) = list_request.format {
            let columns = view.as_ref().filter(|_| plan.fields.is_none()).map(|view| view.columns.as_slice());
            let form = CsvForm::of(&request)?;
            let ListRequest { head, revalidate, .. } = list_request;
            let exported = export::export(context, query, (format, form), columns, head, revalidate).await?;
            return Ok(Attempt::Done(ListResponse::All(format, exported)));
        }
        let key = match &summary {
            Some(summary) => summary.cache_key(context),
            None => CacheKey::of(context, query, view.as_ref())?,
        };
        let mut versioned = match key {
            Some(key) => key.versioned(context).await?,
            None => None,
        };
        let is_current = definitions.is_none() || versioned.as_ref().is_some_and(|now| now.definitions == definitions);
        if !is_current && planned.is_some_and(|planned| planned.is_cached) {
            return Ok(Attempt::StaleTypes);
        }
        let tag = versioned.as_ref().map(Versioned::tag);
        if let Some(tag) = &tag
            && list_request.conditions.matches_any(tag)
        {
            return Ok(Attempt::Done(ListResponse::Unchanged { tag: tag.clone() }));
        }
        let cached = versioned.as_mut().and_then(|versioned| versioned.page.take());
        let cached_page = match cached {
            Some(cached_page) => cached_page,
            None => {
                let cached_page = match &summary {
                    Some(summary) => CachedPage { body: summary.read(context).await?, next: None },
                    None => {
                        let page = select::read(context, query).await?;
                        let related = include::load(context, entry, &shape, &page.rows(), &plan.includes).await?;
                        let body = render::render(query, &page, &related, view.as_ref())?;
                        CachedPage { body, next: page.next }
                    }
                };
                if let Some(versioned) = versioned.filter(|_| is_current) {
                    versioned.store(context, &cached_page);
                }
                cached_page
            }
        };
        let link = match cursor {
            Some(_) => link(list_request, cached_page.next.as_deref())?,
            None => None,
        };
        Ok(Attempt::Done(ListResponse::Page { body: cached_page.body, link, tag }))
    }
}

/// The time at which relative times are resolved: that of the first page, which a cursor has, or now.
async fn relative_to(context: &Context<'_>, request: &Request, view: Option<&SavedView>) -> Result<RelativeTo> {
    let zone = if mentions_time(request, view) { company_zone(context.state()).await? } else { Tz::UTC };
    let first_page = request.cursor.as_deref().and_then(pinned_time);
    Ok(RelativeTo::new(first_page.unwrap_or_else(|| context.now()), zone, context.caller().user_id))
}

/// `<path?...&cursor=>; rel="first", <path?...&cursor=...>; rel="next"`, with the other parameters of the request.
fn link(list_request: ListRequest<'_>, next: Option<&str>) -> Result<Option<String>> {
    // A path that begins with `//` would be read as a host.
    let mut address = format!("</{}?", list_request.path.trim_start_matches('/'));
    for Pair { name, value } in decode(list_request.query)? {
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
