//! Command `texts`: the texts of the panel that a language lacks.

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};

use super::output;
use crate::panel::label_texts;
use crate::server::ServerState;
use charter_core::error::{Error, Result};

pub(super) fn command() -> Command {
    Command::new("texts")
        .about("Print the texts of the panel that a language lacks, as a file `<language>.language.yaml` to fill in")
        .arg(Arg::new("language").required(true).help("Code of the language: `de`, `pt-BR`"))
}

/// Prints the texts and messages without a translation. Nothing is printed if there are none.
///
/// # Errors
/// When standard output is closed.
pub(super) fn run(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let code = matches.get_one::<String>("language").map(String::as_str).unwrap_or_default();
    let mut lines = Vec::new();
    for (key, missing) in state.languages.missing(code, label_texts(&state.catalog))? {
        if !missing.is_empty() {
            lines.push(format!("{key}:"));
        }
        for text in missing {
            // A JSON string is a YAML string.
            let text = serde_json::to_string(&text).map_err(Error::internal)?;
            lines.push(format!("  {text}: \"\""));
        }
    }
    lines.iter().try_for_each(|line| output::line(line))
}
