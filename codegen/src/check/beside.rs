//! Rules between two fields of one record: whether two values that are known keep them, and whether any two could.

use std::cmp::Ordering;

use charter_model::Number;

use super::rules::{least, most};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Default, Field, Kind, Rule, Type};

/// Whether two fields of which one always has a value leave any to the other.
pub fn check(fields: &[Field], problems: &mut Problems) {
    let is_always_there = |field: &Field| !field.nullable && (field.required || field.default != Default::None);
    for field in fields {
        for rule in &field.rules {
            let found = rule.value.other_field().and_then(|name| fields.iter().find(|one| one.name.value == name));
            // Compared with itself, which is told as that.
            let Some(other) = found.filter(|other| other.name.value != field.name.value) else { continue };
            if !is_always_there(field) && !is_always_there(other) {
                continue;
            }
            let Some(reason) = nothing_left(&rule.value, field, other) else { continue };
            let names = format!("`{}` and `{}`", field.declared, other.declared);
            let message = format!("no values of {names} can satisfy their rules: {reason}");
            let problem = Diagnostic::new(Code::EmptyRange, rule.span, message, "against");
            problems.push(problem.related(other.name.span, "this").help("change one of the two"));
        }
    }
}

/// Why no two values keep a rule, where it is so whatever they are.
fn nothing_left(rule: &Rule, field: &Field, other: &Field) -> Option<String> {
    match rule {
        Rule::DiffersFrom(_) => {
            match (field.kind.words(), other.kind.words(), field.kind.codes(), other.kind.codes()) {
                (Some([own]), Some([other]), ..) if own.value == other.value => {
                    Some(format!("both can only be `{}`", own.value))
                }
                (_, _, Some([own]), Some([other])) if own.number.value == other.number.value => {
                    Some(format!("both can only be {}", own.number.value))
                }
                _ => None,
            }
        }
        Rule::After(_) | Rule::NotBefore(_) if field.kind.is_number() => {
            let ((most, at_most), (least, at_least)) = (most(field)?, least(other)?);
            let is_kept = most > least || most == least && matches!(rule, Rule::NotBefore(_));
            let reason = || format!("`{}` has `{at_most}`, and `{}` has `{at_least}`", field.declared, other.declared);
            (!is_kept).then(reason)
        }
        _ => None,
    }
}

/// Whether a value of this kind keeps the rule beside the other; also where nobody can tell from their texts.
pub fn keeps(rule: &Rule, kind: &Kind, own: &str, other: &str) -> bool {
    let order = match (kind.is_number(), Number::read(own), Number::read(other)) {
        (true, Some(own), Some(other)) => own.partial_cmp(&other),
        (true, ..) => None,
        // As ISO 8601 writes them, in one length and one zone.
        _ if kind.facts().takes_now => {
            let is_alike = own.len() == other.len() && own.ends_with('Z') == other.ends_with('Z');
            is_alike.then(|| own.cmp(other)).filter(|_| *kind == Kind::Known(Type::Date) || own.ends_with('Z'))
        }
        _ => (own == other).then_some(Ordering::Equal),
    };
    match (rule, order) {
        (Rule::DiffersFrom(_), Some(order)) => order != Ordering::Equal,
        (Rule::After(_), Some(order)) => order == Ordering::Greater,
        (Rule::NotBefore(_), Some(order)) => order != Ordering::Less,
        _ => true,
    }
}
