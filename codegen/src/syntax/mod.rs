//! Resources as they are written: the same keys in the same shapes as the YAML, each with its place, nothing resolved.
//!
//! Reading never stops at a mistake. What cannot be understood is reported and left out, so that everything else of the
//! file is still read and checked in the same run.

mod cause;
mod document;
pub mod field;
pub mod foreign;
pub mod keys;
pub mod mapping;
pub mod relation;
pub mod resource;
pub mod spacing;
mod stray;
pub mod tree;
pub mod type_word;

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Problems;
use crate::source::Sources;
use resource::ResourceSyntax;
use tree::Node;

/// Every resource of a folder, as written.
#[derive(Debug)]
pub struct Syntax {
    pub resources: Vec<ResourceSyntax>,
    /// The names of files that could not be read: others may refer to what they hold.
    pub unreadable: BTreeSet<String>,
    /// The seed files by name, with what each holds where it could be read.
    pub seeds: BTreeMap<String, Option<Node>>,
}

/// Reads all files.
pub fn read(sources: &Sources, problems: &mut Problems) -> Syntax {
    let mut syntax = Syntax { resources: Vec::new(), unreadable: BTreeSet::new(), seeds: BTreeMap::new() };
    for (id, file) in sources.seeds() {
        syntax.seeds.insert(file.name().to_owned(), document::read(id, file, problems));
    }
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
