//! SMTP server in a process of its own, and the mails that it received.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use charter_runtime::mail::{Encryption, Sender, SmtpConfig};
use charter_testing::search;
use serde_json::Value;

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/smtp_server.py");

/// A running server. It ends when this is dropped, or with the test process.
pub struct Smtp {
    pub port: u16,
    server: Child,
    received: Arc<Mutex<Vec<ReceivedMail>>>,
}

/// A received mail.
#[derive(Debug, Clone)]
pub struct ReceivedMail {
    pub recipients: Vec<String>,
    pub text: String,
    pub is_encrypted: bool,
    pub is_authenticated: bool,
    headers: Vec<(String, String)>,
}

impl Smtp {
    /// A server on a free port, without TLS and users.
    pub fn start() -> Smtp {
        Smtp::with(&[])
    }

    /// A server with these arguments of its program.
    pub fn with(arguments: &[&str]) -> Smtp {
        let python = search::smtp().expect("CHARTER_TEST_SMTP is Python with aiosmtpd, which .ci/run installs");
        let mut command = Command::new(python);
        command.arg(PROGRAM).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("Python runs");
        let mut lines = BufReader::new(server.stdout.take().expect("a pipe")).lines();
        let port = lines.next().expect("a line").expect("text").parse().expect("a port");
        let received = Arc::new(Mutex::new(Vec::new()));
        let list = received.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mail = ReceivedMail::read(&serde_json::from_str(&line).expect("JSON"));
                list.lock().unwrap_or_else(PoisonError::into_inner).push(mail);
            }
        });
        Smtp { port, server, received }
    }

    /// The settings of this server.
    pub fn config(&self) -> SmtpConfig {
        Smtp::config_at(self.port)
    }

    /// The settings of a server at this port of this machine.
    pub fn config_at(port: u16) -> SmtpConfig {
        let sender = Sender::parse("Charter <charter@example.com>").expect("a sender");
        SmtpConfig { host: "127.0.0.1".into(), port, encryption: Encryption::None, credentials: None, sender }
    }

    /// All mails so far.
    pub fn received(&self) -> Vec<ReceivedMail> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for this number of mails, and returns the last one.
    pub async fn mail(&self, number: usize) -> ReceivedMail {
        let start = Instant::now();
        loop {
            let received = self.received();
            assert!(received.len() <= number, "more than {number} mails: {received:?}");
            if received.len() == number {
                return received.last().expect("a mail").clone();
            }
            assert!(start.elapsed() < Duration::from_secs(20), "{number} mails do not arrive: {received:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Smtp {
    fn drop(&mut self) {
        // Waiting closes the pipe first, which ends the program.
        let _ = self.server.wait();
    }
}

impl ReceivedMail {
    fn read(json: &Value) -> ReceivedMail {
        let text = |value: &Value| value.as_str().expect("a text").to_string();
        let list = |name: &str| json[name].as_array().expect("a list").clone();
        ReceivedMail {
            recipients: list("recipients").iter().map(text).collect(),
            text: text(&json["text"]),
            is_encrypted: json["is_encrypted"] == true,
            is_authenticated: json["is_authenticated"] == true,
            headers: list("headers").iter().map(|header| (text(&header[0]), text(&header[1]))).collect(),
        }
    }

    /// A header, or the empty text.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    /// The names of the headers, sorted.
    pub fn header_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.headers.iter().map(|(name, _)| name.to_lowercase()).collect();
        names.sort_unstable();
        names
    }

    /// The path of the link in the text.
    pub fn link(&self, base: &str) -> String {
        let links: Vec<&str> = self.text.lines().filter_map(|line| line.strip_prefix(base)).collect();
        assert_eq!(links.len(), 1, "one link of {base}: {}", self.text);
        links[0].to_string()
    }
}
