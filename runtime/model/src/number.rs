//! Exact decimal numbers within the limits of the grammar, to compare bounds and defaults.

use std::cmp::Ordering;

/// Decimal places that are stored: the maximum of a `decimal`.
const SCALE: u32 = 18;

/// Maximum of the whole part: more than any `bigint`.
const MAX_WHOLE: i128 = 10i128.pow(19);

/// The reason against a number such as `010`.
pub const LEADING_ZERO: &str = "starts with a zero, which other YAML readers may take for an octal number";

/// A decimal number as an integer scaled by 10^18.
#[derive(Debug, Clone, Copy)]
pub struct Number {
    scaled: i128,
    /// Digits after the decimal point as written: `1.50` has two.
    pub places: u32,
}

/// `1.5` and `1.50` are the same number.
impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.scaled == other.scaled
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        self.scaled.partial_cmp(&other.scaled)
    }
}

impl Number {
    /// Reads `-12` or `0.05`: no exponent, no spaces, at most 18 decimal places. `010` is rejected, because YAML 1.1
    /// reads it as 8 and YAML 1.2 as 10.
    pub fn read(text: &str) -> Option<Number> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = match digits.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return None,
            None => (digits, ""),
        };
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let leads_with_zero = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || leads_with_zero || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let places = u32::try_from(fraction.len()).ok().filter(|places| *places <= SCALE)?;
        let whole: i128 = whole.parse().ok().filter(|whole| *whole <= MAX_WHOLE)?;
        let fraction: i128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
        let scaled = whole * 10i128.pow(SCALE) + fraction * 10i128.pow(SCALE - places);
        Some(Number { scaled: if text.starts_with('-') { -scaled } else { scaled }, places })
    }

    /// The number multiplied by 10^places; none if it has further digits.
    pub fn scaled_to(self, places: u32) -> Option<i128> {
        let unit = 10i128.pow(SCALE.checked_sub(places)?);
        (self.scaled % unit == 0).then_some(self.scaled / unit)
    }

    /// True if it has at most `digits` digits before the decimal point.
    pub fn fits_digits(self, digits: u32) -> bool {
        self.scaled.abs() < 10i128.pow(SCALE + digits)
    }

    /// The next number above or below it with `places` decimal places.
    pub fn next(self, places: u32, up: bool) -> Number {
        let unit = 10i128.pow(SCALE.saturating_sub(places));
        let floor = self.scaled.div_euclid(unit) * unit;
        let scaled = match up {
            true => floor + unit,
            false if floor == self.scaled => floor - unit,
            false => floor,
        };
        Number { scaled, places }
    }

    /// True for a whole number within the bounds.
    pub fn is_whole_within(self, least: i128, most: i128) -> bool {
        self.places == 0 && self.is_within(least, most)
    }

    /// True for a number within the bounds.
    pub fn is_within(self, least: i128, most: i128) -> bool {
        let unit = 10i128.pow(SCALE);
        least.saturating_mul(unit) <= self.scaled && self.scaled <= most.saturating_mul(unit)
    }
}

/// A number without its leading zeros: `7` for `007`. None if the text is a number already, or is not one without them.
pub fn without_zeros(text: &str) -> Option<String> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let zeros = digits.bytes().take_while(|byte| *byte == b'0').count();
    let zeros = if digits[zeros..].starts_with(|c: char| c.is_ascii_digit()) { zeros } else { zeros.checked_sub(1)? };
    let plain = format!("{sign}{}", &digits[zeros..]);
    (zeros > 0 && Number::read(&plain).is_some()).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::{Number, without_zeros};

    #[test]
    fn decimals_are_read_exactly() {
        assert!(Number::read("0.1").unwrap() < Number::read("0.10000001").unwrap());
        assert_eq!(Number::read("1.50").unwrap().places, 2);
        assert_eq!(Number::read("1.50").unwrap(), Number::read("1.5").unwrap());
        assert_eq!(Number::read("-0").unwrap(), Number::read("0").unwrap());
        assert!(Number::read("-2").unwrap() < Number::read("-1.5").unwrap());
    }

    #[test]
    fn all_64_bit_numbers_are_read() {
        for text in ["9223372036854775807", "-9223372036854775808", "2000000000000000000"] {
            let number = Number::read(text).unwrap();
            assert!(number.is_within(i64::MIN.into(), i64::MAX.into()), "{text}");
        }
        assert!(!Number::read("9223372036854775808").unwrap().is_within(i64::MIN.into(), i64::MAX.into()));
    }

    #[test]
    fn next_number_has_the_given_places() {
        let next = |text: &str, places, up| Number::read(text).unwrap().next(places, up);
        assert_eq!(next("1", 0, true), Number::read("2").unwrap());
        assert_eq!(next("-1.5", 0, true), Number::read("-1").unwrap());
        assert_eq!(next("1.5", 0, false), Number::read("1").unwrap());
        assert_eq!(next("1", 2, false), Number::read("0.99").unwrap());
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in ["", "-", "1.", ".5", "1e3", "0x10", " 1", "1_000", "+1", "007", "-01", "00.5"] {
            assert!(Number::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn leading_zeros_are_removed() {
        let pairs = [("007", "7"), ("-010", "-10"), ("00", "0"), ("00.5", "0.5"), ("01.50", "1.50")];
        for (text, plain) in pairs {
            assert_eq!(without_zeros(text).as_deref(), Some(plain), "{text}");
        }
        for text in ["7", "0", "0.5", "", "-", "0x10", "007a"] {
            assert_eq!(without_zeros(text), None, "{text}");
        }
    }
}
