//! `GET /search`: records of all resources that the caller may read, found by their text fields.
//!
//! Each resource is searched by a list request with `search`, so that abilities, visibility of records and rights of
//! fields are those of its list.

mod excerpt;

use std::collections::BTreeSet;

use futures_util::StreamExt;
use futures_util::stream::iter;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::BoxFuture;
use super::list::{ListRequest, ListResponse, list};
use crate::catalog::{Entry, title_fields, title_of, title_part};
use crate::db::fold;
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{FieldMeta, Operation};
use crate::ops::{Access, Context, endpoints};
use crate::query::{Condition, Pair, decode, search_fields, search_words};
use crate::suggest::hint;

pub use charter_model::reserved::SEARCH_PATH as SEARCH;

/// Minimum length of the text: almost every record contains a single letter.
pub const MIN_CHARACTERS: usize = 2;
/// Number of records if the request does not set one, and its limit.
pub const DEFAULT_LIMIT: usize = 20;
pub const MAX_LIMIT: usize = 50;
/// Limit on the records of one resource.
pub const MAX_PER_RESOURCE: usize = 10;
/// Limit on the resources that one request searches at the same time, each on its own connection.
const CONCURRENT_RESOURCES: usize = 4;

/// The resources that a caller's search covers if the request names none: those of the application first. Resources
/// whose records only the server creates, such as the audit log, are searched if they declare `search`.
pub fn searched<'c>(context: &Context<'c>) -> Vec<&'c Entry> {
    let is_searched = |entry: &&Entry| {
        let has_names = entry.meta.operations.contains(&Operation::Create) || !entry.meta.search.is_empty();
        has_names && is_searchable(context, entry)
    };
    let mut entries: Vec<&Entry> = context.catalog().entries().iter().filter(is_searched).collect();
    entries.sort_by_key(|entry| entry.behavior.is_platform);
    entries
}

/// True if the caller may list the resource and read some text of it. Files belong to other records and are left out.
fn is_searchable(context: &Context<'_>, entry: &Entry) -> bool {
    entry.is_listed()
        && !entry.is_attached()
        && Access::read(entry).allows(context.caller())
        && !search_fields(entry, context.caller()).is_empty()
}

/// A search, as parsed from the query string.
struct Search<'c> {
    text: String,
    words: Vec<String>,
    limit: usize,
    entries: Vec<&'c Entry>,
}

impl<'c> Search<'c> {
    fn parse(context: &Context<'c>, query: &str) -> Result<Search<'c>> {
        let mut errors = FieldErrors::default();
        let (mut text, mut limit, mut names) = (String::new(), DEFAULT_LIMIT, None);
        for Pair { name, value } in decode(query)? {
            match name.as_str() {
                "q" => text = value.trim().to_string(),
                "limit" => match value.trim().parse::<usize>() {
                    Ok(number) if number >= 1 => limit = number.min(MAX_LIMIT),
                    _ => errors.add("limit", "must be a whole number of at least 1"),
                },
                "resources" | "resources[]" if value.trim().is_empty() => {}
                "resources" | "resources[]" => {
                    let list = value.split(',').map(|name| name.trim().to_string()).filter(|name| !name.is_empty());
                    names.get_or_insert_with(BTreeSet::new).extend(list);
                }
                _ => {}
            }
        }
        let words = search_words(&text).unwrap_or_else(|problem| {
            errors.add("q", problem);
            Vec::new()
        });
        if text.chars().count() < MIN_CHARACTERS {
            errors.add("q", format!("must have at least {MIN_CHARACTERS} characters"));
        }
        let entries = match names {
            None => searched(context),
            Some(names) => named(context, &names, &mut errors),
        };
        errors.into_result()?;
        Ok(Search { text, words, limit, entries })
    }
}

/// The resources that a request names. One that the caller may not read is unknown.
fn named<'c>(context: &Context<'c>, names: &BTreeSet<String>, errors: &mut FieldErrors) -> Vec<&'c Entry> {
    let all = context.catalog().entries().iter();
    let mut known: Vec<&Entry> = all.filter(|entry| is_searchable(context, entry)).collect();
    for name in names {
        if !known.iter().any(|entry| entry.meta.plural == name) {
            let hint = hint(name, known.iter().map(|entry| entry.meta.plural));
            errors.add("resources", format!("refers to `{name}`, which is no resource that you can search{hint}"));
        }
    }
    known.retain(|entry| names.contains(entry.meta.plural));
    known
}

/// A record that was found.
struct Found {
    record: Value,
    /// True if the title begins with the text.
    is_prefix: bool,
}

/// Returns `{"data": [{"resource", "id", "title", "field", "text", "url"}], "meta": {"incomplete": []}}`. `incomplete` has
/// the resources whose statement timed out. `list_request` is the template of the list requests.
///
/// # Errors
/// 422 for each invalid parameter, and [`Error::Unavailable`] if no resource could be searched.
pub async fn search(context: &Context<'_>, query: &str, list_request: ListRequest<'_>) -> Result<Value> {
    let search = Search::parse(context, query)?;
    let all: Vec<BoxFuture<'_, Result<Vec<Found>>>> =
        search.entries.iter().map(|entry| read(context, entry, &search, list_request)).collect();
    let results: Vec<Result<Vec<Found>>> = iter(all).buffered(CONCURRENT_RESOURCES).collect().await;
    let (mut found, mut incomplete, mut unavailable) = (Vec::new(), Vec::new(), None);
    for (entry, result) in search.entries.iter().zip(results) {
        match result {
            Ok(records) => found.extend(records),
            Err(error @ Error::Unavailable(_)) => {
                incomplete.push(entry.meta.plural);
                unavailable = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    if let Some(error) = unavailable.filter(|_| incomplete.len() == search.entries.len()) {
        return Err(error);
    }
    // Stable: the order of the resources remains within both parts.
    found.sort_by_key(|found| !found.is_prefix);
    let data: Vec<Value> = found.into_iter().take(search.limit).map(|found| found.record).collect();
    Ok(json!({ "data": data, "meta": { "incomplete": incomplete } }))
}

/// Searches one resource.
fn read<'a>(
    context: &'a Context<'_>,
    entry: &'a Entry,
    search: &'a Search<'_>,
    list_request: ListRequest<'a>,
) -> BoxFuture<'a, Result<Vec<Found>>> {
    Box::pin(async move {
        let fields = search_fields(entry, context.caller());
        let may_read = |field: &&FieldMeta| entry.may_read_field(field, context.caller());
        let titles = title_fields(entry).into_iter().filter(may_read);
        let parent = entry.meta.under.and_then(|under| entry.field(under.field)).filter(may_read);
        let selected: BTreeSet<&str> =
            fields.iter().copied().chain(titles).chain(parent).map(|field| field.name).chain(["id"]).collect();
        let query = format!(
            "search={}&per_page={}&count=none&fields={}",
            utf8_percent_encode(&search.text, NON_ALPHANUMERIC),
            search.limit.min(MAX_PER_RESOURCE),
            selected.into_iter().collect::<Vec<_>>().join(",")
        );
        let list_request = ListRequest { query: &query, ..list_request };
        let ListResponse::Page { body, .. } = list(context, entry, Condition::always(), list_request).await? else {
            return Err(Error::internal("a search is answered by a page"));
        };
        let mut body: Value = serde_json::from_slice(&body).map_err(Error::internal)?;
        let Value::Array(records) = body[entry.meta.plural].take() else { return Ok(Vec::new()) };
        Ok(records.iter().map(|record| found(context, entry, search, &fields, record)).collect())
    })
}

fn found(context: &Context<'_>, entry: &Entry, search: &Search<'_>, fields: &[&FieldMeta], record: &Value) -> Found {
    let text_of = |field: &FieldMeta| record[field.name].as_str().filter(|text| !text.trim().is_empty());
    let id = record["id"].as_i64().unwrap_or_default();
    let parent = entry.meta.under.and_then(|under| record[under.field].as_i64());
    let has_url = entry.meta.operations.contains(&Operation::Show) && (entry.meta.under.is_none() || parent.is_some());
    let first = fields.first().and_then(|field| text_of(field)).unwrap_or_default();
    let contains = |field: &&&FieldMeta| {
        text_of(field).is_some_and(|text| search.words.iter().any(|word| fold(text).contains(word)))
    };
    let matched = fields.iter().find(contains);
    let label = || format!("{} {id}", entry.meta.label);
    let record = json!({
        "resource": entry.meta.plural,
        "id": id,
        "title": title_of(entry, |name| record.get(name).and_then(title_part)).map_or_else(label, |text| excerpt::around(&text, &[])),
        "field": matched.map(|field| field.name),
        "text": matched.and_then(|field| text_of(field)).map(|text| excerpt::around(text, &search.words)),
        "url": has_url.then(|| endpoints::location(context.catalog(), entry, parent, id)),
    });
    Found { record, is_prefix: fold(first).starts_with(&fold(&search.text)) }
}
