//! Captures log lines of the servers in this process: requests, causes of 500 responses, slow statements and failed
//! mails with their request.

use std::io::{self, Write};
use std::sync::{Mutex, OnceLock};

/// Log filter, with the warnings of slow statements and of mails, and the request log.
const LEVELS: &str =
    "error,charter_core::metrics=warn,charter_platform::auth::account_mail=warn,charter_runtime::server::endpoint=info";

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Starts logging to standard error and to [`logged`].
pub fn log() {
    static STARTED: OnceLock<()> = OnceLock::new();
    STARTED.get_or_init(|| {
        tracing_subscriber::fmt().with_env_filter(LEVELS).with_ansi(false).with_writer(|| Lines).init();
    });
}

/// The lines that contain a request id.
pub fn logged(request_id: &str) -> String {
    let lines = LINES.lock().expect("no test panicked here");
    lines.iter().filter(|line| line.contains(request_id)).map(String::as_str).collect()
}

struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        // The request log would hide everything else.
        if !text.contains(" INFO ") {
            io::stderr().write_all(line)?;
        }
        LINES.lock().expect("no test panicked here").push(text.into_owned());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
