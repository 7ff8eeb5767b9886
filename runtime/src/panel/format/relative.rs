//! Relative values of conditions in words: `this month`, `7 days ago`, `me`.

use crate::panel::list::columns::Column;
use crate::panel::record::choices::Choice;
use charter_core::meta::Kind;
use charter_core::query::{ME, RelativeTime, RelativeUnit, WORDS, refers_to_user};

/// Distances from today that the filter form offers in addition to the words.
const OFFERED_DAYS: &[&str] = &["-7d", "-30d", "+7d", "+30d"];
/// Distances from now that it offers for timestamps.
const OFFERED_HOURS: &[&str] = &["-1h", "-24h"];

/// The relative values that the filter form offers for a column, with their labels.
pub(crate) fn choices(column: &Column) -> Vec<Choice> {
    let words: Vec<&str> = match column.kind {
        Kind::Date => [WORDS, OFFERED_DAYS].concat(),
        Kind::Timestamp { .. } => [WORDS, OFFERED_DAYS, OFFERED_HOURS].concat(),
        _ if is_user(column) => vec![ME],
        _ => Vec::new(),
    };
    words.into_iter().filter_map(|word| Some((word.to_string(), label(column, word)?))).collect()
}

/// A relative value in words; `None` if it is an exact value of the column.
pub(crate) fn label(column: &Column, text: &str) -> Option<String> {
    match column.kind {
        Kind::Date => RelativeTime::parse(text).filter(|time| !time.is_instant()).map(time_label),
        Kind::Timestamp { .. } => RelativeTime::parse(text).map(time_label),
        _ if is_user(column) => text.trim().eq_ignore_ascii_case(ME).then(|| ME.to_string()),
        _ => None,
    }
}

fn is_user(column: &Column) -> bool {
    matches!(column.kind, Kind::Ref { resource: "user" }) || column.field.is_some_and(refers_to_user)
}

fn time_label(time: RelativeTime) -> String {
    match time {
        RelativeTime::Period(RelativeUnit::Day, -1) => "yesterday".into(),
        RelativeTime::Period(RelativeUnit::Day, 1) => "tomorrow".into(),
        RelativeTime::Period(RelativeUnit::Day, _) | RelativeTime::Day(_, 0) => "today".into(),
        RelativeTime::Period(unit, distance) => {
            let which = match distance {
                0 => "this",
                ..0 => "last",
                _ => "next",
            };
            format!("{which} {}", unit_name(unit))
        }
        RelativeTime::Day(unit, number) => distance(number, unit_name(unit)),
        RelativeTime::Instant(0) => "now".into(),
        RelativeTime::Instant(minutes) if minutes % 60 == 0 => distance(minutes / 60, "hour"),
        RelativeTime::Instant(minutes) => distance(minutes, "minute"),
    }
}

/// `7 days ago`, `in 1 week`
fn distance(number: i64, unit: &str) -> String {
    let plural = if number.abs() == 1 { "" } else { "s" };
    match number < 0 {
        true => format!("{} {unit}{plural} ago", number.abs()),
        false => format!("in {number} {unit}{plural}"),
    }
}

fn unit_name(unit: RelativeUnit) -> &'static str {
    match unit {
        RelativeUnit::Day => "day",
        RelativeUnit::Week => "week",
        RelativeUnit::Month => "month",
        RelativeUnit::Quarter => "quarter",
        RelativeUnit::Year => "year",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_times_are_named_in_words() {
        for (word, label) in [
            ("now", "now"),
            ("today", "today"),
            ("0d", "today"),
            ("yesterday", "yesterday"),
            ("tomorrow", "tomorrow"),
            ("this_month", "this month"),
            ("last_quarter", "last quarter"),
            ("next_year", "next year"),
            ("-7d", "7 days ago"),
            ("+1w", "in 1 week"),
            ("-3mo", "3 months ago"),
            ("2y", "in 2 years"),
            ("-12h", "12 hours ago"),
            ("-90min", "90 minutes ago"),
        ] {
            assert_eq!(RelativeTime::parse(word).map(time_label).as_deref(), Some(label), "{word}");
        }
    }
}
