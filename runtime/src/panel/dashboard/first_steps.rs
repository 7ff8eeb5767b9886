//! First steps of an empty service on the first page: each is a link, checked off by the records of the API.

use maud::{Markup, html};

use crate::language::text;
use crate::panel::format::labels;
use crate::panel::navigation;
use crate::panel::request::PanelRequest;
use charter_core::catalog::{Catalog, Entry};
use charter_core::error::Result;
use charter_core::meta::{Kind, Operation, Rule};

struct Step {
    label: String,
    href: String,
    is_done: bool,
}

/// The steps that the user may take; empty once all are done. `counts` are the totals of the lists that the user may
/// read.
pub(super) async fn card(request: &PanelRequest<'_>, counts: &[(&Entry, i64)]) -> Result<Markup> {
    let catalog = &request.state.catalog;
    let mut steps = Vec::new();
    let settings = catalog.entries().iter().find(|entry| entry.meta.singleton && describes_company(entry));
    if let Some(entry) = settings.filter(|entry| request.may(entry, Operation::Update)) {
        steps.push(settings_step(request, entry).await?);
    }
    let total =
        |entry: &Entry| counts.iter().find(|(one, _)| one.meta.name == entry.meta.name).map(|(_, total)| *total);
    let mut add = |entry: Option<&Entry>, label: &dyn Fn(&Entry) -> String, least: i64| {
        let found = entry.filter(|entry| request.may(entry, Operation::Create));
        if let Some((entry, total)) = found.and_then(|entry| Some((entry, total(entry)?))) {
            let href = format!("/{}/new", entry.meta.path);
            steps.push(Step { label: label(entry), href, is_done: total >= least });
        }
    };
    add(central(catalog), &|entry| text!("Add the first {record}", record = labels::singular(entry.meta)), 1);
    // The administrator is the first user.
    add(Some(catalog.linked("user")), &|_| text!("Invite a person"), 2);
    add(Some(catalog.linked("webhook")), &|_| text!("Add a webhook, which reports changes to another system"), 1);
    Ok(match steps.iter().all(|step| step.is_done) {
        true => html! {},
        false => render(&steps),
    })
}

fn render(steps: &[Step]) -> Markup {
    html! {
        section .card {
            h2 { (text!("First steps")) }
            ol .steps {
                @for step in steps {
                    li .done[step.is_done] {
                        span .step-mark aria-hidden="true" { @if step.is_done { "✓" } }
                        span { a href=(step.href) { (step.label) } @if step.is_done { span .hidden { " " (text!("(done)")) } } }
                    }
                }
            }
        }
    }
}

/// Returns true for the settings with the company's time zone, or with a value that another resource must contain.
fn describes_company(entry: &Entry) -> bool {
    let is_known = |rule: &Rule| matches!(rule, Rule::Exists { .. });
    entry.meta.fields.iter().any(|field| field.name == "timezone" || field.rules.iter().any(is_known))
}

/// Done once the record was changed after the start that created it.
async fn settings_step(request: &PanelRequest<'_>, entry: &Entry) -> Result<Step> {
    let body = request.get_json(&format!("/{}", entry.meta.path)).await?;
    let record = &body[entry.meta.name];
    let label = text!("Complete the company’s settings");
    let is_done = record["updated_at"].is_string() && record["updated_at"] != record["created_at"];
    Ok(Step { label, href: format!("/{}", entry.meta.path), is_done })
}

/// The resource of the application that most others refer to: its records come first.
fn central(catalog: &Catalog) -> Option<&Entry> {
    let own = || catalog.entries().iter().filter(|entry| !navigation::is_administration(entry) && !entry.is_attached());
    let refers = |from: &Entry, to: &Entry| {
        let leads = |kind: Kind| match kind {
            Kind::PolymorphicType { type_names } => type_names.contains(&to.meta.type_name),
            kind => kind.referred() == Some(&to.meta.name),
        };
        from.meta.name != to.meta.name && from.meta.fields.iter().any(|field| leads(field.kind))
    };
    let top_level = own().filter(|entry| entry.is_listed() && entry.meta.under.is_none());
    // The first of equals in the order of the navigation.
    top_level.rev().max_by_key(|entry| own().filter(|from| refers(from, entry)).count())
}
