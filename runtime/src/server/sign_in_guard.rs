//! Limits of sign-in attempts by account and network, which strangers cannot use to lock the owner of an account out.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use charter_core::error::{Error, Result};

/// Attempts of one network at one account before the first delay.
const FREE_ATTEMPTS: u32 = 10;
/// The first delay. Each further attempt doubles it.
const FIRST_DELAY: Duration = Duration::from_secs(30);
const MAX_DELAY: Duration = Duration::from_secs(300);
/// Longest delay of a network from which somebody has signed in to the account before.
const MAX_KNOWN_DELAY: Duration = Duration::from_secs(60);
/// Failures at one account, from all networks, after which an unknown network waits before its first attempt.
const ATTACK_ATTEMPTS: u32 = 50;
/// This wait. It bounds the delay of an owner in a new network.
const ATTACK_DELAY: Duration = Duration::from_secs(60);
/// Attempts are forgotten this long after the last one.
const MEMORY: Duration = Duration::from_secs(3_600);
/// Number of entries from which forgotten ones are removed.
const SWEEP_MIN_ENTRIES: usize = 10_000;

#[derive(Debug, Clone, Copy)]
struct Attempts {
    count: u32,
    last: Instant,
    /// The next attempt is refused before this time.
    not_before: Instant,
}

impl Attempts {
    fn new(now: Instant) -> Attempts {
        Attempts { count: 0, last: now, not_before: now }
    }
}

/// Attempts since the last success, by account and network and by account.
#[derive(Debug, Default)]
pub struct SignInGuard(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    by_network: HashMap<(String, IpAddr), Attempts>,
    by_account: HashMap<String, Attempts>,
}

impl SignInGuard {
    /// Counts an attempt, or refuses it. `is_known` is true if somebody has signed in to the account from the network.
    /// An attempt is counted before its password is verified, because concurrent attempts would all precede the first
    /// failure.
    ///
    /// # Errors
    /// [`Error::RateLimited`] with the seconds to wait.
    pub fn admit(&self, account: &str, network: IpAddr, is_known: bool, now: Instant) -> Result<()> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.sweep(now);
        let is_attacked = counts.by_account.get(account).is_some_and(|of| of.count >= ATTACK_ATTEMPTS);
        let key = (account.to_string(), network);
        let is_new = !counts.by_network.contains_key(&key);
        let attempts = counts.by_network.entry(key).or_insert_with(|| Attempts::new(now));
        if is_attacked && is_new && !is_known {
            attempts.not_before = now + ATTACK_DELAY;
        }
        if let Some(wait) = attempts.not_before.checked_duration_since(now).filter(|wait| !wait.is_zero()) {
            return Err(Error::RateLimited(wait.as_secs() + u64::from(wait.subsec_nanos() > 0)));
        }
        attempts.count += 1;
        attempts.last = now;
        if attempts.count >= FREE_ATTEMPTS {
            let doublings = (attempts.count - FREE_ATTEMPTS).min(8);
            let longest = if is_known { MAX_KNOWN_DELAY } else { MAX_DELAY };
            attempts.not_before = now + (FIRST_DELAY * 2_u32.pow(doublings)).min(longest);
        }
        let of_account = counts.by_account.entry(account.to_string()).or_insert_with(|| Attempts::new(now));
        of_account.count += 1;
        of_account.last = now;
        Ok(())
    }

    /// Forgets the attempts of a network after a success. Those of other networks stay.
    pub fn succeeded(&self, account: &str, network: IpAddr) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = counts.by_network.remove(&(account.to_string(), network)).map_or(0, |attempts| attempts.count);
        if let Some(of_account) = counts.by_account.get_mut(account) {
            of_account.count = of_account.count.saturating_sub(own);
        }
    }
}

impl Counts {
    fn sweep(&mut self, now: Instant) {
        if self.by_network.len() + self.by_account.len() >= SWEEP_MIN_ENTRIES {
            self.by_network.retain(|_, attempts| now - attempts.last < MEMORY);
            self.by_account.retain(|_, attempts| now - attempts.last < MEMORY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn network(number: u8) -> IpAddr {
        IpAddr::from([10, 0, number, 0])
    }

    fn wait(result: Result<()>) -> u64 {
        match result {
            Ok(()) => 0,
            Err(Error::RateLimited(seconds)) => seconds,
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn delays_of_a_network_grow_to_a_limit_and_end_with_a_success() {
        let (guard, start) = (SignInGuard::default(), Instant::now());
        for (is_known, expected) in [(false, [30, 60, 120, 240, 300, 300]), (true, [30, 60, 60, 60, 60, 60])] {
            let own = network(u8::from(is_known));
            let mut now = start;
            for _ in 0..FREE_ATTEMPTS {
                assert_eq!(wait(guard.admit("a", own, is_known, now)), 0);
            }
            for delay in expected {
                assert_eq!(wait(guard.admit("a", own, is_known, now)), delay);
                now += SECOND * delay as u32;
                assert_eq!(wait(guard.admit("a", own, is_known, now)), 0);
            }
            guard.succeeded("a", own);
            assert_eq!(wait(guard.admit("a", own, is_known, now)), 0);
        }
    }

    #[test]
    fn account_under_attack_delays_unknown_networks_once_and_known_ones_never() {
        let (guard, now) = (SignInGuard::default(), Instant::now());
        for attempt in 0..ATTACK_ATTEMPTS {
            assert_eq!(wait(guard.admit("a", network(attempt as u8), false, now)), 0);
        }
        assert_eq!(wait(guard.admit("a", network(200), true, now)), 0);
        assert_eq!(wait(guard.admit("a", network(201), false, now)), 60);
        assert_eq!(wait(guard.admit("a", network(201), false, now + 59 * SECOND)), 1);
        assert_eq!(wait(guard.admit("a", network(201), false, now + 60 * SECOND)), 0);
        assert_eq!(wait(guard.admit("b", network(202), false, now)), 0, "other accounts are not delayed");
    }
}
