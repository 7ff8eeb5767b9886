//! The commands of `cargo charter` that compare and write: each in a file of its own.

pub mod diff;

use std::path::Path;

use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};

use crate::USAGE;

/// The snapshot of a folder of resources; a code to end with, and the report told, where it has problems.
pub fn present(folder: &Path) -> Result<Snapshot, u8> {
    if !folder.is_dir() {
        eprintln!("there is no folder `{}`; `--dir` names the one with the resources", folder.display());
        return Err(USAGE);
    }
    taken(Sources::load(folder))
}

/// The snapshot of sources, or a code to end with: what cannot be read cannot be compared.
pub fn taken(sources: Sources) -> Result<Snapshot, u8> {
    snapshot(sources).map_err(|report| {
        eprintln!("{}{}", report.render(), report.summary());
        USAGE
    })
}
