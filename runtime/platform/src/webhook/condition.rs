//! Conditions of webhooks: `when` over the record of an event, checked when a webhook is written, and evaluated at
//! fan-out and before each attempt.

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

    fn referred(&self, name: &str) -> Option<String> {
        expression::referred(Some(self.entry.meta.name), self.entry.meta.fields, name)
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
struct ConditionalWebhook {
    id: i64,
    events: Vec<String>,
    when: String,
    row: QueryResult,
    /// The checked condition over the records of each resource, by its name; the reason if it is invalid there.
    nodes: HashMap<&'static str, Result<Node, String>>,
}

/// Decision about one event for a webhook with a condition, other than to send it.
pub(super) enum Verdict {
    Excluded,
    /// The condition is not valid for this server, with the reason: a field is gone, its user may no longer read one, or a
    /// server of a later version has accepted it.
    Invalid(String),
}

/// The active webhooks with a condition: all, or some.
async fn load(
    state: &State,
    db: &Connection,
    rights: &Rights<'_>,
    only: Option<&[i64]>,
) -> Result<Vec<ConditionalWebhook>> {
    let mut sql = Sql::new(state.db.dialect(), "SELECT w.\"id\", w.\"events\", w.\"when\"");
    rights.write(&mut sql, &state.catalog);
    sql.push(" FROM \"webhooks\" w WHERE w.\"is_active\" = ").bind(true).push(" AND w.\"when\" IS NOT NULL");
    if let Some(ids) = only {
        sql.push(" AND ").in_ids("w.\"id\"", ids);
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
    fn subscribes(&self, event: &str) -> bool {
        self.events.iter().any(|name| name == ALL_EVENTS || name == event)
    }

    /// Decides about an event; none to send it. A body that is reduced to the id of its record has no fields to compare,
    /// and is sent.
    fn verdict(&mut self, entry: &Entry, rights: &Rights<'_>, body: &Json) -> Option<Verdict> {
        let ConditionalWebhook { when, row, nodes, .. } = self;
        let has_right = |right: &str| rights.holds(row, right);
        let checked = || {
            let checked = check(when, &EventRecord { entry, has_right: &has_right });
            checked.map_err(|mistake| format!("`when` {}", message(entry, when, &mistake)))
        };
        match nodes.entry(entry.meta.name).or_insert_with(checked) {
            Err(reason) => Some(Verdict::Invalid(reason.clone())),
            Ok(_) if body["truncated"] == true => None,
            Ok(node) => (!holds(entry, node, &body["data"][entry.meta.name])).then_some(Verdict::Excluded),
        }
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

/// Decides about events for the webhooks with a condition, all active ones or some. The pairs of webhook and event that
/// are missing in the result are to be sent.
///
/// # Errors
/// When the database fails.
pub(super) async fn verdicts(
    state: &State,
    db: &Connection,
    only: Option<&[i64]>,
    events: &[i64],
) -> Result<HashMap<(i64, i64), Verdict>> {
    let rights = Rights::of_fields(&state.catalog);
    let mut webhooks = load(state, db, &rights, only).await?;
    let mut found = HashMap::new();
    if webhooks.is_empty() {
        return Ok(found);
    }
    for ids in events.chunks(BODIES_AT_ONCE) {
        let mut sql = Sql::new(state.db.dialect(), "SELECT \"id\", \"name\", \"body\" FROM \"events\" WHERE ");
        sql.in_ids("\"id\"", ids);
        for row in sql.all(db).await? {
            let (id, name): (i64, String) = (row.try_get("", "id")?, row.try_get("", "name")?);
            let mut subscribed = webhooks.iter_mut().filter(|webhook| webhook.subscribes(&name)).peekable();
            if subscribed.peek().is_none() {
                continue;
            }
            let entry = resource_of(&state.catalog, &name);
            let body: Json = serde_json::from_str(&row.try_get::<String>("", "body")?).unwrap_or_default();
            for webhook in subscribed {
                let verdict = match entry {
                    Some(entry) => webhook.verdict(entry, &rights, &body),
                    None => {
                        Some(Verdict::Invalid(format!("`when` cannot be checked: no resource has the event `{name}`")))
                    }
                };
                found.extend(verdict.map(|verdict| ((webhook.id, id), verdict)));
            }
        }
    }
    Ok(found)
}

/// The pairs of webhook and event that a condition excludes: of all active webhooks, or of one.
///
/// An event for which a condition is invalid is not excluded. It gets a delivery, whose attempts fail with the reason until
/// the condition is corrected or a server of a later version makes an attempt.
///
/// # Errors
/// When the database fails.
pub(super) async fn excluded(
    state: &State,
    db: &Connection,
    only: Option<i64>,
    events: &[i64],
) -> Result<Vec<(i64, i64)>> {
    let found = verdicts(state, db, only.as_ref().map(std::slice::from_ref), events).await?;
    let excluded = found.into_iter().filter(|(_, verdict)| matches!(verdict, Verdict::Excluded));
    Ok(excluded.map(|(pair, _)| pair).collect())
}
