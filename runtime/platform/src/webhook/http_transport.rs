//! HTTP transport of webhooks: sends a signed request within time and size limits, and reads the response.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Response};
use rustls::RootCertStore;

use super::dns::{Lookup, ResolveError, Resolver, system_lookup};
use super::sealed_secret;
use super::signature::Secrets;
use super::transport::{Attempt, METHOD, Outcome, Transport, headers};
use super::url_policy::{Denial, Destination, UrlPolicy};
use crate::http_client;
use charter_core::error::{Error, Result};
use charter_core::ops::BoxFuture;

/// Timeouts and size limits of one attempt.
#[derive(Debug, Clone, Copy)]
pub struct TransportLimits {
    /// DNS lookup.
    pub resolve: Duration,
    /// Connect, including the TLS handshake.
    pub connect: Duration,
    /// The whole exchange, including the response body.
    pub total: Duration,
    /// Bytes of the response body that are read before the connection is closed.
    pub max_read_bytes: usize,
    /// Bytes of the response body that are stored.
    pub max_stored_bytes: usize,
}

impl Default for TransportLimits {
    fn default() -> TransportLimits {
        TransportLimits {
            resolve: Duration::from_secs(5),
            connect: Duration::from_secs(5),
            total: Duration::from_secs(15),
            max_read_bytes: 16 * 1024,
            max_stored_bytes: 2 * 1024,
        }
    }
}

/// HTTP client for deliveries, one per process. It keeps connections open for the next delivery to the same host.
#[derive(Debug, Clone)]
pub struct HttpTransport {
    client: Client,
    policy: UrlPolicy,
    resolver: Resolver,
    limits: TransportLimits,
}

/// Shorter than the keep-alive timeout of common receivers (Node.js: 5 s), because a connection that the receiver
/// closes during a request fails the attempt.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// Idle connections per host.
const MAX_IDLE_PER_HOST: usize = 4;
/// Maximum length of a stored error message.
const MAX_ERROR_CHARACTERS: usize = 200;

impl HttpTransport {
    /// A transport that trusts the system's root certificates, or Mozilla's if the system has none.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub fn new(policy: UrlPolicy) -> Result<HttpTransport> {
        HttpTransport::with(policy, system_lookup(), TransportLimits::default(), http_client::root_store())
    }

    /// A transport with other limits, another DNS lookup and other root certificates.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub fn with(
        policy: UrlPolicy,
        lookup: Lookup,
        limits: TransportLimits,
        roots: Arc<RootCertStore>,
    ) -> Result<HttpTransport> {
        let resolver = Resolver::new(policy.clone(), lookup, limits.resolve);
        let client = http_client::builder(roots)?
            .dns_resolver(Arc::new(resolver.clone()))
            .connect_timeout(limits.connect)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(MAX_IDLE_PER_HOST)
            .build();
        Ok(HttpTransport { client: client.map_err(Error::internal)?, policy, resolver, limits })
    }

    /// The URL policy that connections are checked against.
    pub fn policy(&self) -> &UrlPolicy {
        &self.policy
    }

    async fn post(&self, attempt: &Attempt, outcome: &mut Outcome, body: &mut Vec<u8>) -> Result<(), String> {
        let (url, destination) =
            self.policy.check(&attempt.url).map_err(|denial| format!("the URL {}", denial.message()))?;
        if let Destination::HostName(name) = destination {
            // Resolved first, which gives the lookup and the connection separate timeouts.
            self.resolver.resolve_allowed(&name).await.map_err(|problem| self.resolve_error_text(problem))?;
        }
        let secrets = Secrets::parse(&attempt.secret, attempt.previous_secret.as_deref());
        let secrets = secrets.ok_or_else(|| sealed_secret::problem(&attempt.secret))?;
        let signatures = secrets.signatures(&attempt.uid, attempt.at.timestamp(), attempt.body.as_bytes());
        let mut request = self.client.request(METHOD, url);
        let known = headers(&attempt.event, &attempt.uid, attempt.number, attempt.at, attempt.trace);
        for (name, value) in known.into_iter().chain(signatures) {
            request = request.header(name, value);
        }
        let sent = request.body(attempt.body.as_bytes().to_vec()).send().await;
        let mut response = sent.map_err(|error| self.error_text(&error))?;
        outcome.status = Some(response.status().as_u16());
        outcome.retry_after = retry_after(&response, attempt.at);
        while body.len() < self.limits.max_read_bytes {
            match response.chunk().await.map_err(|error| self.error_text(&error))? {
                Some(chunk) => {
                    body.extend_from_slice(&chunk[..chunk.len().min(self.limits.max_read_bytes - body.len())])
                }
                None => return Ok(()),
            }
        }
        // Dropping the response closes the connection without reading the rest.
        Ok(())
    }

    fn resolve_error_text(&self, problem: ResolveError) -> String {
        match problem {
            ResolveError::NotFound => "the host name could not be resolved".into(),
            ResolveError::Timeout => {
                format!("the host name was not resolved within {} s", seconds(self.limits.resolve))
            }
            ResolveError::Forbidden => format!("the URL {}", Denial::Address.message()),
        }
    }

    /// Error message for the owner of the webhook: the root cause, without IP addresses.
    fn error_text(&self, error: &reqwest::Error) -> String {
        let mut cause: &(dyn StdError + 'static) = error;
        while let Some(inner) = cause_of(cause) {
            cause = inner;
        }
        match cause.downcast_ref::<rustls::Error>() {
            Some(tls) => format!("TLS: {tls}"),
            None if error.is_connect() && error.is_timeout() => {
                format!("connection timed out after {} s", seconds(self.limits.connect))
            }
            None if error.is_connect() => format!("could not connect: {cause}"),
            None => cause.to_string(),
        }
    }
}

impl Transport for HttpTransport {
    fn send<'a>(&'a self, attempt: &'a Attempt) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let started = Instant::now();
            let mut outcome = Outcome::default();
            let mut body = Vec::new();
            let ended = tokio::time::timeout(self.limits.total, self.post(attempt, &mut outcome, &mut body)).await;
            let problem = match ended {
                Ok(Ok(())) => None,
                Ok(Err(problem)) => Some(problem),
                Err(_) => Some(format!("no complete response within {} s", seconds(self.limits.total))),
            };
            outcome.error = problem.map(|text| text.chars().take(MAX_ERROR_CHARACTERS).collect());
            outcome.body = outcome.status.map(|_| body_text(&body, self.limits.max_stored_bytes));
            outcome.duration = started.elapsed();
            outcome
        })
    }
}

/// Cause of an error. `source()` of an I/O error skips the error that it wraps.
fn cause_of<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
    match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

/// Seconds as `15` or `0.25`.
fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

/// The beginning of a body as text of at most `max_bytes` bytes, cut at a character boundary, without NUL, which
/// PostgreSQL rejects.
fn body_text(body: &[u8], max_bytes: usize) -> String {
    let mut text = String::from_utf8_lossy(&body[..body.len().min(max_bytes)]).replace('\0', "\u{fffd}");
    if text.len() > max_bytes {
        text.truncate(text.floor_char_boundary(max_bytes));
    } else if body.len() > max_bytes {
        // Drop a character that the cut has split.
        text.truncate(text.trim_end_matches('\u{fffd}').len());
    }
    text
}

/// The `Retry-After` header, in seconds or as a date (RFC 9110, section 10.2.3).
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
    fn body_is_cut_at_a_character_boundary_and_has_no_nul() {
        assert_eq!(body_text(b"plain", 10), "plain");
        assert_eq!(body_text("aé".as_bytes(), 3), "aé");
        assert_eq!(body_text("aéé".as_bytes(), 4), "aé");
        assert_eq!(body_text(b"a\0b", 10), "a\u{fffd}b");
        assert_eq!(body_text(b"\xff", 10), "\u{fffd}");
        for max_bytes in 0..20 {
            assert!(body_text(&[0xff; 40], max_bytes).len() <= max_bytes, "{max_bytes}");
            assert!(body_text("日本語日本語".as_bytes(), max_bytes).len() <= max_bytes, "{max_bytes}");
        }
    }
}
