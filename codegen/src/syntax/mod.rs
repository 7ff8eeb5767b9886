//! Resources as they are written: the same keys in the same shapes as the YAML, each with its place, nothing resolved.
//!
//! Reading never stops at a mistake. What cannot be understood is reported and left out, so that everything else of the
//! file is still read and checked in the same run.

mod document;
pub mod field;
pub mod keys;
mod mapping;
pub mod relation;
pub mod resource;
mod tree;
pub mod type_word;

use std::collections::BTreeSet;

use crate::diagnostic::Problems;
use crate::source::Sources;
use resource::ResourceSyntax;

/// Every resource of a folder, as written.
#[derive(Debug)]
pub struct Syntax {
    pub resources: Vec<ResourceSyntax>,
    /// The names of files that could not be read: others may refer to what they hold.
    pub unreadable: BTreeSet<String>,
}

/// Reads all files.
pub fn read(sources: &Sources, problems: &mut Problems) -> Syntax {
    let mut syntax = Syntax { resources: Vec::new(), unreadable: BTreeSet::new() };
    for (id, file) in sources.iter() {
        match document::read(id, file, problems) {
            Some(node) => syntax.resources.push(resource::read(id, &node, problems)),
            None => {
                syntax.unreadable.insert(file.stem().to_owned());
            }
        }
    }
    syntax
}
