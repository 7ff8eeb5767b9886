//! `webhook listen`: a receiver for those who write one, which prints what arrives and says whether its signatures hold.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use chrono::{DateTime, Utc};
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::error::{Error, Result};
use crate::server::Signals;
use crate::webhook::SigningSecret;
use crate::webhook::signature::{ATTEMPT, EVENT, ID, SIGNATURE, SIGNATURE_PREVIOUS, STANDARD_SIGNATURE, TIMESTAMP};

/// The most bytes of a request's head and of its body: more than any delivery has.
const MOST_HEAD: u64 = 64 * 1024;
const MOST_BODY: usize = 1024 * 1024;
/// A sender that says nothing for so long is left.
const PATIENCE: Duration = Duration::from_secs(60);
/// A delivery that is older may be one that somebody recorded and sends again.
const TOLERANCE: i64 = 5 * 60;

pub fn command() -> Command {
    let listen = Command::new("listen")
        .about("Print the deliveries that arrive at this machine, and verify them: for writing a receiver")
        .arg(
            Arg::new("port")
                .long("port")
                .default_value("4000")
                .value_parser(value_parser!(u16))
                .help("Where to listen"),
        )
        .arg(Arg::new("secret").long("secret").help("The webhook's secret; without it nothing is verified"))
        .arg(
            Arg::new("status")
                .long("status")
                .default_value("200")
                .value_parser(value_parser!(u16).range(200..600))
                .help("What every delivery is answered with"),
        );
    Command::new("webhook").about("Webhooks").subcommand_required(true).subcommand(listen)
}

/// Listens until the process is told to stop.
///
/// # Errors
/// When the secret is none, or the port is taken.
pub async fn run(matches: &ArgMatches) -> Result<()> {
    let secret = match matches.get_one::<String>("secret") {
        Some(text) => Some(SigningSecret::parse(text).ok_or_else(|| {
            Error::internal("the secret must be `whsec_` and base64, as the webhook's creation answered it")
        })?),
        None => None,
    };
    let port = matches.get_one::<u16>("port").copied().unwrap_or_default();
    let status = matches.get_one::<u16>("status").copied().unwrap_or(200);
    // Before anybody is told where it listens: who reads that may stop it at once.
    let mut signals = Signals::listen()?;
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await;
    let listener = listener.map_err(|error| Error::internal(format!("port {port}: {error}")))?;
    let address = listener.local_addr().map_err(Error::internal)?;
    say(&format!("Listening on http://{address}/\n"));
    say("A server reaches it with CHARTER_WEBHOOK_ALLOW_HTTP=true and CHARTER_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8.\n");
    let mut told = std::pin::pin!(signals.told());
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    tokio::spawn(serve(stream, secret.clone(), status));
                }
            }
            () = &mut told => return Ok(()),
        }
    }
}

/// A whole report at once, so that those of two deliveries do not mix. A reader that has gone away does not matter.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

async fn serve(stream: TcpStream, secret: Option<SigningSecret>, status: u16) {
    let mut stream = BufReader::new(stream);
    while let Ok(Some(request)) = tokio::time::timeout(PATIENCE, Received::read(&mut stream)).await {
        say(&request.report(secret.as_ref(), Utc::now()));
        let answer = format!("HTTP/1.1 {status} Listening\r\ncontent-length: 0\r\n\r\n");
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// A request as it arrived.
struct Received {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Received {
    /// `None` when there is none, or it is not one that this reads: deliveries tell the length of their bodies.
    async fn read(stream: &mut (impl AsyncRead + AsyncWrite + AsyncBufReadExt + Unpin)) -> Option<Received> {
        let mut head = stream.take(MOST_HEAD);
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
            Some(text) => text.parse().ok().filter(|length| *length <= MOST_BODY)?,
            None => 0,
        };
        request.body.resize(length, 0);
        stream.read_exact(&mut request.body).await.ok()?;
        Some(request)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// What is printed: the event and its delivery, the verdict on each signature, the body.
    fn report(&self, secret: Option<&SigningSecret>, now: DateTime<Utc>) -> String {
        let told = |name: &str| self.header(name).unwrap_or("-").to_string();
        let mut text = format!("\n{}  {}\n", now.format("%H:%M:%S"), self.line);
        let _ = writeln!(text, "  event {}, attempt {}, id {}", told(EVENT), told(ATTEMPT), told(ID));
        match secret {
            None => text.push_str("  not verified: give the secret with --secret\n"),
            Some(secret) => {
                for (name, verdict) in self.verdicts(secret, now) {
                    let _ = writeln!(text, "  {name}: {verdict}");
                }
            }
        }
        match serde_json::from_slice::<Value>(&self.body) {
            Ok(json) => {
                let pretty = serde_json::to_string_pretty(&json).unwrap_or_default();
                pretty.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
            }
            Err(_) => {
                let _ = writeln!(text, "  {} bytes that are not JSON", self.body.len());
            }
        }
        text
    }

    /// Each header that proves something, and whether it does.
    fn verdicts(&self, secret: &SigningSecret, now: DateTime<Utc>) -> Vec<(&'static str, String)> {
        let judged = |valid: bool| if valid { "valid" } else { "INVALID" }.to_string();
        let missing = || "missing".to_string();
        let fits = |name| self.header(name).is_some_and(|given| secret.verify(&self.body, given));
        let plain = match self.header(SIGNATURE) {
            None => missing(),
            Some(_) if !fits(SIGNATURE) && fits(SIGNATURE_PREVIOUS) => {
                format!("valid in {SIGNATURE_PREVIOUS}: take up the new secret")
            }
            Some(_) => judged(fits(SIGNATURE)),
        };
        let mut verdicts = vec![(SIGNATURE, plain)];
        let at = self.header(TIMESTAMP).and_then(|text| text.parse::<i64>().ok());
        let standard = match (self.header(ID), at, self.header(STANDARD_SIGNATURE)) {
            (Some(id), Some(at), Some(entries)) => judged(secret.verify_standard(id, at, &self.body, entries)),
            _ => missing(),
        };
        verdicts.push((STANDARD_SIGNATURE, standard));
        let age = at.map(|at| now.timestamp() - at);
        let timely = age.map_or_else(missing, |age| match age.abs() <= TOLERANCE {
            true => "timely".into(),
            false => format!("{age} s old: a receiver should refuse it"),
        });
        verdicts.push((TIMESTAMP, timely));
        verdicts
    }
}
