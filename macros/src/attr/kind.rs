//! Reads the word in `#[field(…)]` that says what values a field holds.

use super::entry::{Entry, Value};
use super::resource::inside;
use super::{flag, once, text, texts, unknown};
use crate::ast::{Kind, Word};
use crate::problems::Problems;

/// Every word that names a kind.
pub const WORDS: &[&str] = &[
    "string",
    "text",
    "integer",
    "bigint",
    "boolean",
    "decimal",
    "timestamp",
    "date",
    "enumeration",
    "code",
    "list",
    "ref_list",
    "json",
    "uuid",
    "reference",
    "polymorphic_id",
    "polymorphic_type",
];

/// Reads a kind; a misuse is reported and becomes [`Kind::Unknown`].
pub fn read(entry: &Entry, problems: &mut Problems) -> Kind {
    let alone = |kind: Kind, problems: &mut Problems| flag(entry, problems).map(|_| kind);
    let kind = match entry.key().as_str() {
        "string" => length(entry, "255", problems).map(Kind::String),
        "text" => alone(Kind::Text, problems),
        "integer" => alone(Kind::Integer, problems),
        "bigint" => alone(Kind::BigInt, problems),
        "boolean" => alone(Kind::Boolean, problems),
        "decimal" => decimal(entry, problems),
        "timestamp" => timestamp(entry, problems),
        "date" => alone(Kind::Date, problems),
        "enumeration" => some(texts(entry, problems)).map(Kind::Enum),
        "code" => code(entry, problems),
        "list" => length(entry, "50", problems).map(Kind::StringList),
        "ref_list" => one(entry, "role", problems).map(Kind::RefList),
        "json" => alone(Kind::Json, problems),
        "uuid" => alone(Kind::Uuid, problems),
        "reference" => one(entry, "product_group", problems).map(Kind::Ref),
        "polymorphic_id" => polymorphic_id(entry, problems),
        _ => some(texts(entry, problems)).map(Kind::PolymorphicType),
    };
    kind.unwrap_or(Kind::Unknown)
}

fn some(words: Vec<Word>) -> Option<Vec<Word>> {
    (!words.is_empty()).then_some(words)
}

/// `string(255)`.
fn length(entry: &Entry, example: &str, problems: &mut Problems) -> Option<u32> {
    if let Entry::List(_, inside) = entry
        && let [Entry::Literal(Value::Number(number))] = inside.as_slice()
        && let Ok(length @ 1..) = u32::try_from(number.value)
    {
        return Some(length);
    }
    problems.report(entry.span(), format!("write how many characters are allowed: `{}({example})`", entry.key()));
    None
}

/// `reference("product_group")`.
fn one(entry: &Entry, example: &str, problems: &mut Problems) -> Option<Word> {
    if let Entry::List(_, inside) = entry
        && let [Entry::Literal(Value::Text(word))] = inside.as_slice()
    {
        return Some(word.clone());
    }
    problems.report(entry.span(), format!("write the resource it refers to: `{}(\"{example}\")`", entry.key()));
    None
}

fn decimal(entry: &Entry, problems: &mut Problems) -> Option<Kind> {
    if let Entry::List(_, inside) = entry
        && let [Entry::Literal(Value::Number(precision)), Entry::Literal(Value::Number(places))] = inside.as_slice()
    {
        // 18 digits are what an i64 holds, whatever the places.
        if !(1..=18).contains(&precision.value) {
            problems.report(precision.span, "a decimal has 1 to 18 digits in all");
            return None;
        }
        if !(0..=precision.value).contains(&places.value) {
            problems.report(places.span, format!("of {} digits, 0 to {0} can be decimal places", precision.value));
            return None;
        }
        return Some(Kind::Decimal { precision: precision.value as u8, places: places.value as u8 });
    }
    problems.report(entry.span(), "write the digits in all and those behind the point: `decimal(12, 2)`");
    None
}

fn timestamp(entry: &Entry, problems: &mut Problems) -> Option<Kind> {
    if let Entry::List(_, inside) = entry
        && let [Entry::Word(form)] = inside.as_slice()
    {
        for (word, variant) in [("seconds", "Seconds"), ("millis", "Millis"), ("offset", "Offset")] {
            if form == word {
                return Some(Kind::Timestamp(variant));
            }
        }
    }
    problems.report(entry.span(), "write `timestamp(seconds)`, `timestamp(millis)` or `timestamp(offset)`");
    None
}

fn code(entry: &Entry, problems: &mut Problems) -> Option<Kind> {
    let mut values: Vec<(i32, Word)> = Vec::new();
    let usage = "code(1 = \"Bulk\", 2 = \"Serialised\")";
    if let Entry::List(_, inside) = entry {
        for item in inside {
            match item {
                Entry::Labelled(number, label) => match i32::try_from(number.value) {
                    Ok(value) if values.iter().any(|(known, _)| *known == value) => {
                        problems.report(number.span, format!("the code {value} has a label already"));
                    }
                    Ok(value) => values.push((value, label.clone())),
                    Err(_) => problems.report(number.span, "a code is a 32-bit number"),
                },
                other => problems.report(other.span(), format!("each code has a label: `{usage}`")),
            }
        }
        if !inside.is_empty() {
            return (!values.is_empty()).then_some(Kind::Code(values));
        }
    }
    problems.report(entry.span(), format!("write each code with its label: `{usage}`"));
    None
}

fn polymorphic_id(entry: &Entry, problems: &mut Problems) -> Option<Kind> {
    let mut type_field = None;
    for part in inside(entry, "type_field = \"…\"", problems)? {
        match part.key().as_str() {
            "type_field" => once(&mut type_field, text(part, problems), part, problems),
            _ => unknown(part, &["type_field"], problems),
        }
    }
    if type_field.is_none() {
        problems.report(entry.span(), "say which field names the type: `polymorphic_id(type_field = \"…\")`");
    }
    type_field.map(Kind::PolymorphicRef)
}
