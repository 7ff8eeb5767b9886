//! Today's date as `2026-03-21`: text that sorts like the days.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Today, in UTC.
pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    day(since.as_secs() / 86_400)
}

/// `2026-11-21` from days since 1970 (Howard Hinnant's `civil_from_days`).
fn day(days: u64) -> String {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
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
