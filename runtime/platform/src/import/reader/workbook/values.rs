//! Values of cells as text: numbers, dates, formats of numbers, and escaped characters.

use chrono::{Days, NaiveDate};

const DAY_MILLISECONDS: i64 = 86_400_000;

/// The days of the calendar of workbooks, which ends with the year 9999.
const DAYS: std::ops::Range<f64> = 0.0..2_958_466.0;

/// The day that workbooks number although there was none: 29 February 1900.
const NO_DAY: i64 = 60;

/// A number with the 15 digits that spreadsheets show: 0.1 + 0.2 is 0.3.
pub(super) fn number_text(number: f64) -> String {
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    format!("{rounded}")
}

/// A number of days as a date, a time of day, or both; as a number if there is no such day.
pub(super) fn time_text(number: f64, is_1904: bool) -> String {
    let milliseconds = (number * DAY_MILLISECONDS as f64).round() as i64;
    let (day, rest) = (milliseconds / DAY_MILLISECONDS, milliseconds % DAY_MILLISECONDS);
    let first = match (is_1904, day < NO_DAY) {
        (true, _) => NaiveDate::from_ymd_opt(1904, 1, 1),
        (false, true) => NaiveDate::from_ymd_opt(1899, 12, 31),
        (false, false) => NaiveDate::from_ymd_opt(1899, 12, 30),
    };
    let is_day = DAYS.contains(&number) && (is_1904 || day != NO_DAY);
    let days = u64::try_from(day).ok().filter(|_| is_day).map(Days::new);
    let Some(date) = first.zip(days).and_then(|(first, days)| first.checked_add_days(days)) else {
        return number_text(number);
    };
    let (hour, minute, second, rest_of_second) =
        (rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60, rest % 1_000);
    let clock = match rest_of_second {
        0 => format!("{hour:02}:{minute:02}:{second:02}"),
        thousandths => format!("{hour:02}:{minute:02}:{second:02}.{thousandths:03}"),
    };
    match (day, rest) {
        (0, _) => clock,
        (_, 0) => date.to_string(),
        (_, _) => format!("{date}T{clock}"),
    }
}

/// True if a format such as `dd.mm.yyyy` or `[h]:mm` shows numbers as dates or times.
pub(super) fn is_time_format(code: &str) -> bool {
    let is_part = |c: char| matches!(c.to_ascii_lowercase(), 'd' | 'm' | 'y' | 'h' | 's');
    let mut characters = code.chars();
    while let Some(character) = characters.next() {
        match character {
            // The next character is shown, is as wide as a space, or fills the cell.
            '\\' | '_' | '*' => drop(characters.next()),
            '"' => drop(characters.by_ref().find(|c| *c == '"')),
            // A colour, a currency, or an elapsed time such as `[hh]`.
            '[' => {
                let inside: String = characters.by_ref().take_while(|c| *c != ']').collect();
                if !inside.is_empty() && inside.chars().all(is_part) {
                    return true;
                }
            }
            // The format of negative numbers follows.
            ';' => return false,
            other if is_part(other) => return true,
            _ => {}
        }
    }
    false
}

/// Text in which `_x000D_` is the character with this UTF-16 code unit (ECMA-376, part 1, 22.9.2.19).
pub(super) fn unescape(text: &str) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('_') {
        let (before, escape) = rest.split_at(at);
        let unit = escape.get(..7).and_then(escaped_unit);
        if !before.is_empty() || unit.is_none() {
            plain.push_str(&String::from_utf16_lossy(&std::mem::take(&mut units)));
            plain.push_str(before);
        }
        match unit {
            Some(unit) => units.push(unit),
            None => plain.push('_'),
        }
        rest = &escape[if unit.is_some() { 7 } else { 1 }..];
    }
    plain.push_str(&String::from_utf16_lossy(&units));
    plain.push_str(rest);
    plain
}

fn escaped_unit(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix("_x")?.strip_suffix('_')?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_read_as_they_are_shown() {
        for (number, text) in [(0.1 + 0.2, "0.3"), (1_000_000.0, "1000000"), (12.5, "12.5"), (-3.0, "-3")] {
            assert_eq!(number_text(number), text);
        }
        for (number, text) in [
            (46_000.0, "2025-12-09"),
            (46_000.5, "2025-12-09T12:00:00"),
            (0.25, "06:00:00"),
            (1.0, "1900-01-01"),
            (59.0, "1900-02-28"),
            (61.0, "1900-03-01"),
            (2_958_465.0, "9999-12-31"),
            (45_000.000_001_446_76, "2023-03-15T00:00:00.125"),
        ] {
            assert_eq!(time_text(number, false), text);
        }
        assert_eq!(time_text(46_000.0 - 1_462.0, true), "2025-12-09");
        for number in [60.0, 60.5, -1.0, 2_958_466.0, 1e18, -1e300, f64::NAN] {
            assert_eq!(time_text(number, false), number_text(number));
        }
    }

    #[test]
    fn formats_of_dates_and_times_differ_from_those_of_numbers() {
        for code in ["dd.mm.yyyy", "[h]:mm:ss", "[$-407]d. mmmm", "hh:mm AM/PM", "\"on\" d", "YYYY", "[Red]m/d;@"] {
            assert!(is_time_format(code), "{code}");
        }
        for code in ["General", "0.00", "#,##0 [$\u{20ac}-407]", "0 \"days\"", "0\\d", "0_d;d", "[Red]0", "@", "\"d"] {
            assert!(!is_time_format(code), "{code}");
        }
    }

    #[test]
    fn escaped_characters_are_read() {
        for (escaped, text) in [
            ("a_x000D_b", "a\rb"),
            ("_x005F_x000D_", "_x000D_"),
            ("_xD83D__xDCF7_!", "\u{1f4f7}!"),
            ("_xD83D_\u{e4}", "\u{fffd}\u{e4}"),
            ("snake_case_x00zz_ \u{e4}_x", "snake_case_x00zz_ \u{e4}_x"),
            ("__x0041__", "_A_"),
        ] {
            assert_eq!(unescape(escaped), text);
        }
    }
}
