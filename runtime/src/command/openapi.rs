//! Command `openapi`.

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};

use super::output;
use crate::openapi::{FilterForm, document_with};
use crate::server::ServerState;
use charter_core::error::Result;

pub(super) fn command(format: Arg) -> Command {
    let filters = Arg::new("filters")
        .long("filters")
        .value_parser([FilterForm::EACH])
        .help("Describe each filter of a list as a parameter, instead of all in one object `q`");
    Command::new("openapi").about("Print the OpenAPI document of the API").arg(format).arg(filters)
}

/// Prints the OpenAPI document with one value a line, so that two versions can be compared by diff.
pub(super) fn run(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let form = if matches.contains_id("filters") { FilterForm::Each } else { FilterForm::Once };
    output::json(&document_with(state, form))
}
