//! `timestamp`: a point in time.

use super::{Parameters, Takes, TypeFacts, TypeWord};
use crate::date::is_instant;
use crate::literal::Misfit;
use crate::{Group, Storage};

pub static WORD: TypeWord = TypeWord {
    word: "timestamp",
    written: "timestamp",
    example: "timestamp",
    pattern: "timestamp",
    json: "string",
    rust: "DateTimeUtc",
    meaning: "A point in time, in the format of `timestamps`.",
    takes: Takes::Nothing,
    facts: &FACTS,
    elsewhere: &[(&["datetime", "timestamptz"], "timestamp")],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "Timestamp",
    word: "timestamp",
    attribute: "timestamp",
    usage: "timestamp(seconds)",
    signature: "timestamp",
    parameters: Parameters::Form,
    rust: &["DateTimeUtc", "DateTime"],
    is_inferred: true,
    storage: Some(Storage::Timestamp),
    predicates: &[Group::Every, Group::Ordered],
    family: Some("timestamp"),
    takes_now: true,
    is_temporal: true,
    literal: |key, _| literal(key),
    value: Some(value),
    ..TypeFacts::PLAIN
};

/// The type has no literals: `key` takes `now`.
pub fn literal(key: &str) -> Result<(), Misfit> {
    Err(Misfit::new(format!("a fixed time cannot be a {key}"), "write `now`"))
}

fn value(text: &str) -> Result<(), Misfit> {
    Misfit::unless(is_instant(text), text, "a point in time", "2026-03-21T10:00:00Z")
}
