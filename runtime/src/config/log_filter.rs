//! The setting `log`: a level, or directives of levels by module.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// Levels of libraries, which the setting can override. The drivers log each statement; slow statements are logged by
/// `metrics/database.rs`, with their request.
const LIBRARY_LEVELS: &str = "sqlx=warn,sqlx::query=error,sea_orm_migration=warn,salvo=warn,salvo_core=warn,hyper=warn";

/// Parses the setting `log`.
///
/// # Errors
/// When it is neither a level nor a list of directives. A single word must be a level: the library would read another word as the
/// name of a module, and log only that.
pub fn log_filter(text: &str) -> Result<EnvFilter, String> {
    let mut words = text.split(',').map(str::trim).filter(|word| !word.contains(['=', '[']));
    if let Some(word) = words.find(|word| word.parse::<LevelFilter>().is_err()) {
        return Err(format!("`{word}` is not one of error, warn, info, debug, trace and off"));
    }
    EnvFilter::try_new(format!("{LIBRARY_LEVELS},{text}")).map_err(|error| error.to_string())
}
