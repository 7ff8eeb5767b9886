//! Pool of Chromium processes. A process serves one test after the other, each in a new browser context.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use charter_testing::{postgres, search};
use serde_json::Value;

/// The browser reads from descriptor 3 and writes to descriptor 4. It ends when its input is closed, at the latest
/// with the test process, and its profile is removed.
const SCRIPT: &str = r#"folder=$(mktemp -d "$1/charter-test-XXXXXX"); shift; "$@" --user-data-dir="$folder" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null; rm -rf "$folder""#;

/// Processes that no test uses.
static IDLE: Mutex<Vec<Program>> = Mutex::new(Vec::new());

/// A running process, connected by pipes.
pub struct Program {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    last_id: u64,
}

/// The program.
///
/// # Panics
/// If it is not installed.
fn installed() -> &'static PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    let help = "no Chromium in CHROMIUM or the PATH (Debian: apt-get install chromium-headless-shell)";
    FOUND.get_or_init(|| search::browser().expect(help))
}

impl Program {
    /// An idle process or a new one.
    pub fn take() -> Program {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| Program::start(installed()))
    }

    /// Returns the process to the pool.
    pub fn release(self) {
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(self);
    }

    fn start(program: &PathBuf) -> Program {
        let mut child = Command::new("sh")
            .args(["-c", SCRIPT, "browser"])
            .arg(postgres::room())
            .arg(program)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--remote-debugging-pipe",
                "--hide-scrollbars",
            ])
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Chromium starts");
        let input = child.stdin.take().expect("a pipe");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|count| count > 0) {
                message.pop();
                if let Ok(value) = serde_json::from_slice(&message)
                    && sender.send(value).is_err()
                {
                    return;
                }
                message.clear();
            }
        });
        Program { child, input, messages, last_id: 0 }
    }

    /// Sends a message and returns its id.
    pub fn send(&mut self, mut message: Value) -> u64 {
        self.last_id += 1;
        message["id"] = self.last_id.into();
        self.input.write_all(message.to_string().as_bytes()).expect("the browser reads");
        self.input.write_all(b"\0").expect("the browser reads");
        self.last_id
    }

    /// The next message, if one arrives before the deadline.
    pub fn receive(&self, deadline: Instant) -> Option<Value> {
        self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
    }

    /// Ends the process, for use after a failed test, which may have left it in any state.
    pub fn end(self) {
        let Program { mut child, input, .. } = self;
        drop(input);
        let _ = child.wait();
    }
}
