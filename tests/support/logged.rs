//! What the servers of this process log: the causes of answers with 500, which no client learns.

use std::io::{self, Write};
use std::sync::{Mutex, OnceLock};

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Begins to log, to the standard error and for [`logged`].
pub fn log() {
    static BEGUN: OnceLock<()> = OnceLock::new();
    BEGUN.get_or_init(|| {
        tracing_subscriber::fmt().with_env_filter("error").with_ansi(false).with_writer(|| Lines).init();
    });
}

/// The lines that name a request.
pub fn logged(request_id: &str) -> String {
    let lines = LINES.lock().expect("no test panicked here");
    lines.iter().filter(|line| line.contains(request_id)).map(String::as_str).collect()
}

struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(line)?;
        LINES.lock().expect("no test panicked here").push(String::from_utf8_lossy(line).into_owned());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
