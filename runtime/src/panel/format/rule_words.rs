//! Conditions of rules, and the API's sentences about them, with the labels of fields and values: `Status is Closed` for
//! `status = closed`.

use charter_core::expression::Node;
use charter_core::meta::{FieldMeta, Kind, ResourceMeta};
use charter_core::ops::input::checks::checked;
use charter_model::expression::{Comparison, Logic};

use super::labels;
use crate::language::{message, text};

/// A condition over the fields of a record. A form without words of its own keeps its spelling, with the labels of the fields.
pub(crate) fn condition(meta: &'static ResourceMeta, text: &'static str) -> String {
    let in_words = checked(text, meta).ok().and_then(|node| words(meta, node));
    in_words.unwrap_or_else(|| with_labels(meta, text))
}

/// The reason for which a rule of a resource refuses an operation, as the API gives it.
pub(crate) fn refusal(meta: &'static ResourceMeta, reason: &str) -> String {
    if let Some(frozen) = meta.frozen
        && reason.ends_with(&format!(" is frozen, because {frozen}."))
    {
        return because_frozen(meta, frozen);
    }
    let rules = || meta.actions.iter().filter_map(|action| action.rule);
    let guard =
        rules().filter_map(|rule| rule.guard).find(|guard| reason == format!("This is possible only if {guard}."));
    if let Some(guard) = guard {
        return text!("This is possible only if {condition}.", condition = condition(meta, guard));
    }
    let wrong_state = rules().filter_map(|rule| rule.change).find_map(|change| {
        let (states, state) =
            reason.strip_prefix(&format!("The {} must be ", change.field))?.rsplit_once(", and it is ")?;
        let states: Vec<&str> = states.split(", ").flat_map(|states| states.split(" or ")).collect();
        if states != change.from {
            return None;
        }
        let field = meta.fields.iter().find(|field| field.name == change.field)?;
        let states = states.into_iter().map(|state| value_label(field, state)).collect();
        Some(text!(
            "{field} must be {states}, and it is {state}.",
            field = labels::field(field),
            states = alternatives(states),
            state = value_label(field, state.trim_end_matches('.'))
        ))
    });
    wrong_state.unwrap_or_else(|| message(reason).replace('`', ""))
}

/// `This record is frozen, because Status is Closed.`
pub(crate) fn because_frozen(meta: &'static ResourceMeta, frozen: &'static str) -> String {
    text!("This record is frozen, because {condition}.", condition = condition(meta, frozen))
}

/// `Open, Pending or Solved`
fn alternatives(mut names: Vec<String>) -> String {
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { text!("{one} or {other}", one = names.join(", "), other = last) }
}

fn words(meta: &ResourceMeta, node: &Node) -> Option<String> {
    Some(match node {
        Node::Logic(logic, one, two) => {
            let part = |part: &Node| {
                let words = words(meta, part)?;
                let is_other = matches!(part, Node::Logic(inner, ..) if inner != logic);
                Some(if is_other { format!("({words})") } else { words })
            };
            let (one, two) = (part(one)?, part(two)?);
            match logic {
                Logic::And => text!("{one} and {other}", one = one, other = two),
                Logic::Or => text!("{one} or {other}", one = one, other = two),
            }
        }
        Node::IsNull(one) => text!("{field} is empty", field = labels::field(own_field(meta, one)?)),
        Node::Not(one) => match &**one {
            Node::IsNull(one) => text!("{field} is not empty", field = labels::field(own_field(meta, one)?)),
            one => is(own_field(meta, one)?, text!("No")),
        },
        Node::Field(_) => is(own_field(meta, node)?, text!("Yes")),
        Node::In(one, values) => {
            let field = own_field(meta, one)?;
            let values: Option<Vec<String>> = values.iter().map(|value| literal(field, value)).collect();
            text!("{field} is one of {values}", field = labels::field(field), values = values?.join(", "))
        }
        Node::Compare(comparison, one, two) => {
            let field = own_field(meta, one)?;
            let value = literal(field, two)?;
            let label = labels::field(field);
            match comparison {
                Comparison::Equal => is(field, value),
                Comparison::Different => text!("{field} is not {value}", field = label, value = value),
                Comparison::Less => format!("{label} < {value}"),
                Comparison::AtMost => format!("{label} ≤ {value}"),
                Comparison::More => format!("{label} > {value}"),
                Comparison::AtLeast => format!("{label} ≥ {value}"),
            }
        }
        _ => return None,
    })
}

fn is(field: &FieldMeta, value: String) -> String {
    text!("{field} is {value}", field = labels::field(field), value = value)
}

/// The field of the record itself that a part of a condition is.
fn own_field<'m>(meta: &'m ResourceMeta, node: &Node) -> Option<&'m FieldMeta> {
    match node {
        Node::Field(field) if field.via.is_none() => meta.fields.iter().find(|known| known.name == field.name),
        Node::Widen(one, _) => own_field(meta, one),
        _ => None,
    }
}

/// A literal value of a field.
fn literal(field: &FieldMeta, node: &Node) -> Option<String> {
    Some(match node {
        Node::Text(text) => value_label(field, text),
        Node::Date(day) => day.clone(),
        Node::Boolean(true) => text!("Yes"),
        Node::Boolean(false) => text!("No"),
        Node::Number { scaled, places: 0 } => value_label(field, &scaled.to_string()),
        Node::Widen(one, _) => return literal(field, one),
        _ => return None,
    })
}

/// The label of a choice; any other value as it is.
fn value_label(field: &FieldMeta, value: &str) -> String {
    match field.kind {
        Kind::Enum { .. } => labels::from_name(value),
        Kind::Code { values } => {
            let known = values.iter().find(|(code, _)| code.to_string() == value);
            known.map_or_else(|| value.to_string(), |(_, label)| crate::language::label(label))
        }
        _ => value.to_string(),
    }
}

/// A text with the labels of the fields that it names.
fn with_labels(meta: &ResourceMeta, text: &str) -> String {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut found = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_of_name(c) != is_of_name(first)).unwrap_or(rest.len());
        let (word, others) = rest.split_at(end);
        match meta.fields.iter().find(|field| field.name == word) {
            Some(field) => found.push_str(&labels::field(field)),
            None => found.push_str(word),
        }
        rest = others;
    }
    found
}

#[cfg(test)]
mod tests {
    use charter_core::resource::Resource as _;
    use charter_platform::import::record::Entity;

    use super::*;

    #[test]
    fn a_condition_has_the_labels_of_fields_and_values() {
        for (text, words) in [
            ("status = running", "Status is Running"),
            ("match_by is not null and not has_run", "Match by is not empty and Has run is No"),
            (
                "match_by is null and (status in [done, failed] or row_count >= 3)",
                "Match by is empty and (Status is one of Done, Failed or Row count ≥ 3)",
            ),
            ("row_count + 1 > 3", "Row count + 1 > 3"),
        ] {
            assert_eq!(condition(Entity::meta(), text), words, "{text}");
        }
    }

    #[test]
    fn a_reason_that_no_rule_gives_stays_as_it_is() {
        let reason = "This requires the permission `invoices.pay`.";
        assert_eq!(refusal(Entity::meta(), reason), "This requires the permission invoices.pay.");
        assert_eq!(
            refusal(Entity::meta(), "only a solved ticket can be reopened"),
            "only a solved ticket can be reopened"
        );
    }
}
