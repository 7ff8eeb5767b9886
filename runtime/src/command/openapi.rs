//! Command `openapi`.

use std::sync::Arc;

use super::output;
use crate::openapi::document;
use crate::server::ServerState;
use charter_core::error::{Error, Result};

/// Prints the OpenAPI document with one value a line, so that two versions can be compared by diff.
pub(super) fn run(state: &Arc<ServerState>) -> Result<()> {
    let text = serde_json::to_string_pretty(&document(state)).map_err(Error::internal)?;
    output::line(&text)
}
