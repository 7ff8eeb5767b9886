//! `date`: a calendar day.

use super::{Takes, TextFormat, TypeFacts, TypeWord, timestamp};
use crate::date::is_day;
use crate::literal::Misfit;
use crate::{Group, Storage};

pub static WORD: TypeWord = TypeWord {
    word: "date",
    written: "date",
    example: "date",
    pattern: "date",
    json: "string, `2026-03-21`",
    rust: "Date",
    meaning: "A calendar day.",
    takes: Takes::Nothing,
    facts: &FACTS,
    elsewhere: &[],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "Date",
    word: "date",
    attribute: "date",
    usage: "date",
    signature: "date",
    rust: &["Date", "NaiveDate"],
    is_inferred: true,
    storage: Some(Storage::Date),
    predicates: &[Group::Every, Group::Ordered],
    family: Some("date"),
    takes_now: true,
    is_temporal: true,
    literal,
    value: Some(value),
    format: Some(TextFormat { name: "date", pattern: None, example: "2026-03-21", later: "2026-03-22" }),
    input: Some("date"),
    ..TypeFacts::PLAIN
};

fn value(text: &str) -> Result<(), Misfit> {
    Misfit::unless(is_day(text), text, "a calendar date", "2026-03-21")
}

fn literal(key: &str, text: &str) -> Result<(), Misfit> {
    match key {
        "default" | "set" if is_day(text) => {
            Err(Misfit::new("a fixed day is an expression", format!("write `\"date '{text}'\"`")))
        }
        _ => timestamp::literal(key),
    }
}
