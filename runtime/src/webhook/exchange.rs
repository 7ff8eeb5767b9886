//! One attempt at a delivery, as the engine asks for it and as it is told what came of it.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::Method;

use super::signature::{ATTEMPT, EVENT, ID, TIMESTAMP};
use crate::ops::BoxFuture;
use crate::trace::{TRACEPARENT, Trace};

/// How every attempt is sent.
pub const METHOD: Method = Method::POST;

/// Sends what an attempt says and answers what came back. It never fails: a failure is an outcome.
///
/// The engine holds no transaction while it waits, and waits for as long as it takes: whoever implements this bounds
/// the whole exchange to 15 seconds, so that it ends well within the lease of the delivery.
pub trait Exchange: std::fmt::Debug + Send + Sync + 'static {
    fn send<'a>(&'a self, attempt: &'a Attempt) -> BoxFuture<'a, Outcome>;
}

/// What is sent, and to whom. It has no `Debug`, so that no log prints the secrets.
#[derive(Clone)]
pub struct Attempt {
    pub webhook_id: i64,
    pub url: String,
    pub secret: String,
    /// The secret before the rotation, while it still signs.
    pub previous_secret: Option<String>,
    /// The name of the event: `user.created`.
    pub event: Arc<str>,
    /// The body as it was written with the event: the same bytes on every attempt.
    pub body: Arc<str>,
    /// The header `webhook-id`, the same on every attempt.
    pub uid: String,
    /// The header `X-Service-Attempt`: from 1.
    pub number: u32,
    /// When the attempt begins: the header `webhook-timestamp`.
    pub at: DateTime<Utc>,
    /// The trace of the request that caused the event: the header `traceparent`.
    pub trace: Option<Trace>,
}

/// What came of an attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The status of the answer, when there was one.
    pub status: Option<u16>,
    /// The beginning of the answer's body, at most 2 KiB.
    pub body: Option<String>,
    /// Why no whole answer came, in words for the log.
    pub error: Option<String>,
    /// What `Retry-After` asked for, whatever the status.
    pub retry_after: Option<Duration>,
    pub duration: Duration,
}

/// The headers of an attempt, but for those that sign it. Nothing of them is a secret.
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
    /// Whether the receiver has it: a whole answer, with a status of 200 to 299.
    pub fn is_delivered(&self) -> bool {
        self.error.is_none() && self.status.is_some_and(|status| (200..300).contains(&status))
    }
}
