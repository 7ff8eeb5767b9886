//! Whether a field can hold its default.

use super::field::is_number;
use crate::ast::{Field, Fill, Kind, Word};
use crate::names::suggestion;
use crate::problems::Problems;

pub fn check(field: &Field, problems: &mut Problems) {
    match &field.default {
        Some(Fill::Literal(word)) => {
            if let Some(why) = misfit(&field.kind, word) {
                problems.report(word.span, why);
            }
        }
        Some(Fill::Now(span)) if !matches!(field.kind, Kind::Timestamp(_) | Kind::Date | Kind::Unknown) => {
            problems.report(*span, "`default_now` is for a timestamp or a date");
        }
        Some(Fill::Caller(span)) if !matches!(field.kind, Kind::Ref(_) | Kind::Unknown) => {
            problems.report(*span, "`default_caller` is for a field that says `reference(\"user\")`");
        }
        _ => {}
    }
}

/// Why the text is no value of the kind.
fn misfit(kind: &Kind, word: &Word) -> Option<String> {
    let text = word.text.as_str();
    match kind {
        Kind::String(max) => {
            let length = text.chars().count();
            (length > *max as usize).then(|| format!("this has {length} characters; {max} are allowed"))
        }
        Kind::Text | Kind::Unknown => None,
        Kind::Integer => text.parse::<i32>().err().map(|_| "the default of an `integer` is a 32-bit number".to_owned()),
        Kind::BigInt => text.parse::<i64>().err().map(|_| "the default of a `bigint` is a 64-bit number".to_owned()),
        Kind::Boolean => {
            (!matches!(text, "true" | "false")).then(|| "the default of a `boolean` is `true` or `false`".to_owned())
        }
        Kind::Decimal { precision, places } => decimal(text, *precision, *places),
        Kind::Enum(words) => {
            let words = words.iter().map(|word| word.text.as_str());
            (!words.clone().any(|known| known == text)).then(|| format!("no value `{text}`{}", suggestion(text, words)))
        }
        Kind::Code(codes) => {
            let codes: Vec<String> = codes.iter().map(|(code, _)| code.to_string()).collect();
            let known = codes.iter().map(String::as_str);
            (!codes.iter().any(|code| code == text)).then(|| format!("no code `{text}`{}", suggestion(text, known)))
        }
        Kind::Timestamp(_) | Kind::Date => Some("write `default_now`; a fixed time is no default".to_owned()),
        Kind::Json => {
            (!matches!(text, "[]" | "{}")).then(|| "the default of a `json` field is `{}` or `[]`".to_owned())
        }
        _ => Some("a field of this kind takes no literal as its default".to_owned()),
    }
}

fn decimal(text: &str, precision: u8, places: u8) -> Option<String> {
    if !is_number(text) {
        return Some("the default of a `decimal` is a number: `\"0.50\"`".to_owned());
    }
    let digits = text.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.trim_start_matches('0');
    let fits = fraction.len() <= usize::from(places) && whole.len() <= usize::from(precision - places);
    (!fits).then(|| format!("this does not fit `decimal({precision}, {places})`"))
}
