//! Completes what is written to what is meant: names, defaults, types, both ends of relations.

mod field;
mod kind;
mod links;
mod relation;
mod resource;

use links::Links;

use crate::diagnostic::Problems;
use crate::model::Schema;
use crate::platform;
use crate::source::Sources;
use crate::syntax::Syntax;

/// The schema of all files. What cannot be completed is reported and left out or marked unknown.
pub fn lower(syntax: &Syntax, sources: &Sources, problems: &mut Problems) -> Schema {
    let links = Links::of(syntax, sources);
    let declared = syntax.resources.iter().map(|written| resource::lower(written, &links, syntax, sources, problems));
    let mut resources: Vec<_> = declared.collect();
    resources.extend(platform::resources());
    Schema { resources, unreadable: syntax.unreadable.clone() }
}
