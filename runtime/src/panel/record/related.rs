//! Related records on the page of a record: a short list for each reference to it, with a link to all of them.

use maud::{Markup, html};
use serde_json::Value;

use super::{action, protection};
use crate::language::{self, text};
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::format::labels;
use crate::panel::format::value::{self, Placement};
use crate::panel::list::columns::{self, Column};
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use crate::panel::{layout, url};
use charter_core::catalog::{Entry, name_field};
use charter_core::error::Result;
use charter_core::meta::{ActionMeta, ActionMethod, ActionOn, ActionOutput, FieldMeta, Kind, Operation, Rule};
use charter_core::ops::protection::{Protection, may_refer};
use charter_core::query::is_filterable;

/// Records in each list.
const MAX_RECORDS: usize = 8;
/// Columns of each list.
const MAX_COLUMNS: usize = 5;
/// Actions shown in a row. Its menu contains the others, unless it would contain only one.
const MAX_ROW_ACTIONS: usize = 2;

pub(super) async fn render(request: &PanelRequest<'_>, target: &Target<'_>, record: &Value) -> Result<Markup> {
    let Some(id) = record["id"].as_i64().filter(|_| target.parent.is_none()) else { return Ok(html! {}) };
    let entry = target.entry;
    let catalog = &request.state.catalog;
    let mut lists = Vec::new();
    let nested = |child: &&Entry| child.meta.under.is_some_and(|under| under.resource == entry.meta.name);
    for child in catalog.entries().iter().filter(nested) {
        let children = Target { entry: child, parent: Some((entry, id)), id: None };
        let all = children.collection();
        let by = child.meta.under.map_or("", |under| under.field);
        lists.push(related_list(request, &children, (by, id), &all, &format!("{all}/new")).await?);
    }
    for child in catalog.entries().iter().filter(|child| display_name::is_listable(request, child)) {
        let children = Target { entry: child, parent: None, id: None };
        let path = children.collection();
        for field in child.meta.fields.iter().filter(|field| is_indexed_reference(child, field)) {
            let type_condition = match field.kind {
                Kind::Ref { resource } if resource == entry.meta.name => Vec::new(),
                Kind::PolymorphicRef { type_field } if may_reference(child, type_field, entry) => {
                    vec![(type_field, entry.meta.type_name.to_string())]
                }
                _ => continue,
            };
            let conditions: Vec<(&str, String)> =
                type_condition.into_iter().chain([(field.name, id.to_string())]).collect();
            let query = |pair: &dyn Fn(&str, &str) -> String| {
                conditions.iter().map(|(name, value)| pair(name, value)).collect::<Vec<_>>().join("&")
            };
            let all = format!("{path}?{}", query(&|name, value| format!("q[{name}_eq]={value}")));
            let new = format!("{path}/new?{}", query(&|name, value| format!("{name}={value}")));
            lists.push(related_list(request, &children, (field.name, id), &all, &new).await?);
        }
    }
    Ok(html! { @for list in lists { (list) } })
}

/// Returns true if records can be filtered by a reference field with an index, which bounds the cost of the list.
fn is_indexed_reference(entry: &Entry, field: &FieldMeta) -> bool {
    let leads_index = |set: &&[&str]| match field.kind {
        Kind::PolymorphicRef { type_field } => set.starts_with(&[type_field, field.name]),
        _ => set.starts_with(&[field.name]),
    };
    let is_indexed = entry.meta.indexes.iter().any(leads_index) || entry.meta.ordered.contains(&field.name);
    is_filterable(field) && is_indexed
}

/// Returns true if a polymorphic reference accepts records of a resource.
fn may_reference(entry: &Entry, type_field: &str, referenced: &Entry) -> bool {
    let kind = entry.field(type_field).map(|field| field.kind);
    matches!(kind, Some(Kind::PolymorphicType { type_names }) if type_names.contains(&referenced.meta.type_name))
}

/// The first records of the list `all`. `by` is the reference to the shown record `id`, and `new` the URL of the form.
async fn related_list(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    (by, id): (&str, i64),
    all: &str,
    new: &str,
) -> Result<Markup> {
    let entry = target.entry;
    if !request.may(entry, Operation::List) {
        return Ok(html! {});
    }
    let columns = columns::load(request, entry).await?;
    let names = columns::default_names(entry);
    let shown: Vec<&Column> = names
        .iter()
        .filter(|name| *name != by && !is_derived_via(entry, name, by))
        .filter_map(|name| columns.iter().find(|column| column.name == *name))
        .take(MAX_COLUMNS)
        .collect();
    // Actions that need no further input, such as sending a delivery again.
    let is_one_click = |action: &&'static ActionMeta| {
        action.on == ActionOn::Record
            && action.method == ActionMethod::Post
            && action.input.is_empty()
            && !matches!(action.output, ActionOutput::Created)
            && action::may_run(request, target, action)
    };
    let actions: Vec<&ActionMeta> = entry.meta.actions.iter().filter(is_one_click).collect();
    // The label of the link to the record differs from an action named `open`.
    let open_label = if actions.iter().any(|action| action.name == "open") { text!("View") } else { text!("Open") };
    let mut fields = columns::titled_fields(entry, &shown);
    for until in actions.iter().filter_map(|action| action.until) {
        if !fields.split(',').any(|name| name == until.field) {
            fields.push(',');
            fields.push_str(until.field);
        }
    }
    let join = if all.contains('?') { '&' } else { '?' };
    let sort = if columns::is_log(entry) { "&sort=-id" } else { "" };
    let have_rules = actions.iter().any(|action| action.rule.is_some());
    let include = action::allowed_actions(entry).filter(|_| have_rules);
    let include = include.map(|include| format!("&include={include}")).unwrap_or_default();
    let query = format!("{all}{join}per_page={MAX_RECORDS}{sort}&fields={fields}{include}");
    let response = request.get(&query).await?;
    if !response.is_success() {
        return Ok(html! {});
    }
    let body = response.json()?;
    let empty = Vec::new();
    let records = body[entry.meta.plural].as_array().unwrap_or(&empty);
    let shown_fields: Vec<&'static FieldMeta> = shown.iter().filter_map(|column| column.field).collect();
    let display_names = DisplayNames::load_for_fields(request, entry, &shown_fields, records).await?;
    let total = body["meta"]["total"].as_i64().unwrap_or_default();
    let ids = records.iter().filter_map(|record| record["id"].as_i64());
    let protections = protection::of_records(request, entry, ids).await?;
    let may_add = request.may(entry, Operation::Create)
        && match entry.field(by) {
            Some(reference) => may_refer(&request.context(), entry, reference, id).await?,
            None => true,
        };
    let linked = link_column(entry, &shown);
    // Forms and actions return to this page.
    let new = url::with_back(new, &request.raw.path_and_query());
    Ok(html! {
        section .card {
            div .card-head {
                h2 { a href=(all) { (labels::plural(entry.meta)) } " " span .count { (request.locale.numbers.count(total)) } }
                @if may_add { a .button.small href=(new) { (text!("Add")) } }
            }
            @if records.is_empty() { p .faint { (text!("None yet.")) } } @else {
                div .scroll tabindex="0" role="region" aria-label=(labels::plural(entry.meta)) {
                    table {
                        thead { tr {
                            @for column in &shown { th scope="col" .number[column.kind.facts().is_number] { (column.label) } }
                            th scope="col" { span .hidden { (text!("Actions")) } }
                        } }
                        tbody { @for record in records { tr {
                            @let id = record["id"].as_i64().unwrap_or_default();
                            @let row_target = target.record(id);
                            @for column in &shown {
                                td .number[column.kind.facts().is_number] {
                                    @if let Some(field) = column.field {
                                        @let value = value::render_field(request, entry, field, record, &display_names, Placement::Table);
                                        @if Some(column.name.as_str()) == linked && !record[field.name].is_null() { a href=(row_target.path()) data-open { (value) } } @else { (value) }
                                    }
                                }
                            }
                            td .row-actions {
                                a href=(row_target.path()) aria-label=(labelled(&open_label, &display_name::of(entry, record))) { (open_label) }
                                @let row_actions = row_actions(request, &row_target, record, &actions, protections.get(&id).copied());
                                @let (first, others) = row_actions.split_at(if row_actions.len() <= MAX_ROW_ACTIONS + 1 { row_actions.len() } else { MAX_ROW_ACTIONS });
                                @for action in first { " " (action) }
                                @if !others.is_empty() {
                                    " " details .menu {
                                        summary aria-label=(text!("More actions for {name}", name = display_name::of(entry, record))) { (text!("More")) }
                                        ul { @for action in others { li { (action) } } }
                                    }
                                }
                            }
                        } } }
                    }
                }
                @if total > records.len() as i64 { p { a href=(all) { (text!("All {records}", records = request.locale.numbers.records(entry.meta, total))) } } }
            }
        }
    })
}

/// The column whose cells link to the record: its name, else the first one that is no link itself.
fn link_column<'c>(entry: &Entry, shown: &[&'c Column]) -> Option<&'c str> {
    let is_link = |column: &Column| {
        let is_address =
            column.field.is_some_and(|field| field.rules.contains(&Rule::Email) || field.rules.contains(&Rule::Url));
        is_address
            || matches!(
                column.kind,
                Kind::Ref { .. } | Kind::RefList { .. } | Kind::Links { .. } | Kind::PolymorphicRef { .. }
            )
    };
    let name = name_field(entry).map(|field| field.name);
    let named = shown.iter().find(|column| Some(column.name.as_str()) == name);
    named.or_else(|| shown.iter().find(|column| !is_link(column))).map(|column| column.name.as_str())
}

/// The accessible name of an operation on a row: `Open Lamp`.
fn labelled(operation: &str, name: &str) -> String {
    text!("{operation} {name}", operation = operation, name = name)
}

/// Buttons and links for the operations on a row.
fn row_actions(
    request: &PanelRequest<'_>,
    row_target: &Target<'_>,
    record: &Value,
    actions: &[&ActionMeta],
    protection: Option<Protection>,
) -> Vec<Markup> {
    let entry = row_target.entry;
    let back = request.raw.path_and_query();
    let title = display_name::of(entry, record);
    let button = |action: &&ActionMeta| {
        if !action.confirm.is_empty() {
            let to = url::with_back(&format!("{}/{}", row_target.path(), action.name), &back);
            return html! { a href=(to) aria-label=(labelled(&labels::action(action), &title)) { (labels::action(action)) } };
        }
        html! {
            form .one method="post" action={ (row_target.path()) "/" (action.name) } {
                (layout::csrf_input(request))
                input type="hidden" name="_back" value=(back);
                button .link .plain title=[(!action.description.is_empty()).then(|| language::label(action.description))]
                    aria-label=(labelled(&labels::action(action), &title)) { (labels::action(action)) }
            }
        }
    };
    let may_change = protection.is_none() && request.may_change_record(entry, record);
    let is_offered = |action: &&&ActionMeta| {
        !action::is_done(action, record)
            && !action::is_protected(entry, action, protection)
            && action::refusal(entry, action, record).is_none()
    };
    let mut row_actions: Vec<Markup> = actions.iter().filter(is_offered).map(button).collect();
    if may_change && request.may(entry, Operation::Update) {
        let to = url::with_back(&format!("{}/edit", row_target.path()), &back);
        row_actions.push(html! { a href=(to) aria-label=(text!("Edit {name}", name = title)) { (text!("Edit")) } });
    }
    if row_target.parent.is_some() && may_change && request.may(entry, Operation::Delete) {
        let to = url::with_back(&format!("{}/delete", row_target.path()), &back);
        row_actions.push(html! { a href=(to) aria-label=(text!("Delete {name}", name = title)) { (text!("Delete")) } });
    }
    row_actions
}

/// Returns true if a field is derived from the shown record, and therefore the same in all rows.
fn is_derived_via(entry: &Entry, name: &str, by: &str) -> bool {
    entry.field(name).is_some_and(|field| matches!(field.kind, Kind::Derived { via, .. } if via == by))
}
