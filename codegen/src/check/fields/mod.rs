//! Field checks: contradicting keys, empty text, the values of enums and codes, and fields that nothing gives a value.

pub mod computed;
pub mod conditions;
pub(super) mod cross_field;
pub mod default_expressions;
pub(super) mod defaults;
pub(super) mod derived;
pub(super) mod evolution;
pub(super) mod examples;
mod ordering_cycles;
pub mod patterns;
pub(super) mod record_rules;
pub(super) mod rollups;
pub(super) mod rules;
pub(super) mod sequences;
pub mod settable;

use std::collections::BTreeMap;

use charter_model::reserved::SERVER_FIELDS;
use charter_model::{FieldOption, Keyword, OptionTakes, Storage, Widget};

use super::{Scope, ScopeOf, scopes};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Default, Field, Name, Resource, Schema};
use crate::source::Span;

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    not_blank("description", resource.name.as_str(), resource.description.as_ref(), problems);
    for action in &resource.actions {
        not_blank("description", action.name.as_str(), action.description.as_ref(), problems);
    }
    for scope in scopes(resource) {
        for field in scope.fields.iter().filter(|field| field.is_declared()) {
            contradictions(field, problems);
            described(field, problems);
            values(field, problems);
            if let Some(value) = field.value() {
                computed::check(resource, field, value, problems);
                continue;
            }
            if field.rollup.is_some() {
                continue;
            }
            if scope.what != ScopeOf::Output {
                has_a_value(resource, &scope, field, problems);
            }
        }
    }
}

fn contradictions(field: &Field, problems: &mut Problems) {
    let name = &field.declared;
    let places = &field.places;
    let mut refuse = |span: Span, message: String, help: &str| {
        problems.push(Diagnostic::new(Code::Contradiction, span, message, "contradicts").help(help));
    };
    for other in &places.others {
        let (what, help) = match field.kind.derived() {
            _ if field.rollup.is_some() => ("a rollup", "remove it: the database sets the field from other records"),
            Some(_) => (
                "derived",
                "`from` defines the type and the rules of a derived field: those of the field that it shows",
            ),
            _ if field.kind.links().is_some() => (
                "a list of links",
                "`many` and `through` define it: clients send the ids of existing records, in any order",
            ),
            _ => {
                ("embedded", "`many` and `by` define embedded records; their fields are declared in the other resource")
            }
        };
        refuse(other.span, format!("`{name}` is {what} and does not take `{}`", other.value), help);
    }
    if field.value().is_some() || field.rollup.is_some() {
        // `required`, `default` and `access` are reported with the other keys that are useless.
        return;
    }
    if let (Some(required), Some(_)) = (places.required, places.default) {
        let help = "remove `required` if clients may omit it, or `default` if not";
        refuse(required, format!("`{name}` is required, so its default is never used"), help);
    }
    if let (Some(_), Some(nullable)) = (places.required, places.nullable) {
        let help = "remove `required` if it may be null, or `nullable` if not";
        refuse(nullable, format!("`{name}` is both required and nullable"), help);
    }
    if let (Some(required), Some(_), Access::ReadOnly) = (places.required, places.access, field.access) {
        let help = "remove `required`: the server ignores what a client sends for a read-only field";
        refuse(required, format!("`{name}` is both required and read-only"), help);
    }
    if let (Some(nullable), true) = (places.nullable, field.kind.is_list()) {
        refuse(nullable, format!("`{name}` is a list, which can be empty but not null"), "remove `nullable`");
    }
}

/// Reports text for people that is only white space.
fn not_blank(key: &str, of: &str, text: Option<&Name>, problems: &mut Problems) {
    if let Some(text) = text.filter(|text| text.value.trim().is_empty()) {
        let message = format!("the `{key}` of `{of}` is blank");
        let problem = Diagnostic::new(Code::Contradiction, text.span, message, "empty");
        problems.push(problem.help(format!("remove `{key}` to use the default")));
    }
}

/// Checks the display options: text that is only white space, and a placeholder or a widget that does not fit the type.
fn described(field: &Field, problems: &mut Problems) {
    for (option, text) in field.described.iter().filter(|(option, _)| option.facts().takes == OptionTakes::Text) {
        not_blank(option.key(), field.declared.as_str(), Some(text), problems);
    }
    let shows_text = field.kind.is_text() || field.kind.is_number();
    if let Some(text) = field.described.get(FieldOption::Placeholder)
        && !(shows_text || field.kind.is_unknown())
    {
        let message = format!("`{}` has a type whose input shows no placeholder", field.declared);
        let problem = Diagnostic::new(Code::Contradiction, text.span, message, "does not fit");
        problems.push(problem.help("it applies to text and numbers: use `help`, which stands below any input"));
    }
    let widget = field.described.get(FieldOption::Widget);
    let Some((word, widget)) = widget.and_then(|word| Some((word, Widget::read(word.as_str())?))) else { return };
    let those = match widget {
        Widget::Textarea => "a `string`; a `text` has it by default",
        Widget::Radio => "an `enum` or a `code`",
        Widget::Monospace => "a `string` or a `text`",
        Widget::Money => "a `decimal`",
    };
    let fits = field.kind.facts().widgets.contains(&widget);
    if !fits && !field.kind.is_unknown() && field.is_column() {
        let message = format!("`{}` has a type that does not take the widget `{}`", field.declared, word.value);
        let problem = Diagnostic::new(Code::Contradiction, word.span, message, "does not fit");
        problems.push(problem.help(format!("it applies to {those}: choose another widget, or remove `widget`")));
    }
}

fn values(field: &Field, problems: &mut Problems) {
    let words: Vec<&Name> = match (field.kind.words(), field.kind.codes()) {
        (Some(words), _) => words.iter().collect(),
        (_, Some(codes)) => codes.iter().map(|code| &code.label).collect(),
        _ => return,
    };
    if let (true, Some(span)) = (words.is_empty(), field.places.values) {
        let message = format!("`{}` has no values", field.declared);
        problems.push(Diagnostic::new(Code::Values, span, message, "empty").help("add at least one"));
    }
    let mut seen: BTreeMap<String, Span> = BTreeMap::new();
    for word in words {
        if word.value.trim().is_empty() || word.value.trim() != word.value {
            let message = "a value cannot be empty or have spaces around it";
            problems.push(Diagnostic::new(Code::Values, word.span, message, "empty, or with spaces around it"));
        }
        let length = word.value.chars().count();
        if field.kind.words().is_some() && length > Storage::MAX_WORD_LENGTH as usize {
            let most = Storage::MAX_WORD_LENGTH;
            let message = format!("a word of an `enum` has at most {most} characters; this word has {length}");
            let problem = Diagnostic::new(Code::Values, word.span, message, "too long");
            problems.push(problem.help("choose a shorter word"));
        }
        if word.value.contains('\0') {
            let message = "a value cannot contain NUL, which PostgreSQL does not store";
            problems.push(Diagnostic::new(Code::Values, word.span, message, "contains NUL").help("remove the NUL"));
        }
        if let Some(first) = seen.insert(word.value.to_lowercase(), word.span) {
            let message = format!("the value `{}` is listed twice", word.value);
            let problem = Diagnostic::new(Code::Values, word.span, message, "again")
                .related(first, "first here")
                .help("values are compared without regard to case");
            problems.push(problem);
        }
    }
}

/// Every field has a value after create, and every parameter when the action runs.
fn has_a_value(resource: &Resource, scope: &Scope<'_>, field: &Field, problems: &mut Problems) {
    let starts_empty = field.kind.facts().starts_empty || !field.is_column();
    let is_numbered = field.described.get(FieldOption::Sequence).is_some();
    let has_value = field.nullable || field.required || is_numbered || field.default != Default::None;
    let is_free = !SERVER_FIELDS.contains(&field.declared.as_str());
    if resource.singleton && scope.what == ScopeOf::Record && field.default == Default::Caller && !field.nullable {
        let message =
            format!("`{}` has the default `caller`, but no caller exists when the record is created", field.declared);
        let span = field.places.default.unwrap_or(field.name.span);
        let problem = Diagnostic::new(Code::NoValue, span, message, "no caller");
        problems.push(problem.help("add `nullable: true`"));
        return;
    }
    if has_value || starts_empty || field.places.incomplete || !is_free {
        return;
    }
    let name = &field.declared;
    let (message, help) = match scope.what {
        ScopeOf::Input => (
            format!("`{name}` has no value if the action is called without it"),
            "add `required: true`, `nullable: true` or a `default`",
        ),
        _ if resource.singleton => (
            format!("`{name}` has no value before the first update"),
            "the record exists from the start: add `nullable: true` or a `default`",
        ),
        _ if field.access == Access::ReadOnly => (
            format!("`{name}` has no value on create"),
            "clients cannot write it: add `nullable: true`, a `default`, or `default: hook` if `before_save` sets it",
        ),
        _ => (
            format!("`{name}` has no value on create"),
            "add `required: true`, `nullable: true`, a `default`, or `default: hook` if `before_save` sets it",
        ),
    };
    problems.push(Diagnostic::new(Code::NoValue, field.name.span, message, "no value").help(help));
}
