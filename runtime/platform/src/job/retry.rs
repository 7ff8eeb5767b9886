//! Delays between the attempts of a run, and the text of its error.

use std::time::Duration;

use charter_core::error::Error;

/// Delay before the second attempt; each further delay is four times as long.
const FIRST_DELAY: Duration = Duration::from_secs(30);
/// Maximum delay.
const MAX_DELAY: Duration = Duration::from_secs(6 * 60 * 60);

/// The delay after attempt `attempt`, counted from 1: 30 s, 2 min, 8 min, 32 min, 2 h 8 min, then 6 h. That of a scheduled
/// job is at most its interval.
pub(super) fn delay(attempt: u32, every: Option<Duration>) -> Duration {
    let delay = FIRST_DELAY.saturating_mul(4_u32.saturating_pow(attempt.saturating_sub(1)));
    delay.min(MAX_DELAY).min(every.unwrap_or(MAX_DELAY))
}

/// The error for the history. That of the code may contain values, and stands in the log of the server alone.
pub(super) fn text(error: &Error) -> String {
    match error {
        Error::Internal(_) => "An internal error occurred. The log of the server has the cause.".into(),
        Error::Invalid(errors) => format!("A record is not valid: {}.", errors.to_text()),
        other => other.message("-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_six_hours_or_the_interval() {
        let seconds = |attempt| delay(attempt, None).as_secs();
        assert_eq!([1, 2, 3, 4, 5, 6, 20].map(seconds), [30, 120, 480, 1920, 7680, 21_600, 21_600]);
        assert_eq!(delay(4, Some(Duration::from_secs(60))).as_secs(), 60);
    }

    #[test]
    fn cause_of_an_internal_error_is_not_in_the_history() {
        assert!(!text(&Error::internal("password hunter2")).contains("hunter2"));
    }
}
