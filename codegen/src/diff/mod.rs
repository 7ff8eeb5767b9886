//! What changed between two snapshots, and what each change means for clients and for data.

mod action;
mod deprecation;
mod embedding;
mod field;
mod kind;
mod rename;
mod report;
mod resource;

use crate::snapshot::Snapshot;

pub use field::can_be_filled;
pub use kind::{Conversion, converts};
pub use rename::{Pair, fields, followed, resources};

/// What a change means for those who call the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing that a client can tell, but for speed.
    Internal,
    /// More than there was, or something allowed that was not.
    Addition,
    /// A request that was answered may be refused or answered otherwise.
    Breaking,
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub resource: String,
    /// What of it: `fields.name`, `actions.convert.input.at`; empty for the resource as a whole.
    pub at: String,
    pub effect: Effect,
    /// A sentence without its full stop.
    pub message: String,
    /// What is lost, or may stop the migration.
    pub data: Option<String>,
}

/// All changes between two snapshots, in the order of the resources.
#[derive(Debug, Default)]
pub struct Diff {
    pub changes: Vec<Change>,
}

impl Diff {
    /// Compares two snapshots. `renamed_from` in the later one is what tells a rename from a removal and an addition;
    /// `today`, as `2026-03-21`, whether what was deprecated goes when it was said.
    pub fn between(before: &Snapshot, after: &Snapshot, today: &str) -> Diff {
        let mut diff = Diff::default();
        let before = &followed(before, after);
        for pair in resources(before, after) {
            let name = pair.after.or(pair.before).map_or("", |resource| resource.name.as_str());
            let known = diff.changes.len();
            resource::compare(&pair, &mut Changes { diff: &mut diff, resource: name, at: String::new() });
            if let Some(before) = pair.before {
                deprecation::keep_word(before, pair.after, today, &mut diff.changes[known..]);
            }
        }
        embedding::compare(before, after, &mut diff);
        diff
    }

    /// What clients must expect of the next version; none when nothing changed.
    pub fn effect(&self) -> Option<Effect> {
        self.changes.iter().map(|change| change.effect).max()
    }

    /// Whether any change may lose data, or be stopped by it.
    pub fn is_dangerous(&self) -> bool {
        self.changes.iter().any(|change| change.data.is_some())
    }
}

/// Where the changes of one part of a resource go.
struct Changes<'a> {
    diff: &'a mut Diff,
    resource: &'a str,
    at: String,
}

impl Changes<'_> {
    /// The part of a part: `fields` and then `fields.name`.
    fn within(&mut self, part: &str) -> Changes<'_> {
        let at = if self.at.is_empty() { part.to_owned() } else { format!("{}.{part}", self.at) };
        Changes { diff: self.diff, resource: self.resource, at }
    }

    fn push(&mut self, effect: Effect, message: impl Into<String>) {
        self.push_with(effect, message, None);
    }

    /// A change that also concerns the rows that are there.
    fn push_with(&mut self, effect: Effect, message: impl Into<String>, data: Option<String>) {
        let (resource, at, message) = (self.resource.to_owned(), self.at.clone(), message.into());
        self.diff.changes.push(Change { resource, at, effect, message, data });
    }

    /// A setting that clients depend on, and that is now another.
    fn breaking_if(&mut self, what: &str, before: &str, after: &str, consequence: &str) {
        if before != after {
            self.push(Effect::Breaking, format!("{what} was `{before}` and is `{after}`: {consequence}"));
        }
    }
}

/// `a`, `b`
fn quoted<'a>(words: impl IntoIterator<Item = &'a String>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The elements of one list that the other lacks.
fn lacking<'a, T: PartialEq>(these: &'a [T], those: &[T]) -> Vec<&'a T> {
    these.iter().filter(|one| !those.contains(one)).collect()
}
