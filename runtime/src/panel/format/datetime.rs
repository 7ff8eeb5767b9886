//! Times as people read and write them, in the company's time zone.

use chrono::{DateTime, Datelike, LocalResult, NaiveDate, NaiveDateTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

/// What a person reads: `21 Mar 2026, 10:00`.
pub fn shown(zone: Tz, time: &str) -> Option<String> {
    let time = DateTime::parse_from_rfc3339(time).ok()?.with_timezone(&zone);
    Some(time.format("%-d %b %Y, %H:%M").to_string())
}

/// The same of a day: `21 Mar 2026`.
pub fn day(date: &str) -> Option<String> {
    Some(date.parse::<NaiveDate>().ok()?.format("%-d %b %Y").to_string())
}

/// What an input of the type `datetime-local` holds. It has years of four digits from 1 on: what the zone moves out of them it
/// cannot hold.
pub fn local(zone: Tz, time: &str) -> Option<String> {
    let time = DateTime::parse_from_rfc3339(time).ok()?.with_timezone(&zone);
    if !(1..=9999).contains(&time.year()) {
        return None;
    }
    let form = if time.timestamp_subsec_millis() == 0 { "%Y-%m-%dT%H:%M:%S" } else { "%Y-%m-%dT%H:%M:%S%.3f" };
    Some(time.format(form).to_string())
}

/// Whether an input still holds what it was given: browsers leave out seconds that are nothing.
pub fn is_same(zone: Tz, was: &str, written: &str) -> bool {
    let bare = |text: &str| text.trim_end_matches('0').trim_end_matches('.').to_string();
    let whole =
        |text: &str| if text.len() == "2026-03-21T10:00".len() { format!("{text}:00") } else { text.to_string() };
    local(zone, was).is_some_and(|was| bare(&whole(&was)) == bare(&whole(written)))
}

/// The time that such an input means; what it is not stays as it was written, for the API to refuse. Of a time that a
/// change of the clocks has twice the first is meant; one that it leaves out is moved on by an hour.
pub fn utc(zone: Tz, written: &str) -> String {
    let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"];
    let Some(naive) = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(written, form).ok()) else {
        return written.to_string();
    };
    let time = match zone.from_local_datetime(&naive) {
        LocalResult::Single(time) | LocalResult::Ambiguous(time, _) => time.with_timezone(&Utc),
        LocalResult::None => {
            let moved = naive.checked_add_signed(TimeDelta::hours(1));
            match moved.and_then(|moved| zone.from_local_datetime(&moved).earliest()) {
                Some(time) => time.with_timezone(&Utc),
                None => return written.to_string(),
            }
        }
    };
    time.format("%Y-%m-%dT%H:%M:%S%.fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_and_read_in_the_zone() {
        let zone = Tz::Europe__London;
        assert_eq!(shown(zone, "2026-07-01T09:05:00Z").as_deref(), Some("1 Jul 2026, 10:05"));
        assert_eq!(local(zone, "2026-07-01T09:05:00.000Z").as_deref(), Some("2026-07-01T10:05:00"));
        assert_eq!(utc(zone, "2026-07-01T10:05"), "2026-07-01T09:05:00Z");
        assert_eq!(utc(zone, "2026-01-01T10:05:07"), "2026-01-01T10:05:07Z");
        assert_eq!(utc(zone, "2026-03-29T01:30"), "2026-03-29T01:30:00Z", "the clocks leave this hour out");
        assert_eq!(utc(zone, "2026-10-25T01:30"), "2026-10-25T00:30:00Z", "the clocks have this hour twice");
        assert_eq!(local(zone, "2026-07-01T09:05:00.250Z").as_deref(), Some("2026-07-01T10:05:00.250"));
        assert!(is_same(zone, "2026-10-25T01:30:00Z", "2026-10-25T01:30"), "the second of two is kept as it was");
        assert!(is_same(zone, "2026-07-01T09:05:00.250Z", "2026-07-01T10:05:00.25"));
        assert!(!is_same(zone, "2026-07-01T09:05:00.250Z", "2026-07-01T10:05:00"));
        assert!(!is_same(zone, "2026-07-01T09:00:00Z", "2026-07-01T10:05"));
        assert_eq!((day("2019-09-01").as_deref(), day("soon")), (Some("1 Sep 2019"), None));
        assert_eq!(utc(zone, "soon"), "soon");
        assert_eq!(shown(zone, "soon"), None);
    }

    #[test]
    fn times_at_the_ends_of_the_calendar_stay_what_they_are() {
        let (ahead, behind) = (Tz::Europe__Berlin, Tz::America__New_York);
        for (zone, time) in [(ahead, "9999-12-31T23:59:59Z"), (behind, "0001-01-01T00:00:00Z")] {
            assert_eq!(local(zone, time), None, "no input of a browser holds it");
            assert_eq!(utc(zone, time), time);
        }
        assert_eq!(local(ahead, "9999-12-31T22:59:59Z").as_deref(), Some("9999-12-31T23:59:59"));
        for zone in [ahead, behind] {
            for written in ["+262142-12-31T23:59", "-262143-01-01T00:00", "+262143-01-01T00:00"] {
                utc(zone, written);
            }
        }
        assert_eq!(utc(behind, "+262142-12-31T23:59"), "+262142-12-31T23:59");
    }
}
