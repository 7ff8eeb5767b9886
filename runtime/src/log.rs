//! Log on standard error, one line for each event, as text or JSON.
//!
//! A thread of its own writes the lines, so that a full pipe, a slow disk or a paused terminal delays neither a request
//! nor the shutdown. `tracing-appender` does the same, but its shutdown writes to standard output, which is often the same
//! pipe.

use std::fmt::{self, Debug};
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use charter_core::error::{Error, Result};
use charter_model::invisible::{escape_line, escape_lines};
use tracing::field::Field;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::{FmtSpan, Writer, debug_fn};

use crate::config::{Config, log_filter};

/// Lines that wait for the writer. More are dropped and counted.
const MAX_QUEUED_LINES: usize = 8_192;
/// Time at the end of the process in which the queued lines are written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// Interval at which the end of the process looks whether they are.
const FLUSH_INTERVAL: Duration = Duration::from_millis(2);

/// Numbers of lines since the start of the process, which has one standard error.
static QUEUED: AtomicU64 = AtomicU64::new(0);
static WRITTEN: AtomicU64 = AtomicU64::new(0);
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Queue of lines for standard error.
#[derive(Debug, Clone)]
struct LineQueue(SyncSender<Vec<u8>>);

impl LineQueue {
    /// Starts the thread that writes the lines to `output`.
    fn start(mut output: impl Write + Send + 'static) -> io::Result<LineQueue> {
        let (sender, lines): (_, Receiver<Vec<u8>>) = sync_channel(MAX_QUEUED_LINES);
        let write = move || {
            for line in lines {
                // A line that cannot be written, as on a full disk, is lost.
                let _ = output.write_all(&line);
                WRITTEN.fetch_add(1, Ordering::Release);
            }
        };
        thread::Builder::new().name("log".into()).spawn(write)?;
        Ok(LineQueue(sender))
    }

    fn push(&self, line: &[u8]) {
        match self.0.try_send(line.to_vec()) {
            Ok(()) => QUEUED.fetch_add(1, Ordering::Relaxed),
            Err(_) => DROPPED.fetch_add(1, Ordering::Relaxed),
        };
    }
}

/// Takes one line: the formatter writes each event at once.
impl Write for LineQueue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LineQueue {
    type Writer = LineQueue;

    fn make_writer(&'a self) -> LineQueue {
        self.clone()
    }
}

/// The log of the process. Dropping it waits until the queued lines are written, but not for an output that is stuck.
#[derive(Debug)]
pub(crate) struct Log(LineQueue);

impl Log {
    /// Writes a line that is no event, such as the error that ends a command.
    pub(crate) fn print(&self, text: &str) {
        self.0.push(format!("{}\n", escape_lines(text)).as_bytes());
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let deadline = Instant::now() + FLUSH_TIMEOUT;
        while WRITTEN.load(Ordering::Acquire) < QUEUED.load(Ordering::Relaxed) && Instant::now() < deadline {
            thread::sleep(FLUSH_INTERVAL);
        }
    }
}

/// Installs the log.
///
/// # Errors
/// When standard error or a thread is not available.
pub(crate) fn init(config: &Config) -> Result<Log> {
    let filter = log_filter(&config.log).unwrap_or_default();
    // A descriptor of its own: the lock of `io::stderr` would be held while a write is stuck.
    let output = File::from(io::stderr().as_fd().try_clone_to_owned().map_err(Error::internal)?);
    let queue = LineQueue::start(output).map_err(Error::internal)?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(queue.clone())
        .with_span_events(FmtSpan::NONE);
    // Only the first call has an effect, in tests.
    let _ = match config.log_json {
        true => builder.json().try_init(),
        false => builder.with_target(false).fmt_fields(debug_fn(write_field).delimited(" ")).try_init(),
    };
    // The default hook writes to standard error itself, and would wait for it.
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "panic")));
    Ok(Log(queue))
}

/// Writes a field of a line, without the characters that a terminal obeys: an error message can contain text of users,
/// whose line breaks would forge lines.
fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    let text = format!("{value:?}");
    let text = escape_line(&text);
    match (field.name(), writer.has_ansi_escapes()) {
        ("message", _) => writer.write_str(&text),
        // Italic names and dimmed equals signs, as the default format has them.
        (name, true) => write!(writer, "\u{1b}[3m{name}\u{1b}[0m\u{1b}[2m=\u{1b}[0m{text}"),
        (name, false) => write!(writer, "{name}={text}"),
    }
}

/// Number of lines that were dropped because the queue was full.
pub(crate) fn dropped_lines() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}
