//! Relative values of conditions in words: `this month`, `7 days ago`, `me`.

use crate::language::text;
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
        _ if is_user(column) => text.trim().eq_ignore_ascii_case(ME).then(|| text!("me")),
        _ => None,
    }
}

fn is_user(column: &Column) -> bool {
    matches!(column.kind, Kind::Ref { resource: "user" }) || column.field.is_some_and(refers_to_user)
}

fn time_label(time: RelativeTime) -> String {
    match time {
        RelativeTime::Day(_, 0) => text!("today"),
        RelativeTime::Period(unit, distance) => period(unit, distance),
        RelativeTime::Day(unit, number) => days(unit, number),
        RelativeTime::Instant(0) => text!("now"),
        RelativeTime::Instant(minutes) if minutes % 60 == 0 => hours(minutes / 60),
        RelativeTime::Instant(minutes) => match minutes {
            -1 => text!("1 minute ago"),
            ..-1 => text!("{number} minutes ago", number = minutes.abs()),
            1 => text!("in 1 minute"),
            _ => text!("in {number} minutes", number = minutes),
        },
    }
}

/// `this month`, `yesterday`
fn period(unit: RelativeUnit, distance: i64) -> String {
    match (unit, distance) {
        (RelativeUnit::Day, -1) => text!("yesterday"),
        (RelativeUnit::Day, 1) => text!("tomorrow"),
        (RelativeUnit::Day, _) => text!("today"),
        (RelativeUnit::Week, 0) => text!("this week"),
        (RelativeUnit::Week, ..0) => text!("last week"),
        (RelativeUnit::Week, _) => text!("next week"),
        (RelativeUnit::Month, 0) => text!("this month"),
        (RelativeUnit::Month, ..0) => text!("last month"),
        (RelativeUnit::Month, _) => text!("next month"),
        (RelativeUnit::Quarter, 0) => text!("this quarter"),
        (RelativeUnit::Quarter, ..0) => text!("last quarter"),
        (RelativeUnit::Quarter, _) => text!("next quarter"),
        (RelativeUnit::Year, 0) => text!("this year"),
        (RelativeUnit::Year, ..0) => text!("last year"),
        (RelativeUnit::Year, _) => text!("next year"),
    }
}

/// `7 days ago`, `in 1 week`
fn days(unit: RelativeUnit, number: i64) -> String {
    let count = number.abs();
    match (unit, number < 0, count == 1) {
        (RelativeUnit::Day, true, true) => text!("1 day ago"),
        (RelativeUnit::Day, true, false) => text!("{number} days ago", number = count),
        (RelativeUnit::Day, false, true) => text!("in 1 day"),
        (RelativeUnit::Day, false, false) => text!("in {number} days", number = count),
        (RelativeUnit::Week, true, true) => text!("1 week ago"),
        (RelativeUnit::Week, true, false) => text!("{number} weeks ago", number = count),
        (RelativeUnit::Week, false, true) => text!("in 1 week"),
        (RelativeUnit::Week, false, false) => text!("in {number} weeks", number = count),
        (RelativeUnit::Month, true, true) => text!("1 month ago"),
        (RelativeUnit::Month, true, false) => text!("{number} months ago", number = count),
        (RelativeUnit::Month, false, true) => text!("in 1 month"),
        (RelativeUnit::Month, false, false) => text!("in {number} months", number = count),
        (RelativeUnit::Quarter, true, true) => text!("1 quarter ago"),
        (RelativeUnit::Quarter, true, false) => text!("{number} quarters ago", number = count),
        (RelativeUnit::Quarter, false, true) => text!("in 1 quarter"),
        (RelativeUnit::Quarter, false, false) => text!("in {number} quarters", number = count),
        (RelativeUnit::Year, true, true) => text!("1 year ago"),
        (RelativeUnit::Year, true, false) => text!("{number} years ago", number = count),
        (RelativeUnit::Year, false, true) => text!("in 1 year"),
        (RelativeUnit::Year, false, false) => text!("in {number} years", number = count),
    }
}

fn hours(number: i64) -> String {
    match number {
        -1 => text!("1 hour ago"),
        ..-1 => text!("{number} hours ago", number = number.abs()),
        1 => text!("in 1 hour"),
        _ => text!("in {number} hours", number = number),
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

    #[tokio::test]
    async fn relative_times_are_named_in_the_language_of_the_reader() {
        let german = crate::language::Tables::new(&[("de", "{}")]).expect("tables").find("de").expect("German");
        german
            .scope(async {
                for (word, label) in [
                    ("last_quarter", "letztes Quartal"),
                    ("tomorrow", "morgen"),
                    ("-1d", "vor 1 Tag"),
                    ("-30d", "vor 30 Tagen"),
                    ("+1w", "in 1 Woche"),
                    ("-24h", "vor 24 Stunden"),
                ] {
                    assert_eq!(RelativeTime::parse(word).map(time_label).as_deref(), Some(label), "{word}");
                }
            })
            .await;
    }
}
