//! Form inputs by the kind of a value, for record forms and for the conditions of a list.

use maud::{Markup, html};
use serde_json::Value;

use super::choice_inputs::{checkbox_matrix, radio_group};
use super::choices::{self, Choice};
use super::form_roundtrip::TextInput;
use crate::language::{label, text};
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::format::number_input::{self, Separators};
use crate::panel::format::{datetime, labels};
use crate::panel::list::columns::Column;
use crate::panel::list::filter_row::FilterRow;
use crate::panel::request::PanelRequest;
use crate::panel::suggestion;
use charter_core::catalog::Entry;
use charter_core::meta::{FieldMeta, Kind, Operation, Rule, Widget};
use charter_core::query::{Predicate, Reads};

/// The type of an input, in the word that the scripts use.
pub(crate) fn script_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Timestamp { .. } => "datetime-local",
        Kind::Integer | Kind::BigInt | Kind::Decimal { .. } => "number",
        Kind::Ref { .. } | Kind::PolymorphicRef { .. } => "reference",
        kind => kind.facts().input.unwrap_or("text"),
    }
}

/// The URL of the suggestions for a reference field, if the user may list the referenced resource.
pub(crate) fn suggestion_url(request: &PanelRequest<'_>, field: Option<&'static FieldMeta>) -> Option<String> {
    let referenced = request.state.catalog.linked(field?.kind.referred()?);
    display_name::is_listable(request, referenced).then(|| suggestion::url_of(referenced))
}

/// The URL of the suggestions for the input of a field: of a reference, or of a text that another resource must contain.
pub(crate) fn input_suggestion_url(request: &PanelRequest<'_>, field: Option<&'static FieldMeta>) -> Option<String> {
    let field = field?;
    match field.kind {
        Kind::Ref { resource } => {
            let referenced = request.state.catalog.linked(resource);
            let url = || suggestion::url_of_choices(request, referenced, field);
            display_name::is_listable(request, referenced).then(url)
        }
        _ => suggestion_url(request, Some(field)).or_else(|| suggestion::url_of_value(request, field)),
    }
}

/// An input with suggestions for an id or, if `is_value`, for its text. The links lead to the chosen record and to the
/// form of a new one.
fn picker(request: &PanelRequest<'_>, referenced: Option<&Entry>, is_value: bool, input: &Markup) -> Markup {
    let referenced = referenced.filter(|entry| display_name::is_listable(request, entry));
    // The page after a creation must show a secret.
    let creatable = referenced.filter(|entry| request.may(entry, Operation::Create) && entry.meta.reveals.is_empty());
    html! {
        reference-picker .reference data-value[is_value] data-page=[referenced.filter(|_| !is_value).map(|entry| format!("/{}", entry.meta.path))]
            data-create=[creatable.map(|entry| format!("/{}/new", entry.meta.path))]
            data-create-label=[creatable.map(|entry| text!("New {record}", record = labels::singular(entry.meta)))] { (input) }
    }
}

/// The URLs of the suggestions for a polymorphic reference, as a JSON object by type name.
fn suggestion_urls_by_type(request: &PanelRequest<'_>) -> String {
    let listable = request.state.catalog.entries().iter().filter(|entry| display_name::is_listable(request, entry));
    let url = |entry: &Entry| (entry.meta.type_name.to_string(), suggestion::url_of(entry).into());
    Value::Object(listable.map(url).collect()).to_string()
}

/// The input for the value of a condition.
pub(crate) fn condition_value(
    request: &PanelRequest<'_>,
    name: &str,
    column: Option<&Column>,
    row: &FilterRow,
    label: &str,
    display_names: &DisplayNames,
) -> Markup {
    let reads = Predicate::from_name(&row.predicate).map(Predicate::reads);
    let kind = column.map_or(Kind::Text, |column| column.kind);
    let choices = column.and_then(|column| choices::for_column(&request.state.catalog, column));
    let suggestion_url = suggestion_url(request, column.and_then(|column| column.field));
    let referenced = kind.referred().copied();
    match (reads, choices) {
        (Some(Reads::Switch), _) => html! { input type="hidden" name=(name) value=(row.value); },
        (Some(Reads::Value), Some(choices)) => select(name, None, &choices, &row.value, true, label),
        (Some(Reads::Value), None) => {
            let (input_type, local) = match script_type(kind) {
                "datetime-local" => match datetime::to_input(request.locale.zone, &row.value) {
                    None if !row.value.trim().is_empty() => ("text", None),
                    local => ("datetime-local", local),
                },
                _ => (kind.facts().input.unwrap_or("text"), None),
            };
            let name_of_value = referenced
                .zip(row.value.trim().parse().ok())
                .and_then(|(referenced, id)| display_names.get(referenced, id));
            let has_suggestions = suggestion_url.is_some();
            let input_mode = column.is_some_and(|column| script_type(column.kind) == "number").then_some("decimal");
            let input = html! { input type=(input_type) inputmode=[input_mode] name=(name) value=(local.as_ref().unwrap_or(&row.value)) aria-label=(label) step=[(input_type != "text").then_some("1")] data-titles=[suggestion_url] data-title=[name_of_value] autocomplete="off"; };
            match has_suggestions {
                true => html! { reference-picker .reference { (input) } },
                false => input,
            }
        }
        (Some(Reads::List), Some(choices)) => checkbox_group(name, &choices, &row.value, label),
        (Some(Reads::List), None) if suggestion_url.is_some() && referenced.is_some() => {
            let name_of = |id: &str| {
                referenced.zip(id.parse().ok()).and_then(|(referenced, id)| display_names.get(referenced, id))
            };
            html! {
                div .several data-several role="group" aria-label=(label) {
                    @for id in split_list(&row.value) { (checkbox(name, id, name_of(id).unwrap_or(id), true)) }
                    reference-picker .reference {
                        input type="text" name=(name) aria-label=(label) data-titles=[suggestion_url] autocomplete="off" placeholder=(text!("Add another"));
                    }
                }
            }
        }
        _ => html! { input type="text" name=(name) value=(row.value) aria-label=(label) autocomplete="off"; },
    }
}

/// The elements of a comma-separated list.
fn split_list(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|text| !text.is_empty())
}

/// A checkbox for each choice. The chosen ones come first, in their spelling and order, so that an untouched condition
/// stays the same. A choice that contains a comma cannot be a list element.
fn checkbox_group(name: &str, choices: &[Choice], value: &str, label: &str) -> Markup {
    let chosen: Vec<&str> = split_list(value).collect();
    let label_of =
        |one: &str| choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(one)).map(|(_, label)| label.as_str());
    let is_unchosen = |word: &str| !word.contains(',') && !chosen.iter().any(|one| one.eq_ignore_ascii_case(word));
    html! {
        div .boxes role="group" aria-label=(label) {
            @for one in &chosen { (checkbox(name, one, label_of(one).unwrap_or(one), true)) }
            @for (word, label) in choices.iter().filter(|(word, _)| is_unchosen(word)) { (checkbox(name, word, label, false)) }
        }
    }
}

fn checkbox(name: &str, value: &str, label: &str, checked: bool) -> Markup {
    html! { label .box { input type="checkbox" name=(name) value=(value) checked[checked]; " " (label) } }
}

/// A `<select>` with one of the choices.
pub(crate) fn select(
    name: &str,
    id: Option<&str>,
    choices: &[Choice],
    value: &str,
    blank: bool,
    label: &str,
) -> Markup {
    let known = choices.iter().any(|(known, _)| known.eq_ignore_ascii_case(value));
    html! {
        select name=(name) id=[id] aria-label=[id.is_none().then_some(label)] {
            @if blank || !known { option value="" selected[value.is_empty()] { "–" } }
            @if !known && !value.is_empty() { option value=(value) selected { (value) } }
            @for (word, choice_label) in choices { option value=(word) selected[word.eq_ignore_ascii_case(value)] { (choice_label) } }
        }
    }
}

pub(crate) struct InputOptions<'o> {
    pub id: String,
    pub name: String,
    pub required: bool,
    /// True if the value can be cleared.
    pub clearable: bool,
    /// The value as the API returned it or as a form sent it.
    pub value: &'o Value,
    pub choices: Option<Vec<Choice>>,
    /// Ids of the help and error elements.
    pub described_by: Option<String>,
    pub invalid: bool,
    pub display_names: &'o DisplayNames,
    pub suggestion_url: Option<String>,
    /// Display name of the record that a polymorphic reference refers to.
    pub referenced_name: Option<String>,
    /// The field whose display options the input has.
    pub display: Option<&'static FieldMeta>,
}

impl InputOptions<'_> {
    fn widget(&self) -> Option<Widget> {
        self.display?.widget
    }

    fn placeholder(&self) -> Option<String> {
        let own = self.display.map(|field| field.placeholder).filter(|text| !text.is_empty()).map(label);
        let is_numbered = self.display.is_some_and(|field| !field.sequence.is_empty());
        own.or_else(|| is_numbered.then(|| text!("The next number")))
    }

    /// Returns true if the input is a group of radio buttons.
    pub(crate) fn is_radio(&self) -> bool {
        self.widget() == Some(Widget::Radio) && self.choices.is_some()
    }

    /// Returns true if the input is a checkbox. A nullable boolean is a `<select>` with three options.
    pub(crate) fn is_checkbox(&self, kind: Kind) -> bool {
        kind == Kind::Boolean && !self.clearable
    }
}

/// The input for a value of this kind.
pub(crate) fn render(request: &PanelRequest<'_>, kind: Kind, rules: &[Rule], options: &InputOptions<'_>) -> Markup {
    let text = match kind.facts().is_number && options.choices.is_none() {
        true => number_text(kind, options.value, Some(&Separators::of(&request.locale.numbers))),
        false => to_text(options.value),
    };
    let (id, name, described_by) = (&options.id, &options.name, &options.described_by);
    let invalid = options.invalid.then_some("true");
    let required = options.required.then_some("true");
    let placeholder = options.placeholder();
    let (is_monospace, is_multiline) =
        (options.widget() == Some(Widget::Monospace), options.widget() == Some(Widget::Textarea));
    match (kind, &options.choices) {
        (_, Some(choices)) if options.is_radio() => radio_group(options, choices, &text),
        (Kind::Boolean, _) if options.is_checkbox(kind) => html! {
            input type="hidden" name=(name) value="false";
            input type="checkbox" id=(id) name=(name) value="true" checked[text == "true"] aria-describedby=[described_by];
        },
        (Kind::StringList { .. }, Some(choices)) => checkbox_matrix(options, choices),
        (Kind::StringList { .. }, None) => html! {
            textarea id=(id) name={ (name) "[lines]" } rows="3" aria-describedby=[described_by] aria-invalid=[invalid] { "\n" (to_lines(options.value)) }
        },
        (Kind::RefList { resource } | Kind::Links { resource, .. }, _) => reference_list(request, resource, options),
        (_, Some(choices)) => {
            html! {
                select id=(id) name=(name) aria-describedby=[described_by] aria-invalid=[invalid] aria-required=[required] {
                    @if options.clearable || text.is_empty() { option value="" selected[text.is_empty()] { "–" } }
                    // A stored value that is no longer declared is kept.
                    @if !text.is_empty() && !choices.iter().any(|(word, _)| word.eq_ignore_ascii_case(&text)) { option value=(text) selected { (text) } }
                    @for (word, label) in choices { option value=(word) selected[word.eq_ignore_ascii_case(&text)] { (label) } }
                }
            }
        }
        (Kind::Ref { resource }, _) => {
            let referenced_name = options
                .value
                .as_i64()
                .or_else(|| text.parse().ok())
                .and_then(|id| options.display_names.get(resource, id));
            // Inputs in a row of embedded records are compact.
            let linked = options.display.map(|_| request.state.catalog.linked(resource));
            let input = html! {
                input type="text" id=(id) name=(name) value=(text) inputmode="numeric" autocomplete="off"
                    data-titles=[&options.suggestion_url] data-title=[referenced_name] aria-describedby=[described_by] aria-invalid=[invalid] aria-required=[required];
            };
            picker(request, linked, false, &input)
        }
        (Kind::PolymorphicRef { type_field }, _) => html! {
            reference-picker .reference {
                input type="text" id=(id) name=(name) value=(text) inputmode="numeric" autocomplete="off"
                    data-titles=(suggestion_urls_by_type(request)) data-titles-of=(type_field) data-title=[options.referenced_name.as_ref()]
                    aria-describedby=[described_by] aria-invalid=[invalid] aria-required=[required];
            }
        },
        (Kind::String { max }, _) if is_multiline => html! {
            textarea id=(id) name=(name) rows="3" maxlength=(max) placeholder=[&placeholder] aria-describedby=[described_by] aria-invalid=[invalid] aria-required=[required] { "\n" (text) }
        },
        (Kind::Text, _) => html! {
            textarea .code[is_monospace] id=(id) name=(name) rows="4" placeholder=[&placeholder] aria-describedby=[described_by] aria-invalid=[invalid] aria-required=[required] { "\n" (text) }
        },
        (Kind::Json, _) => html! {
            textarea .code id=(id) name={ (name) "[json]" } rows="6" spellcheck="false" aria-describedby=[described_by] aria-invalid=[invalid] { "\n" (to_pretty_json(options.value)) }
        },
        (Kind::Timestamp { .. }, _) => {
            // A `datetime-local` input would drop a value outside its range: such a value gets a text input.
            let local = datetime::to_input(request.locale.zone, &text);
            let input_type = if local.is_some() || text.is_empty() { "datetime-local" } else { "text" };
            html! { input type=(input_type) step=[(input_type != "text").then_some("any")] id=(id) name=(name) value=(local.as_ref().unwrap_or(&text)) aria-describedby=[described_by] aria-invalid=[invalid] aria-required=[required]; }
        }
        (kind, _) if kind.facts().input.is_some() => {
            html! { input type=[kind.facts().input] step="1" id=(id) name=(name) value=(text) aria-describedby=[described_by] aria-invalid=[invalid] aria-required=[required]; }
        }
        (kind, _) => {
            let mode = match kind {
                Kind::Integer | Kind::BigInt => Some("numeric"),
                Kind::Decimal { .. } => Some("decimal"),
                _ => None,
            };
            let input_type = match TextInput::of(kind, rules, options.widget()) {
                TextInput::Email => "email",
                TextInput::Url => "url",
                TextInput::SingleLine | TextInput::Textarea => "text",
            };
            let max_length = if let Kind::String { max } = kind { Some(max) } else { None };
            let input = html! {
                input .code[is_monospace] type=(input_type) id=(id) name=(name) value=(text) inputmode=[mode] maxlength=[max_length] placeholder=[&placeholder] autocomplete=[options.suggestion_url.as_ref().map(|_| "off")]
                    data-titles=[&options.suggestion_url] aria-describedby=[described_by] aria-invalid=[invalid] aria-required=[required];
            };
            match options.widget() {
                Some(Widget::Money) => request.locale.numbers.money_input(input),
                _ if options.suggestion_url.is_some() => {
                    let existing = options.display.and_then(|field| suggestion::existing(request, field));
                    picker(request, existing.map(|(entry, _)| entry), true, &input)
                }
                _ => input,
            }
        }
    }
}

/// A list of references: a checkbox for each, and an input to add another.
fn reference_list(request: &PanelRequest<'_>, resource: &'static str, options: &InputOptions<'_>) -> Markup {
    let referenced = request.state.catalog.linked(resource);
    let ids = options
        .value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|id| id.as_i64().or_else(|| id.as_str()?.parse().ok()));
    let text = unmatched_name(Kind::RefList { resource }, options.value).unwrap_or_default();
    let name = format!("{}[]", options.name);
    html! {
        input type="hidden" name=(name) value="";
        div .several data-several {
            @for id in ids {
                @let record_name = options.display_names.get(resource, id).map_or_else(|| display_name::unnamed(referenced.meta, id), String::from);
                (checkbox(&name, &id.to_string(), &record_name, true))
            }
            reference-picker .reference {
                input type="text" id=(options.id) name=(name) value=(text) aria-invalid=[options.invalid.then_some("true")] inputmode="numeric" autocomplete="off"
                    data-titles=[&options.suggestion_url] aria-describedby=[&options.described_by] placeholder=(text!("Add {record}", record = labels::singular(referenced.meta)));
            }
        }
    }
}

/// The text in a reference that is no id.
pub(crate) fn unmatched_name(kind: Kind, value: &Value) -> Option<&str> {
    let is_name = |text: &&str| !text.trim().is_empty() && text.trim().parse::<i64>().is_err();
    match kind {
        Kind::Ref { .. } | Kind::PolymorphicRef { .. } => value.as_str().filter(is_name),
        Kind::RefList { .. } | Kind::Links { .. } => value.as_array()?.iter().filter_map(Value::as_str).rfind(is_name),
        _ => None,
    }
}

/// A value as the text of an input.
pub(crate) fn to_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A number as the text of an input.
pub(crate) fn number_text(kind: Kind, value: &Value, separators: Option<&Separators>) -> String {
    match (number_input::unreadable_text(kind, value), separators) {
        (Some(text), _) => text.to_string(),
        (None, Some(separators)) => separators.show(&to_text(value)),
        (None, None) => to_text(value),
    }
}

/// A list as the text of an input with a line for each element.
pub(crate) fn to_lines(value: &Value) -> String {
    match value {
        Value::Array(list) => list.iter().map(to_text).collect::<Vec<_>>().join("\n"),
        other => to_text(other),
    }
}

pub(crate) fn to_pretty_json(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
