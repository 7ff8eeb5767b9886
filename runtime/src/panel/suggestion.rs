//! Suggestions for inputs, as JSON: records by name or by another field that stands for them, and time zones.

use chrono::{Offset, Utc};
use chrono_tz::TZ_VARIANTS;
use salvo::http::StatusCode;
use serde_json::{Value, json};

use super::display_name::{is_listable, of};
use super::request::PanelRequest;
use super::url;
use crate::server::Response;
use charter_core::catalog::{Entry, name_field, title_fields};
use charter_core::error::{Error, Result};
use charter_core::meta::{Access, FieldMeta, Kind, Rule, Shown};
use charter_core::ops::input::choices;
use charter_core::query::{CHOICES_OF, Pair, Predicate, allows};

/// Suggestions for a reference.
const MAX_RECORDS: usize = 10;
/// Suggestions for a value, such as a currency or a time zone: people scroll to it.
const MAX_VALUES: usize = 60;
/// Fields that distinguish records with similar names, in order of preference, if the resource declares no search.
const NOTE_FIELDS: &[&str] = &["code", "sku", "email", "reference", "number", "name"];

/// The URL of the suggestions for records.
pub(super) fn url_of(entry: &Entry) -> String {
    format!("/panel/titles/{}", entry.meta.plural)
}

/// The same for the records that a reference field can get.
pub(super) fn url_of_choices(request: &PanelRequest<'_>, entry: &Entry, field: &'static FieldMeta) -> String {
    match choices::name(&request.state.catalog, field) {
        Some(name) => format!("{}?{CHOICES_OF}={name}", url_of(entry)),
        None => url_of(entry),
    }
}

/// The URL of the suggestions for a text that another resource must contain (`exists:`) or for a time zone.
pub(super) fn url_of_value(request: &PanelRequest<'_>, field: &FieldMeta) -> Option<String> {
    if let Some((entry, by)) = existing(request, field) {
        return Some(format!("{}?by={}", url_of(entry), by.name));
    }
    let is_zone = field.name == "timezone" && matches!(field.kind, Kind::String { .. });
    is_zone.then(|| "/panel/time_zones".into())
}

/// The resource and the field that must contain the value of `field`, if the user may list them.
pub(super) fn existing<'r>(
    request: &'r PanelRequest<'_>,
    field: &FieldMeta,
) -> Option<(&'r Entry, &'static FieldMeta)> {
    let Kind::String { .. } = field.kind else { return None };
    let (resource, by) = field.rules.iter().find_map(|rule| match rule {
        Rule::Exists { resource, field } => Some((*resource, *field)),
        _ => None,
    })?;
    let entry = request.state.catalog.linked(resource);
    let by = entry.field(by).filter(|by| is_text(request, entry, by))?;
    is_listable(request, entry).then_some((entry, by))
}

/// Returns true if a list shows the user this field, and its values are text.
fn is_text(request: &PanelRequest<'_>, entry: &Entry, field: &FieldMeta) -> bool {
    let is_shown = field.shown == Shown::Always && !matches!(field.access, Access::Secret | Access::WriteOnly);
    is_shown && matches!(field.kind, Kind::String { .. }) && request.may_read_field(entry, field)
}

/// The field of the second line.
fn note_field(
    request: &PanelRequest<'_>,
    entry: &Entry,
    title: Option<&'static FieldMeta>,
) -> Option<&'static FieldMeta> {
    let names = entry.meta.search.iter().chain(NOTE_FIELDS);
    let mut fields = names.filter_map(|name| entry.field(name));
    let titles = title_fields(entry);
    let is_shown = |field: &FieldMeta| titles.iter().any(|title| title.name == field.name);
    fields.find(|field| {
        !is_shown(field) && title.is_none_or(|title| title.name != field.name) && is_text(request, entry, field)
    })
}

/// The suggestions for the parameter `q`, or the one for the record `id`, as `[{"id", "title", "note"}]`. With `by`, the
/// value of that field stands for the record.
pub(super) async fn records(request: &PanelRequest<'_>, plural: &str) -> Result<Response> {
    let entry =
        request.state.catalog.by_plural(plural).filter(|entry| is_listable(request, entry)).ok_or(Error::NotFound)?;
    let pairs = request.raw.query_pairs()?;
    let parameter = |name: &str| pairs.iter().find(|pair| pair.name == name).map(|pair: &Pair| pair.value.as_str());
    let by = match parameter("by") {
        Some(name) => Some(entry.field(name).filter(|field| is_text(request, entry, field)).ok_or(Error::NotFound)?),
        None => None,
    };
    let title = by.or_else(|| name_field(entry));
    let note = note_field(request, entry, title);
    let found = match parameter("id") {
        Some(id) => {
            let id: i64 = id.parse().map_err(|_| Error::NotFound)?;
            let mut body = request.get_json(&format!("/{}/{id}", entry.meta.path)).await?;
            vec![body[entry.meta.name].take()]
        }
        None => {
            let (text, most) =
                (parameter("q").unwrap_or_default(), if by.is_some() { MAX_VALUES } else { MAX_RECORDS });
            find(request, entry, title, note, Wanted { text, most, choices_of: parameter(CHOICES_OF) }).await?
        }
    };
    let suggestion = |record: &Value| {
        let (id, title) = match by {
            Some(field) => (record[field.name].clone(), record[field.name].as_str().unwrap_or_default().to_string()),
            None => (record["id"].clone(), of(entry, record)),
        };
        let note = note.and_then(|field| record[field.name].as_str()).filter(|note| !note.trim().is_empty());
        match note {
            Some(note) => json!({ "id": id, "title": title, "note": note }),
            None => json!({ "id": id, "title": title }),
        }
    };
    Ok(json_list(found.iter().map(suggestion).collect()))
}

/// The first records whose name contains a text: id and name.
pub(super) async fn by_name(request: &PanelRequest<'_>, entry: &Entry, text: &str) -> Result<Vec<(Value, String)>> {
    let wanted = Wanted { text, most: MAX_RECORDS, choices_of: None };
    let found = find(request, entry, name_field(entry), None, wanted).await?;
    Ok(found.iter().map(|record| (record["id"].clone(), of(entry, record))).collect())
}

/// The id of the only record with exactly this title, in upper or lower case; `None` if the user may not list the resource, or
/// the list cannot be read.
pub(super) async fn id_of(request: &PanelRequest<'_>, entry: &Entry, title: &str) -> Option<Value> {
    if !is_listable(request, entry) {
        return None;
    }
    // A text that the API refuses, such as a very long one, is no title.
    let found = by_name(request, entry, title).await.unwrap_or_default();
    let folded = title.trim().to_lowercase();
    let mut same = found.into_iter().filter(|(_, found)| found.trim().to_lowercase() == folded);
    same.next().filter(|_| same.next().is_none()).map(|(id, _)| id)
}

/// The wanted suggestions.
struct Wanted<'a> {
    text: &'a str,
    most: usize,
    /// The reference field that limits the records.
    choices_of: Option<&'a str>,
}

/// The first records of which one of two fields contains a text. Those whose title begins with it come first, so that a
/// title equal to the text is the first one.
async fn find(
    request: &PanelRequest<'_>,
    entry: &Entry,
    title: Option<&'static FieldMeta>,
    note: Option<&'static FieldMeta>,
    wanted: Wanted<'_>,
) -> Result<Vec<Value>> {
    let Wanted { text, most, choices_of } = wanted;
    let text = text.trim();
    let mut query = format!("per_page={most}&count=none");
    if let Some(name) = choices_of {
        query.push_str(&format!("&{CHOICES_OF}={}", url::encode(name)));
    }
    if let Some(title) = title {
        let mut names: Vec<&str> = [Some(title), note].into_iter().flatten().map(|field| field.name).collect();
        for field in title_fields(entry).iter().filter(|_| entry.title.is_some()) {
            if !names.contains(&field.name) {
                names.push(field.name);
            }
        }
        query.push_str(&format!("&fields=id,{}", names.join(",")));
        if title.sortable {
            query.push_str(&format!("&sort={}", title.name));
        }
    }
    let accepting = |fields: &[Option<&'static FieldMeta>], predicate: Predicate| -> Vec<Value> {
        let fields = fields.iter().flatten().filter(|field| !text.is_empty() && allows(field, predicate, field.kind));
        let conditions = fields.enumerate().map(|(index, field)| {
            let logic = match index {
                0 => "and",
                _ => "or",
            };
            json!({ "field": field.name, "predicate": predicate.name(), "value": text, "logic": logic })
        });
        conditions.collect()
    };
    let first = accepting(&[title], Predicate::Start);
    let mut found = if first.is_empty() { Vec::new() } else { read(request, entry, &query, first).await? };
    if found.len() < most {
        for record in read(request, entry, &query, accepting(&[title, note], Predicate::Cont)).await? {
            if found.len() < most && !found.iter().any(|known| known["id"] == record["id"]) {
                found.push(record);
            }
        }
    }
    Ok(found)
}

/// One page of records under these conditions.
async fn read(request: &PanelRequest<'_>, entry: &Entry, query: &str, conditions: Vec<Value>) -> Result<Vec<Value>> {
    let filters = match conditions.is_empty() {
        true => String::new(),
        false => format!("&filters={}", url::encode(&Value::Array(conditions).to_string())),
    };
    let mut body = request.get_json(&format!("/{}?{query}{filters}", entry.meta.path)).await?;
    match body[entry.meta.plural].take() {
        Value::Array(records) => Ok(records),
        _ => Ok(Vec::new()),
    }
}

/// The time zones whose name contains the parameter `q`, each with its present offset.
pub(super) fn time_zones(request: &PanelRequest<'_>) -> Result<Response> {
    let typed = request.raw.query_pairs()?.into_iter().find(|pair| pair.name == "q").map(|pair| pair.value);
    let folded = |text: &str| text.trim().to_lowercase().replace(' ', "_");
    let text = folded(&typed.unwrap_or_default());
    let now = request.state.clock.now().with_timezone(&Utc);
    let zones = TZ_VARIANTS.iter().filter(|zone| zone.name().to_lowercase().contains(&text)).take(MAX_VALUES);
    let suggestion = |zone: &chrono_tz::Tz| {
        let offset = now.with_timezone(zone).offset().fix();
        json!({ "id": zone.name(), "title": zone.name(), "note": format!("UTC{offset}") })
    };
    Ok(json_list(zones.map(suggestion).collect()))
}

fn json_list(suggestions: Vec<Value>) -> Response {
    Response::json(StatusCode::OK, Value::Array(suggestions).to_string().into_bytes())
}
