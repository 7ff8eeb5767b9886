//! The packages of the workspace, and the names that its source files use.

// Several test crates include this file, and none of them uses all of it.
#![allow(dead_code, unused_imports)]

mod imports;
mod packages;
mod sources;

use std::path::Path;

pub use packages::{Package, Packages};
pub use sources::{Source, sources};

/// The folder of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
