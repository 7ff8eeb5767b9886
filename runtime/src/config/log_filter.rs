//! The setting `log`: a level, or directives of levels by module.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// Levels of libraries, which the setting can override. The drivers log each statement; slow statements are logged by
/// `metrics/database.rs`, with their request.
const LIBRARY_LEVELS: &str = "sqlx=warn,sqlx::query=error,sea_orm_migration=warn,salvo=warn,salvo_core=warn,hyper=warn";

/// Crates that a directive for `charter_runtime` includes: the layers below it, and the migrations that it runs.
const LAYERS: [&str; 3] = ["charter_core", "charter_platform", "charter_migrations"];

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
    let own = text.split(',').map(str::trim).filter_map(|directive| directive.strip_prefix("charter_runtime"));
    // Each before the directives as written, which can be more specific.
    let own: String = own.flat_map(|rest| LAYERS.map(|layer| format!(",{layer}{rest}"))).collect();
    EnvFilter::try_new(format!("{LIBRARY_LEVELS}{own},{text}")).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::{LAYERS, log_filter};

    #[test]
    fn a_directive_for_the_runtime_includes_its_layers() {
        let filter = log_filter("warn,charter_runtime=debug").unwrap().to_string();
        for layer in LAYERS.iter().chain(&["charter_runtime"]).map(|layer| format!("{layer}=debug")) {
            assert!(filter.contains(&layer), "{filter}");
        }
    }
}
