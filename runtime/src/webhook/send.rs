//! One exchange with a receiver: the request that is sent, the limits that it keeps, and what came of it.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Response};
use rustls::RootCertStore;

use super::address::{Place, Policy, Refusal};
use super::exchange::{Attempt, Exchange, METHOD, Outcome, headers};
use super::name::{Lookup, NameProblem, Names, system_lookup};
use super::signature::Secrets;
use crate::error::{Error, Result};
use crate::ops::BoxFuture;
use crate::tls;

/// How long an exchange may take and how much of the answer is taken.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Looking up the host's addresses.
    pub lookup: Duration,
    /// Connecting, with the TLS handshake.
    pub connect: Duration,
    /// All of it, with the answer's body.
    pub whole: Duration,
    /// Bytes of the answer's body that are read before the connection is given up.
    pub read: usize,
    /// Bytes of it that are kept.
    pub kept: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            lookup: Duration::from_secs(5),
            connect: Duration::from_secs(5),
            whole: Duration::from_secs(15),
            read: 16 * 1024,
            kept: 2 * 1024,
        }
    }
}

/// Sends deliveries. One for a process; its connections are kept for the next delivery to the same host.
#[derive(Debug, Clone)]
pub struct Sender {
    client: Client,
    policy: Policy,
    names: Names,
    limits: Limits,
}

/// Receivers close connections that wait: Node's server after 5 s. One that is closed while a request is on its way
/// would cost that attempt.
const IDLE: Duration = Duration::from_secs(4);
/// Connections to one host that are kept for the next delivery.
const IDLE_PER_HOST: usize = 4;
/// Characters of an error that are kept.
const LONGEST_ERROR: usize = 200;

impl Sender {
    /// A sender that trusts the system's certificates, or those of the browsers where the system has none.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(policy: Policy) -> Result<Sender> {
        Sender::with(policy, system_lookup(), Limits::default(), tls::authorities())
    }

    /// A sender with other limits, other names and other authorities.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn with(policy: Policy, lookup: Lookup, limits: Limits, roots: Arc<RootCertStore>) -> Result<Sender> {
        let names = Names::new(policy.clone(), lookup, limits.lookup);
        let client = tls::client(roots)?
            .dns_resolver(Arc::new(names.clone()))
            .connect_timeout(limits.connect)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .build();
        Ok(Sender { client: client.map_err(Error::internal)?, policy, names, limits })
    }

    /// Where it may connect.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    async fn exchange(&self, attempt: &Attempt, outcome: &mut Outcome, body: &mut Vec<u8>) -> Result<(), String> {
        let (url, place) = self.policy.judge(&attempt.url).map_err(|refusal| format!("the URL {}", refusal.text()))?;
        if let Place::Name(name) = place {
            // Looked up before, so that neither counts towards the other's limit.
            self.names.permitted(&name).await.map_err(|problem| self.name_problem(problem))?;
        }
        let secrets = Secrets::parse(&attempt.secret, attempt.previous_secret.as_deref());
        let secrets = secrets.ok_or("the secret cannot be read: rotate it")?;
        let signatures = secrets.signatures(&attempt.uid, attempt.at.timestamp(), attempt.body.as_bytes());
        let mut request = self.client.request(METHOD, url);
        let known = headers(&attempt.event, &attempt.uid, attempt.number, attempt.at, attempt.trace);
        for (name, value) in known.into_iter().chain(signatures) {
            request = request.header(name, value);
        }
        let sent = request.body(attempt.body.as_bytes().to_vec()).send().await;
        let mut response = sent.map_err(|error| self.problem(&error))?;
        outcome.status = Some(response.status().as_u16());
        outcome.retry_after = retry_after(&response, attempt.at);
        while body.len() < self.limits.read {
            match response.chunk().await.map_err(|error| self.problem(&error))? {
                Some(chunk) => body.extend_from_slice(&chunk[..chunk.len().min(self.limits.read - body.len())]),
                None => return Ok(()),
            }
        }
        // The rest is not wanted: dropping the answer closes the connection.
        Ok(())
    }

    fn name_problem(&self, problem: NameProblem) -> String {
        match problem {
            NameProblem::Unknown => "the host name could not be resolved".into(),
            NameProblem::Slow => format!("the host name was not resolved within {} s", seconds(self.limits.lookup)),
            NameProblem::Forbidden => format!("the URL {}", Refusal::Address.text()),
        }
    }

    /// What the owner of a webhook may know of a failed exchange: its cause, and no address.
    fn problem(&self, error: &reqwest::Error) -> String {
        let mut cause: &(dyn StdError + 'static) = error;
        while let Some(inner) = inner(cause) {
            cause = inner;
        }
        match cause.downcast_ref::<rustls::Error>() {
            Some(tls) => format!("TLS: {tls}"),
            None if error.is_connect() && error.is_timeout() => {
                format!("not connected within {} s", seconds(self.limits.connect))
            }
            None if error.is_connect() => format!("could not connect: {cause}"),
            None => cause.to_string(),
        }
    }
}

impl Exchange for Sender {
    fn send<'a>(&'a self, attempt: &'a Attempt) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let begun = Instant::now();
            let mut outcome = Outcome::default();
            let mut body = Vec::new();
            let ended = tokio::time::timeout(self.limits.whole, self.exchange(attempt, &mut outcome, &mut body)).await;
            let problem = match ended {
                Ok(Ok(())) => None,
                Ok(Err(problem)) => Some(problem),
                Err(_) => Some(format!("no whole answer within {} s", seconds(self.limits.whole))),
            };
            outcome.error = problem.map(|text| text.chars().take(LONGEST_ERROR).collect());
            outcome.body = outcome.status.map(|_| readable(&body, self.limits.kept));
            outcome.duration = begun.elapsed();
            outcome
        })
    }
}

/// What caused an error. One of input and output that wraps another answers the cause of that one, and passes over it.
fn inner<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
    match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

/// `15` or `0.25`
fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

/// The beginning of a body as text of at most so many bytes, cut between characters, without what a database refuses.
fn readable(body: &[u8], most: usize) -> String {
    let mut text = String::from_utf8_lossy(&body[..body.len().min(most)]).replace('\0', "\u{fffd}");
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
    } else if body.len() > most {
        // A character that the cut went through is left out.
        text.truncate(text.trim_end_matches('\u{fffd}').len());
    }
    text
}

/// `Retry-After`, in seconds or as a date.
fn retry_after(response: &Response, now: DateTime<Utc>) -> Option<Duration> {
    let text = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim();
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => (DateTime::parse_from_rfc2822(text).ok()?.to_utc() - now).to_std().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_cut_between_characters_and_holds_nothing_that_a_database_refuses() {
        assert_eq!(readable(b"plain", 10), "plain");
        assert_eq!(readable("aé".as_bytes(), 3), "aé");
        assert_eq!(readable("aéé".as_bytes(), 4), "aé");
        assert_eq!(readable(b"a\0b", 10), "a\u{fffd}b");
        assert_eq!(readable(b"\xff", 10), "\u{fffd}");
        for most in 0..20 {
            assert!(readable(&[0xff; 40], most).len() <= most, "{most}");
            assert!(readable("日本語日本語".as_bytes(), most).len() <= most, "{most}");
        }
    }
}
