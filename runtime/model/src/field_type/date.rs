//! `date`: a calendar day.

use super::{Takes, TypeFacts, TypeWord};
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
    ..TypeFacts::PLAIN
};

pub fn value(text: &str) -> Result<(), Misfit> {
    Misfit::unless(is_day(text), text, "a calendar date", "2026-03-21")
}
