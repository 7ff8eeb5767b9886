//! Default of a column in the YAML, if the grammar has an equivalent.

use charter_model::invisible::escape_json;
use rust_decimal::Decimal;

use super::yaml::{formatted, word};

/// A default of the database in YAML, if the grammar supports it.
pub(super) fn literal(kind: &str, written: &str) -> Option<String> {
    // PostgreSQL appends the type after `::`, which can also be part of the text.
    let behind = written.rfind('\'').unwrap_or_default();
    let end = written[behind..].find("::").map_or(written.len(), |at| behind + at);
    let bare = written[..end].trim().trim_matches(['(', ')']).to_owned();
    let within = bare.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    // A quote that is not doubled ends the text: the expression has further parts.
    let text = within.filter(|text| !text.replace("''", "").contains('\'')).map(|text| text.replace("''", "'"));
    let value = text.clone().unwrap_or_else(|| bare.clone());
    let is_now = ["now", "current_timestamp", "current_date"].contains(&value.to_lowercase().as_str());
    let arguments = word(kind).1;
    match kind {
        "timestamp" | "date" => is_now.then(|| "now".to_owned()),
        "boolean" => match value.to_lowercase().as_str() {
            "true" | "1" | "t" => Some("true".to_owned()),
            "false" | "0" | "f" => Some("false".to_owned()),
            _ => None,
        },
        "integer" => whole(&value).and_then(|number| i32::try_from(number).ok()).map(|number| number.to_string()),
        "bigint" => whole(&value).map(|number| number.to_string()),
        _ if kind.starts_with("decimal") => {
            let [digits, places] = arguments.as_slice() else { return None };
            let number = number(&value)?;
            let number = if number.scale() > *places { number.normalize() } else { number };
            let most = Decimal::from(10_i64.checked_pow(digits.saturating_sub(*places))?);
            (number.scale() <= *places && number.abs() < most).then(|| number.to_string())
        }
        "text" | "enum" => text.map(|text| quoted(&text)),
        _ if kind.starts_with("string") => {
            let fits = |text: &String| arguments.first().is_some_and(|most| text.chars().count() <= *most as usize);
            text.filter(fits).map(|text| quoted(&text))
        }
        _ => {
            let fits = |text: &String| {
                formatted(|facts| facts.word == kind).is_some_and(|facts| (facts.literal)("default", text).is_ok())
            };
            text.filter(fits).map(|text| quoted(&text))
        }
    }
}

/// A number in the spellings of both databases: `.5`, `5.`, `+5`, `007`, `1e3`, `1_000` and `0x10`. `None` for another text, and
/// for a number with too many digits. Its text is the plain spelling of the grammar.
fn number(written: &str) -> Option<Decimal> {
    let (sign, digits) = match written.strip_prefix('-') {
        Some(digits) => (-1, digits.trim_start()),
        None => (1, written.strip_prefix('+').unwrap_or(written).trim_start()),
    };
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') || digits.contains("__") {
        return None;
    }
    let digits = digits.replace('_', "");
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let number = match hexadecimal {
        Some(hexadecimal) => Decimal::from(i64::from_str_radix(hexadecimal, 16).ok()?),
        None if digits.contains(['e', 'E']) => Decimal::from_scientific(&digits).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if number.is_zero() { number.abs() } else { number * Decimal::from(sign) })
}

/// An integer, which may be written with a fraction of zeros.
fn whole(written: &str) -> Option<i64> {
    number(written).filter(Decimal::is_integer).and_then(|number| i64::try_from(number).ok())
}

/// Quotes a text for YAML, by JSON, which is a subset.
pub(super) fn quoted(text: &str) -> String {
    escape_json(&serde_json::Value::from(text).to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_written_as_the_grammar_does() {
        for (kind, written, expected) in [
            ("decimal(5, 2)", ".5", Some("0.5")),
            ("decimal(5, 2)", "-.5", Some("-0.5")),
            ("decimal(5, 2)", "1.50", Some("1.50")),
            ("decimal(5, 2)", "1.500", Some("1.5")),
            ("decimal(5, 2)", "1.505", None),
            ("decimal(5, 2)", "1e2", Some("100")),
            ("decimal(5, 2)", "1e3", None),
            ("decimal(5, 2)", "5.", Some("5")),
            ("decimal(5, 2)", "'7'::numeric", Some("7")),
            ("decimal(5, 2)", "('-1'::integer)", Some("-1")),
            ("decimal(12, 4)", "1E3", Some("1000")),
            ("integer", "007", Some("7")),
            ("integer", "+5", Some("5")),
            ("integer", "- 5", Some("-5")),
            ("integer", "1_000", Some("1000")),
            ("integer", "2147483648", None),
            ("integer", "1.5", None),
            ("bigint", "0x10", Some("16")),
            ("bigint", "-0", Some("0")),
            ("bigint", "1e3", Some("1000")),
            ("bigint", "random()", None),
            ("bigint", "99999999999999999999", None),
        ] {
            assert_eq!(literal(kind, written).as_deref(), expected, "{kind} {written}");
        }
    }
}
