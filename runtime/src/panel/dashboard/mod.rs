//! The first page: first steps, records that are due, failing webhooks, recent changes, and the number of records.

pub(super) mod chart;
mod first_steps;
mod recent_changes;

use chrono::{DateTime, NaiveDate};
use maud::{Markup, html};
use serde_json::Value;

use super::format::labels;
use super::format::value::{self, Placement};
use super::request::PanelRequest;
use super::target::Target;
use super::{display_name, extension, layout};
use crate::language::text;
use crate::server::Response;
use charter_core::catalog::{Entry, title_fields};
use charter_core::error::Result;
use charter_core::meta::{ActionMeta, FieldMeta, Kind, Operation};
use charter_core::query::{Predicate, allows};
use recent_changes::RecentChanges;

/// Timestamps and dates by which a record can be due, in order of preference.
const DUE_FIELDS: &[&str] = &["due_at", "due_on", "ends_at", "ends_on", "starts_at", "starts_on"];
/// Records in each card.
const MAX_RECORDS: usize = 8;
const WEBHOOK: &str = "webhook";

pub(super) async fn show(request: &PanelRequest<'_>) -> Result<Response> {
    let catalog = &request.state.catalog;
    let is_listable = |entry: &&Entry| display_name::is_listable(request, entry);
    let mut due = Vec::new();
    let mut counts = Vec::new();
    for entry in catalog.entries().iter().filter(is_listable) {
        if let Some((open, time)) = due_condition(entry) {
            due.push(due_card(request, entry, &open, time).await?);
        }
        let body = request.get_json(&format!("/{}?per_page=1&fields=id", entry.meta.path)).await?;
        counts.push((entry, body["meta"]["total"].as_i64().unwrap_or_default()));
    }
    let changes = RecentChanges::load(request).await?;
    let has_webhooks = counts.iter().any(|(entry, total)| entry.meta.name == WEBHOOK && *total > 0);
    let first_steps = first_steps::card(request, &counts).await?;
    let content = html! {
        (layout::header(&[], &html! { (text!("Overview")) }, &html! {}))
        div .columns {
            div .main-column {
                (first_steps)
                @for list in due { (list) }
                @if has_webhooks { (webhook_card(request).await?) }
                @for card in extension::cards(request).await { (card) }
            }
            div .side-column {
                // The chart counts changes of all resources, as the audit log does.
                @if request.may_read(catalog.linked("audit_entry")) { section .card { h2 { (text!("Recent changes")) } (changes.chart()) } }
                section .card {
                    h2 { (text!("Records")) }
                    dl .counts { @for (entry, total) in counts {
                        div { dt { a href={ "/" (entry.meta.path) } { (labels::plural(entry.meta)) } } dd { (changes.created_sparkline(request, entry)) span .amount { (request.locale.numbers.count(total)) } } }
                    } }
                }
            }
        }
    };
    Ok(layout::page(request, &text!("Overview"), &content))
}

/// The condition for records that are not done yet, and the field by which they are due. `None` for a resource without
/// an action with `until`.
fn due_condition(entry: &Entry) -> Option<(String, &'static FieldMeta)> {
    let filterable =
        |name: &str, predicate: Predicate| entry.field(name).filter(|field| allows(field, predicate, field.kind));
    let open = |action: &ActionMeta| {
        let done = action.until.filter(|until| until.is)?.field;
        match entry.field(done)?.kind {
            Kind::Boolean => filterable(done, Predicate::Eq).map(|_| format!("q[{done}_eq]=false")),
            _ => filterable(done, Predicate::Null).map(|_| format!("q[{done}_null]=1")),
        }
    };
    let is_time = |field: &&FieldMeta| matches!(field.kind, Kind::Timestamp { .. } | Kind::Date) && field.sortable;
    let open = entry.meta.actions.iter().find_map(open)?;
    let time = DUE_FIELDS.iter().find_map(|name| filterable(name, Predicate::Lt).filter(is_time))?;
    Some((open, time))
}

async fn due_card(request: &PanelRequest<'_>, entry: &Entry, open: &str, time: &'static FieldMeta) -> Result<Markup> {
    let tomorrow = request.state.clock.now() + chrono::TimeDelta::days(1);
    let tomorrow = tomorrow.format(if time.kind == Kind::Date { "%Y-%m-%d" } else { "%Y-%m-%dT%H:%M:%SZ" });
    let conditions = format!("{open}&q[{}_lt]={tomorrow}", time.name);
    let title: String = title_fields(entry).iter().map(|field| format!(",{}", field.name)).collect();
    let query = format!("{conditions}&sort={0}&per_page={MAX_RECORDS}&fields=id,{0}{title}", time.name);
    let body = request.get_json(&format!("/{}?{query}", entry.meta.path)).await?;
    let empty = Vec::new();
    let records = body[entry.meta.plural].as_array().unwrap_or(&empty);
    let total = body["meta"]["total"].as_i64().unwrap_or_default();
    let target = Target { entry, parent: None, id: None };
    let all = format!("/{}?{conditions}&sort={}", entry.meta.path, time.name);
    Ok(html! {
        section .card {
            div .card-head { h2 { a href=(all) { (text!("{records} due", records = labels::plural(entry.meta))) } " " span .count { (request.locale.numbers.count(total)) } }
                @if request.may(entry, Operation::Create) { a .button.small href={ "/" (entry.meta.path) "/new" } { (text!("New")) } } }
            @if records.is_empty() { p .faint { (text!("Nothing is overdue or due today.")) } } @else {
                div .scroll tabindex="0" role="region" aria-label=(labels::plural(entry.meta)) { table { tbody { @for record in records { (due_row(request, &target, record, time)) } } } }
            }
        }
    })
}

fn due_row(request: &PanelRequest<'_>, target: &Target<'_>, record: &Value, time: &'static FieldMeta) -> Markup {
    let one = target.record(record["id"].as_i64().unwrap_or_default());
    let at = record[time.name].as_str().unwrap_or_default();
    let now = request.state.clock.now();
    let late = match time.kind {
        Kind::Date => at.parse::<NaiveDate>().is_ok_and(|day| day < now.date_naive()),
        _ => DateTime::parse_from_rfc3339(at).is_ok_and(|at| at < now),
    };
    html! { tr {
        td .lead { a href=(one.path()) { (display_name::of(target.entry, record)) } }
        td { (value::render_plain(request, time.kind, &record[time.name], Placement::Table)) }
        td { @if late { span .tag.warn { (text!("Late")) } } }
    } }
}

/// The webhooks that are failing or were disabled because of that.
async fn webhook_card(request: &PanelRequest<'_>) -> Result<Markup> {
    let entry = request.state.catalog.linked(WEBHOOK);
    let body =
        request.get_json(&format!("/{}?q[failing_since_not_null]=1&per_page={MAX_RECORDS}", entry.meta.path)).await?;
    let empty = Vec::new();
    let failing = body[entry.meta.plural].as_array().unwrap_or(&empty);
    let time = entry.field("failing_since").map_or(Kind::Text, |field| field.kind);
    Ok(html! {
        section .card {
            h2 { (labels::plural(entry.meta)) }
            @if failing.is_empty() { p { span .tag.good { (text!("Healthy")) } " " (text!("No webhook is failing.")) } } @else {
                div .scroll tabindex="0" role="region" aria-label=(labels::plural(entry.meta)) { table { tbody { @for webhook in failing { tr {
                    td .lead { a href={ "/" (entry.meta.path) "/" (webhook["id"]) } { (webhook["url"].as_str().unwrap_or_default()) } }
                    td { span .tag.warn { (text!("Failing since")) } " " (value::render_plain(request, time, &webhook["failing_since"], Placement::Table)) }
                } } } } }
            }
        }
    })
}
