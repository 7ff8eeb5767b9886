//! Where events go: standard error, one line each, as text or JSON.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::config::Config;

/// Begins to log. What cannot be read as a directive falls back to `info`.
pub fn init(config: &Config) {
    let filter = EnvFilter::try_new(&config.log).unwrap_or_else(|_| EnvFilter::new("info"));
    // The drivers tell every statement at info and debug, with little that an operator wants.
    let filter = ["sqlx=warn", "sea_orm_migration=warn", "salvo=warn", "salvo_core=warn", "hyper=warn"]
        .iter()
        .filter_map(|directive| directive.parse().ok())
        .fold(filter, EnvFilter::add_directive);
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .with_span_events(FmtSpan::NONE);
    // A second call, in tests, keeps the first.
    let _ = if config.log_json { builder.json().try_init() } else { builder.with_target(false).try_init() };
}
