//! Rates such as `20/hour`: a number of requests in a period.

/// The periods, with their seconds.
const PERIODS: &[(&str, u32)] = &[("minute", 60), ("hour", 3_600), ("day", 86_400)];

/// The most requests of a rate.
const MAX_REQUESTS: u32 = 1_000_000;

/// A number of requests in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub requests: u32,
    /// The length of the period.
    pub seconds: u32,
}

impl Rate {
    /// The rate of a resource that declares none.
    pub const DEFAULT: Rate = Rate { requests: 20, seconds: 3_600 };

    /// Reads `20/hour`.
    ///
    /// # Errors
    /// The form that it must have.
    pub fn read(text: &str) -> Result<Rate, &'static str> {
        let form = "write a number from 1 to 1000000 for each `minute`, `hour` or `day`, such as `20/hour`";
        let (number, period) = text.split_once('/').ok_or(form)?;
        let seconds = PERIODS.iter().find(|(name, _)| *name == period.trim()).ok_or(form)?.1;
        let is_number = !number.trim().is_empty() && number.trim().bytes().all(|byte| byte.is_ascii_digit());
        let requests = number.trim().parse().ok().filter(|_| is_number).ok_or(form)?;
        if (1..=MAX_REQUESTS).contains(&requests) { Ok(Rate { requests, seconds }) } else { Err(form) }
    }

    /// `20/hour`
    pub fn text(self) -> String {
        let period = PERIODS.iter().find(|(_, seconds)| *seconds == self.seconds).map_or("period", |(name, _)| name);
        format!("{}/{period}", self.requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_a_number_in_a_period() {
        assert_eq!(Rate::read("20/hour"), Ok(Rate::DEFAULT));
        assert_eq!(Rate::read(" 5 / minute "), Ok(Rate { requests: 5, seconds: 60 }));
        for wrong in
            ["", "20", "20/hours", "0/day", "-1/day", "+1/day", "1.5/day", "9999999/day", "99999999999/day", "x/day"]
        {
            assert!(Rate::read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Rate { requests: 3, seconds: 86_400 }.text(), "3/day");
    }
}
