//! Fields of a record form: label, input, help and error messages, and the summary of all errors.

use maud::{Markup, html};
use serde_json::Value;

use super::field_error::{FieldError, RefusedValue};
use super::form::RecordForm;
use super::input::{self, InputOptions};
use super::{choices, form_decode};
use crate::language::{message, text};
use crate::panel::format::number_input::Separators;
use crate::panel::format::{labels, rule_words};
use crate::panel::request::PanelRequest;
use crate::server::Problem;
use charter_core::catalog::Entry;
use charter_core::custom_field::{CustomFieldType, Definition};
use charter_core::meta::{Access, FieldMeta, Kind};

impl RecordForm<'_> {
    /// All errors, with a link to the field of each.
    pub(crate) fn render_summary(&self, problem: &Problem) -> Markup {
        let has_input = |name: &str| {
            let first = name.split('.').next().unwrap_or_default();
            self.target
                .entry
                .meta
                .fields
                .iter()
                .any(|field| field.name == first && form_decode::is_editable(self.request, self.target, field))
        };
        let others: Vec<_> = problem.errors.iter().filter(|(name, _)| !has_input(name)).collect();
        html! {
            div .problem role="alert" tabindex="-1" data-focus {
                @if problem.errors.is_empty() { p { (rule_words::refusal(self.target.entry.meta, &problem.message)) } }
                @else { p { strong { (text!("The record was not saved. Correct these errors:")) } } }
                ul {
                    @for (name, messages) in &problem.errors {
                        @if has_input(name) { li { a href={ "#" (input_id(name)) } { (self.label_of(name)) } (self.error_of(name, messages).after_label()) } }
                    }
                    @for (name, messages) in others { li { (self.label_of(name)) (self.error_of(name, messages).after_label()) } }
                }
            }
        }
    }

    /// The label for a field of the API's errors: `Participants 1: Member` for `participants.0.member_id`.
    pub(super) fn label_of(&self, name: &str) -> String {
        let entry = self.target.entry;
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        let Some(field) = entry.field(first) else { return labels::from_name(name) };
        match (field.kind, rest.split_once('.')) {
            (Kind::CustomFields, _) if !rest.is_empty() => {
                let definition = self.definitions.iter().find(|definition| definition.name == rest);
                definition.map_or_else(|| labels::from_name(rest), |definition| definition.label.clone())
            }
            (Kind::Embedded { resource, .. }, Some((index, inner))) => {
                let referenced = self.request.state.catalog.linked(resource);
                let inner = referenced.field(inner).map_or_else(|| labels::from_name(inner), labels::field);
                let row = index.parse::<usize>().map_or_else(|_| index.to_string(), |index| (index + 1).to_string());
                format!("{} {row}: {inner}", labels::field(field))
            }
            _ => labels::field(field),
        }
    }

    fn error_of(&self, name: &str, messages: &[String]) -> FieldError {
        match self.refused_value(name) {
            Some(refused) => FieldError::of(self.request, &refused, &self.display_names, messages),
            None => FieldError::Predicate(labels::messages(messages)),
        }
    }

    /// The value of a field, of a custom field, or of a field of an embedded record.
    fn refused_value(&self, name: &str) -> Option<RefusedValue<'_>> {
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        let field = self.target.entry.field(first)?;
        let value = self.record.pointer(&format!("/{}", name.replace('.', "/")))?;
        let fields = self.target.entry.meta.fields;
        match (field.kind, rest.split_once('.')) {
            (Kind::CustomFields, _) => {
                let definition = self.definitions.iter().find(|definition| definition.name == rest)?;
                let kind = CustomFieldType::from_name(&definition.field_type)?.kind();
                Some(RefusedValue { fields, field: None, kind, value })
            }
            (Kind::Embedded { resource, .. }, Some((_, inner))) => {
                let referenced = self.request.state.catalog.linked(resource);
                let field = referenced.field(inner)?;
                Some(RefusedValue { fields: referenced.meta.fields, field: Some(field), kind: field.kind, value })
            }
            (kind, _) => Some(RefusedValue { fields, field: Some(field), kind, value }),
        }
    }

    fn errors(&self, name: &str) -> Option<&Vec<String>> {
        self.problem.as_ref()?.errors.get(name)
    }

    /// The inputs of a field, after a choice of values if the user and somebody else changed it.
    pub(crate) fn render_field(&self, field: &'static FieldMeta) -> Markup {
        self.with_choice(field.name, self.render_inputs(field))
    }

    fn render_inputs(&self, field: &'static FieldMeta) -> Markup {
        if field.kind == Kind::CustomFields {
            return html! {};
        }
        if let Kind::Embedded { resource, by } = field.kind {
            return self.render_embedded(field, self.request.state.catalog.linked(resource), by);
        }
        if let Some(inputs) = self
            .saved_view
            .as_ref()
            .and_then(|view| view.render_field(field.name, self.errors(field.name).map_or(&[], Vec::as_slice)))
        {
            return inputs;
        }
        // A field that is never shown keeps its value if it is omitted.
        let is_hidden = matches!(field.access, Access::WriteOnly | Access::Secret);
        let required = field.required && (self.target.is_list() || !is_hidden);
        let value = self.record.get(field.name).cloned().unwrap_or_default();
        let choices = choices::for_field(self.request, self.target.entry, field);
        // A polymorphic reference has two inputs. The help is below the second.
        let help = if matches!(field.kind, Kind::PolymorphicType { .. }) { String::new() } else { labels::help(field) };
        self.render_labelled(&labels::field(field), &help, field.name, field.kind, field, required, &value, choices)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a field")]
    fn render_labelled(
        &self,
        label: &str,
        help: &str,
        name: &str,
        kind: Kind,
        field: &'static FieldMeta,
        required: bool,
        value: &Value,
        choices: Option<Vec<choices::Choice>>,
    ) -> Markup {
        let errors = self.errors(name);
        let (id, help_id, error_id) =
            (input_id(name), format!("{}-help", input_id(name)), format!("{}-error", input_id(name)));
        let mut described_by = Vec::new();
        let separators = Separators::of(&self.request.locale.numbers);
        let is_decimal = matches!(kind, Kind::Decimal { .. }) && separators.differ_from_api();
        let suggestion_url = input::input_suggestion_url(self.request, Some(field));
        let takes_id = suggestion_url.is_none() && choices.is_none();
        let id_help = kind.referred().filter(|_| takes_id).map(|resource| {
            let referenced = self.request.state.catalog.linked(resource);
            text!("Enter the id: {record}.", record = labels::singular(referenced.meta))
        });
        let has_help = !help.is_empty() || is_decimal || id_help.is_some();
        if has_help {
            described_by.push(help_id.clone());
        }
        if errors.is_some() {
            described_by.push(error_id.clone());
        }
        let options = InputOptions {
            id: id.clone(),
            name: form_decode::input_name(name),
            required,
            clearable: field.nullable && !required,
            value,
            choices,
            described_by: (!described_by.is_empty()).then(|| described_by.join(" ")),
            invalid: errors.is_some(),
            display_names: &self.display_names,
            suggestion_url,
            referenced_name: self.polymorphic_name(field, value),
            // Inputs in a row of embedded records are compact.
            display: Some(field).filter(|_| !name.contains('.')),
        };
        let marked_label = html! { (label) @if required { " " span .required title=(text!("Required")) { "*" } } };
        let inner = html! {
            (input::render(self.request, kind, field.rules, &options))
            @if let Some(messages) = errors { p .error id=(error_id) { (self.error_of(name, messages).at_input(label)) } }
            @if has_help {
                p .help id=(help_id) { (labels::render_code(help)) @if let Some(id_help) = &id_help { " " (id_help) } @if is_decimal { " " (text!("For example {number}.", number = separators.example())) } }
            }
        };
        let invalid = errors.is_some();
        html! {
            @if options.is_radio() {
                fieldset .field.radio .invalid[invalid] aria-describedby=[&options.described_by] { legend #(id) tabindex="-1" { (marked_label) } (inner) }
            } @else {
                div .field .invalid[invalid] .check[options.is_checkbox(kind)] { label for=(id) { (marked_label) } (inner) }
            }
        }
    }

    /// The display name of the record that a polymorphic reference refers to.
    fn polymorphic_name(&self, field: &'static FieldMeta, value: &Value) -> Option<String> {
        let Kind::PolymorphicRef { type_field } = field.kind else { return None };
        let referenced = self.request.state.catalog.by_type(self.record[type_field].as_str()?)?;
        let id = value.as_i64().or_else(|| value.as_str()?.parse().ok())?;
        self.display_names.get(referenced.meta.name, id).map(String::from)
    }

    pub(crate) fn render_custom_field(&self, definition: &Definition) -> Markup {
        const NO_RULES: &FieldMeta = &FieldMeta { nullable: true, ..FieldMeta::new("", Kind::Text) };
        let Some((kind, choices)) = choices::for_custom_field(&self.request.state.catalog, definition) else {
            return html! {};
        };
        let value = self.record["custom_fields"][definition.name.as_str()].clone();
        let name = format!("custom_fields.{}", definition.name);
        let input =
            self.render_labelled(&definition.label, "", &name, kind, NO_RULES, definition.required, &value, choices);
        self.with_choice(&name, input)
    }

    /// A row of inputs for each embedded record, and a blank one.
    fn render_embedded(&self, field: &'static FieldMeta, referenced: &Entry, by: &str) -> Markup {
        let empty = Vec::new();
        let rows = self.record[field.name].as_array().unwrap_or(&empty);
        let inner: Vec<&'static FieldMeta> = row_fields(self.request, referenced, by).collect();
        if inner.is_empty() {
            return html! {};
        }
        let blank = Value::Object(form_decode::default_values(self.request, referenced));
        html! {
            row-list { fieldset {
                legend { (labels::field(field)) }
                @for one in self.errors(field.name).into_iter().flatten() { p .error { (labels::field(field)) " " (message(one)) } }
                @for (index, row) in rows.iter().chain([&blank]).enumerate() {
                    @let row_name = format!("{}.{index}", field.name);
                    div .embedded data-embedded {
                        // A number from the API, or text from a form.
                        @let id = input::to_text(&row["id"]);
                        @if !id.is_empty() { input type="hidden" name=(form_decode::input_name(&format!("{row_name}.id"))) value=(id); }
                        @for field in &inner {
                            @let name = format!("{row_name}.{}", field.name);
                            @let value = row.get(field.name).cloned().unwrap_or_default();
                            @let choices = choices::for_field(self.request, referenced, field);
                            (self.render_labelled(&labels::field(field), "", &name, field.kind, field, field.required, &value, choices))
                        }
                        @if index < rows.len() { button type="button" .quiet data-remove-row { (text!("Remove")) } }
                    }
                }
            } }
        }
    }
}

/// The fields with an input in a row of embedded records, which depend on the user.
pub(super) fn row_fields<'e>(
    request: &'e PanelRequest<'_>,
    referenced: &'e Entry,
    by: &'e str,
) -> impl Iterator<Item = &'static FieldMeta> + 'e {
    let is_input = move |inner: &&'static FieldMeta| {
        let is_own = inner.name != by && inner.name != "id";
        is_own && inner.access == Access::Writable && request.may_set_field(referenced, inner)
    };
    referenced.meta.fields.iter().filter(is_input)
}

pub(super) fn input_id(name: &str) -> String {
    format!("field-{}", name.replace('.', "-"))
}
