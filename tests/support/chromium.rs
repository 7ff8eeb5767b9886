//! Chromium programs that run while tests need them: each serves one test after another, with nothing left of the one before.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use serde_json::Value;

use super::postgres;

/// The first that is there. The headless shells are the same browser without windows of its own, which takes half the time.
const NAMES: &[&str] = &[
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// Descriptors 3 and 4 are where the browser reads and writes. It ends once nobody writes to it any more, as when the tests
/// ended, and what it kept goes with it.
const SCRIPT: &str = r#"folder=$(mktemp -d "$1/charter-test-XXXXXX"); shift; "$@" --user-data-dir="$folder" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null; rm -rf "$folder""#;

/// Those that no test uses now.
static IDLE: Mutex<Vec<Program>> = Mutex::new(Vec::new());

/// One that runs, spoken to over its pipes.
pub struct Program {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    last: u64,
}

/// The program, if it is installed.
fn installed() -> Option<&'static PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
            let path = std::env::var_os("PATH").unwrap_or_default();
            let places =
                || std::env::split_paths(&path).flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)));
            let found = named.or_else(|| places().find(|place| place.is_file()));
            if found.is_none() {
                let required = std::env::var_os("CHARTER_TEST_REQUIRE_BROWSER").is_some();
                assert!(
                    !required,
                    "no Chromium in CHROMIUM or the PATH (Debian: apt-get install chromium-headless-shell)"
                );
                let mut error = std::io::stderr().lock();
                let _ = writeln!(error, "\n!!! SKIPPED: the panel's tests in a browser. No Chromium in the PATH.\n");
            }
            found
        })
        .as_ref()
}

impl Program {
    /// One that no test uses: an idle one, or a new one; nothing where none is installed.
    pub fn take() -> Option<Program> {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.or_else(|| installed().map(Program::start))
    }

    /// Leaves it to the next test.
    pub fn leave(self) {
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
        let to = child.stdin.take().expect("a pipe");
        let mut answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let (heard, from) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while answers.read_until(0, &mut message).is_ok_and(|count| count > 0) {
                message.pop();
                if let Ok(value) = serde_json::from_slice(&message)
                    && heard.send(value).is_err()
                {
                    return;
                }
                message.clear();
            }
        });
        Program { child, to, from, last: 0 }
    }

    /// Sends a message, and answers its number.
    pub fn send(&mut self, mut message: Value) -> u64 {
        self.last += 1;
        message["id"] = self.last.into();
        self.to.write_all(message.to_string().as_bytes()).expect("the browser reads");
        self.to.write_all(b"\0").expect("the browser reads");
        self.last
    }

    /// The next message, if one comes in time.
    pub fn hear(&self, until: Instant) -> Option<Value> {
        self.from.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
    }

    /// Ends it, as after a test that failed, which may have left it in any state.
    pub fn end(self) {
        let Program { mut child, to, .. } = self;
        drop(to);
        let _ = child.wait();
    }
}
