//! Mail by SMTP: the server's settings, messages in plain text, and their metrics. Without a server, nothing is sent.

mod message;
mod metrics;
mod smtp;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use charter_core::error::Result;

pub(crate) use message::one_line;
pub use message::{Mail, Sender};
pub use metrics::{Kind, Metrics};
use smtp::Server;
pub use smtp::{Encryption, SmtpConfig};

/// Longest time that a mail takes, with its wait for a connection.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Concurrent connections of this process to the mail server.
const MAX_CONNECTIONS: usize = 4;
/// Mails of this process that are sent in the background or wait for it. Further ones are dropped.
const MAX_BACKGROUND_MAILS: usize = 64;

/// Sends mails, if a mail server is set.
#[derive(Debug)]
pub struct Mailer {
    server: Option<Server>,
    timeout: Duration,
    connections: Semaphore,
    background: Arc<Semaphore>,
    metrics: Metrics,
}

impl Mailer {
    /// A mailer for this server. A mail that a request waits for takes at most half of the request's time.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn open(config: Option<&SmtpConfig>, request_timeout: Duration, metrics: Metrics) -> Result<Mailer> {
        Ok(Mailer {
            server: config.map(Server::open).transpose()?,
            timeout: TIMEOUT.min(request_timeout / 2),
            connections: Semaphore::new(MAX_CONNECTIONS),
            background: Arc::new(Semaphore::new(MAX_BACKGROUND_MAILS)),
            metrics,
        })
    }

    /// Returns true if a mail server is set.
    pub fn is_on(&self) -> bool {
        self.server.is_some()
    }

    /// Reserves a place for a mail in the background. `None` if there are too many, which is counted.
    pub fn reserve(&self, kind: Kind) -> Option<OwnedSemaphorePermit> {
        let place = self.background.clone().try_acquire_owned().ok();
        if place.is_none() {
            self.metrics.dropped(kind);
        }
        place
    }

    /// Sends a mail and returns the answer of the mail server.
    ///
    /// # Errors
    /// The reason in plain words, without secrets and addresses.
    pub async fn send(&self, mail: &Mail) -> Result<String, String> {
        let sent = match &self.server {
            Some(server) => {
                let send = async {
                    // The semaphore is never closed.
                    let _connection = self.connections.acquire().await;
                    server.send(mail).await
                };
                let seconds = self.timeout.as_secs_f32();
                timeout(self.timeout, send)
                    .await
                    .unwrap_or_else(|_| Err(format!("the mail server did not answer within {seconds} seconds")))
            }
            None => Err("no mail server is set".into()),
        };
        self.metrics.sent(mail.kind, sent.is_ok());
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn mails_in_the_background_are_limited_and_nothing_is_sent_without_a_server() {
        let mailer = Mailer::open(None, TIMEOUT, Metrics::default()).expect("a mailer");
        let places: Vec<_> = (0..MAX_BACKGROUND_MAILS).map(|_| mailer.reserve(Kind::Reset)).collect();
        assert!(places.iter().all(Option::is_some) && mailer.reserve(Kind::Reset).is_none());
        drop(places);
        assert!(mailer.reserve(Kind::Reset).is_some());
        let (name, email, subject, text) = ("Ada".into(), "ada@example.com".into(), "A".into(), "B".into());
        let mail = Mail { kind: Kind::Test, name, email, subject, text, secret: None };
        assert_eq!(mailer.send(&mail).await, Err("no mail server is set".into()));
        let (mut registry, mut text) = (prometheus_client::registry::Registry::default(), String::new());
        mailer.metrics.register(&mut registry);
        prometheus_client::encoding::prometheus_text::encode(&mut text, &registry).expect("text");
        for line in [
            "charter_mails_total{kind=\"reset\",result=\"dropped\"} 1",
            "charter_mails_total{kind=\"test\",result=\"failed\"} 1",
            "charter_mails_total{kind=\"invitation\",result=\"sent\"} 0",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}: {text}");
        }
    }
}
