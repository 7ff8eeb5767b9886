//! `openapi`: the description of the API on standard output.

use std::io::Write;
use std::sync::Arc;

use crate::context::State;
use crate::error::{Error, Result};
use crate::openapi::document;

/// Prints the description with one thing a line, so that two of them can be compared.
pub fn run(state: &Arc<State>) -> Result<()> {
    let text = serde_json::to_string_pretty(&document(state)).map_err(Error::internal)?;
    // A reader that has seen enough, as `head` has, is no failure.
    let _ = writeln!(std::io::stdout(), "{text}");
    Ok(())
}
