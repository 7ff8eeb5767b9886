//! Days, weeks, months and years of dates and times, and the UTC offsets of a time zone.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use chrono::{DateTime, Datelike, Days, NaiveDate, Offset, TimeZone, Utc};
use chrono_tz::Tz;

/// A part of the calendar. A week begins on Monday (ISO 8601).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    Day,
    Week,
    Month,
    Year,
}

/// Days from 1 January of the year 1 to 1 January 1970, both included.
const DAYS_BEFORE_1970: i32 = 719_163;

impl Period {
    pub const ALL: [Period; 4] = [Period::Day, Period::Week, Period::Month, Period::Year];

    /// The name in a request and in PostgreSQL's `date_trunc`.
    pub fn name(self) -> &'static str {
        match self {
            Period::Day => "day",
            Period::Week => "week",
            Period::Month => "month",
            Period::Year => "year",
        }
    }

    pub fn from_name(name: &str) -> Option<Period> {
        Period::ALL.into_iter().find(|period| period.name() == name)
    }

    /// The first day of the period with this day.
    pub fn start(self, day: NaiveDate) -> NaiveDate {
        let start = match self {
            Period::Day => Some(day),
            Period::Week => day.checked_sub_days(Days::new(u64::from(day.weekday().num_days_from_monday()))),
            Period::Month => day.with_day(1),
            Period::Year => day.with_ordinal(1),
        };
        start.unwrap_or(day)
    }

    /// `2026-11-28`, `2026-W48`, `2026-11` or `2026`, for the first day of the period.
    pub fn label(self, start: NaiveDate) -> String {
        let format = match self {
            Period::Day => "%Y-%m-%d",
            Period::Week => "%G-W%V",
            Period::Month => "%Y-%m",
            Period::Year => "%Y",
        };
        start.format(format).to_string()
    }
}

/// The number of a day, counted from 1970.
pub fn day_number(day: NaiveDate) -> i64 {
    i64::from(day.num_days_from_ce() - DAYS_BEFORE_1970)
}

/// The day with this number.
pub fn numbered_day(number: i64) -> Option<NaiveDate> {
    let days = i32::try_from(number).ok()?.checked_add(DAYS_BEFORE_1970)?;
    NaiveDate::from_num_days_from_ce_opt(days)
}

/// The UTC offsets of a time zone: one more than there are transitions between them.
#[derive(Debug, PartialEq, Eq)]
pub struct Offsets {
    /// The Unix times from which the next offset applies.
    pub transitions: Vec<i64>,
    /// Seconds east of UTC.
    pub seconds: Vec<i64>,
}

/// The range of the transitions in the time zone database. Before and after it, a zone has one offset.
const FIRST_YEAR: i32 = 1800;
const LAST_YEAR: i32 = 2101;
const DAY_SECONDS: i64 = 24 * 60 * 60;

impl Offsets {
    /// The offsets of a zone, computed once for each zone.
    pub fn of(zone: Tz) -> Arc<Offsets> {
        static KNOWN: LazyLock<Mutex<HashMap<Tz, Arc<Offsets>>>> = LazyLock::new(Mutex::default);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(zone).or_insert_with(|| Arc::new(Offsets::search(zone))).clone()
    }

    /// Compares the offsets of successive days. The database has no two transitions within a day.
    fn search(zone: Tz) -> Offsets {
        let year = |year| Utc.with_ymd_and_hms(year, 1, 1, 0, 0, 0).single().map_or(0, |time| time.timestamp());
        let (mut time, end) = (year(FIRST_YEAR), year(LAST_YEAR));
        let mut offset = offset_at(zone, time);
        let mut offsets = Offsets { transitions: Vec::new(), seconds: vec![offset] };
        while time < end {
            let (mut before, mut after) = (time, time + DAY_SECONDS);
            let next = offset_at(zone, after);
            if next != offset {
                while after - before > 1 {
                    let middle = before + (after - before) / 2;
                    if offset_at(zone, middle) == offset { before = middle } else { after = middle }
                }
                offsets.transitions.push(after);
                offsets.seconds.push(next);
                offset = next;
            }
            time += DAY_SECONDS;
        }
        offsets
    }
}

fn offset_at(zone: Tz, seconds: i64) -> i64 {
    let time = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    i64::from(zone.offset_from_utc_datetime(&time.naive_utc()).fix().local_minus_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_its_first_day_and_a_label() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        for (date, labels) in [
            ("2026-11-28", ["2026-11-28", "2026-W48", "2026-11", "2026"]),
            // ISO 8601: the week belongs to the year of its Thursday.
            ("2027-01-03", ["2027-01-03", "2026-W53", "2027-01", "2027"]),
            ("2024-12-30", ["2024-12-30", "2025-W01", "2024-12", "2024"]),
            ("0001-01-01", ["0001-01-01", "0001-W01", "0001-01", "0001"]),
        ] {
            for (period, label) in Period::ALL.into_iter().zip(labels) {
                let start = period.start(day(date));
                assert_eq!(period.label(start), label, "{date}");
                assert_eq!(period.label(day(date)), label, "{date}");
                assert_eq!(numbered_day(day_number(start)), Some(start));
            }
        }
        assert_eq!(day_number(day("1970-01-01")), 0);
        assert_eq!(numbered_day(i64::MAX), None);
    }

    #[test]
    fn offsets_are_those_of_the_time_zone_database() {
        for zone in [
            Tz::UTC,
            Tz::Europe__Berlin,
            Tz::America__New_York,
            Tz::America__Sao_Paulo,
            Tz::Asia__Kathmandu,
            Tz::Australia__Lord_Howe,
            Tz::Africa__Casablanca,
            Tz::Pacific__Apia,
        ] {
            let offsets = Offsets::of(zone);
            assert_eq!(offsets.seconds.len(), offsets.transitions.len() + 1);
            let around = offsets.transitions.iter().flat_map(|transition| [transition - 1, *transition]);
            let steps = (-5_400_000_000..4_200_000_000).step_by(977_777);
            for time in around.chain(steps) {
                let index = offsets.transitions.partition_point(|transition| *transition <= time);
                assert_eq!(offsets.seconds[index], offset_at(zone, time), "{zone} at {time}");
            }
        }
        assert_eq!(*Offsets::of(Tz::UTC), Offsets { transitions: Vec::new(), seconds: vec![0] });
        let berlin = Offsets::of(Tz::Europe__Berlin);
        let spring = DateTime::parse_from_rfc3339("2026-03-29T01:00:00Z").unwrap().timestamp();
        assert!(berlin.transitions.contains(&spring));
    }
}
