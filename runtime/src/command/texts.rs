//! Command `texts`: the texts of the panel that a language lacks.

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};

use super::output;
use crate::language::Comparison;
use crate::panel;
use crate::server::ServerState;
use charter_core::error::{Error, Result};

pub(super) fn command() -> Command {
    Command::new("texts")
        .about("Print the texts of the panel that a language lacks, as a file `<language>.language.yaml` to fill in")
        .arg(Arg::new("language").required(true).help("Code of the language: `de`, `pt-BR`"))
}

/// Prints the texts without a translation, and as comments those that nothing uses. Nothing is printed if there are none.
///
/// # Errors
/// When standard output is closed.
pub(super) fn run(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let code = matches.get_one::<String>("language").map(String::as_str).unwrap_or_default();
    // A JSON string is a YAML string.
    let quoted = |text: &String| serde_json::to_string(text).map_err(Error::internal);
    for Comparison { key, missing, unused } in state.languages.compare(code, &panel::label_texts(state))? {
        for (index, text) in missing.iter().enumerate() {
            if index == 0 {
                output::line(&format!("{key}:"))?;
            }
            output::line(&format!("  {}: \"\"", quoted(text)?))?;
        }
        for text in unused {
            output::line(&format!("# unused in {key}: {}", quoted(&text)?))?;
        }
    }
    Ok(())
}
