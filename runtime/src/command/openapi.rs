//! `openapi`: the description of the API on standard output.

use std::sync::Arc;

use super::output;
use crate::context::State;
use crate::error::{Error, Result};
use crate::openapi::document;

/// Prints the description with one thing a line, so that two of them can be compared.
pub fn run(state: &Arc<State>) -> Result<()> {
    let text = serde_json::to_string_pretty(&document(state)).map_err(Error::internal)?;
    output::line(&text)
}
