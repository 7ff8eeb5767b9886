//! Where events go: standard error, one line each, as text or JSON.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::config::Config;

/// The drivers tell every statement at info and debug, with little that an operator wants; who does says so after this.
const QUIET: &str = "sqlx=warn,sea_orm_migration=warn,salvo=warn,salvo_core=warn,hyper=warn";

/// What is logged, from the text of the setting.
///
/// # Errors
/// When it is neither a level nor a list of directives.
pub fn filter(text: &str) -> Result<EnvFilter, String> {
    EnvFilter::try_new(format!("{QUIET},{text}")).map_err(|error| error.to_string())
}

/// Begins to log.
pub fn init(config: &Config) {
    let filter = filter(&config.log).unwrap_or_default();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .with_span_events(FmtSpan::NONE);
    // A second call, in tests, keeps the first.
    let _ = if config.log_json { builder.json().try_init() } else { builder.with_target(false).try_init() };
}
