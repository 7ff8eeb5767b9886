//! Checks of one field: that its flags agree, and that its rules fit its kind.

use charter_model::{Access, Number, Predicate, RuleArgument, RuleTakes, Storage};
use proc_macro2::Span;

use super::settings::find_column;
use crate::ast::{DefaultValue, Derived, Field, Flags, Kind, Resource, Word};
use crate::names::suggestion;
use crate::problems::Problems;

pub fn column(field: &Field, resource: &Resource, problems: &mut Problems) {
    let flags = &field.flags;
    if let [(first, _), .., (second, span)] = flags.access.as_slice() {
        let (first, second) = (first.word().unwrap_or_default(), second.word().unwrap_or_default());
        problems.report(*span, format!("`{first}` and `{second}` exclude each other"));
    }
    let is_unwritten = |access: &&Access| flags.access(**access).is_some();
    let unwritten = [Access::ReadOnly, Access::Internal].iter().find(is_unwritten).and_then(|access| access.word());
    if let (Some(span), Some(why)) = (flags.required, unwritten) {
        problems.report(span, format!("a field that is `{why}` cannot be `required`: clients do not write it"));
    }
    if let (Some(span), Some(_)) = (flags.detail, flags.access(Access::Internal)) {
        problems.report(span, "`detail` has no effect on a field that is `internal`: no response shows it");
    }
    required(field, problems);
    computed(field, problems);
    filter(flags, problems);
    if let Some(Kind::PolymorphicRef { type_field }) = &field.kind
        && let Some(other) = find_column(resource, type_field, problems)
        && !matches!(other.kind, None | Some(Kind::PolymorphicType { .. }))
    {
        problems.report(type_field.span, "the type field must be a `polymorphic_type(\"…\")`");
    }
    words(field.kind.as_ref(), problems);
}

pub fn derived(derived: &Derived, resource: &Resource, problems: &mut Problems) {
    filter(&derived.flags, problems);
    let Some(via) = find_column(resource, &derived.via, problems) else { return };
    match &via.kind {
        None | Some(Kind::Ref { .. }) => {}
        Some(Kind::Code { .. }) if derived.field.text == "label" => {}
        Some(Kind::Code { .. }) => problems
            .report(derived.field.span, format!("only the label of a code can be derived: `{}.label`", via.name)),
        _ => problems.report(derived.via.span, "a derived field needs a `reference` or a `code`"),
    }
}

pub fn input(field: &Field, problems: &mut Problems) {
    no_record(&field.flags, problems);
    if let Some(DefaultValue::Expression(text)) = &field.default {
        problems.report(text.span, "`default_value` applies to the fields of a resource, not of an action");
    }
    required(field, problems);
    let given = field.nullable || field.flags.required.is_some() || field.default.is_some();
    let starts_empty = field.kind.as_ref().is_none_or(|kind| kind.facts().starts_empty);
    if !given && !starts_empty {
        let message = "the parameter needs `required`, a default, or an `Option` as its type";
        problems.report(field.ident.span(), message);
    }
    for entry in &field.rules {
        if entry.rule == charter_model::Rule::Unique {
            problems.report(entry.span, "a parameter cannot be `unique`: it is not stored");
        }
    }
    words(field.kind.as_ref(), problems);
}

pub fn output(field: &Field, problems: &mut Problems) {
    no_record(&field.flags, problems);
    let spans = [field.flags.required, field.default.as_ref().map(DefaultValue::span)];
    for span in spans.into_iter().flatten().chain(field.rules.iter().map(|rule| rule.span)) {
        problems.report(span, "a field of an answer takes only its kind: answers are not validated");
    }
    words(field.kind.as_ref(), problems);
}

/// Reports flags that apply only to fields of a stored record.
fn no_record(flags: &Flags, problems: &mut Problems) {
    for (access, span) in &flags.access {
        let key = access.word().unwrap_or_default();
        problems.report(*span, format!("`{key}` applies to the fields of a resource, not of an action"));
    }
    let given = [
        ("value", flags.value().map(|value| value.span)),
        ("rollup", flags.rollup.as_ref().map(|rollup| rollup.span)),
        ("detail", flags.detail),
        ("no_sort", flags.no_sort),
        ("no_filter", flags.no_filter),
        ("filter", flags.filter.as_ref().map(|words| words.first().map_or_else(Span::call_site, |word| word.span))),
    ];
    for (key, span) in given {
        if let Some(span) = span {
            problems.report(span, format!("`{key}` applies to the fields of a resource, not of an action"));
        }
    }
}

/// Reports keys of a computed field that its expression makes useless, and rules of a rollup.
fn computed(field: &Field, problems: &mut Problems) {
    if field.flags.rollup.is_some() {
        for entry in &field.rules {
            problems.report(entry.span, "a rollup takes no rule: no request sets it");
        }
    }
    if field.flags.value().is_none() {
        return;
    }
    if let Some(default) = &field.default {
        problems.report(default.span(), "a computed field has no default: `value` gives it a value in every record");
    }
    for entry in field.rules.iter().filter(|entry| entry.rule != charter_model::Rule::Unique) {
        problems.report(entry.span, "a computed field takes no rule but `unique`: no request sets it");
    }
}

fn required(field: &Field, problems: &mut Problems) {
    if let (Some(span), Some(_)) = (field.flags.required, &field.default) {
        problems.report(span, "`required` and a default exclude each other");
    }
}

fn filter(flags: &Flags, problems: &mut Problems) {
    let Some(allowed) = &flags.filter else { return };
    if let Some(span) = flags.no_filter {
        problems.report(span, "`filter(…)` and `no_filter` exclude each other");
    }
    for word in allowed {
        if Predicate::from_name(&word.text).is_none() {
            let known = Predicate::from_foreign_name(&word.text).unwrap_or(&word.text);
            let help = suggestion(known, Predicate::names());
            problems.report(word.span, format!("unknown predicate `{}`{help}", word.text));
        }
    }
}

/// Reports repeated words of an enumeration or of a polymorphic type.
fn words(kind: Option<&Kind>, problems: &mut Problems) {
    let (words, is_enum) = match kind {
        Some(Kind::Enum { values }) => (values, true),
        Some(Kind::PolymorphicType { type_names }) => (type_names, false),
        _ => return,
    };
    for (index, word) in words.iter().enumerate() {
        // The words of an enumeration are compared without regard to case.
        if words[..index].iter().any(|other| other.text.to_lowercase() == word.text.to_lowercase()) {
            problems.report(word.span, format!("`{}` is given twice", word.text));
        }
        let length = word.text.chars().count();
        if is_enum && length > Storage::MAX_WORD_LENGTH as usize {
            let most = Storage::MAX_WORD_LENGTH;
            problems.report(word.span, format!("the word has {length} characters; the maximum is {most}"));
        }
    }
}

/// Checks the rules against the kind and the fields of the struct.
pub fn rules(field: &Field, names: &[&str], problems: &mut Problems) {
    let Some(kind) = &field.kind else { return };
    let facts = kind.facts();
    for entry in &field.rules {
        let (rule, span, fits) = (&entry.rule, entry.span, (entry.rule.facts().fits)(facts));
        match (rule.facts().takes, rule.argument()) {
            (RuleTakes::Number, _) if !fits => problems.report(span, "bounds apply to numbers only"),
            (RuleTakes::Number, RuleArgument::Text(bound)) if Number::read(&bound.text).is_none() => {
                problems.report(bound.span, "a bound must be a decimal number in quotes: `\"0.01\"`");
            }
            (RuleTakes::Count, _) if !fits => problems.report(
                span,
                match rule {
                    charter_model::Rule::MinLength(_) => "`min_length` applies to text and lists only",
                    _ if facts.is_text => "the kind sets the maximum length of text: `string(255)`",
                    _ => "`max_length` applies to lists only",
                },
            ),
            (RuleTakes::Text | RuleTakes::Format, _) if !fits => {
                problems.report(span, "the rule applies to `string` and `text` only");
            }
            (RuleTakes::Field, RuleArgument::Text(other)) => named(field, &other, names, problems),
            _ => {}
        }
    }
}

fn named(field: &Field, other: &Word, names: &[&str], problems: &mut Problems) {
    if other.text == field.name {
        problems.report(other.span, "a field cannot be compared with itself");
    } else if !names.contains(&other.text.as_str()) {
        let known = names.iter().copied().filter(|name| *name != field.name);
        problems.report(other.span, format!("unknown field `{}`{}", other.text, suggestion(&other.text, known)));
    }
}
