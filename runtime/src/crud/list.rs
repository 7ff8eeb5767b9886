//! A page of records, or all of them: `GET /<path>`.

use std::borrow::Cow;
use std::fmt::Write as _;

use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::sync::OnceCell;

use super::again::{Again, Answer, Versioned};
use super::export::{Exported, Format};
use super::include;
use super::page::{self, Reading};
use super::version::Conditions;
use super::{explain, export, restore, visibility, written};
use crate::catalog::Entry;
use crate::context::Context;
use crate::custom_field::{self, CustomFieldTypes, Types};
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
    /// The tags of the answers that the client has.
    pub conditions: &'r Conditions,
}

/// The answer to a list.
pub enum Listed {
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
    let plural = entry.meta.plural;
    let names_custom = entry.meta.custom_fields && (view.is_some() || mentions_custom_fields(&request));
    let begun = Begun { entry, within, ask, request, errors, deleted, view };
    if !names_custom {
        return Ok(begun.answer(context, None).await?.listed);
    }
    // To ask for the types first is a round trip of its own. A page says itself whether they are still those of lately.
    let Some(lately) = context.state().custom_fields.types(plural).filter(|_| begun.is_page()) else {
        let now = custom_field::load_types(context, plural).await?;
        return Ok(begun.answer(context, Some(&now)).await?.listed);
    };
    let answer = begun.clone().answer(context, Some(&lately)).await;
    let may_be_another = match &answer {
        // An empty page tells nothing.
        Ok(answered) => !answered.is_current,
        // What names a field of another type, or none, may be right by now.
        Err(error) => matches!(error, Error::Invalid(_)),
    };
    if may_be_another {
        let now = custom_field::load_types(context, plural).await?;
        if now.of != lately.of {
            return Ok(begun.answer(context, Some(&now)).await?.listed);
        }
    }
    Ok(answer?.listed)
}

/// A list that is asked for, of which it is not known yet what the custom fields are that it names.
#[derive(Clone)]
struct Begun<'r> {
    entry: &'r Entry,
    within: Condition,
    ask: Asked<'r>,
    request: Request,
    errors: FieldErrors,
    deleted: bool,
    view: Option<View>,
}

struct Answered {
    listed: Listed,
    /// Whether it told that the types of custom fields are still those that it was planned with.
    is_current: bool,
}

impl Begun<'_> {
    fn is_page(&self) -> bool {
        self.ask.format.is_none() && self.request.explain.is_none()
    }

    /// Answers it with the custom fields that it may name.
    async fn answer(self, context: &Context<'_>, types: Option<&Types>) -> Result<Answered> {
        let definitions = types.filter(|_| self.is_page()).map(|types| types.changes);
        let none = CustomFieldTypes::default();
        let custom = types.map_or(&none, |types| &types.of);
        let Begun { entry, within, ask, mut request, mut errors, deleted, view } = self;
        let seen = |other: &Entry| visibility::hidden(context, other);
        let planner = Planner { catalog: context.catalog(), entry, custom, deleted, seen: &seen };
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
        let name =
            if deleted { Cow::Owned(format!("deleted {}", entry.meta.plural)) } else { entry.meta.plural.into() };
        let read = |text: &String| {
            let cursors = Cursor::of_list(context.state().db.dialect(), &name, &asked, plan.ranking());
            Ok::<_, Error>((cursors, cursors.read(text)?))
        };
        let cursor = plan.cursor.as_ref().map(read).transpose()?;
        let condition = visibility::listed(context, entry, deleted).and(asked);
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
            let listed = Listed::Plan(explain::explain(context, reading).await?);
            return Ok(Answered { listed, is_current: true });
        }
        if let Some(format) = ask.format {
            let columns = view.as_ref().filter(|_| plan.fields.is_none()).map(View::columns);
            let exported = export::export(context, reading, format, columns, ask.head).await?;
            return Ok(Answered { listed: Listed::All(format, exported), is_current: true });
        }
        let mut versioned = match Again::of(context, reading, view.as_ref())? {
            Some(again) => again.versioned(context).await?,
            None => None,
        };
        let tag = versioned.as_ref().map(Versioned::tag);
        if let Some(tag) = &tag
            && ask.conditions.knows(tag)
        {
            return Ok(Answered { listed: Listed::Unchanged { tag: tag.clone() }, is_current: true });
        }
        let known = versioned.as_mut().and_then(|versioned| versioned.answer.take());
        let (answer, is_current) = match known {
            Some(answer) => (answer, true),
            None => {
                let page = page::read(context, reading).await?;
                let related = include::load(context, entry, &shape, &page.rows(), &plan.includes).await?;
                let body = written::written(reading, &page, &related, view.as_ref())?;
                let answer = Answer { body, next: page.next };
                if let Some(versioned) = versioned.filter(|_| page.is_current) {
                    versioned.keep(context, &answer);
                }
                (answer, page.is_current)
            }
        };
        let link = match cursor {
            Some(_) => link(ask, answer.next.as_deref())?,
            None => None,
        };
        Ok(Answered { listed: Listed::Page { body: answer.body, link, tag }, is_current })
    }
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
