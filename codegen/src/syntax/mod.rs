//! Resources as written: the keys and shapes of the YAML, each with its place, nothing resolved.
//!
//! Reading never stops at a mistake. Unreadable parts are reported and left out, so that the rest of the file is read
//! and checked in the same run.

pub mod aliases;
mod document;
pub mod field;
pub mod jobs;
pub mod keys;
mod language;
pub mod mapping;
mod misplaced_keys;
mod public;
pub mod record_rules;
pub mod relation;
pub mod resource;
pub mod rollup;
pub mod spacing;
pub mod states;
pub mod tree;
pub mod type_word;
mod yaml_error_hints;

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Problems;
use crate::source::Sources;
use resource::ResourceSyntax;
use tree::Node;

/// Every resource of a folder, as written.
#[derive(Debug)]
pub struct Syntax {
    pub resources: Vec<ResourceSyntax>,
    /// The names of files that could not be read. Other resources may refer to them.
    pub unreadable: BTreeSet<String>,
    /// The seed files by name, each with its content if it could be read.
    pub seeds: BTreeMap<String, Option<Node>>,
    /// The languages of files of texts: code and name of the file.
    pub languages: Vec<(String, String)>,
}

/// Reads all files.
pub fn read(sources: &Sources, problems: &mut Problems) -> Syntax {
    let mut syntax =
        Syntax { resources: Vec::new(), unreadable: BTreeSet::new(), seeds: BTreeMap::new(), languages: Vec::new() };
    for (id, file) in sources.seeds() {
        syntax.seeds.insert(file.name().to_owned(), document::read(id, file, problems));
    }
    for (id, file) in sources.languages() {
        let node = document::read(id, file, problems);
        let code = language::read(id, file, node.as_ref(), problems);
        syntax.languages.extend(code.map(|code| (code, file.name().to_owned())));
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
