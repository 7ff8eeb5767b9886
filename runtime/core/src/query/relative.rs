//! Relative times in conditions: `today`, `this_month`, `-7d` or `now`, and the days or the instant they stand for.
//!
//! | Word | Stands for |
//! |---|---|
//! | `today`, `yesterday`, `tomorrow` | a day |
//! | `this_week`, `last_week`, `next_week` | Monday to Sunday; likewise `month`, `quarter` and `year` |
//! | `-7d`, `+2w`, `-3mo`, `+1y` | the day that many days, weeks, months or years from today |
//! | `now` | this instant |
//! | `-12h`, `+30min` | the instant that many hours or minutes from now |
//!
//! Days begin at midnight in the company's time zone. The sign `+` may be left out.

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;

use crate::calendar::{Offsets, Period};

/// A relative time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelativeTime {
    /// A calendar period, by its distance from the current one.
    Period(RelativeUnit, i64),
    /// The day at a distance from today.
    Day(RelativeUnit, i64),
    /// An instant, in minutes from now.
    Instant(i64),
}

/// RelativeUnit of a calendar period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelativeUnit {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// The words without a number.
pub const WORDS: &[&str] = &[
    "now",
    "today",
    "yesterday",
    "tomorrow",
    "this_week",
    "last_week",
    "next_week",
    "this_month",
    "last_month",
    "next_month",
    "this_quarter",
    "last_quarter",
    "next_quarter",
    "this_year",
    "last_year",
    "next_year",
];

/// Pattern of all relative times of a date, in the syntax of JSON Schema.
pub const DATE_PATTERN: &str =
    "^(today|yesterday|tomorrow|(this|last|next)_(week|month|quarter|year)|[+-]?[0-9]{1,5}(d|w|mo|y))$";

/// Pattern of all relative times of a timestamp.
pub const TIMESTAMP_PATTERN: &str =
    "^(now|today|yesterday|tomorrow|(this|last|next)_(week|month|quarter|year)|[+-]?[0-9]{1,5}(d|w|mo|y|h|min))$";

/// Limit on the digits of an offset.
const MAX_OFFSET_DIGITS: usize = 5;

/// Error of times that the databases do not support.
pub(super) const OUT_OF_RANGE: &str = "must be of the years 0001 to 9999, in UTC";

impl RelativeTime {
    /// Parses a relative time. `None` for any other text.
    pub fn parse(text: &str) -> Option<RelativeTime> {
        let word = text.trim().to_ascii_lowercase();
        match word.as_str() {
            "now" => return Some(RelativeTime::Instant(0)),
            "today" => return Some(RelativeTime::Period(RelativeUnit::Day, 0)),
            "yesterday" => return Some(RelativeTime::Period(RelativeUnit::Day, -1)),
            "tomorrow" => return Some(RelativeTime::Period(RelativeUnit::Day, 1)),
            _ => {}
        }
        if let Some((which, unit)) = word.split_once('_') {
            let distance = match which {
                "this" => 0,
                "last" => -1,
                "next" => 1,
                _ => return None,
            };
            return Some(RelativeTime::Period(RelativeUnit::from_word(unit)?, distance));
        }
        let (sign, offset) = match word.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, word.strip_prefix('+').unwrap_or(&word)),
        };
        let end = offset.find(|c: char| !c.is_ascii_digit()).filter(|end| (1..=MAX_OFFSET_DIGITS).contains(end))?;
        let (digits, unit) = offset.split_at(end);
        let number = sign * digits.parse::<i64>().ok()?;
        Some(match unit {
            "d" => RelativeTime::Day(RelativeUnit::Day, number),
            "w" => RelativeTime::Day(RelativeUnit::Week, number),
            "mo" => RelativeTime::Day(RelativeUnit::Month, number),
            "y" => RelativeTime::Day(RelativeUnit::Year, number),
            "h" => RelativeTime::Instant(number * 60),
            "min" => RelativeTime::Instant(number),
            _ => return None,
        })
    }

    /// True if it is an instant, which a date cannot be compared with.
    pub fn is_instant(self) -> bool {
        matches!(self, RelativeTime::Instant(_))
    }

    /// The instant. `None` for a day or a period.
    ///
    /// # Errors
    /// If it is out of range.
    pub fn instant(self, now: DateTime<Utc>) -> Option<Result<DateTime<Utc>, String>> {
        let RelativeTime::Instant(minutes) = self else { return None };
        let time = TimeDelta::try_minutes(minutes).and_then(|delta| now.checked_add_signed(delta));
        Some(time.filter(|time| is_in_range(time.year())).ok_or_else(|| OUT_OF_RANGE.into()))
    }

    /// The first day, and the day after the last one. An instant has those of its day.
    ///
    /// # Errors
    /// If they are out of range.
    pub fn days(self, today: NaiveDate) -> Result<(NaiveDate, NaiveDate), String> {
        let days = match self {
            RelativeTime::Instant(_) => RelativeUnit::Day.shift(today, 0).zip(RelativeUnit::Day.shift(today, 1)),
            RelativeTime::Day(unit, number) => {
                let day = unit.shift(today, number);
                day.zip(day.and_then(|day| RelativeUnit::Day.shift(day, 1)))
            }
            RelativeTime::Period(unit, distance) => {
                let start = unit.shift(unit.start(today), distance);
                start.zip(start.and_then(|start| unit.shift(start, 1)))
            }
        };
        days.filter(|(from, until)| is_in_range(from.year()) && is_in_range(until.year()))
            .ok_or_else(|| OUT_OF_RANGE.into())
    }
}

fn is_in_range(year: i32) -> bool {
    (1..=9999).contains(&year)
}

impl RelativeUnit {
    fn from_word(word: &str) -> Option<RelativeUnit> {
        Some(match word {
            "week" => RelativeUnit::Week,
            "month" => RelativeUnit::Month,
            "quarter" => RelativeUnit::Quarter,
            "year" => RelativeUnit::Year,
            _ => return None,
        })
    }

    /// The first day of the period with this day.
    fn start(self, day: NaiveDate) -> NaiveDate {
        match self {
            RelativeUnit::Day => day,
            RelativeUnit::Week => Period::Week.start(day),
            RelativeUnit::Month => Period::Month.start(day),
            RelativeUnit::Quarter => {
                day.with_day(1).and_then(|day| day.with_month0(day.month0() / 3 * 3)).unwrap_or(day)
            }
            RelativeUnit::Year => Period::Year.start(day),
        }
    }

    /// The day at this distance. A day that a month does not have becomes the last one of the month.
    fn shift(self, day: NaiveDate, number: i64) -> Option<NaiveDate> {
        let by_days = |count: u64| match number < 0 {
            true => day.checked_sub_days(Days::new(count)),
            false => day.checked_add_days(Days::new(count)),
        };
        let by_months = |factor: u32| {
            let months = Months::new(u32::try_from(number.unsigned_abs()).ok()?.checked_mul(factor)?);
            if number < 0 { day.checked_sub_months(months) } else { day.checked_add_months(months) }
        };
        match self {
            RelativeUnit::Day => by_days(number.unsigned_abs()),
            RelativeUnit::Week => by_days(number.unsigned_abs() * 7),
            RelativeUnit::Month => by_months(1),
            RelativeUnit::Quarter => by_months(3),
            RelativeUnit::Year => by_months(12),
        }
    }
}

/// The first instant of a day in a time zone: midnight, or the end of the gap if the clocks are set forward over it.
pub(super) fn start_of_day(zone: Tz, day: NaiveDate) -> Option<DateTime<Utc>> {
    let midnight = day.and_hms_opt(0, 0, 0)?.and_utc().timestamp();
    let offsets = Offsets::of(zone);
    let segment = |index: &usize| {
        let from = index.checked_sub(1).map_or(i64::MIN, |before| offsets.transitions[before]);
        let until = offsets.transitions.get(*index).copied().unwrap_or(i64::MAX);
        let time = (midnight - offsets.seconds[*index]).max(from);
        (time < until).then_some(time)
    };
    // No offset exceeds a day.
    let near = offsets.transitions.partition_point(|transition| *transition < midnight - 2 * 24 * 60 * 60);
    let time = (near..offsets.seconds.len()).find_map(|index| segment(&index))?;
    DateTime::from_timestamp(time, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn each_word_stands_for_days_from_the_current_one() {
        // A Saturday.
        let today = day("2026-11-28");
        for (word, from, until) in [
            ("today", "2026-11-28", "2026-11-29"),
            (" Yesterday", "2026-11-27", "2026-11-28"),
            ("tomorrow", "2026-11-29", "2026-11-30"),
            ("this_week", "2026-11-23", "2026-11-30"),
            ("last_week", "2026-11-16", "2026-11-23"),
            ("next_week", "2026-11-30", "2026-12-07"),
            ("this_month", "2026-11-01", "2026-12-01"),
            ("last_month", "2026-10-01", "2026-11-01"),
            ("next_month", "2026-12-01", "2027-01-01"),
            ("this_quarter", "2026-10-01", "2027-01-01"),
            ("last_quarter", "2026-07-01", "2026-10-01"),
            ("next_quarter", "2027-01-01", "2027-04-01"),
            ("this_year", "2026-01-01", "2027-01-01"),
            ("last_year", "2025-01-01", "2026-01-01"),
            ("NEXT_YEAR", "2027-01-01", "2028-01-01"),
            ("-7d", "2026-11-21", "2026-11-22"),
            ("+2w", "2026-12-12", "2026-12-13"),
            ("2w", "2026-12-12", "2026-12-13"),
            ("-3mo", "2026-08-28", "2026-08-29"),
            ("+1y", "2027-11-28", "2027-11-29"),
        ] {
            let days = RelativeTime::parse(word).unwrap().days(today);
            assert_eq!(days, Ok((day(from), day(until))), "{word}");
        }
        let ends = |word: &str, today| RelativeTime::parse(word).unwrap().days(day(today)).unwrap().0;
        assert_eq!(ends("-1mo", "2026-03-31"), day("2026-02-28"), "the last day of a shorter month");
        assert_eq!(ends("+1y", "2028-02-29"), day("2029-02-28"));
        assert_eq!(ends("this_week", "2026-11-23"), day("2026-11-23"), "a week begins on Monday");
        assert_eq!(ends("this_week", "2026-11-22"), day("2026-11-16"));
    }

    #[test]
    fn words_and_their_patterns_agree() {
        for word in WORDS {
            assert!(RelativeTime::parse(word).is_some(), "{word}");
        }
        for text in ["", "soon", "this_day", "-d", "7", "-123456d", "1.5d", "- 7d", "+-7d", "7 d", "this_", "２d", "7m"]
        {
            assert_eq!(RelativeTime::parse(text), None, "{text}");
        }
        let now = "2026-11-28T11:10:00Z".parse::<DateTime<Utc>>().unwrap();
        let instant = |word| RelativeTime::parse(word).unwrap().instant(now).unwrap().unwrap().to_rfc3339();
        assert_eq!(instant("now"), "2026-11-28T11:10:00+00:00");
        assert_eq!(instant("-12h"), "2026-11-27T23:10:00+00:00");
        assert_eq!(instant("30min"), "2026-11-28T11:40:00+00:00");
        for word in ["-3000y", "99999y", "-99999mo"] {
            assert!(RelativeTime::parse(word).unwrap().days(now.date_naive()).is_err(), "{word}");
        }
    }

    #[test]
    fn day_begins_at_its_first_instant() {
        for (zone, date, expected) in [
            (Tz::UTC, "2026-03-29", "2026-03-29T00:00:00+00:00"),
            (Tz::Europe__Berlin, "2026-03-29", "2026-03-28T23:00:00+00:00"),
            (Tz::Europe__Berlin, "2026-03-30", "2026-03-29T22:00:00+00:00"),
            // The clocks are set forward at midnight, and set back to it.
            (Tz::America__Sao_Paulo, "2018-11-04", "2018-11-04T03:00:00+00:00"),
            (Tz::America__Havana, "2026-11-01", "2026-11-01T04:00:00+00:00"),
            // Samoa had no such day.
            (Tz::Pacific__Apia, "2011-12-30", "2011-12-30T10:00:00+00:00"),
            (Tz::Pacific__Apia, "2011-12-31", "2011-12-30T10:00:00+00:00"),
            (Tz::Asia__Kathmandu, "1800-01-01", "1799-12-31T18:18:44+00:00"),
            (Tz::Europe__Berlin, "9999-07-01", "9999-06-30T23:00:00+00:00"),
        ] {
            assert_eq!(start_of_day(zone, day(date)).unwrap().to_rfc3339(), expected, "{zone} {date}");
        }
    }
}
