//! Command `openapi`.

use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::output;
use crate::openapi::{FilterForm, document_with};
use crate::server::ServerState;
use charter_core::error::Result;

const WITHOUT_WEBHOOKS: &str = "without-webhooks";

pub(super) fn command(format: Arg) -> Command {
    let filters = Arg::new("filters")
        .long("filters")
        .value_parser([FilterForm::EACH])
        .help("Describe each filter of a list as a parameter, instead of all in one object `q`");
    let webhooks = Arg::new(WITHOUT_WEBHOOKS)
        .long(WITHOUT_WEBHOOKS)
        .action(ArgAction::SetTrue)
        .help("Omit the events, for client generators that do not read `webhooks`");
    Command::new("openapi").about("Print the OpenAPI document of the API").arg(format).arg(filters).arg(webhooks)
}

/// Prints the OpenAPI document with one value a line, so that two versions can be compared by diff.
pub(super) fn run(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let form = if matches.contains_id("filters") { FilterForm::Each } else { FilterForm::Once };
    let document = document_with(state, form);
    let document = if matches.get_flag(WITHOUT_WEBHOOKS) { document.without("webhooks") } else { document };
    output::json(&document)
}
