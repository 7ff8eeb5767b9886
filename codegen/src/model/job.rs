//! Background jobs of a resource.

use super::Name;
use crate::source::Spanned;

/// A background job at regular times.
#[derive(Debug, Clone)]
pub struct Job {
    pub name: Name,
    /// As written: `5m`.
    pub every: Name,
    /// As written.
    pub timeout: Option<Name>,
    pub attempts: Option<Spanned<u32>>,
    /// It runs without a transaction.
    pub external: bool,
    /// `resources/loan.yaml:30`
    pub place: String,
}

impl Job {
    /// The interval in seconds.
    pub fn seconds(&self) -> Option<u64> {
        seconds(self.every.as_str())
    }

    /// The maximum duration of an attempt in seconds.
    pub fn timeout_seconds(&self) -> Option<u64> {
        seconds(self.timeout.as_ref()?.as_str())
    }
}

/// The units of a duration, with their seconds.
const UNITS: &[(char, u64)] = &[('s', 1), ('m', 60), ('h', 60 * 60), ('d', 24 * 60 * 60)];

/// The seconds of a duration such as `5m`.
pub fn seconds(text: &str) -> Option<u64> {
    let (unit, factor) = UNITS.iter().find(|(unit, _)| text.ends_with(*unit))?;
    let number = text.strip_suffix(*unit)?;
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    number.parse::<u64>().ok().filter(|_| is_number)?.checked_mul(*factor)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn a_duration_is_a_number_with_a_unit() {
        let read = ["10s", "5m", "2h", "1d", "007m"].map(seconds);
        assert_eq!(read, [Some(10), Some(300), Some(7_200), Some(86_400), Some(420)]);
        for text in
            ["", "5", "m", "5 m", "-5m", "+5m", "1.5h", "5M", "5min", "99999999999999999999s", "9999999999999999999d"]
        {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
