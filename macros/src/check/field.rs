//! One field: whether what it says goes together, and whether its rules fit its kind.

use proc_macro2::Span;

use super::settings::find_column;
use crate::ast::{Derived, Field, Fill, Flags, Kind, Resource, Rule, Says, Word};
use crate::names::suggestion;
use crate::problems::Problems;

/// The most characters of a word of an enumeration: its column has no more.
const LONGEST_WORD: usize = 64;

/// The predicates of `q`. The runtime's table is the authority; a test holds this copy to it.
pub const PREDICATES: &[&str] = &[
    "eq", "not_eq", "lt", "lteq", "gt", "gteq", "cont", "not_cont", "start", "end", "null", "not_null", "present",
    "blank", "in", "not_in", "true", "false",
];

pub fn column(field: &Field, resource: &Resource, problems: &mut Problems) {
    let flags = &field.flags;
    let given = [
        ("read_only", flags.read_only),
        ("immutable", flags.immutable),
        ("write_only", flags.write_only),
        ("secret", flags.secret),
        ("internal", flags.internal),
    ];
    let given: Vec<(&str, Span)> = given.into_iter().filter_map(|(key, span)| Some((key, span?))).collect();
    if let [(first, _), .., (second, span)] = given.as_slice() {
        problems.report(*span, format!("a field is either `{first}` or `{second}`"));
    }
    let unwritten = flags.read_only.map(|_| "read_only").or(flags.internal.map(|_| "internal"));
    if let (Some(span), Some(why)) = (flags.required, unwritten) {
        problems.report(span, format!("a client cannot write a field that is `{why}`, so it cannot be `required`"));
    }
    if let (Some(span), Some(_)) = (flags.detail, flags.internal) {
        problems.report(span, "a field that is `internal` is not shown, so `detail` means nothing");
    }
    required(field, problems);
    filter(flags, problems);
    if let Kind::PolymorphicRef(type_field) = &field.kind
        && let Some(other) = find_column(resource, type_field, problems)
        && !matches!(other.kind, Kind::PolymorphicType(_) | Kind::Unknown)
    {
        problems
            .report(type_field.span, "the field that names the type says `polymorphic_type(\"…\")`; this one does not");
    }
    words(&field.kind, problems);
}

pub fn derived(derived: &Derived, resource: &Resource, problems: &mut Problems) {
    filter(&derived.flags, problems);
    let Some(via) = find_column(resource, &derived.via, problems) else { return };
    match &via.kind {
        Kind::Ref(_) | Kind::Unknown => {}
        Kind::Code(_) if derived.field.text == "label" => {}
        Kind::Code(_) => problems.report(derived.field.span, format!("a code has only `label`: `{}.label`", via.name)),
        _ => problems.report(derived.via.span, "a derived field follows a `reference` or a `code`; this is neither"),
    }
}

pub fn input(field: &Field, problems: &mut Problems) {
    no_record(&field.flags, problems);
    required(field, problems);
    let given = field.nullable || field.flags.required.is_some() || field.default.is_some();
    let empty =
        matches!(field.kind, Kind::StringList(_) | Kind::RefList(_) | Kind::Json | Kind::CustomFields | Kind::Unknown);
    if !given && !empty {
        let message = "nothing gives it a value: say `required` or a default, or make it an `Option`";
        problems.report(field.ident.span(), message);
    }
    for rule in &field.rules {
        if matches!(rule.says, Says::Unique) {
            problems.report(rule.span, "a parameter is not stored, so it cannot be `unique`");
        }
    }
    words(&field.kind, problems);
}

pub fn output(field: &Field, problems: &mut Problems) {
    no_record(&field.flags, problems);
    let asked = [field.flags.required, field.default.as_ref().map(Fill::span)];
    for span in asked.into_iter().flatten().chain(field.rules.iter().map(|rule| rule.span)) {
        problems.report(span, "an answer is not checked; only its kind is said here");
    }
    words(&field.kind, problems);
}

/// Flags that make sense only for fields of a stored record.
fn no_record(flags: &Flags, problems: &mut Problems) {
    let given = [
        ("read_only", flags.read_only),
        ("immutable", flags.immutable),
        ("write_only", flags.write_only),
        ("secret", flags.secret),
        ("internal", flags.internal),
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
        if !PREDICATES.contains(&word.text.as_str()) {
            let help = suggestion(&word.text, PREDICATES.iter().copied());
            problems.report(word.span, format!("no predicate `{}`{help}", word.text));
        }
    }
}

/// A word of an enumeration, or a type, is given once.
fn words(kind: &Kind, problems: &mut Problems) {
    let (Kind::Enum(words) | Kind::PolymorphicType(words)) = kind else { return };
    for (index, word) in words.iter().enumerate() {
        // The words of an enumeration are compared without regard to case.
        if words[..index].iter().any(|other| other.text.to_lowercase() == word.text.to_lowercase()) {
            problems.report(word.span, format!("`{}` is given twice", word.text));
        }
        let length = word.text.chars().count();
        if matches!(kind, Kind::Enum(_)) && length > LONGEST_WORD {
            problems.report(word.span, format!("this has {length} characters; a word has {LONGEST_WORD} at most"));
        }
    }
}

/// The rules against the kind, and against the fields of the struct.
pub fn rules(field: &Field, names: &[&str], problems: &mut Problems) {
    if matches!(field.kind, Kind::Unknown) {
        return;
    }
    for rule in &field.rules {
        match &rule.says {
            Says::Min(bound) | Says::Max(bound) | Says::Above(bound) | Says::Below(bound) => {
                bounds(field, rule, bound, problems);
            }
            Says::MinLength(_) if !(is_text(&field.kind) || is_list(&field.kind)) => {
                problems.report(rule.span, "only text and lists have a length");
            }
            Says::MaxLength(_) if is_text(&field.kind) => {
                problems.report(rule.span, "how long text may be stands in its kind: `string(255)`");
            }
            Says::MaxLength(_) if !is_list(&field.kind) => {
                problems.report(rule.span, "only lists have a greatest length");
            }
            Says::Pattern(_) | Says::Url | Says::Email if !is_text(&field.kind) => {
                problems.report(rule.span, "only a `string` or a `text` is matched");
            }
            Says::DiffersFrom(other) | Says::After(other) | Says::NotBefore(other) => {
                named(field, other, names, problems);
            }
            _ => {}
        }
    }
}

fn bounds(field: &Field, rule: &Rule, bound: &Word, problems: &mut Problems) {
    if !matches!(field.kind, Kind::Integer | Kind::BigInt | Kind::Decimal { .. }) {
        problems.report(rule.span, "only numbers have bounds");
    } else if !is_number(&bound.text) {
        problems.report(bound.span, "a bound is a number in quotes, so that it is exact: `\"0.01\"`");
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

fn is_text(kind: &Kind) -> bool {
    matches!(kind, Kind::String(_) | Kind::Text)
}

fn is_list(kind: &Kind) -> bool {
    matches!(kind, Kind::StringList(_) | Kind::RefList(_))
}

/// `-12.50`.
pub fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    all_digits(whole) && all_digits(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_predicates_are_those_of_the_runtime() {
        assert_eq!(PREDICATES, charter_runtime::query::Predicate::names().collect::<Vec<_>>());
    }

    #[test]
    fn a_bound_is_plain_decimal_text() {
        assert!(["0", "-1", "0.01", "1000.5"].into_iter().all(is_number));
        assert!(!["", "-", ".5", "5.", "1e3", "1,5", "+1", "ten"].into_iter().any(is_number));
    }
}
