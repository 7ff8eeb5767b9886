//! Timestamps and dates, shown and entered in the time zone of the reader.

use std::fmt::{Display, Write};

use chrono::{
    DateTime, Datelike, FixedOffset, LocalResult, NaiveDate, NaiveDateTime, Offset, TimeDelta, TimeZone, Utc,
};
use chrono_tz::Tz;

use crate::language::text;

/// Step at which the beginning of a gap is searched, and the number of steps to one that is longer than a day.
const GAP_STEP: TimeDelta = TimeDelta::minutes(30);
const MAX_GAP_STEPS: i32 = 50;

/// `21 Mar 2026, 10:00`
pub(crate) fn format_timestamp(zone: Tz, time: &str) -> Option<String> {
    let time = DateTime::parse_from_rfc3339(time).ok()?.with_timezone(&zone);
    Some(written(&text!("%-d %b %Y, %H:%M"), "%-d %b %Y, %H:%M", |form| time.format(form)))
}

/// `21 Mar 2026`
pub(crate) fn format_date(date: &str) -> Option<String> {
    let date = date.parse::<NaiveDate>().ok()?;
    Some(written(&text!("%-d %b %Y"), "%-d %b %Y", |form| date.format(form)))
}

/// A date or a time in the form of a language. A form with a part that chrono does not know, or that a date does not have,
/// is an error of the table: the English form takes its place.
fn written<'f, T: Display>(translated: &'f str, english: &'f str, format: impl Fn(&'f str) -> T) -> String {
    let mut text = String::new();
    match write!(text, "{}", format(translated)) {
        Ok(()) => text,
        Err(_) => format(english).to_string(),
    }
}

/// The value of a `datetime-local` input. `None` for years outside 1 to 9999, which the input does not support.
pub(crate) fn to_input(zone: Tz, time: &str) -> Option<String> {
    let time = DateTime::parse_from_rfc3339(time).ok()?.with_timezone(&zone);
    if !(1..=9999).contains(&time.year()) {
        return None;
    }
    let form = if time.timestamp_subsec_millis() == 0 { "%Y-%m-%dT%H:%M:%S" } else { "%Y-%m-%dT%H:%M:%S%.3f" };
    Some(time.format(form).to_string())
}

/// Returns true if an input still has the value it was rendered with. Browsers omit zero seconds.
pub(crate) fn is_unchanged(zone: Tz, original: &str, entered: &str) -> bool {
    let bare = |text: &str| text.trim_end_matches('0').trim_end_matches('.').to_string();
    let whole =
        |text: &str| if text.len() == "2026-03-21T10:00".len() { format!("{text}:00") } else { text.to_string() };
    to_input(zone, original).is_some_and(|original| bare(&whole(&original)) == bare(&whole(entered)))
}

/// The RFC 3339 timestamp of a `datetime-local` value. Any other text is returned unchanged, and the API rejects it.
/// When the clocks are set back, an ambiguous time is the first of the two; when they are set forward, a skipped time
/// moves ahead by the length of the gap (RFC 5545, section 3.3.5): an hour, half an hour or a day.
pub(crate) fn from_input(zone: Tz, entered: &str) -> String {
    let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"];
    let Some(naive) = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(entered, form).ok()) else {
        return entered.to_string();
    };
    let time = match zone.from_local_datetime(&naive) {
        LocalResult::Single(time) | LocalResult::Ambiguous(time, _) => time.with_timezone(&Utc),
        LocalResult::None => match offset_before_gap(zone, naive).and_then(|offset| naive.checked_sub_offset(offset)) {
            Some(time) => time.and_utc(),
            None => return entered.to_string(),
        },
    };
    time.format("%Y-%m-%dT%H:%M:%S%.fZ").to_string()
}

/// The offset of a zone before the gap that a skipped local time is in. The longest gap is a day: Samoa had no 30
/// December 2011.
fn offset_before_gap(zone: Tz, skipped: NaiveDateTime) -> Option<FixedOffset> {
    (1..=MAX_GAP_STEPS).find_map(|steps| {
        let before = skipped.checked_sub_signed(GAP_STEP * steps)?;
        zone.from_local_datetime(&before).latest().map(|time| time.offset().fix())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_time_moves_by_the_length_of_the_gap() {
        for (zone, entered, expected, shown) in [
            (Tz::Europe__Berlin, "2026-03-29T02:30", "2026-03-29T01:30:00Z", "2026-03-29T03:30:00"),
            // Half an hour.
            (Tz::Australia__Lord_Howe, "2026-10-04T02:10", "2026-10-03T15:40:00Z", "2026-10-04T02:40:00"),
            // Two hours.
            (Tz::Antarctica__Troll, "2026-03-29T01:30", "2026-03-29T01:30:00Z", "2026-03-29T03:30:00"),
            // A day.
            (Tz::Pacific__Apia, "2011-12-30T10:00", "2011-12-30T20:00:00Z", "2011-12-31T10:00:00"),
            (Tz::Pacific__Kwajalein, "1993-08-21T10:00", "1993-08-21T22:00:00Z", "1993-08-22T10:00:00"),
        ] {
            assert_eq!(from_input(zone, entered), expected, "{zone}");
            assert_eq!(to_input(zone, expected).as_deref(), Some(shown), "{zone}");
        }
    }

    #[test]
    fn timestamps_are_shown_and_entered_in_the_time_zone() {
        let zone = Tz::Europe__London;
        assert_eq!(format_timestamp(zone, "2026-07-01T09:05:00Z").as_deref(), Some("1 Jul 2026, 10:05"));
        assert_eq!(to_input(zone, "2026-07-01T09:05:00.000Z").as_deref(), Some("2026-07-01T10:05:00"));
        assert_eq!(from_input(zone, "2026-07-01T10:05"), "2026-07-01T09:05:00Z");
        assert_eq!(from_input(zone, "2026-01-01T10:05:07"), "2026-01-01T10:05:07Z");
        assert_eq!(from_input(zone, "2026-03-29T01:30"), "2026-03-29T01:30:00Z", "skipped: the clocks are set forward");
        assert_eq!(from_input(zone, "2026-10-25T01:30"), "2026-10-25T00:30:00Z", "ambiguous: the clocks are set back");
        assert_eq!(to_input(zone, "2026-07-01T09:05:00.250Z").as_deref(), Some("2026-07-01T10:05:00.250"));
        assert!(is_unchanged(zone, "2026-10-25T01:30:00Z", "2026-10-25T01:30"), "the second of two ambiguous times");
        assert!(is_unchanged(zone, "2026-07-01T09:05:00.250Z", "2026-07-01T10:05:00.25"));
        assert!(!is_unchanged(zone, "2026-07-01T09:05:00.250Z", "2026-07-01T10:05:00"));
        assert!(!is_unchanged(zone, "2026-07-01T09:00:00Z", "2026-07-01T10:05"));
        assert_eq!((format_date("2019-09-01").as_deref(), format_date("soon")), (Some("1 Sep 2019"), None));
        assert_eq!(from_input(zone, "soon"), "soon");
        assert_eq!(format_timestamp(zone, "soon"), None);
    }

    #[test]
    fn a_form_that_a_date_does_not_have_is_english() {
        let date: NaiveDate = "2026-03-21".parse().unwrap();
        for (form, shown) in [("%d.%m.%Y", "21.03.2026"), ("%d %H", "21 Mar 2026"), ("%Q", "21 Mar 2026")] {
            assert_eq!(written(form, "%-d %b %Y", |form| date.format(form)), shown, "{form}");
        }
    }

    #[test]
    fn timestamps_outside_the_years_of_an_input_stay_unchanged() {
        let (ahead, behind) = (Tz::Europe__Berlin, Tz::America__New_York);
        for (zone, time) in [(ahead, "9999-12-31T23:59:59Z"), (behind, "0001-01-01T00:00:00Z")] {
            assert_eq!(to_input(zone, time), None, "outside the years of an input");
            assert_eq!(from_input(zone, time), time);
        }
        assert_eq!(to_input(ahead, "9999-12-31T22:59:59Z").as_deref(), Some("9999-12-31T23:59:59"));
        for zone in [ahead, behind] {
            for entered in ["+262142-12-31T23:59", "-262143-01-01T00:00", "+262143-01-01T00:00"] {
                from_input(zone, entered);
            }
        }
        assert_eq!(from_input(behind, "+262142-12-31T23:59"), "+262142-12-31T23:59");
    }
}
