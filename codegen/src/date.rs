//! Today's date as `2026-03-21`: text that sorts like the days.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use charter_model::date::civil_day;

/// Today, in UTC.
pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    day(since.as_secs() / 86_400)
}

/// `2026-11-21` from days since 1970.
fn day(days: u64) -> String {
    let (year, month, day) = civil_day(i64::try_from(days).unwrap_or(i64::MAX));
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use charter_model::date::is_day;

    use super::day;

    #[test]
    fn days_are_dates() {
        let pairs = [
            (0, "1970-01-01"),
            (11_016, "2000-02-29"),
            (19_782, "2024-02-29"),
            (20_778, "2026-11-21"),
            (20_818, "2026-12-31"),
        ];
        for (days, expected) in pairs {
            assert_eq!(day(days), expected);
            assert!(is_day(expected));
        }
    }
}
