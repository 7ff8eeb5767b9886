//! Page of the search over all resources, which the dialog of Ctrl+K makes faster to use: records, pages, and forms for
//! new records.

use maud::{Markup, html};
use serde_json::Value;

use super::format::labels;
use super::request::PanelRequest;
use super::{layout, navigation, url};
use crate::language::text;
use crate::server::Response;
use charter_core::error::Result;
use charter_core::ops::API;
use charter_core::ops::search::{MAX_LIMIT, MIN_CHARACTERS, SEARCH};

/// A page or a form that the user can open: its URL and label.
type Link = (String, String);

pub(super) async fn show(request: &PanelRequest<'_>) -> Result<Response> {
    let sent = request.raw.query_pairs()?.into_iter().rfind(|pair| pair.name == "q").map(|pair| pair.value);
    let text = sent.unwrap_or_default().trim().to_string();
    let results = if text.is_empty() {
        html! {}
    } else {
        results(request, &text).await?
    };
    let content = html! {
        (layout::header(&[], &html! { (text!("Search")) }, &html! {}))
        form .search.everywhere method="get" action={ "/" (SEARCH) } role="search" {
            input #search type="search" name="q" value=(text) placeholder=(text!("Records, pages and actions")) aria-label=(text!("Search records, pages and actions")) autofocus[text.is_empty()];
            button .primary { (text!("Search")) }
        }
        (results)
    };
    Ok(layout::page(request, &text!("Search"), &content))
}

async fn results(request: &PanelRequest<'_>, text: &str) -> Result<Markup> {
    let response = request.get(&format!("/{SEARCH}?limit={MAX_LIMIT}&q={}", url::encode(text))).await?;
    let problem = response.problem();
    let (records, incomplete) = match response.status.as_u16() {
        // The links are found by shorter texts as well.
        422 => (Vec::new(), Vec::new()),
        _ => {
            let mut body = response.json()?;
            (array(body["data"].take()), array(body["meta"]["incomplete"].take()))
        }
    };
    let (pages, actions) = links(request, text);
    let is_empty = records.is_empty() && pages.is_empty() && actions.is_empty();
    let catalog = &request.state.catalog;
    let resource = |record: &Value| record["resource"].as_str().and_then(|plural| catalog.by_plural(plural));
    Ok(html! {
        @for messages in problem.errors.values() { p .problem role="alert" { (text!("The text {problem}.", problem = labels::messages(messages))) } }
        @if !incomplete.is_empty() {
            p .notice role="status" {
                @let names = incomplete.iter().filter_map(Value::as_str).filter_map(|plural| catalog.by_plural(plural));
                @let names = names.map(|entry| labels::plural(entry.meta)).collect::<Vec<_>>().join(", ");
                (text!("Not searched, because it took too long: {records}.", records = names))
            }
        }
        @for (heading, found) in [(text!("Pages"), pages), (text!("Actions"), actions)] {
            @if !found.is_empty() {
                section .card.found aria-label=(heading) {
                    h2 { (heading) }
                    ul { @for (path, label) in found { li { a href=(path) { (label) } } } }
                }
            }
        }
        @if !records.is_empty() {
            section .card.found aria-label=(text!("Records")) {
                h2 { (text!("Records")) }
                ul { @for record in &records {
                    li {
                        @let title = record["title"].as_str().unwrap_or_default();
                        @match record["url"].as_str().and_then(|url| url.strip_prefix(API)) {
                            Some(path) => a href=(path) { (title) },
                            None => (title),
                        }
                        @if let Some(entry) = resource(record) {
                            " " span .faint {
                                (labels::singular(entry.meta))
                                @if let (Some(field), Some(text)) = (record["field"].as_str(), record["text"].as_str()) {
                                    @if text != title { " · " (entry.field(field).map(labels::field).unwrap_or_default()) ": " (text) }
                                }
                            }
                        }
                    }
                } }
            }
        }
        @if is_empty && problem.errors.is_empty() { div .empty { (layout::logo()) p { (text!("Nothing was found for “{text}”.", text = text)) } } }
        @if text.chars().count() < MIN_CHARACTERS { p .faint { (text!("Records are found by at least {count} characters.", count = MIN_CHARACTERS)) } }
    })
}

fn array(value: Value) -> Vec<Value> {
    match value {
        Value::Array(list) => list,
        _ => Vec::new(),
    }
}

/// The pages of the navigation and the forms for new records whose label contains the text.
fn links(request: &PanelRequest<'_>, text: &str) -> (Vec<Link>, Vec<Link>) {
    let text = text.to_lowercase();
    let (mut pages, mut actions) = (Vec::new(), Vec::new());
    for link in navigation::menus(request).into_iter().flat_map(|menu| menu.links) {
        if let Some(record) = link.creates {
            actions.push((format!("{}/new", link.path), text!("New {record}", record = record)));
        }
        pages.push((link.path, link.label));
    }
    let contains = |link: &Link| link.1.to_lowercase().contains(&text);
    pages.retain(contains);
    actions.retain(contains);
    (pages, actions)
}
