//! Rules between two fields of one record: whether two values that are known keep them.

use std::cmp::Ordering;

use crate::model::{Kind, Rule};
use crate::number::Number;

/// The field that a rule compares its own with.
pub fn other(rule: &Rule) -> Option<&str> {
    match rule {
        Rule::DiffersFrom(other) | Rule::After(other) | Rule::NotBefore(other) => Some(other),
        _ => None,
    }
}

/// Whether a value of this kind keeps the rule beside the other; also where nobody can tell from their texts.
pub fn keeps(rule: &Rule, kind: &Kind, own: &str, other: &str) -> bool {
    let order = match (kind.is_number(), Number::read(own), Number::read(other)) {
        (true, Some(own), Some(other)) => own.partial_cmp(&other),
        (true, ..) => None,
        // As ISO 8601 writes them, in one length and one zone.
        _ if matches!(kind, Kind::Date | Kind::Timestamp(_)) => {
            let is_alike = own.len() == other.len() && own.ends_with('Z') == other.ends_with('Z');
            is_alike.then(|| own.cmp(other)).filter(|_| *kind == Kind::Date || own.ends_with('Z'))
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
