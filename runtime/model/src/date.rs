//! Calendar days, such as `2026-03-21`, and points in time in the format of RFC 3339.

/// True for a day of the calendar.
pub fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if !(digits(year, 4) && digits(month, 2) && digits(day, 2)) {
        return false;
    }
    let number = |text: &str| text.parse::<u32>().unwrap_or_default();
    let year = number(year);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match number(month) {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => 0,
    };
    (1..=days).contains(&number(day))
}

/// True for a point in time with an offset (RFC 3339), which is the format that the server reads.
pub fn is_instant(text: &str) -> bool {
    let (Some(day), Some(rest)) = (text.get(..10), text.get(10..)) else { return false };
    let Some(rest) = rest.strip_prefix(['T', 't', ' ']) else { return false };
    let (Some(clock), Some(rest)) = (rest.get(..8), rest.get(8..)) else { return false };
    // A leap second reads as the first second of the next minute.
    if !is_day(day) || !is_clock(clock, &[23, 59, 60]) {
        return false;
    }
    let offset = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    let has_digits = offset.len() + 1 != rest.len();
    let is_offset = |text: &str| text.strip_prefix(['+', '-']).is_some_and(|clock| is_clock(clock, &[23, 59]));
    has_digits && (matches!(offset, "Z" | "z") || is_offset(offset))
}

/// Days from 1970-01-01 to a day of the calendar; none for another text (Howard Hinnant's `days_from_civil`).
pub fn days(text: &str) -> Option<i64> {
    let parts: Vec<i64> = text.split('-').filter(|_| is_day(text)).filter_map(|part| part.parse().ok()).collect();
    let [year, month, day] = parts.as_slice() else { return None };
    let year = if *month <= 2 { year - 1 } else { *year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468)
}

/// Year, month and day from days since 1970-01-01 (Howard Hinnant's `civil_from_days`).
pub fn civil_day(days: i64) -> (i64, u8, u8) {
    let shifted = days.saturating_add(719_468);
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month as u8, day as u8)
}

/// True for a day, from days since 1970-01-01, of the years 1 to 9999. Both databases hold them, and SQLite sorts them as
/// text.
pub fn has_four_digit_year(days: i64) -> bool {
    (-719_162..=2_932_896).contains(&days)
}

/// Seconds from 1970-01-01T00:00:00Z to a point in time (RFC 3339); none for another text, and with a fraction of a second,
/// of which each form of a timestamp stores another part.
pub fn seconds(text: &str) -> Option<i64> {
    let (day, rest) = (text.get(..10)?, text.get(11..).filter(|_| is_instant(text))?);
    let (clock, offset) = rest.split_at_checked(8)?;
    let minutes = match offset.strip_prefix(['+', '-']) {
        Some(clock) if offset.starts_with('+') => clock_seconds(clock)? / 60,
        Some(clock) => -clock_seconds(clock)? / 60,
        None if matches!(offset, "Z" | "z") => 0,
        None => return None,
    };
    Some(days(day)? * 86_400 + clock_seconds(clock)? - minutes * 60)
}

/// Seconds since midnight of a time of day, with or without seconds.
pub fn clock_seconds(text: &str) -> Option<i64> {
    let parts = text.split(':').map(|part| part.parse().ok()).collect::<Option<Vec<i64>>>()?;
    match parts.as_slice() {
        [hours, minutes] => Some(hours * 3600 + minutes * 60),
        [hours, minutes, seconds] => Some(hours * 3600 + minutes * 60 + seconds),
        _ => None,
    }
}

/// True for two-digit numbers with colons between them, each at most the number at its position in `most`.
fn is_clock(text: &str, most: &[u32]) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let fits = |(part, most): (&&str, &u32)| {
        part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit()) && part.parse().is_ok_and(|n: u32| n <= *most)
    };
    parts.len() == most.len() && parts.iter().zip(most).all(fits)
}

#[cfg(test)]
mod tests {
    use super::{civil_day, clock_seconds, days, has_four_digit_year, is_day, is_instant, seconds};

    #[test]
    fn days_and_seconds_count_from_1970() {
        for (text, number) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2000-02-29", 11_016),
            ("2024-02-29", 19_782),
            ("2026-11-21", 20_778),
            ("0001-01-01", -719_162),
            ("9999-12-31", 2_932_896),
        ] {
            assert_eq!(days(text), Some(number), "{text}");
            let (year, month, day) = civil_day(number);
            assert_eq!(format!("{year:04}-{month:02}-{day:02}"), text);
            assert!(has_four_digit_year(number));
        }
        assert!(!has_four_digit_year(-719_163) && !has_four_digit_year(2_932_897));
        assert_eq!(days("2026-02-29"), None);
        assert_eq!(seconds("1970-01-02T01:00:05+01:00"), Some(86_405));
        assert_eq!(seconds("1969-12-31T22:30:00-01:30"), Some(0));
        assert_eq!(seconds("2016-12-31T23:59:60Z"), seconds("2017-01-01T00:00:00Z"));
        assert_eq!((seconds("1970-01-01T00:00:00.5Z"), seconds("1970-01-01")), (None, None));
        assert_eq!((clock_seconds("14:30"), clock_seconds("00:00:09")), (Some(52_200), Some(9)));
    }

    #[test]
    fn points_in_time_have_an_offset() {
        let good = ["2026-03-21T10:00:00Z", "2026-03-21t10:00:00.25+01:00", "2016-12-31 23:59:60z"];
        let bad = [
            "2026-03-21",
            "2026-03-21 tomorrow",
            "2026-03-21T10:00:00",
            "2026-03-21T10:00:00.Z",
            "2026-03-21T25:00:00Z",
            "2026-03-21T10:00Z",
            "2026-02-30T10:00:00Z",
            "2026-03-21T10:00:00+1",
            "2026-03-21–10:00:00Z",
        ];
        assert!(good.iter().all(|text| is_instant(text)));
        for text in bad {
            assert!(!is_instant(text), "{text}");
        }
    }

    #[test]
    fn a_day_is_one_of_the_calendar() {
        for text in ["1970-01-01", "2000-02-29", "2024-02-29", "2026-12-31"] {
            assert!(is_day(text), "{text}");
        }
        for text in [
            "2026-02-29",
            "2100-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-1-01",
            "soon",
            "",
            "+026-01-01",
        ] {
            assert!(!is_day(text), "{text}");
        }
    }
}
