//! One field: whether what it says goes together, and whether its rules fit its kind.

use charter_model::{Access, Number, Predicate, RuleArgument, RuleTakes, Storage};
use proc_macro2::Span;

use super::settings::find_column;
use crate::ast::{Derived, Field, Fill, Flags, Kind, Resource, Word};
use crate::names::suggestion;
use crate::problems::Problems;

pub fn column(field: &Field, resource: &Resource, problems: &mut Problems) {
    let flags = &field.flags;
    if let [(first, _), .., (second, span)] = flags.access.as_slice() {
        let (first, second) = (first.word().unwrap_or_default(), second.word().unwrap_or_default());
        problems.report(*span, format!("a field is either `{first}` or `{second}`"));
    }
    let is_unwritten = |access: &&Access| flags.access(**access).is_some();
    let unwritten = [Access::ReadOnly, Access::Internal].iter().find(is_unwritten).and_then(|access| access.word());
    if let (Some(span), Some(why)) = (flags.required, unwritten) {
        problems.report(span, format!("a client cannot write a field that is `{why}`, so it cannot be `required`"));
    }
    if let (Some(span), Some(_)) = (flags.detail, flags.access(Access::Internal)) {
        problems.report(span, "a field that is `internal` is not shown, so `detail` means nothing");
    }
    required(field, problems);
    filter(flags, problems);
    if let Some(Kind::PolymorphicRef { type_field }) = &field.kind
        && let Some(other) = find_column(resource, type_field, problems)
        && !matches!(other.kind, None | Some(Kind::PolymorphicType { .. }))
    {
        problems
            .report(type_field.span, "the field that names the type says `polymorphic_type(\"…\")`; this one does not");
    }
    words(field.kind.as_ref(), problems);
}

pub fn derived(derived: &Derived, resource: &Resource, problems: &mut Problems) {
    filter(&derived.flags, problems);
    let Some(via) = find_column(resource, &derived.via, problems) else { return };
    match &via.kind {
        None | Some(Kind::Ref { .. }) => {}
        Some(Kind::Code { .. }) if derived.field.text == "label" => {}
        Some(Kind::Code { .. }) => {
            problems.report(derived.field.span, format!("a code has only `label`: `{}.label`", via.name))
        }
        _ => problems.report(derived.via.span, "a derived field follows a `reference` or a `code`; this is neither"),
    }
}

pub fn input(field: &Field, problems: &mut Problems) {
    no_record(&field.flags, problems);
    required(field, problems);
    let given = field.nullable || field.flags.required.is_some() || field.default.is_some();
    let starts_empty = field.kind.as_ref().is_none_or(|kind| kind.facts().starts_empty);
    if !given && !starts_empty {
        let message = "nothing gives it a value: say `required` or a default, or make it an `Option`";
        problems.report(field.ident.span(), message);
    }
    for rule in &field.rules {
        if rule.says == charter_model::Rule::Unique {
            problems.report(rule.span, "a parameter is not stored, so it cannot be `unique`");
        }
    }
    words(field.kind.as_ref(), problems);
}

pub fn output(field: &Field, problems: &mut Problems) {
    no_record(&field.flags, problems);
    let asked = [field.flags.required, field.default.as_ref().map(Fill::span)];
    for span in asked.into_iter().flatten().chain(field.rules.iter().map(|rule| rule.span)) {
        problems.report(span, "an answer is not checked; only its kind is said here");
    }
    words(field.kind.as_ref(), problems);
}

/// Flags that make sense only for fields of a stored record.
fn no_record(flags: &Flags, problems: &mut Problems) {
    for (access, span) in &flags.access {
        let key = access.word().unwrap_or_default();
        problems.report(*span, format!("`{key}` is for the fields of a resource, not of an action"));
    }
    let given = [
        ("detail", flags.detail),
        ("no_sort", flags.no_sort),
        ("no_filter", flags.no_filter),
        ("filter", flags.filter.as_ref().map(|words| words.first().map_or_else(Span::call_site, |word| word.span))),
    ];
    for (key, span) in given {
        if let Some(span) = span {
            problems.report(span, format!("`{key}` is for the fields of a resource, not of an action"));
        }
    }
}

fn required(field: &Field, problems: &mut Problems) {
    if let (Some(span), Some(_)) = (field.flags.required, &field.default) {
        problems.report(span, "a field that create must give needs no default: say one of the two");
    }
}

fn filter(flags: &Flags, problems: &mut Problems) {
    let Some(allowed) = &flags.filter else { return };
    if let Some(span) = flags.no_filter {
        problems.report(span, "say `filter(…)` or `no_filter`, not both");
    }
    for word in allowed {
        if Predicate::from_name(&word.text).is_none() {
            let help = suggestion(&word.text, Predicate::names());
            problems.report(word.span, format!("no predicate `{}`{help}", word.text));
        }
    }
}

/// A word of an enumeration, or a type, is given once.
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
            problems.report(word.span, format!("this has {length} characters; a word has {most} at most"));
        }
    }
}

/// The rules against the kind, and against the fields of the struct.
pub fn rules(field: &Field, names: &[&str], problems: &mut Problems) {
    let Some(kind) = &field.kind else { return };
    let facts = kind.facts();
    for rule in &field.rules {
        let (says, fits) = (&rule.says, (rule.says.facts().fits)(facts));
        match (says.facts().takes, says.argument()) {
            (RuleTakes::Number, _) if !fits => problems.report(rule.span, "only numbers have bounds"),
            (RuleTakes::Number, RuleArgument::Text(bound)) if Number::read(&bound.text).is_none() => {
                problems.report(bound.span, "a bound is a number in quotes, so that it is exact: `\"0.01\"`");
            }
            (RuleTakes::Count, _) if !fits => problems.report(
                rule.span,
                match says {
                    charter_model::Rule::MinLength(_) => "only text and lists have a length",
                    _ if facts.is_text => "how long text may be stands in its kind: `string(255)`",
                    _ => "only lists have a greatest length",
                },
            ),
            (RuleTakes::Text | RuleTakes::Format, _) if !fits => {
                problems.report(rule.span, "only a `string` or a `text` is matched");
            }
            (RuleTakes::Field, RuleArgument::Text(other)) => named(field, &other, names, problems),
            _ => {}
        }
    }
}

fn named(field: &Field, other: &Word, names: &[&str], problems: &mut Problems) {
    if other.text == field.name {
        problems.report(other.span, "a field is not compared with itself");
    } else if !names.contains(&other.text.as_str()) {
        let known = names.iter().copied().filter(|name| *name != field.name);
        problems.report(other.span, format!("no field `{}`{}", other.text, suggestion(&other.text, known)));
    }
}
