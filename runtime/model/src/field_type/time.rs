//! `time`: a time of day.

use super::{Takes, TextFormat, TextPattern, TypeFacts, TypeWord};
use crate::literal::Misfit;
use crate::{Group, Storage};

pub static WORD: TypeWord = TypeWord {
    word: "time",
    written: "time",
    example: "time",
    pattern: "time",
    json: "string, `14:30:00`",
    rust: "Time",
    meaning: "A time of day without a time zone, in whole seconds from `00:00:00` to `23:59:59`. The API also accepts `14:30`.",
    takes: Takes::Nothing,
    facts: &FACTS,
    elsewhere: &[],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "Time",
    word: "time",
    attribute: "time",
    usage: "time",
    signature: "time",
    rust: &["Time", "NaiveTime"],
    is_inferred: true,
    storage: Some(Storage::Time),
    predicates: &[Group::Every, Group::Ordered],
    family: Some("time"),
    is_temporal: true,
    literal: |_, text| literal(text),
    // The format `time` of JSON Schema is that of RFC 3339, which demands an offset.
    format: Some(TextFormat {
        name: "time-local",
        pattern: Some(TextPattern {
            read: "^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$",
            written: "^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$",
        }),
        example: "14:30:00",
        later: "15:30:00",
    }),
    input: Some("time"),
    ..TypeFacts::PLAIN
};

/// A literal has seconds, because a migration and an example show it unchanged.
fn literal(text: &str) -> Result<(), Misfit> {
    Misfit::unless(is_time(text), text, "a time of day from 00:00:00 to 23:59:59", "14:30:00")
}

/// True for two digits each of hours, minutes and seconds.
fn is_time(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let fits = |(part, limit): (&&str, u8)| {
        part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit()) && part.parse().is_ok_and(|n: u8| n < limit)
    };
    parts.len() == 3 && parts.iter().zip([24, 60, 60]).all(fits)
}

#[cfg(test)]
mod tests {
    use super::is_time;

    #[test]
    fn a_time_of_day_has_hours_minutes_and_seconds() {
        assert!(["00:00:00", "14:30:00", "23:59:59"].iter().all(|text| is_time(text)));
        for text in ["24:00:00", "23:60:00", "23:59:60", "9:00:00", "14:30", "14:30:00.5", "14:30:00Z", "+1:00:00", ""]
        {
            assert!(!is_time(text), "{text}");
        }
    }
}
