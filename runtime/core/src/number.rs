//! Decimal text as exact scaled integers.
//!
//! One parser serves bodies, query values and defaults, for integers (no places) and decimals. A filter can compare
//! with a number that no column value equals; [`Scaled`] tells its position between the possible values.

use std::fmt::Write;

/// Maximum of decimal places of a decimal custom field.
pub const CUSTOM_PLACES: u32 = 8;
/// Maximum of digits, so that the scaled integer fits 64 bits.
pub const CUSTOM_DIGITS: u32 = 18;

/// A number multiplied by 10^places, relative to a column with this number of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaled {
    /// Exactly this integer.
    Exact(i64),
    /// Between this integer and the next: the number has more places than the column.
    Between(i64),
    /// Below the range of `i64`.
    Below,
    /// Above the range of `i64`.
    Above,
}

/// True for a plain number such as `-12.5` with at most `whole` digits before the point and `places` after it.
/// Exponents, a plus sign and missing digits are rejected.
pub fn is_written_out(text: &str, whole: usize, places: usize) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let fits = |digits: &str, max: usize| {
        (1..=max).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
    };
    fits(integer, whole) && fits(fraction, places)
}

/// Reads decimal text (`-12.50`, `+3`, `.5`, `1e3`) and scales it by 10^places. `None` if it is not a number.
///
/// Surrounding white space is ignored. Any number of digits is read, and nothing is rounded.
pub fn scale(text: &str, places: u32) -> Option<Scaled> {
    let (negative, text) = signed(text.trim());
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], exponent(&text[at + 1..], at)?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.len() + fraction.len() == 0 || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Number of digits of the scaled integer. The digits after them only decide if the value is exact.
    let kept_digits = whole.len() as i64 + exponent + i64::from(places);
    let digits = whole.bytes().chain(fraction.bytes());
    let mut magnitude: i128 = 0;
    let mut rest = false;
    for (index, digit) in digits.enumerate() {
        let digit = i128::from(digit - b'0');
        if (index as i64) < kept_digits {
            magnitude = (magnitude * 10 + digit).min(i128::from(i64::MAX) * 4);
        } else {
            rest |= digit != 0;
        }
    }
    let written = (whole.len() + fraction.len()) as i64;
    for _ in written..kept_digits {
        let larger = (magnitude * 10).min(i128::from(i64::MAX) * 4);
        if larger == magnitude {
            break;
        }
        magnitude = larger;
    }
    let floor = match (negative, rest) {
        (false, _) => magnitude,
        (true, false) => -magnitude,
        (true, true) => -magnitude - 1,
    };
    Some(match (i64::try_from(floor), rest) {
        (Ok(value), false) => Scaled::Exact(value),
        (Ok(value), true) => Scaled::Between(value),
        (Err(_), _) if negative => Scaled::Below,
        (Err(_), _) => Scaled::Above,
    })
}

/// Reads the exponent after a mantissa of `mantissa` characters. It is clamped to `mantissa + 100`, beyond which the
/// result does not change.
fn exponent(text: &str, mantissa: usize) -> Option<i64> {
    let (negative, digits) = signed(text);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let limit = mantissa as i64 + 100;
    let size = digits.parse::<i64>().unwrap_or(i64::MAX).min(limit);
    Some(if negative { -size } else { size })
}

/// True if the number is negative, and its text without the sign.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Writes a scaled integer with its places: `write(out, -150, 2)` writes `-1.50`.
pub fn write(out: &mut String, value: i64, places: u32) {
    if places == 0 {
        let _ = write!(out, "{value}");
        return;
    }
    let unit = 10_u64.pow(places);
    let magnitude = value.unsigned_abs();
    let sign = if value < 0 { "-" } else { "" };
    let _ = write!(out, "{sign}{}.{:0width$}", magnitude / unit, magnitude % unit, width = places as usize);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_scaled_exactly_or_placed_between_two_integers() {
        let cases = [
            ("9.50000000", 8, Some(Scaled::Exact(950_000_000))),
            ("1234567890.12345679", 8, Some(Scaled::Exact(123_456_789_012_345_679))),
            ("0.005", 2, Some(Scaled::Between(0))),
            ("-0.005", 2, Some(Scaled::Between(-1))),
            ("-1.5", 0, Some(Scaled::Between(-2))),
            ("1e3", 0, Some(Scaled::Exact(1000))),
            ("15e-1", 1, Some(Scaled::Exact(15))),
            ("0e999", 2, Some(Scaled::Exact(0))),
            (" 7 ", 0, Some(Scaled::Exact(7))),
            ("9223372036854775807", 0, Some(Scaled::Exact(i64::MAX))),
            ("9223372036854775808", 0, Some(Scaled::Above)),
            ("-9223372036854775808", 0, Some(Scaled::Exact(i64::MIN))),
            ("-9223372036854775809", 0, Some(Scaled::Below)),
            ("99999999999999999999999999999999999999999999999", 4, Some(Scaled::Above)),
            (".5", 1, Some(Scaled::Exact(5))),
            ("5.", 1, Some(Scaled::Exact(50))),
            ("", 0, None),
            (".", 0, None),
            ("-", 0, None),
            ("1,5", 1, None),
            ("0x10", 0, None),
            ("NaN", 0, None),
            ("1e99999", 0, Some(Scaled::Above)),
            ("-1e99999999999999999999999", 0, Some(Scaled::Below)),
            ("1e-99999", 8, Some(Scaled::Between(0))),
            ("0e99999", 2, Some(Scaled::Exact(0))),
            ("0.00000000000000000001e20", 0, Some(Scaled::Exact(1))),
            ("1e", 0, None),
            ("1e+", 0, None),
            ("1e1.5", 0, None),
            ("e5", 0, None),
        ];
        for (text, places, expected) in cases {
            assert_eq!(scale(text, places), expected, "{text} with {places} places");
        }
    }

    #[test]
    fn scaled_integer_is_written_with_its_places() {
        let text = |value, places| {
            let mut out = String::new();
            write(&mut out, value, places);
            out
        };
        assert_eq!(text(0, 4), "0.0000");
        assert_eq!(text(-5, 2), "-0.05");
        assert_eq!(text(123_456_789_012_345_679, 8), "1234567890.12345679");
        assert_eq!(text(i64::MIN, 0), i64::MIN.to_string());
    }
}
