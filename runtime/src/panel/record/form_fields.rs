//! The fields of a form, each with its label, its help and what is wrong with it.

use maud::{Markup, html};
use serde_json::Value;

use super::api::Problem;
use super::form::Form;
use super::input::{self, Given};
use super::{choice, sent, words};
use crate::catalog::Entry;
use crate::custom_field::Definition;
use crate::meta::{Access, FieldMeta, Kind};

impl Form<'_> {
    /// Problems that stand at no field.
    pub fn summary(&self, problem: &Problem) -> Markup {
        let shown = |name: &str| {
            let first = name.split('.').next().unwrap_or_default();
            self.place
                .entry
                .meta
                .fields
                .iter()
                .any(|field| field.name == first && sent::is_given(self.visit, self.place, field))
        };
        let others: Vec<_> = problem.errors.iter().filter(|(name, _)| !shown(name)).collect();
        html! {
            div .problem role="alert" tabindex="-1" data-focus {
                @if problem.errors.is_empty() { p { (problem.message) } } @else { p { strong { "It was not saved: something is not right yet." } } }
                ul {
                    @for (name, said) in &problem.errors {
                        @if shown(name) { li { a href={ "#" (id_of(name)) } { (self.called(name)) } " " (said.join("; ")) } }
                    }
                    @for (name, said) in others { li { (self.called(name)) " " (said.join("; ")) } }
                }
            }
        }
    }

    /// What a problem is about, in the words of its field: of `participants.0.member_id`, "Participants 1: Member".
    fn called(&self, name: &str) -> String {
        let entry = self.place.entry;
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        let Some(field) = entry.field(first) else { return words::label(name) };
        match (field.kind, rest.split_once('.')) {
            (Kind::CustomFields, _) if !rest.is_empty() => {
                let definition = self.definitions.iter().find(|definition| definition.name == rest);
                definition.map_or_else(|| words::label(rest), |definition| definition.label.clone())
            }
            (Kind::Embedded { resource, .. }, Some((index, inner))) => {
                let target = self.visit.state.catalog.linked(resource);
                let inner = target.field(inner).map_or_else(|| words::label(inner), words::field);
                let row = index.parse::<usize>().map_or_else(|_| index.to_string(), |index| (index + 1).to_string());
                format!("{} {row}: {inner}", words::field(field))
            }
            _ => words::field(field),
        }
    }

    fn said(&self, name: &str) -> Vec<String> {
        self.problem.as_ref().and_then(|problem| problem.errors.get(name)).cloned().unwrap_or_default()
    }

    pub fn field(&self, field: &'static FieldMeta) -> Markup {
        if field.kind == Kind::CustomFields {
            return html! {};
        }
        if let Kind::Embedded { resource, by } = field.kind {
            return self.embedded(field, self.visit.state.catalog.linked(resource), by);
        }
        if let Some(inputs) = self.view.as_ref().and_then(|view| view.field(field.name, &self.said(field.name))) {
            return inputs;
        }
        // What is never shown is kept where it is left out.
        let is_hidden = matches!(field.access, Access::WriteOnly | Access::Secret);
        let required = field.required && (self.place.is_list() || !is_hidden);
        let value = self.record.get(field.name).cloned().unwrap_or_default();
        let choices = choice::of_field(self.visit, self.place.entry, field);
        // A reference to one of several types is two inputs, and its help stands below the second.
        let help = if matches!(field.kind, Kind::PolymorphicType { .. }) { "" } else { words::help(field) };
        self.labelled(&words::field(field), help, field.name, field.kind, field, required, &value, choices)
    }

    #[expect(clippy::too_many_arguments, reason = "a field of a form has as many sides")]
    fn labelled(
        &self,
        label: &str,
        help: &str,
        name: &str,
        kind: Kind,
        field: &'static FieldMeta,
        required: bool,
        value: &Value,
        choices: Option<Vec<choice::Choice>>,
    ) -> Markup {
        let problems = self.said(name);
        let (id, help_id, error_id) = (id_of(name), format!("{}-help", id_of(name)), format!("{}-error", id_of(name)));
        let mut described = Vec::new();
        if !help.is_empty() {
            described.push(help_id.clone());
        }
        if !problems.is_empty() {
            described.push(error_id.clone());
        }
        let given = Given {
            id: id.clone(),
            name: sent::bracketed(name),
            required,
            clearable: field.nullable && !required,
            value,
            choices,
            described: (!described.is_empty()).then(|| described.join(" ")),
            invalid: !problems.is_empty(),
            titles: &self.titles,
            search: input::places(self.visit, Some(field)),
            shown: self.polymorphic(field, value),
            // A row of many is made of inputs that take little room.
            widget: field.widget.filter(|_| !name.contains('.')),
        };
        let called = html! { (label) @if required { " " span .required title="Required" { "*" } } };
        let inner = html! {
            (input::of(self.visit, kind, field.rules, &given))
            @if !problems.is_empty() { p .error id=(error_id) { (label) " " (problems.join("; ")) } }
            @if !help.is_empty() { p .help id=(help_id) { (words::described(help)) } }
        };
        let invalid = !problems.is_empty();
        html! {
            @if given.is_radio() {
                fieldset .field.radio .invalid[invalid] aria-describedby=[&given.described] { legend #(id) tabindex="-1" { (called) } (inner) }
            } @else {
                div .field .invalid[invalid] .check[given.is_box(kind)] { label for=(id) { (called) } (inner) }
            }
        }
    }

    fn polymorphic(&self, field: &'static FieldMeta, value: &Value) -> Option<String> {
        let Kind::PolymorphicRef { type_field } = field.kind else { return None };
        let target = self.visit.state.catalog.by_type(self.record[type_field].as_str()?)?;
        let id = value.as_i64().or_else(|| value.as_str()?.parse().ok())?;
        self.titles.get(target.meta.name, id).map(String::from)
    }

    pub fn custom(&self, definition: &Definition) -> Markup {
        const PLAIN: &FieldMeta = &FieldMeta { nullable: true, ..FieldMeta::new("", Kind::Text) };
        let Some((kind, choices)) = choice::of_custom(&self.visit.state.catalog, definition) else { return html! {} };
        let value = self.record["custom_fields"][definition.name.as_str()].clone();
        let name = format!("custom_fields.{}", definition.name);
        self.labelled(&definition.label, "", &name, kind, PLAIN, definition.required, &value, choices)
    }

    /// The records that belong in this one, a row each, and one more to be filled in.
    fn embedded(&self, field: &'static FieldMeta, target: &Entry, by: &str) -> Markup {
        let empty = Vec::new();
        let rows = self.record[field.name].as_array().unwrap_or(&empty);
        let given =
            |inner: &&'static FieldMeta| inner.name != by && inner.name != "id" && inner.access == Access::Writable;
        let inner: Vec<&'static FieldMeta> = target.meta.fields.iter().filter(given).collect();
        let blank = Value::Object(sent::defaults(self.visit, target));
        html! {
            fieldset data-rows {
                legend { (words::field(field)) }
                @for problem in self.said(field.name) { p .error { (words::field(field)) " " (problem) } }
                @for (index, row) in rows.iter().chain([&blank]).enumerate() {
                    @let place = format!("{}.{index}", field.name);
                    div .embedded data-embedded {
                        // The API shows a number, and the form sent text.
                        @let id = input::text(&row["id"]);
                        @if !id.is_empty() { input type="hidden" name=(sent::bracketed(&format!("{place}.id"))) value=(id); }
                        @for field in &inner {
                            @let name = format!("{place}.{}", field.name);
                            @let value = row.get(field.name).cloned().unwrap_or_default();
                            @let choices = choice::of_field(self.visit, target, field);
                            (self.labelled(&words::field(field), "", &name, field.kind, field, field.required, &value, choices))
                        }
                        @if index < rows.len() { button type="button" .quiet data-remove-row { "Remove" } }
                    }
                }
            }
        }
    }
}

fn id_of(name: &str) -> String {
    format!("field-{}", name.replace('.', "-"))
}
