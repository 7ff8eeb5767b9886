//! Command `webhook listen`: a local receiver that prints deliveries and verifies their signatures.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use chrono::{DateTime, Utc};
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::app::Signals;
use charter_core::error::{Error, Result};
use charter_model::invisible::{escape_json, escape_line};
use charter_platform::webhook::SigningSecret;
use charter_platform::webhook::signature::{
    ATTEMPT, EVENT, ID, SIGNATURE, SIGNATURE_PREVIOUS, STANDARD_SIGNATURE, TIMESTAMP,
};

/// Maximum bytes of a request's head and body, more than any delivery has.
const MAX_HEAD_BYTES: u64 = 64 * 1024;
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// A connection is closed after this time without a request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Seconds after which a delivery may be a replay.
const TIMESTAMP_TOLERANCE: i64 = 5 * 60;

pub(super) fn command() -> Command {
    let listen = Command::new("listen")
        .about("Receive webhook deliveries on this machine, print them and verify their signatures")
        .arg(
            Arg::new("port")
                .long("port")
                .default_value("4000")
                .value_parser(value_parser!(u16))
                .help("Port to listen on; 0 picks a free one"),
        )
        .arg(Arg::new("secret").long("secret").help("Secret of the webhook; without it, signatures are not verified"))
        .arg(
            Arg::new("status")
                .long("status")
                .default_value("200")
                .value_parser(value_parser!(u16).range(200..600))
                .help("HTTP status of the response to each delivery"),
        );
    Command::new("webhook").about("Test webhook deliveries").subcommand_required(true).subcommand(listen)
}

/// Listens until a signal.
///
/// # Errors
/// When the secret is invalid, or the port is in use.
pub(super) async fn run(matches: &ArgMatches) -> Result<()> {
    let secret = match matches.get_one::<String>("secret") {
        Some(text) => Some(SigningSecret::parse(text).ok_or_else(|| {
            Error::internal(
                "the secret must be `whsec_` followed by base64, as in the response that created the webhook",
            )
        })?),
        None => None,
    };
    let port = matches.get_one::<u16>("port").copied().unwrap_or_default();
    let status = matches.get_one::<u16>("status").copied().unwrap_or(200);
    // Before the address is printed: a script that reads it may send a signal immediately.
    let mut signals = Signals::listen()?;
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await;
    let listener = listener.map_err(|error| Error::internal(format!("port {port}: {error}")))?;
    let address = listener.local_addr().map_err(Error::internal)?;
    print(&format!("Listening on http://{address}/\n"));
    print("Start the server with CHARTER_WEBHOOK_ALLOW_HTTP=true and CHARTER_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8.\n");
    let mut signal = std::pin::pin!(signals.recv());
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    tokio::spawn(serve(stream, secret.clone(), status));
                }
            }
            () = &mut signal => return Ok(()),
        }
    }
}

/// Prints a report in one write, so that two do not mix. A closed standard output is ignored.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

async fn serve(stream: TcpStream, secret: Option<SigningSecret>, status: u16) {
    let mut stream = BufReader::new(stream);
    while let Ok(Some(request)) = tokio::time::timeout(IDLE_TIMEOUT, Received::read(&mut stream)).await {
        print(&request.report(secret.as_ref(), Utc::now()));
        let response = format!("HTTP/1.1 {status} Listening\r\ncontent-length: 0\r\n\r\n");
        if stream.write_all(response.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// A received request.
struct Received {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Received {
    /// Reads a request; `None` at the end of the connection, and for a body without `Content-Length`, which deliveries have.
    async fn read(stream: &mut (impl AsyncRead + AsyncWrite + AsyncBufReadExt + Unpin)) -> Option<Received> {
        let mut head = stream.take(MAX_HEAD_BYTES);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            head.read_line(&mut line).await.ok().filter(|count| *count > 0)?;
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_string()),
            }
        }
        let split = lines.iter().skip(1).filter_map(|line| line.split_once(':'));
        let headers = split.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_string())).collect();
        let mut request = Received { line: lines.first()?.clone(), headers, body: Vec::new() };
        let length = match request.header("content-length") {
            Some(text) => text.parse().ok().filter(|length| *length <= MAX_BODY_BYTES)?,
            None => 0,
        };
        request.body.resize(length, 0);
        stream.read_exact(&mut request.body).await.ok()?;
        Some(request)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The printed report: event, delivery, results of the signatures, body.
    fn report(&self, secret: Option<&SigningSecret>, now: DateTime<Utc>) -> String {
        let header = |name: &str| escape_line(self.header(name).unwrap_or("-")).into_owned();
        let mut text = format!("\n{}  {}\n", now.format("%H:%M:%S"), escape_line(&self.line));
        let _ = writeln!(text, "  event {}, attempt {}, id {}", header(EVENT), header(ATTEMPT), header(ID));
        match secret {
            None => text.push_str("  not verified: pass the secret with --secret\n"),
            Some(secret) => {
                for (name, result) in self.verify(secret, now) {
                    let _ = writeln!(text, "  {name}: {result}");
                }
            }
        }
        match serde_json::from_slice::<Value>(&self.body) {
            Ok(json) => {
                let pretty = serde_json::to_string_pretty(&json).unwrap_or_default();
                escape_json(&pretty).lines().for_each(|line| text.push_str(&format!("  {line}\n")));
            }
            Err(_) => {
                let _ = writeln!(text, "  {} bytes that are not JSON", self.body.len());
            }
        }
        text
    }

    /// The result of each signature and of the timestamp.
    fn verify(&self, secret: &SigningSecret, now: DateTime<Utc>) -> Vec<(&'static str, String)> {
        let validity = |valid: bool| if valid { "valid" } else { "INVALID" }.to_string();
        let missing = || "missing".to_string();
        let holds = |name| self.header(name).is_some_and(|signature| secret.verify(&self.body, signature));
        let plain = match self.header(SIGNATURE) {
            None => missing(),
            Some(_) if !holds(SIGNATURE) && holds(SIGNATURE_PREVIOUS) => {
                format!("valid in {SIGNATURE_PREVIOUS}: use the new secret")
            }
            Some(_) => validity(holds(SIGNATURE)),
        };
        let mut results = vec![(SIGNATURE, plain)];
        let at = self.header(TIMESTAMP).and_then(|text| text.parse::<i64>().ok());
        let standard = match (self.header(ID), at, self.header(STANDARD_SIGNATURE)) {
            (Some(id), Some(at), Some(entries)) => validity(secret.verify_standard(id, at, &self.body, entries)),
            _ => missing(),
        };
        results.push((STANDARD_SIGNATURE, standard));
        let age = at.map(|at| now.timestamp() - at);
        let recency = age.map_or_else(missing, |age| match age.abs() <= TIMESTAMP_TOLERANCE {
            true => "recent".into(),
            false => format!("{age} s old: a receiver should reject it"),
        });
        results.push((TIMESTAMP, recency));
        results
    }
}
