//! Log on standard error, one line for each event, as text or JSON.

use std::io::IsTerminal;

use tracing_subscriber::fmt::format::FmtSpan;

use crate::config::{Config, log_filter};

/// Installs the log.
pub(crate) fn init(config: &Config) {
    let filter = log_filter(&config.log).unwrap_or_default();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        // A log that cannot be written must not cause a panic.
        .log_internal_errors(false)
        .with_span_events(FmtSpan::NONE);
    // Only the first call has an effect, in tests.
    let _ = if config.log_json { builder.json().try_init() } else { builder.with_target(false).try_init() };
}
