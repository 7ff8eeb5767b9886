//! Log on standard error, one line for each event, as text or JSON.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::config::Config;

/// Levels of libraries, which the setting can override. The drivers log each statement; slow statements are logged by
/// `metrics/database.rs`, with their request.
const LIBRARY_LEVELS: &str = "sqlx=warn,sqlx::query=error,sea_orm_migration=warn,salvo=warn,salvo_core=warn,hyper=warn";

/// Parses the setting `log`.
///
/// # Errors
/// When it is neither a level nor a list of directives. A single word must be a level: the library would read another word as the
/// name of a module, and log only that.
pub fn filter(text: &str) -> Result<EnvFilter, String> {
    let mut words = text.split(',').map(str::trim).filter(|word| !word.contains(['=', '[']));
    if let Some(word) = words.find(|word| word.parse::<LevelFilter>().is_err()) {
        return Err(format!("`{word}` is not one of error, warn, info, debug, trace and off"));
    }
    EnvFilter::try_new(format!("{LIBRARY_LEVELS},{text}")).map_err(|error| error.to_string())
}

/// Installs the log.
pub fn init(config: &Config) {
    let filter = filter(&config.log).unwrap_or_default();
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
