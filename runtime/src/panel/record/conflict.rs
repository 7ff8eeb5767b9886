//! Edit conflict: the notice above the form, and the choice between three values of a field that both users changed.

use maud::{Markup, html};
use serde_json::Value;

use super::form::RecordForm;
use super::{form_decode, form_fields, input};
use crate::language::text;
use crate::panel::format::value::{self, Placement};
use crate::panel::format::{labels, number_input};
use crate::panel::request::form_value;
use charter_core::catalog::Entry;
use charter_core::custom_field::CustomFieldType;
use charter_core::meta::{FieldMeta, Kind};
use charter_core::query::Pair;

/// Name prefix of the radio buttons.
const CHOICE_PREFIX: &str = "_take.";

/// The value that the user takes for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Before,
    Theirs,
    Mine,
}

impl Choice {
    /// The choices and their values in the form.
    const ALL: [(Choice, &str); 3] = [(Choice::Before, "before"), (Choice::Theirs, "theirs"), (Choice::Mine, "mine")];

    fn label(self) -> String {
        match self {
            Choice::Before => text!("Before:"),
            Choice::Theirs => text!("Theirs:"),
            Choice::Mine => text!("Mine:"),
        }
    }

    /// The choice for a field in a form. An id has the choice of its polymorphic type, and the reverse.
    pub(super) fn from_form(form: &[Pair], fields: &[FieldMeta], name: &str) -> Option<Choice> {
        let sent = form_value(form, &format!("{CHOICE_PREFIX}{}", choice_name(fields, name)))?;
        Choice::ALL.into_iter().find(|(_, known)| *known == sent).map(|(choice, _)| choice)
    }
}

/// The field that has the radio buttons for a field: the id of a polymorphic reference also has those of its type.
pub(super) fn choice_name<'n>(fields: &'n [FieldMeta], name: &'n str) -> &'n str {
    let is_id = |field: &&FieldMeta| matches!(field.kind, Kind::PolymorphicRef { type_field } if type_field == name);
    fields.iter().find(is_id).map_or(name, |field| field.name)
}

/// The notice above the form: the fields that only they changed, and those to choose.
pub(super) fn notice(form: &RecordForm<'_>, theirs: &[String]) -> Markup {
    let their_labels: Vec<String> = theirs.iter().map(|name| form.label_of(name)).collect();
    let fields = form.target.entry.meta.fields;
    let to_choose = form.snapshot.conflicts.keys().filter(|name| choice_name(fields, name) == *name);
    html! {
        p { strong { (text!("Somebody else changed this record after you opened it. Your changes are not saved yet.")) } }
        @if !theirs.is_empty() { p { (text!("Only they changed these fields, which have their values now: {fields}.", fields = their_labels.join(", "))) } }
        p { (text!("You both changed these fields. Choose a value for each, then save:")) }
        ul { @for name in to_choose { li { a href={ "#" (choice_id(name)) } { (form.label_of(name)) } } } }
    }
}

fn choice_id(name: &str) -> String {
    format!("choice-{}", form_fields::input_id(name))
}

impl RecordForm<'_> {
    /// The input of a field, below the choice between its values if it has a conflict.
    pub(super) fn with_choice(&self, name: &str, input: Markup) -> Markup {
        let Some(before) = self.snapshot.conflicts.get(name) else { return input };
        if choice_name(self.target.entry.meta.fields, name) != name {
            return input;
        }
        let theirs = self.snapshot.value(name).cloned().unwrap_or_default();
        let mine = self.record.pointer(&format!("/{}", name.replace('.', "/"))).cloned().unwrap_or_default();
        let type_field = match self.target.entry.field(name).map(|field| field.kind) {
            Some(Kind::PolymorphicRef { type_field }) => Some(type_field),
            _ => None,
        };
        let before_type = type_field.and_then(|name| self.snapshot.conflicts.get(name)?.first()?.as_str());
        let theirs_type = type_field.and_then(|name| self.snapshot.value(name)?.as_str());
        let mine_type = type_field.and_then(|name| self.record[name].as_str());
        let shown = |choice: Choice| match choice {
            Choice::Before => before.first().map(|before| self.show_value(name, before, before_type)),
            Choice::Theirs => Some(self.show_value(name, &theirs, theirs_type)),
            Choice::Mine => Some(self.show_value(name, &mine, mine_type)),
        };
        let chosen = self.choices.get(name);
        html! {
            div .conflict {
                fieldset .field.radio #(choice_id(name)) tabindex="-1" {
                    legend { (text!("{field}: you and somebody else changed it", field = self.label_of(name))) }
                    div .choices {
                        @for (choice, word) in Choice::ALL {
                            @if let Some(value) = shown(choice) {
                                label .box {
                                    input type="radio" name={ (CHOICE_PREFIX) (name) } value=(word) checked[chosen == Some(&choice)];
                                    span { strong { (choice.label()) } " " (value) }
                                }
                            }
                        }
                    }
                }
                // Hidden while another value is chosen, so that an edit of it is not lost.
                div .mine { (input) }
            }
        }
    }

    /// A value of the API or of a form, without links: a link in a label would leave the form.
    fn show_value(&self, name: &str, value: &Value, type_name: Option<&str>) -> Markup {
        if let Some(definition) = self.definitions.iter().find(|known| format!("custom_fields.{}", known.name) == name)
        {
            let kind = CustomFieldType::from_name(&definition.field_type).map_or(Kind::Text, CustomFieldType::kind);
            return match number_input::unreadable_text(kind, value) {
                Some(text) => html! { (text) },
                None => {
                    let value = form_decode::to_api_value(kind, value);
                    value::render_custom_field(self.request, Some(definition), &value, Placement::Page)
                }
            };
        }
        match self.target.entry.field(name) {
            Some(field) => self.show_field(field, value, type_name),
            None => html! { (input::to_text(value)) },
        }
    }

    fn show_field(&self, field: &'static FieldMeta, value: &Value, type_name: Option<&str>) -> Markup {
        let catalog = &self.request.state.catalog;
        let name_of = |referenced: &Entry, id: &Value| {
            let number = id.as_i64().or_else(|| id.as_str()?.trim().parse().ok());
            let known = number.and_then(|id| self.display_names.get(referenced.meta.name, id));
            known.map_or_else(
                || text!("{record} {id}", record = labels::record(referenced.meta), id = input::to_text(id)),
                String::from,
            )
        };
        if let Some(text) = number_input::unreadable_text(field.kind, value) {
            return html! { (text) };
        }
        if form_decode::is_empty(value) || value.as_array().is_some_and(Vec::is_empty) {
            return value::render_empty();
        }
        match field.kind {
            Kind::Ref { resource } => html! { (name_of(catalog.linked(resource), value)) },
            Kind::PolymorphicRef { .. } => match type_name.and_then(|name| catalog.by_type(name)) {
                Some(referenced) => html! { (name_of(referenced, value)) },
                None => html! { (input::to_text(value)) },
            },
            Kind::RefList { resource } | Kind::Links { resource, .. } => {
                let names = value.as_array().into_iter().flatten().map(|id| name_of(catalog.linked(resource), id));
                html! { (names.collect::<Vec<_>>().join(", ")) }
            }
            Kind::Embedded { resource, by } => {
                let referenced = catalog.linked(resource);
                let rows = value.as_array().into_iter().flatten();
                html! {
                    @for (number, row) in rows.enumerate() {
                        @if number > 0 { "; " }
                        @for (index, inner) in form_fields::row_fields(self.request, referenced, by).enumerate() {
                            @if index > 0 { ", " }
                            (labels::field(inner)) " " (self.show_field(inner, row.get(inner.name).unwrap_or(&Value::Null), None))
                        }
                    }
                }
            }
            kind => {
                let value = form_decode::to_api_value(kind, value);
                value::render_unlinked(self.request, field, kind, &value, Placement::Page)
            }
        }
    }
}
