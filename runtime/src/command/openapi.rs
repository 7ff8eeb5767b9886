//! Command `openapi`.

use std::sync::Arc;

use super::output;
use crate::openapi::document;
use crate::server::ServerState;
use charter_core::error::Result;

/// Prints the OpenAPI document with one value a line, so that two versions can be compared by diff.
pub(super) fn run(state: &Arc<ServerState>) -> Result<()> {
    output::json(&document(state))
}
