//! Imports: files of records that are read, mapped to fields, rehearsed, written in portions, and undone.
//!
//! An upload stores the file and a row of `imports`. The actions of that row request the work, which a worker does in
//! portions: each is one transaction with its records, its report by row and its progress.

mod cells;
mod labels;
mod lease;
mod plan;
mod portion;
mod progress;
mod reader;
pub mod record;
pub mod row;
mod run;
mod stored_file;
mod titles;
mod undo;
mod upload;
mod worker;

use std::sync::Arc;

use charter_core::catalog::Entry;
use charter_core::error::Result;
use charter_core::meta::Operation;
use charter_core::ops::{BoxFuture, State};
use charter_core::principal::Principal;
use tokio::sync::Notify;

pub use labels::ImportLabels;
pub use plan::{IGNORED, targets};
pub use stored_file::{NewImport, import_file};
pub use upload::upload;
pub use worker::{run_here, run_worker, work_once};

/// Maximum size of a file.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// Loads the current rights of a user, or of a user's token.
pub type Revalidate = for<'a> fn(&'a Arc<State>, &'a Principal) -> BoxFuture<'a, Result<Principal>>;

/// State of imports, an extension of the application's state.
#[derive(Debug)]
pub struct Imports {
    pub revalidate: Revalidate,
    /// Signals that an import waits for a worker.
    pub wake: Notify,
}

impl Imports {
    pub fn new(revalidate: Revalidate) -> Imports {
        Imports { revalidate, wake: Notify::new() }
    }
}

/// True if the records of a resource can be imported. Those of the platform cannot: they grant access, or contain
/// secrets that only one response shows.
pub fn is_importable(entry: &Entry) -> bool {
    let serves = |operation| entry.meta.operations.contains(&operation);
    !entry.behavior.is_platform && !entry.meta.singleton && serves(Operation::Create) && entry.meta.reveals.is_empty()
}
