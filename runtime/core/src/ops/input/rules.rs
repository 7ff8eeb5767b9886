//! Validation rules of a single value, and rules between several fields of a record.

use std::cmp::Ordering;

pub use charter_model::format::is_email;
use regex::Regex;
use sea_orm::Value;

use super::changeset::Changes;
use super::checks::{broken_checks, invalid};
use super::computed_fields;
use crate::error::Result;
use crate::expression::{self, Request};
use crate::field_type::order;
use crate::memo::Memo;
use crate::meta::{FieldMeta, Kind, Rule};
use crate::number::{self, Scaled};
use crate::ops::Context;

/// Checks the rules of a single value. [`check_record`] and `references` check the others.
pub fn check_value(rule: Rule, kind: Kind, value: &Value) -> Result<(), String> {
    match rule {
        Rule::Min(bound) => compare(value, kind, bound, |order| order.is_ge(), "at least"),
        Rule::Max(bound) => compare(value, kind, bound, |order| order.is_le(), "at most"),
        Rule::Above(bound) => compare(value, kind, bound, |order| order.is_gt(), "more than"),
        Rule::Below(bound) => compare(value, kind, bound, |order| order.is_lt(), "less than"),
        Rule::MinLength(min) => match length(value) {
            Some((count, unit)) if count < min as usize => Err(format!("must have at least {}", number_of(min, unit))),
            _ => Ok(()),
        },
        Rule::MaxLength(max) => match length(value) {
            Some((count, unit)) if count > max as usize => Err(format!("must have at most {}", number_of(max, unit))),
            _ => Ok(()),
        },
        Rule::Pattern(pattern) => match value {
            Value::String(Some(text)) if !matches(pattern, text) => Err(pattern_message(pattern)),
            _ => Ok(()),
        },
        Rule::Url => match value {
            Value::String(Some(text)) if !is_url(text) => Err("must be an http or https URL".into()),
            _ => Ok(()),
        },
        Rule::Email => match value {
            Value::String(Some(text)) if !is_email(text) => Err("must be an e-mail address".into()),
            _ => Ok(()),
        },
        Rule::Unique | Rule::Exists { .. } => Ok(()),
        Rule::DiffersFrom(_) | Rule::MatchesField(_) | Rule::After(_) | Rule::NotBefore(_) => Ok(()),
        Rule::RequiredWhen(_) => Ok(()),
    }
}

/// The message for a text that does not match its pattern.
pub fn pattern_message(pattern: &str) -> String {
    format!("must match {pattern}")
}

/// Sets the computed fields, and checks the rules between several fields with their values after the write.
pub async fn check_record(context: &Context<'_>, changes: &mut Changes) -> Result<()> {
    computed_fields::set(context, changes).await?;
    let request = context.request_without_day();
    // A rule is checked if the write sets one of its fields and none has an error.
    let is_checked = |names: &[&str]| {
        let is_set = names.iter().any(|name| changes.get(name).is_some());
        is_set && !names.iter().any(|name| changes.errors.contains(name))
    };
    let mut problems = broken_record_rules(changes.meta.fields, &request, is_checked, |name| changes.current(name))?;
    problems.extend(broken_checks(changes.meta, &request, is_checked, |name| changes.current(name))?);
    for (field, problem) in problems {
        changes.errors.add(field, problem);
    }
    Ok(())
}

/// Returns the violations of rules between several fields. `is_checked` selects them by the names of their fields;
/// `current` returns a value.
pub fn broken_record_rules(
    fields: &'static [FieldMeta],
    request: &Request<'_>,
    is_checked: impl Fn(&[&str]) -> bool,
    current: impl Fn(&str) -> Result<Option<Value>>,
) -> Result<Vec<(&'static str, String)>> {
    let mut problems = Vec::new();
    for field in fields {
        for rule in field.rules {
            let (other, problem) = match rule {
                Rule::DiffersFrom(other) => (other, "must differ from"),
                Rule::MatchesField(other) => (other, "must equal"),
                Rule::After(other) => (other, "must be after"),
                Rule::NotBefore(other) => (other, "must not be before"),
                Rule::RequiredWhen(condition) => {
                    problems.extend(missing_value(field, condition, fields, request, &is_checked, &current)?);
                    continue;
                }
                _ => continue,
            };
            if !is_checked(&[field.name, other]) {
                continue;
            }
            let is_broken = match (current(field.name)?, current(other)?) {
                (Some(one), Some(two)) => !rule.allows(order(&one, &two)),
                (Some(_), None) => matches!(rule, Rule::MatchesField(_)),
                (None, _) => false,
            };
            if is_broken {
                problems.push((field.name, format!("{problem} {other}")));
            }
        }
    }
    Ok(problems)
}

/// The problem of a field without a value, or with a blank text, in a record for which the condition of `required_when`
/// holds.
fn missing_value(
    field: &'static FieldMeta,
    condition: &'static str,
    fields: &'static [FieldMeta],
    request: &Request<'_>,
    is_checked: &impl Fn(&[&str]) -> bool,
    current: &impl Fn(&str) -> Result<Option<Value>>,
) -> Result<Option<(&'static str, String)>> {
    let node = expression::condition_over_fields(condition, fields).map_err(|mistake| invalid(condition, &mistake))?;
    let names = [&[field.name], node.fields().as_slice()].concat();
    let has_value = |value: Value| !matches!(value, Value::String(Some(text)) if text.trim().is_empty());
    if !is_checked(&names) || current(field.name)?.is_some_and(has_value) {
        return Ok(None);
    }
    let is_required = expression::holds(node, request, &|other| current(&other.name))? == Some(true);
    Ok(is_required.then(|| (field.name, format!("is required when {condition}"))))
}

fn compare(
    value: &Value,
    kind: Kind,
    bound: &str,
    holds: impl Fn(Ordering) -> bool,
    words: &str,
) -> Result<(), String> {
    let places = if let Kind::Decimal { places, .. } = kind { u32::from(places) } else { 0 };
    let number = match value {
        Value::Int(Some(number)) => i64::from(*number),
        Value::BigInt(Some(number)) => *number,
        Value::Decimal(Some(decimal)) => i64::try_from(decimal.mantissa()).unwrap_or(i64::MAX),
        _ => return Ok(()),
    };
    // The YAML check and the derive guarantee that the bound is a number. A bound with more decimal places than the
    // column fails every value.
    match number::scale(bound, places) {
        Some(Scaled::Exact(bound)) if holds(number.cmp(&bound)) => Ok(()),
        _ => Err(format!("must be {words} {bound}")),
    }
}

/// `1 element`, `2 elements`
fn number_of(count: u32, unit: &str) -> String {
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

fn length(value: &Value) -> Option<(usize, &'static str)> {
    match value {
        Value::String(Some(text)) => Some((text.chars().count(), "character")),
        Value::Json(Some(json)) => json.as_array().map(|list| (list.len(), "element")),
        _ => None,
    }
}

/// The compiled regular expression of a pattern in the metadata, anchored to match the whole text. Each is compiled
/// once and cached for the lifetime of the process. The start compiles all of them and fails if one is invalid.
///
/// # Errors
/// If it is not a regular expression, or too large.
pub fn compile(pattern: &'static str) -> Result<&'static Regex, regex::Error> {
    static COMPILED: Memo<&'static str, Regex> = Memo::new();
    COMPILED.get(pattern, || Regex::new(&format!("^(?:{pattern})$")))
}

/// An invalid pattern matches nothing.
fn matches(pattern: &'static str, text: &str) -> bool {
    compile(pattern).is_ok_and(|regex| regex.is_match(text))
}

/// True if a text is an absolute `http` or `https` URL. Browsers accept `https:example.com`, other programs read it as
/// a path. White space and control characters, which browsers escape or drop, are invalid in a URL (RFC 3986, section
/// 2).
pub fn is_url(text: &str) -> bool {
    if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return false;
    }
    let is_web = |(scheme, rest): (&str, &str)| {
        // Browsers skip further slashes before the host.
        !rest.starts_with(['/', '\\']) && ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
    };
    text.split_once("://").is_some_and(is_web) && url::Url::parse(text).is_ok_and(|url| url.host().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_compared_exactly() {
        let kind = Kind::Decimal { precision: 12, places: 4 };
        let value = |text| crate::query::read_value(kind, text).unwrap();
        assert!(check_value(Rule::Min("0"), kind, &value("0")).is_ok());
        assert!(check_value(Rule::Min("0"), kind, &value("-0.0001")).is_err());
        assert!(check_value(Rule::Above("0"), kind, &value("0")).is_err());
        assert!(check_value(Rule::Above("0"), kind, &value("0.0001")).is_ok());
        assert!(check_value(Rule::Max("100"), kind, &value("100.0001")).is_err());
    }

    #[test]
    fn pattern_must_match_the_whole_text() {
        let check = |text: &str| check_value(Rule::Pattern("[A-Z]{3}"), Kind::Text, &Value::from(text));
        assert!(check("GBP").is_ok());
        assert!(check_value(Rule::Pattern("[A-Z"), Kind::Text, &Value::from("GBP")).is_err());
        assert!(check("GBPX").is_err() && check("xGBP").is_err() && check("GBP\n").is_err());
    }

    #[test]
    fn email_addresses_and_urls_are_recognized() {
        assert!(is_url("https://example.com/x") && !is_url("ftp://example.com") && !is_url("example.com"));
        assert!(is_url("HTTPS://example.com") && !is_url("https:example.com") && !is_url("https:/example.com"));
        assert!(!is_url("https://") && !is_url("https:x://example.com"));
        assert!(!is_url("https://example.com/a b") && !is_url("https://exam\nple.com") && !is_url(" https://a.b"));
    }
}
