//! Parser from text to a value of a field's kind, for query values, bodies, defaults and views.

use charter_model::Storage;
use chrono::{DateTime, Timelike};
use rust_decimal::Decimal;
use sea_orm::Value;

use super::condition::{Comparison, Test};
use crate::db::fold;
use crate::field_type::{codec_of, read_instant};
use crate::meta::Kind;
use crate::number::{self, Scaled};
use crate::suggest::hint;

/// A value, or the error that completes "this value ...".
type Read<T> = Result<T, String>;

/// Reads a value that a column of the kind can hold. Text is taken unchanged; other kinds are trimmed.
///
/// # Errors
/// The error as the client sees it: `must be an integer`, `must be one of rental, sale`.
pub fn read_value(kind: Kind, text: &str) -> Read<Value> {
    match kind {
        Kind::String { .. } | Kind::Text => read_text(text),
        Kind::Enum { values } => read_word(text, values),
        // `stock_level` names the type too, as resource names are written elsewhere.
        Kind::PolymorphicType { type_names } => read_word(&text.replace('_', ""), type_names),
        Kind::Boolean => read_boolean(text).map(Value::from),
        Kind::Integer => {
            integer(text, i64::from(i32::MIN), i64::from(i32::MAX)).map(|n| Value::Int(i32::try_from(n).ok()))
        }
        Kind::Code { values } => {
            let code = integer(text, i64::from(i32::MIN), i64::from(i32::MAX))?;
            match values.iter().find(|(known, _)| i64::from(*known) == code) {
                Some((known, _)) => Ok(Value::Int(Some(*known))),
                None => Err(format!(
                    "must be one of {}",
                    list(values.iter().map(|(code, label)| format!("{code} ({label})")))
                )),
            }
        }
        Kind::BigInt | Kind::Ref { .. } | Kind::PolymorphicRef { .. } => {
            integer(text, i64::MIN, i64::MAX).map(Value::from)
        }
        Kind::Decimal { precision, places } => decimal(text, precision, places),
        Kind::StringList { .. } | Kind::RefList { .. } | Kind::Links { .. } => Err("must be a list".into()),
        Kind::Json => match serde_json::from_str::<serde_json::Value>(text) {
            Ok(json) if json.is_object() || json.is_array() => Ok(json.into()),
            _ => Err("must be an object or a list".into()),
        },
        Kind::CustomFields | Kind::Embedded { .. } => Err("must be an object".into()),
        kind => match codec_of(kind) {
            Some(codec) => (codec.read)(text),
            None => Err("cannot be written".into()),
        },
    }
}

/// Reads the right side of a comparison. A number or time out of the column's range or precision gets the equivalent
/// test.
pub(super) fn read_comparison(kind: Kind, comparison: Comparison, text: &str) -> Read<Test> {
    Ok(match scaled(kind, text)? {
        None => Test::Compare(comparison, read_value(kind, text)?),
        Some(scaled) => compare_scaled(scaled, comparison, |number| scaled_value(kind, number)),
    })
}

/// Reads the elements of a list. Numbers and times that no value of the column can equal are left out.
pub(super) fn read_list(kind: Kind, texts: &[String]) -> Read<Vec<Value>> {
    let mut values = Vec::with_capacity(texts.len());
    for text in texts {
        match scaled(kind, text)? {
            None => values.push(read_value(kind, text)?),
            Some(Scaled::Exact(number)) => values.push(scaled_value(kind, number)),
            Some(Scaled::Between(_) | Scaled::Below | Scaled::Above) => {}
        }
    }
    Ok(values)
}

/// Converts a comparison with a number into a test, by the number's place among the values of the column.
pub(super) fn compare_scaled(scaled: Scaled, comparison: Comparison, value: impl Fn(i64) -> Value) -> Test {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    match (scaled, comparison) {
        (Scaled::Exact(number), comparison) => Test::Compare(comparison, value(number)),
        (_, Equal) => Test::Constant(false),
        (_, NotEqual) => Test::Constant(true),
        (Scaled::Between(floor), Less | LessOrEqual) => Test::Compare(LessOrEqual, value(floor)),
        (Scaled::Between(floor), Greater | GreaterOrEqual) => Test::Compare(Greater, value(floor)),
        (Scaled::Below, Less | LessOrEqual) | (Scaled::Above, Greater | GreaterOrEqual) => Test::Constant(false),
        (Scaled::Below, Greater | GreaterOrEqual) | (Scaled::Above, Less | LessOrEqual) => Test::Constant(true),
    }
}

/// Reads `1 t true` and `0 f false`, case-insensitively.
pub fn read_boolean(text: &str) -> Read<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "t" | "true" => Ok(true),
        "0" | "f" | "false" => Ok(false),
        _ => Err("must be true or false".into()),
    }
}

fn read_text(text: &str) -> Read<Value> {
    // PostgreSQL cannot store a null character; both databases reject it alike.
    if text.contains('\0') { Err("must not contain a null character".into()) } else { Ok(Value::from(text)) }
}

fn read_word(text: &str, known: &'static [&'static str]) -> Read<Value> {
    let word = text.trim();
    let same = |known: &&&str| known.eq_ignore_ascii_case(word) || !word.is_ascii() && fold(known) == fold(word);
    match known.iter().find(same) {
        Some(word) => Ok(Value::from(*word)),
        None => Err(format!(
            "must be one of {}{}",
            list(known.iter().map(ToString::to_string)),
            hint(word, known.iter().copied())
        )),
    }
}

/// The scale of a kind that is compared as a number.
fn places(kind: Kind) -> Option<u32> {
    match kind.storage() {
        Some(Storage::Decimal(_, places)) => Some(u32::from(places)),
        Some(Storage::Integer | Storage::BigInt) => Some(0),
        _ => None,
    }
}

/// The position of a text among the values of a numeric kind. Times count in milliseconds.
fn scaled(kind: Kind, text: &str) -> Read<Option<Scaled>> {
    if let Kind::Timestamp { .. } = kind {
        let time = read_instant(text)?;
        let (milliseconds, rest) = (time.timestamp_millis(), time.nanosecond() % 1_000_000);
        return Ok(Some(if rest == 0 { Scaled::Exact(milliseconds) } else { Scaled::Between(milliseconds) }));
    }
    let Some(places) = places(kind) else { return Ok(None) };
    let error = if matches!(kind, Kind::Decimal { .. }) { "must be a number" } else { "must be an integer" };
    number::scale(text, places).map(Some).ok_or_else(|| error.into())
}

fn scaled_value(kind: Kind, number: i64) -> Value {
    match kind {
        Kind::Decimal { places, .. } => Decimal::from_i128_with_scale(i128::from(number), u32::from(places)).into(),
        Kind::Timestamp { .. } => DateTime::from_timestamp_millis(number).into(),
        _ => number.into(),
    }
}

fn integer(text: &str, min: i64, max: i64) -> Read<i64> {
    match number::scale(text, 0) {
        Some(Scaled::Exact(number)) if (min..=max).contains(&number) => Ok(number),
        Some(Scaled::Exact(_) | Scaled::Below | Scaled::Above) => Err(format!("must be between {min} and {max}")),
        Some(Scaled::Between(_)) | None => Err("must be an integer".into()),
    }
}

fn decimal(text: &str, precision: u8, places: u8) -> Read<Value> {
    let limit = 10_i64.checked_pow(u32::from(precision)).unwrap_or(i64::MAX);
    match number::scale(text, u32::from(places)) {
        Some(Scaled::Exact(number)) if (-limit + 1..limit).contains(&number) => {
            Ok(Value::from(Decimal::from_i128_with_scale(i128::from(number), u32::from(places))))
        }
        Some(Scaled::Between(_)) if places == 1 => Err("must have at most 1 decimal place".into()),
        Some(Scaled::Between(_)) => Err(format!("must have at most {places} decimal places")),
        Some(_) => Err(format!("must have at most {} digits before the point", precision - places)),
        None => Err("must be a number".into()),
    }
}

fn list(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_is_read_exactly_or_rejected() {
        let kind = Kind::Decimal { precision: 12, places: 2 };
        assert_eq!(read_value(kind, "10.5"), Ok(Value::from(Decimal::new(1050, 2))));
        assert_eq!(read_value(kind, "9999999999.99"), Ok(Value::from(Decimal::new(999_999_999_999, 2))));
        assert!(read_value(kind, "10000000000").unwrap_err().contains("10 digits"));
        assert!(read_value(kind, "1.234").unwrap_err().contains("2 decimal places"));
        assert!(read_value(kind, "ten").is_err());
    }

    #[test]
    fn comparison_with_an_unreachable_number_becomes_an_equivalent_test() {
        let test = |text, comparison| read_comparison(Kind::Integer, comparison, text).unwrap();
        assert_eq!(test("1.5", Comparison::Greater), Test::Compare(Comparison::Greater, Value::from(1_i64)));
        assert_eq!(test("1.5", Comparison::GreaterOrEqual), Test::Compare(Comparison::Greater, Value::from(1_i64)));
        assert_eq!(test("-1.5", Comparison::Less), Test::Compare(Comparison::LessOrEqual, Value::from(-2_i64)));
        assert_eq!(test("1.5", Comparison::Equal), Test::Constant(false));
        assert_eq!(test("1e30", Comparison::Less), Test::Constant(true));
        assert_eq!(test("-1e30", Comparison::Less), Test::Constant(false));
    }

    #[test]
    fn comparison_with_a_time_finer_than_a_millisecond_is_exact() {
        let kind = Kind::Timestamp { form: crate::meta::TimestampForm::Millis };
        let test = |text, comparison| read_comparison(kind, comparison, text).unwrap();
        let floor = read_value(kind, "2026-01-02T01:00:00.100Z").unwrap();
        let finer = "2026-01-02T01:00:00.1005Z";
        assert_eq!(test(finer, Comparison::Less), Test::Compare(Comparison::LessOrEqual, floor.clone()));
        assert_eq!(test(finer, Comparison::GreaterOrEqual), Test::Compare(Comparison::Greater, floor.clone()));
        assert_eq!(test(finer, Comparison::Equal), Test::Constant(false));
        assert_eq!(test("2026-01-02T01:00:00.1Z", Comparison::Equal), Test::Compare(Comparison::Equal, floor));
    }

    #[test]
    fn enum_values_are_case_insensitive_and_types_accept_resource_names() {
        let words = Kind::Enum { values: &["small", "ÉNORME"] };
        for (written, word) in [("énorme", "ÉNORME"), (" Small ", "small")] {
            assert_eq!(read_value(words, written), Ok(Value::from(word)));
        }
        assert!(read_value(words, "enorme").unwrap_err().contains("did you mean `ÉNORME`?"));
        let types = Kind::PolymorphicType { type_names: &["Member", "StockLevel"] };
        for written in ["StockLevel", "stocklevel", "stock_level"] {
            assert_eq!(read_value(types, written), Ok(Value::from("StockLevel")));
        }
        assert!(read_value(types, "stock_levels").is_err());
    }
}
