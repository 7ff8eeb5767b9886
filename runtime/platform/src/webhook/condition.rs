//! Conditions of webhooks: `when` over the record of an event, checked when a webhook is written and evaluated at fan-out.

use std::collections::HashMap;

use charter_model::expression::{Field, Mistake, Node, Scope, Type, check};
use chrono_tz::Tz;
use sea_orm::{QueryResult, Value};
use serde_json::Value as Json;

use super::subscriptions::{Rights, resource_of};
use charter_core::catalog::{Catalog, Entry};
use charter_core::db::{Connection, Sql};
use charter_core::error::Result;
use charter_core::expression::{self, Request};
use charter_core::meta::{Access, FieldMeta, Shown};
use charter_core::ops::State;
use charter_core::principal::Principal;
use charter_core::query::read_value;
use charter_core::suggest::hint;

/// Subscription to every event.
pub(super) const ALL_EVENTS: &str = "*";

/// Bodies of events that are read at a time; each has at most 256 KiB.
const BODIES_AT_ONCE: usize = 50;

/// The record of the events of a resource, with the fields that a webhook may read.
struct EventRecord<'a> {
    entry: &'a Entry,
    has_right: &'a dyn Fn(&str) -> bool,
}

impl EventRecord<'_> {
    fn has(&self, field: &FieldMeta) -> bool {
        let is_hidden = matches!(field.access, Access::Secret | Access::WriteOnly | Access::Internal);
        let is_shown = field.is_column() && field.shown != Shown::Never && !is_hidden;
        is_shown && (self.has_right)(self.entry.read_right(field))
    }
}

impl Scope for EventRecord<'_> {
    fn field(&self, name: &str) -> Option<Type> {
        let field = self.entry.field(name).filter(|field| self.has(field))?;
        Type::of(&field.kind, field.rules)
    }

    fn names(&self) -> Vec<String> {
        let fields = self.entry.meta.fields.iter().filter(|field| self.has(field));
        fields.map(|field| field.name.to_owned()).collect()
    }
}

/// The reason why a text is no condition over the record of each of these events, as a message under `when`.
pub(super) fn problem(
    catalog: &Catalog,
    events: &[String],
    when: &str,
    has_right: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let subscribes = |entry: &&Entry| {
        let own = entry.outbox_events();
        events.iter().any(|event| event == ALL_EVENTS && !own.is_empty() || own.contains(event))
    };
    catalog.entries().iter().filter(subscribes).find_map(|entry| {
        if entry.meta.singleton {
            return Some(format!("cannot be checked for {}, whose events have no record", entry.meta.name));
        }
        let mistake = check(when, &EventRecord { entry, has_right }).err()?;
        Some(message(entry, when, &mistake))
    })
}

fn message(entry: &Entry, when: &str, mistake: &Mistake) -> String {
    let before = when.get(..mistake.span.start).unwrap_or(when);
    let written = when.get(mistake.span.clone()).unwrap_or_default();
    let help = match &mistake.help {
        Some(help) => format!("; {help}"),
        None => hint(written, mistake.known.iter().map(String::as_str)),
    };
    let (place, name) = (before.chars().count() + 1, entry.meta.name);
    format!("is not valid for {name} at character {place}: {}{help}", mistake.message)
}

/// A webhook with a condition.
pub(super) struct ConditionalWebhook {
    pub id: i64,
    events: Vec<String>,
    when: String,
    row: QueryResult,
    /// The checked condition over the records of each resource, by its name; none if it is invalid there.
    nodes: HashMap<&'static str, Option<Node>>,
}

/// The active webhooks with a condition: all, or one.
///
/// # Errors
/// When the database fails.
pub(super) async fn load(
    state: &State,
    db: &Connection,
    rights: &Rights<'_>,
    only: Option<i64>,
) -> Result<Vec<ConditionalWebhook>> {
    let mut sql = Sql::new(state.db.dialect(), "SELECT w.\"id\", w.\"events\", w.\"when\"");
    rights.write(&mut sql, &state.catalog);
    sql.push(" FROM \"webhooks\" w WHERE w.\"is_active\" = ").bind(true).push(" AND w.\"when\" IS NOT NULL");
    if let Some(id) = only {
        sql.push(" AND w.\"id\" = ").bind(id);
    }
    let webhook = |row: QueryResult| {
        let events: Json = row.try_get("", "events")?;
        Ok(ConditionalWebhook {
            id: row.try_get("", "id")?,
            events: serde_json::from_value(events).unwrap_or_default(),
            when: row.try_get("", "when")?,
            row,
            nodes: HashMap::new(),
        })
    };
    sql.all(db).await?.into_iter().map(webhook).collect()
}

impl ConditionalWebhook {
    /// The reason why its condition is invalid by now: a field is gone, or its user may no longer read one.
    pub(super) fn problem(&self, catalog: &Catalog, rights: &Rights<'_>) -> Option<String> {
        problem(catalog, &self.events, &self.when, &|right| rights.holds(&self.row, right))
    }

    fn subscribes(&self, event: &str) -> bool {
        self.events.iter().any(|name| name == ALL_EVENTS || name == event)
    }

    /// True if an event meets the condition. A body that is reduced to the id of its record has no fields to compare, and
    /// is sent.
    fn admits(&mut self, entry: &Entry, rights: &Rights<'_>, body: &Json) -> bool {
        let ConditionalWebhook { when, row, nodes, .. } = self;
        let has_right = |right: &str| rights.holds(row, right);
        let checked = || check(when, &EventRecord { entry, has_right: &has_right }).ok();
        let Some(node) = nodes.entry(entry.meta.name).or_insert_with(checked) else { return false };
        body["truncated"] == true || holds(entry, node, &body["data"][entry.meta.name])
    }
}

/// True if a condition holds for the record of an event.
fn holds(entry: &Entry, node: &Node, record: &Json) -> bool {
    let current = |field: &Field| Ok(entry.field(&field.name).and_then(|field| value(field, &record[field.name])));
    // The condition is about the record alone.
    let caller = Principal::default();
    let request = Request { caller: &caller, now: chrono::DateTime::UNIX_EPOCH, zone: Tz::UTC };
    matches!(expression::holds(node, &request, &current), Ok(Some(true)))
}

/// The value of a field in the JSON of a record.
fn value(field: &FieldMeta, json: &Json) -> Option<Value> {
    let text = match json {
        Json::String(text) => text.clone(),
        Json::Bool(_) | Json::Number(_) => json.to_string(),
        Json::Null | Json::Array(_) | Json::Object(_) => return None,
    };
    read_value(field.kind, &text).ok()
}

/// The pairs of webhook and event that a condition excludes: of all active webhooks, or of one.
///
/// # Errors
/// When the database fails.
pub(super) async fn excluded(
    state: &State,
    db: &Connection,
    only: Option<i64>,
    events: &[i64],
) -> Result<Vec<(i64, i64)>> {
    let rights = Rights::of_fields(&state.catalog);
    let mut webhooks = load(state, db, &rights, only).await?;
    let mut found = Vec::new();
    if webhooks.is_empty() {
        return Ok(found);
    }
    for ids in events.chunks(BODIES_AT_ONCE) {
        let mut sql = Sql::new(state.db.dialect(), "SELECT \"id\", \"name\", \"body\" FROM \"events\" WHERE ");
        sql.in_ids("\"id\"", ids);
        for row in sql.all(db).await? {
            let (id, name): (i64, String) = (row.try_get("", "id")?, row.try_get("", "name")?);
            let Some(entry) = resource_of(&state.catalog, &name) else { continue };
            let mut body = None;
            for webhook in webhooks.iter_mut().filter(|webhook| webhook.subscribes(&name)) {
                if body.is_none() {
                    body = Some(serde_json::from_str::<Json>(&row.try_get::<String>("", "body")?).unwrap_or_default());
                }
                if body.as_ref().is_some_and(|body| !webhook.admits(entry, &rights, body)) {
                    found.push((webhook.id, id));
                }
            }
        }
    }
    Ok(found)
}
