//! Decimal text as exact scaled integers.
//!
//! One parser serves bodies, query values and defaults, for integers (no places) and decimals. A filter can compare
//! with a number that no column value equals; [`Scaled`] tells its position between the possible values.

use std::cmp::Ordering;
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

/// Writes a scaled integer of 128 bits, such as a sum, with its places.
pub fn write_wide(out: &mut String, value: i128, places: u32) {
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = places as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places as usize);
    let (sign, point) = (if value < 0 { "-" } else { "" }, if places > 0 { "." } else { "" });
    let _ = write!(out, "{sign}{whole}{point}{fraction}");
}

/// Reads a plain decimal text of the database and scales it by 10^places. `None` if it is no number, has more places or
/// exceeds 128 bits.
pub fn scale_wide(text: &str, places: u32) -> Option<i128> {
    let (negative, digits) = signed(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // The database writes the places of the column, which can be more than those of a custom field's value.
    let fraction = if fraction.len() > places as usize { fraction.trim_end_matches('0') } else { fraction };
    let missing = (places as usize).checked_sub(fraction.len())?;
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let digits = whole.bytes().chain(fraction.bytes()).chain(std::iter::repeat_n(b'0', missing));
    digits.map(|digit| i128::from(digit - b'0')).try_fold(0_i128, |number, digit| {
        let number = number.checked_mul(10)?;
        if negative { number.checked_sub(digit) } else { number.checked_add(digit) }
    })
}

/// Divides and rounds to the nearest integer, and halves to even. The divisor is positive.
pub fn divide_half_even(dividend: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (dividend / divisor, (dividend % divisor).abs());
    let up = match (rest * 2).cmp(&divisor) {
        Ordering::Less => false,
        Ordering::Equal => quotient % 2 != 0,
        Ordering::Greater => true,
    };
    if up { quotient + dividend.signum() } else { quotient }
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

    #[test]
    fn sums_of_128_bits_are_read_and_written_exactly() {
        for (text, places, scaled) in [
            ("0", 2, 0),
            ("-12.5", 4, -125_000),
            ("18446744073709551616", 0, 1_i128 << 64),
            ("-184467440737095516.16", 2, -(1_i128 << 64)),
            ("170141183460469231731687303715884105727", 0, i128::MAX),
            ("-170141183460469231731687303715884105728", 0, i128::MIN),
        ] {
            assert_eq!(scale_wide(text, places), Some(scaled), "{text}");
            let mut written = String::new();
            write_wide(&mut written, scaled, places);
            assert_eq!(scale_wide(&written, places), Some(scaled), "{written}");
        }
        for (scaled, places, text) in
            [(5, 22, "0.0000000000000000000005"), (-1_205, 2, "-12.05"), (0, 4, "0.0000"), (7, 0, "7")]
        {
            let mut written = String::new();
            write_wide(&mut written, scaled, places);
            assert_eq!(written, text);
        }
        assert_eq!(scale_wide("1.2300", 2), Some(123));
        for text in ["", "-", "NaN", "1e3", ".5", "1.234", "170141183460469231731687303715884105728"] {
            assert_eq!(scale_wide(text, 2), None, "{text}");
        }
    }

    #[test]
    fn division_rounds_halves_to_even() {
        for (dividend, divisor, quotient) in
            [(5, 2, 2), (7, 2, 4), (-5, 2, -2), (-7, 2, -4), (1, 3, 0), (2, 3, 1), (-2, 3, -1), (0, 5, 0), (9, 3, 3)]
        {
            assert_eq!(divide_half_even(dividend, divisor), quotient, "{dividend} / {divisor}");
        }
    }
}
