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
    use super::{is_day, is_instant};

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
