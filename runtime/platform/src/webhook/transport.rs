//! Interface between the dispatcher and the HTTP client: one attempt at a delivery and its outcome.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::Method;

use super::signature::{ATTEMPT, EVENT, ID, TIMESTAMP};
use charter_core::ops::BoxFuture;
use charter_core::trace::{TRACEPARENT, Trace};

/// HTTP method of every attempt.
pub const METHOD: Method = Method::POST;

/// Sends an attempt and returns its outcome. It never fails: a failure is an outcome.
///
/// The dispatcher holds no transaction while it waits, and sets no timeout: an implementation must limit the whole
/// exchange to 15 seconds, well within the lease of the delivery.
pub trait Transport: std::fmt::Debug + Send + Sync + 'static {
    fn send<'a>(&'a self, attempt: &'a Attempt) -> BoxFuture<'a, Outcome>;
}

/// Request of an attempt. It has no `Debug`, which keeps the secrets out of logs.
#[derive(Clone)]
pub struct Attempt {
    pub webhook_id: i64,
    pub url: String,
    pub secret: String,
    /// The secret before the last rotation, while it is still valid.
    pub previous_secret: Option<String>,
    /// Name of the event, such as `user.created`.
    pub event: Arc<str>,
    /// The body as stored with the event: the same bytes on every attempt.
    pub body: Arc<str>,
    /// The header `webhook-id`, the same on every attempt.
    pub uid: String,
    /// The header `X-Service-Attempt`, counted from 1.
    pub number: u32,
    /// Start of the attempt: the header `webhook-timestamp`.
    pub at: DateTime<Utc>,
    /// Trace of the request that caused the event: the header `traceparent`.
    pub trace: Option<Trace>,
}

/// Outcome of an attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Status of the response, if there was one.
    pub status: Option<u16>,
    /// The first 2 KiB of the response body.
    pub body: Option<String>,
    /// Why no complete response arrived, as text for the delivery log.
    pub error: Option<String>,
    /// Value of the `Retry-After` header, for any status.
    pub retry_after: Option<Duration>,
    pub duration: Duration,
}

/// Headers of an attempt without the signatures. None of them is secret.
pub fn headers(
    event: &str,
    uid: &str,
    number: u32,
    at: DateTime<Utc>,
    trace: Option<Trace>,
) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("content-type", "application/json".into()),
        (EVENT, event.into()),
        (ATTEMPT, number.to_string()),
        (ID, uid.into()),
        (TIMESTAMP, at.timestamp().to_string()),
    ];
    headers.extend(trace.map(|trace| (TRACEPARENT, trace.of_attempt(uid, number))));
    headers
}

impl Outcome {
    /// Reports success: a complete response with a status of 200 to 299.
    pub fn is_delivered(&self) -> bool {
        self.error.is_none() && self.status.is_some_and(|status| (200..300).contains(&status))
    }
}
