//! History of a record, from the audit log: who changed which fields, when, and the old and new values.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::Value;

use super::input;
use crate::language::text;
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::format::value::{self, Placement};
use crate::panel::format::{datetime, labels};
use crate::panel::layout;
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use crate::server::Response;
use charter_core::custom_field::{self, Definition};
use charter_core::error::{Error, Result};
use charter_core::meta::{FieldMeta, Kind, Operation};

/// Entries on the page of the record.
const RECENT_ENTRIES: usize = 6;
/// Entries on the history page.
const MAX_ENTRIES: usize = 100;
/// Length to which the value of a removed field is truncated.
const MAX_VALUE_CHARS: usize = 160;

/// The card with the latest entries.
pub(crate) async fn render_recent(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Markup> {
    let Some(history) = History::load(request, target, RECENT_ENTRIES).await? else { return Ok(html! {}) };
    let changes = [Operation::Create, Operation::Update, Operation::Delete];
    if history.entries.is_empty() && !changes.iter().any(|operation| target.entry.meta.operations.contains(operation)) {
        return Ok(html! {});
    }
    Ok(html! {
        section .card {
            h2 { (text!("History")) }
            @if history.entries.is_empty() { p .faint { (text!("No changes recorded.")) } }
            (history.render())
            @if history.entries.len() == RECENT_ENTRIES { p { a href={ (target.path()) "/history" } { (text!("All changes")) } } }
        }
    })
}

/// The history page. Older entries are in the list of the audit log.
pub(crate) async fn show(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Response> {
    let Some(history) = History::load(request, target, MAX_ENTRIES).await? else {
        return Err(layout::not_permitted());
    };
    // A deleted record has a history. A record that never existed or is not visible has none.
    if history.entries.is_empty() && !request.get(&target.path()).await?.is_success() {
        return Err(Error::NotFound);
    }
    let breadcrumbs = [
        (target.collection(), labels::plural(target.entry.meta)),
        (target.path(), display_name::by_id(request, target.entry, target.id.unwrap_or_default()).await?),
    ];
    let content = html! {
        (layout::header(&breadcrumbs, &html! { (text!("History")) }, &html! {}))
        section .card { (history.render()) }
        @if history.entries.len() == MAX_ENTRIES { p { a href={ (audit_list_path(request, target)) "&per_page=" (MAX_ENTRIES) "&page=2" } { (text!("Older changes")) } } }
    };
    Ok(layout::page(request, &text!("History"), &content))
}

/// The audit log filtered by the record, the latest entry first.
fn audit_list_path(request: &PanelRequest<'_>, target: &Target<'_>) -> String {
    let (audit_entry, id) = (request.state.catalog.linked("audit_entry"), target.id.unwrap_or_default());
    let plural = target.entry.meta.plural;
    format!("/{}?q[entity_type_eq]={plural}&q[record_id_eq]={id}&sort=-id", audit_entry.meta.path)
}

/// The entries of a record, with the names and definitions that are needed to render them.
struct History<'t> {
    request: &'t PanelRequest<'t>,
    target: &'t Target<'t>,
    entries: Vec<Value>,
    /// Names of the users, and of referenced records.
    display_names: DisplayNames,
    definitions: Vec<Definition>,
}

impl<'t> History<'t> {
    /// Reads the latest entries; `None` if the user may not read the audit log.
    async fn load(request: &'t PanelRequest<'t>, target: &'t Target<'t>, limit: usize) -> Result<Option<History<'t>>> {
        let audit_entry = request.state.catalog.linked("audit_entry");
        if target.id.is_none() || !request.may_read(audit_entry) {
            return Ok(None);
        }
        let response =
            request.get(&format!("{}&per_page={limit}&count=none", audit_list_path(request, target))).await?;
        if !response.is_success() {
            return Ok(None);
        }
        let entries = response.json()?[audit_entry.meta.plural].as_array().cloned().unwrap_or_default();
        const USER: &FieldMeta = &FieldMeta::new("user_id", Kind::Ref { resource: "user" });
        let mut display_names = DisplayNames::load_for_fields(request, audit_entry, &[USER], &entries).await?;
        let fields: Vec<&'static FieldMeta> = target.entry.meta.fields.iter().collect();
        let sides: Vec<Value> = entries.iter().flat_map(|entry| [side(entry, "old"), side(entry, "new")]).collect();
        display_names.extend(DisplayNames::load_for_fields(request, target.entry, &fields, &sides).await?);
        let definitions = match target.entry.meta.custom_fields {
            true => custom_field::load(request.state.db.reader(), target.entry.meta.plural).await?,
            false => Vec::new(),
        };
        Ok(Some(History { request, target, entries, display_names, definitions }))
    }

    fn render(&self) -> Markup {
        html! { ol .history { @for entry in &self.entries { (self.render_entry(entry)) } } }
    }

    fn render_entry(&self, entry: &Value) -> Markup {
        let at = input::to_text(&entry["created_at"]);
        let user = match entry["user_id"].as_i64() {
            Some(id) => value::render_reference(
                self.request,
                self.request.state.catalog.linked("user"),
                id,
                &self.display_names,
            ),
            None if entry["request_id"].is_null() => html! { (text!("The operator")) },
            None => html! { (text!("Somebody who was not signed in")) },
        };
        let changes = self.changes(entry);
        html! {
            li {
                p { (user) " " span .tag { (action_verb(&input::to_text(&entry["action"]))) } " "
                    time .faint datetime=(at) { (datetime::format_timestamp(self.request.locale.zone, &at).unwrap_or_else(|| at.clone())) } }
                @if !changes.is_empty() {
                    details {
                        summary { (if changes.len() == 1 { text!("1 field") } else { text!("{count} fields", count = changes.len()) }) }
                        dl .changes { @for (name, old, new) in &changes {
                            dt { (name) }
                            dd { del { (old) } " " span aria-hidden="true" { "→" } " " ins { (new) } }
                        } }
                    }
                }
            }
        }
    }

    /// Label, old value and new value of each changed field. Custom fields are listed separately.
    fn changes(&self, entry: &Value) -> Vec<(String, Markup, Markup)> {
        let (old, new) = (side(entry, "old"), side(entry, "new"));
        let mut changes = Vec::new();
        for name in entry["changes"].as_object().into_iter().flat_map(serde_json::Map::keys) {
            match self.target.entry.field(name) {
                Some(field) if field.kind == Kind::CustomFields => {
                    changes.extend(self.custom_field_changes(&old[name], &new[name]))
                }
                Some(field) => {
                    let shown = |of| {
                        value::render_field(
                            self.request,
                            self.target.entry,
                            field,
                            of,
                            &self.display_names,
                            Placement::Table,
                        )
                    };
                    changes.push((labels::field(field), shown(&old), shown(&new)));
                }
                None => changes.push((labels::from_name(name), truncated(&old[name]), truncated(&new[name]))),
            }
        }
        changes
    }

    fn custom_field_changes<'c>(
        &'c self,
        old: &'c Value,
        new: &'c Value,
    ) -> impl Iterator<Item = (String, Markup, Markup)> + 'c {
        let names = |of: &'c Value| of.as_object().into_iter().flat_map(serde_json::Map::keys);
        let names: BTreeSet<&String> = names(old).chain(names(new)).collect();
        names.into_iter().filter(|name| old[name.as_str()] != new[name.as_str()]).map(|name| {
            let known = self.definitions.iter().find(|definition| definition.name == *name);
            let shown =
                |of: &Value| value::render_custom_field(self.request, known, &of[name.as_str()], Placement::Table);
            let label = known.map_or_else(|| labels::from_name(name), |definition| definition.label.clone());
            (label, shown(old), shown(new))
        })
    }
}

/// The value of a field that no longer exists.
fn truncated(value: &Value) -> Markup {
    html! { (input::to_text(value).chars().take(MAX_VALUE_CHARS).collect::<String>()) }
}

/// The `old` or `new` values of the changed fields.
fn side(entry: &Value, side: &str) -> Value {
    let changes = entry["changes"].as_object().into_iter().flatten();
    changes.map(|(name, change)| (name.clone(), change[side].clone())).collect::<serde_json::Map<_, _>>().into()
}

/// The words after the user.
fn action_verb(action: &str) -> String {
    match action {
        "create" => text!("created"),
        "update" => text!("changed"),
        "delete" => text!("deleted"),
        "restore" => text!("restored"),
        other => labels::from_name(other),
    }
}
