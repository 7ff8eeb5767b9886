//! Where events go: standard error, one line each, as text or JSON.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::config::Config;

/// The drivers tell every statement at info and debug, with little that an operator wants; who does says so after this.
/// Slow statements are logged by `metrics/database.rs`, with their request.
const QUIET: &str = "sqlx=warn,sqlx::query=error,sea_orm_migration=warn,salvo=warn,salvo_core=warn,hyper=warn";

/// What is logged, from the text of the setting.
///
/// # Errors
/// When it is neither a level nor a list of directives. A word alone is a level: the library takes any other for the
/// name of a module, and logs nothing else.
pub fn filter(text: &str) -> Result<EnvFilter, String> {
    let mut words = text.split(',').map(str::trim).filter(|word| !word.contains(['=', '[']));
    if let Some(word) = words.find(|word| word.parse::<LevelFilter>().is_err()) {
        return Err(format!("`{word}` is none of error, warn, info, debug, trace and off"));
    }
    EnvFilter::try_new(format!("{QUIET},{text}")).map_err(|error| error.to_string())
}

/// Begins to log.
pub fn init(config: &Config) {
    let filter = filter(&config.log).unwrap_or_default();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        // Where the log cannot be written nobody can be told of it, least of all by a panic.
        .log_internal_errors(false)
        .with_span_events(FmtSpan::NONE);
    // A second call, in tests, keeps the first.
    let _ = if config.log_json { builder.json().try_init() } else { builder.with_target(false).try_init() };
}
