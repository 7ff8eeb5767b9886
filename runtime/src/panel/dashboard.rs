//! The first page: whether all is well. What is due, what fails, how much there is, and how much is going on.

use chrono::{DateTime, NaiveDate};
use maud::{Markup, html};
use serde_json::Value;

use super::place::Place;
use super::recent::Recent;
use super::title;
use super::visit::Visit;
use super::{cell, page, words};
use crate::catalog::Entry;
use crate::error::Result;
use crate::meta::{ActionMeta, FieldMeta, Kind, Operation};
use crate::query::{Predicate, allows};
use crate::server::Answer;

/// Times and dates by which a record can be due, the best first.
const DUE: &[&str] = &["due_at", "due_on", "ends_at", "ends_on", "starts_at", "starts_on"];
const FEW: usize = 8;
/// The resource whose records may fail.
const WEBHOOK: &str = "webhook";

/// The page.
pub async fn answer(visit: &Visit<'_>) -> Result<Answer> {
    let catalog = &visit.state.catalog;
    let reached = |entry: &&Entry| title::is_reached(visit, entry);
    let mut due = Vec::new();
    let mut counts = Vec::new();
    for entry in catalog.entries().iter().filter(reached) {
        if let Some((open, time)) = dated(entry) {
            due.push(of_due(visit, entry, &open, time).await?);
        }
        let body = visit.read(&format!("/{}?per_page=1&fields=id", entry.meta.path)).await?;
        counts.push((entry, body["meta"]["total"].as_i64().unwrap_or_default()));
    }
    let recent = Recent::load(visit).await?;
    let has_webhooks = counts.iter().any(|(entry, total)| entry.meta.name == WEBHOOK && *total > 0);
    let content = html! {
        (page::head(&[], &html! { "Overview" }, &html! {}))
        div .columns {
            div .main-column {
                @for list in due { (list) }
                @if has_webhooks { (webhooks(visit).await?) }
            }
            div .side-column {
                // Changes of everything are for whom the trail of them is.
                @if visit.may_read(catalog.linked("audit_entry")) { section .card { h2 { "Going on" } (recent.all()) } }
                section .card {
                    h2 { "How much there is" }
                    dl .counts { @for (entry, total) in counts {
                        div { dt { a href={ "/" (entry.meta.path) } { (words::plural(entry.meta)) } } dd { (recent.made(visit, entry)) span .amount { (visit.locale.amounts.count(total)) } } }
                    } }
                }
            }
        }
    };
    Ok(page::answer(visit, "Overview", &content))
}

/// A resource whose records are done by an action, with what is asked for those that are not, and the time by which they
/// should be.
fn dated(entry: &Entry) -> Option<(String, &'static FieldMeta)> {
    let asked =
        |name: &str, predicate: Predicate| entry.field(name).filter(|field| allows(field, predicate, field.kind));
    let open = |action: &ActionMeta| {
        let done = action.until.filter(|until| until.is)?.field;
        match entry.field(done)?.kind {
            Kind::Boolean => asked(done, Predicate::Eq).map(|_| format!("q[{done}_eq]=false")),
            _ => asked(done, Predicate::Null).map(|_| format!("q[{done}_null]=1")),
        }
    };
    let is_time = |field: &&FieldMeta| matches!(field.kind, Kind::Timestamp { .. } | Kind::Date) && field.sortable;
    let open = entry.meta.actions.iter().find_map(open)?;
    let time = DUE.iter().find_map(|name| asked(name, Predicate::Lt).filter(is_time))?;
    Some((open, time))
}

async fn of_due(visit: &Visit<'_>, entry: &Entry, open: &str, time: &'static FieldMeta) -> Result<Markup> {
    let tomorrow = visit.state.clock.now() + chrono::TimeDelta::days(1);
    let tomorrow = tomorrow.format(if time.kind == Kind::Date { "%Y-%m-%d" } else { "%Y-%m-%dT%H:%M:%SZ" });
    let conditions = format!("{open}&q[{}_lt]={tomorrow}", time.name);
    let named = title::field(entry).map_or(String::new(), |field| format!(",{}", field.name));
    let query = format!("{conditions}&sort={0}&per_page={FEW}&fields=id,{0}{named}", time.name);
    let body = visit.read(&format!("/{}?{query}", entry.meta.path)).await?;
    let empty = Vec::new();
    let records = body[entry.meta.plural].as_array().unwrap_or(&empty);
    let total = body["meta"]["total"].as_i64().unwrap_or_default();
    let place = Place { entry, parent: None, id: None };
    let all = format!("/{}?{conditions}&sort={}", entry.meta.path, time.name);
    Ok(html! {
        section .card {
            div .card-head { h2 { a href=(all) { (words::plural(entry.meta)) " due" } " " span .count { (visit.locale.amounts.count(total)) } }
                @if visit.may(entry, Operation::Create) { a .button.small href={ "/" (entry.meta.path) "/new" } { "New" } } }
            @if records.is_empty() { p .faint { "Nothing is due until tomorrow." } } @else {
                table { tbody { @for record in records { (line(visit, &place, record, time)) } } }
            }
        }
    })
}

fn line(visit: &Visit<'_>, place: &Place<'_>, record: &Value, time: &'static FieldMeta) -> Markup {
    let one = place.of(record["id"].as_i64().unwrap_or_default());
    let at = record[time.name].as_str().unwrap_or_default();
    let now = visit.state.clock.now();
    let late = match time.kind {
        Kind::Date => at.parse::<NaiveDate>().is_ok_and(|day| day < now.date_naive()),
        _ => DateTime::parse_from_rfc3339(at).is_ok_and(|at| at < now),
    };
    html! { tr {
        td .lead { a href=(one.path()) { (title::of(place.entry, record)) } }
        td { (cell::plain(visit, time.kind, &record[time.name], cell::Room::Table)) }
        td { @if late { span .tag.warn { "Late" } } }
    } }
}

/// The webhooks that fail, or were disabled for it.
async fn webhooks(visit: &Visit<'_>) -> Result<Markup> {
    let entry = visit.state.catalog.linked(WEBHOOK);
    let body = visit.read(&format!("/{}?q[failing_since_not_null]=1&per_page={FEW}", entry.meta.path)).await?;
    let empty = Vec::new();
    let failing = body[entry.meta.plural].as_array().unwrap_or(&empty);
    let time = entry.field("failing_since").map_or(Kind::Text, |field| field.kind);
    Ok(html! {
        section .card {
            h2 { "Webhooks" }
            @if failing.is_empty() { p { span .tag.good { "Well" } " No webhook fails." } } @else {
                table { tbody { @for webhook in failing { tr {
                    td .lead { a href={ "/" (entry.meta.path) "/" (webhook["id"]) } { (webhook["url"].as_str().unwrap_or_default()) } }
                    td { span .tag.warn { "Fails since" } " " (cell::plain(visit, time, &webhook["failing_since"], cell::Room::Table)) }
                } } } }
            }
        }
    })
}
