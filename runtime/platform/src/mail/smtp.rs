//! The mail server: its settings, and one connection for each mail.

use std::error::Error as StdError;
use std::fmt;
use std::net::IpAddr;

use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{CertificateStore, Tls, TlsParameters};
use lettre::transport::smtp::{Error as SmtpError, response::Response};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};

use super::message::{Mail, Sender, one_line};
use charter_core::error::{Error, Result, chain};

/// Characters of an answer of the mail server that are kept.
const MAX_ANSWER_CHARS: usize = 200;
/// Replacement of what an answer must not show.
const HIDDEN: &str = "[hidden]";

/// The protection of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    None,
    /// STARTTLS if the server offers it.
    Opportunistic,
    /// STARTTLS, or no mail.
    Required,
    /// TLS from the first byte.
    Implicit,
}

/// The mail server and the sender.
#[derive(Clone, PartialEq, Eq)]
pub struct SmtpConfig {
    /// A name or an address.
    pub host: String,
    pub port: u16,
    pub encryption: Encryption,
    /// User and password.
    pub credentials: Option<(String, String)>,
    pub sender: Sender,
}

impl fmt::Debug for SmtpConfig {
    /// Leaves out the credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmtpConfig").field("host", &self.host).field("port", &self.port).finish_non_exhaustive()
    }
}

impl SmtpConfig {
    /// Returns true if mails do not leave the machine on their way to this host.
    pub fn is_loopback(host: &str) -> bool {
        host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
    }
}

/// The client of a mail server.
pub(super) struct Server {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    sender: Sender,
    password: Option<String>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("sender", &self.sender).finish_non_exhaustive()
    }
}

impl Server {
    pub(super) fn open(config: &SmtpConfig) -> Result<Server> {
        let tls = match config.encryption {
            Encryption::None => Tls::None,
            Encryption::Opportunistic => Tls::Opportunistic(parameters(&config.host)?),
            Encryption::Required => Tls::Required(parameters(&config.host)?),
            Encryption::Implicit => Tls::Wrapper(parameters(&config.host)?),
        };
        // `Mailer::send` limits the time.
        let builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&config.host);
        let mut builder = builder.port(config.port).tls(tls).timeout(None);
        if let Some((user, password)) = config.credentials.clone() {
            builder = builder.credentials(Credentials::new(user, password));
        }
        let password = config.credentials.as_ref().map(|(_, password)| password.clone());
        Ok(Server { transport: builder.build(), sender: config.sender.clone(), password })
    }

    /// Sends a mail and returns the server's answer.
    pub(super) async fn send(&self, mail: &Mail) -> Result<String, String> {
        let sent = self.transport.send(mail.message(&self.sender)?).await;
        let text = match &sent {
            Ok(response) => answer(response),
            Err(error) => reason(error),
        };
        let hidden = [mail.secret.as_deref(), self.password.as_deref(), Some(mail.email.as_str())];
        let text = shown(&text, hidden.into_iter().flatten());
        if sent.is_ok() { Ok(text) } else { Err(text) }
    }
}

/// The certificate authorities of the system, or Mozilla's if the system has none, as for webhooks.
fn parameters(host: &str) -> Result<TlsParameters> {
    let has_none = rustls_native_certs::load_native_certs().certs.is_empty();
    let store = if has_none { CertificateStore::WebpkiRoots } else { CertificateStore::Default };
    TlsParameters::builder(host.to_string()).certificate_store(store).build_rustls().map_err(Error::internal)
}

fn answer(response: &Response) -> String {
    format!("{} {}", response.code(), response.message().collect::<Vec<_>>().join(" "))
}

/// The reason of a failure, as the end of a sentence.
fn reason(error: &SmtpError) -> String {
    let mut innermost: &(dyn StdError + 'static) = error;
    let mut next = error.source();
    while let Some(source) = next {
        // Lettre wraps its own errors, with the name of their kind each time.
        innermost = if source.is::<SmtpError>() { source } else { innermost };
        next = source.source();
    }
    let cause = innermost.source().map(chain).unwrap_or_else(|| innermost.to_string());
    match error.status() {
        Some(code) => format!("the mail server answered {code} {cause}"),
        None if error.is_client() => cause,
        None if error.is_response() => format!("the mail server gave an invalid answer: {cause}"),
        None => format!("the connection to the mail server failed: {cause}"),
    }
}

/// One line of limited length without these texts.
fn shown<'t>(text: &str, hidden: impl Iterator<Item = &'t str>) -> String {
    let mut text = one_line(text);
    for secret in hidden.filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, HIDDEN);
    }
    text.chars().take(MAX_ANSWER_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_show_no_secret_and_are_short() {
        let text = "550 <ada@example.com> denied:\r\nhttp://x/panel/invitation/s3cret\0";
        let hidden = ["s3cret", "", "ada@example.com"];
        assert_eq!(shown(text, hidden.into_iter()), "550 <[hidden]> denied: http://x/panel/invitation/[hidden]");
        assert_eq!(shown(&"é".repeat(1000), std::iter::empty()).chars().count(), MAX_ANSWER_CHARS);
    }

    #[test]
    fn loopback_hosts_are_known() {
        for (host, expected) in [
            ("localhost", true),
            ("LOCALHOST", true),
            ("127.0.0.9", true),
            ("::1", true),
            ("10.0.0.1", false),
            ("mail.example.com", false),
        ] {
            assert_eq!(SmtpConfig::is_loopback(host), expected, "{host}");
        }
    }
}
