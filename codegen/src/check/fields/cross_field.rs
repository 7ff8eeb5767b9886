//! Rules between two fields of one record: whether two literals satisfy them, and whether any values could.

use std::cmp::Ordering;

use charter_model::{Number, Storage};

use super::rules::{least, most};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Default, Field, Kind, Rule, Type};

/// Reports rules that no two values can satisfy, for pairs of fields of which one always has a value.
pub fn check(fields: &[Field], problems: &mut Problems) {
    let is_always_there = |field: &Field| !field.nullable && (field.required || field.default != Default::None);
    for field in fields {
        for rule in &field.rules {
            let found = rule.value.other_field().and_then(|name| fields.iter().find(|one| one.name.value == name));
            // A field that is compared with itself has its own diagnostic.
            let Some(other) = found.filter(|other| other.name.value != field.name.value) else { continue };
            if !is_always_there(field) && !is_always_there(other) {
                continue;
            }
            let Some(reason) = contradiction(&rule.value, field, other) else { continue };
            let names = format!("`{}` and `{}`", field.declared, other.declared);
            let message = format!("no values of {names} can satisfy their rules: {reason}");
            let problem = Diagnostic::new(Code::EmptyRange, rule.span, message, "against");
            problems.push(problem.related(other.name.span, "this").help("change one of the two"));
        }
    }
}

/// The reason why no two values can satisfy a rule.
fn contradiction(rule: &Rule, field: &Field, other: &Field) -> Option<String> {
    match rule {
        Rule::DiffersFrom(_) => {
            match (field.kind.words(), other.kind.words(), field.kind.codes(), other.kind.codes()) {
                (Some([own]), Some([other]), ..) if own.value == other.value => {
                    Some(format!("`{}` is the only value of both", own.value))
                }
                (_, _, Some([own]), Some([other])) if own.number.value == other.number.value => {
                    Some(format!("{} is the only value of both", own.number.value))
                }
                _ => None,
            }
        }
        Rule::MatchesField(_) => is_below(field, other)
            .or_else(|| is_below(other, field))
            .or_else(|| are_disjoint(field, other).then(|| "they have no value in common".to_owned())),
        Rule::After(_) | Rule::NotBefore(_) if field.kind.is_number() => {
            let ((most, at_most), (least, at_least)) = (most(field)?, least(other)?);
            let is_kept = most > least || most == least && matches!(rule, Rule::NotBefore(_));
            let reason = || format!("`{}` has `{at_most}`, and `{}` has `{at_least}`", field.declared, other.declared);
            (!is_kept).then(reason)
        }
        _ => None,
    }
}

/// The bounds by which every number of one field is less than every number of another.
fn is_below(one: &Field, other: &Field) -> Option<String> {
    let ((most, at_most), (least, at_least)) = (most(one)?, least(other)?);
    (most < least).then(|| format!("`{}` has `{at_most}`, and `{}` has `{at_least}`", one.declared, other.declared))
}

/// True if no word or number is among the values of both fields.
fn are_disjoint(one: &Field, other: &Field) -> bool {
    match (one.kind.words(), other.kind.words(), one.kind.codes(), other.kind.codes()) {
        (Some(own), Some(others), ..) => own.iter().all(|own| others.iter().all(|other| own.value != other.value)),
        (_, _, Some(own), Some(others)) => {
            own.iter().all(|own| others.iter().all(|other| own.number.value != other.number.value))
        }
        _ => false,
    }
}

/// True if two literals satisfy a rule; true where their texts do not tell.
pub fn satisfies(rule: &Rule, kind: &Kind, own: &str, other: &str) -> bool {
    let order = match (kind.is_number(), Number::read(own), Number::read(other)) {
        (true, Some(own), Some(other)) => own.partial_cmp(&other),
        (true, ..) => None,
        // ISO 8601 text of one length in one zone sorts like the times.
        _ if kind.facts().is_temporal => {
            let has_offset = kind.facts().storage == Some(Storage::Timestamp);
            let is_alike = own.len() == other.len() && own.ends_with('Z') == other.ends_with('Z');
            is_alike.then(|| own.cmp(other)).filter(|_| own.ends_with('Z') || !has_offset)
        }
        // One UUID has several spellings.
        _ if *kind == Kind::Known(Type::Uuid) => own.eq_ignore_ascii_case(other).then_some(Ordering::Equal),
        _ => Some(own.cmp(other)),
    };
    order.is_none_or(|order| rule.allows(order))
}
