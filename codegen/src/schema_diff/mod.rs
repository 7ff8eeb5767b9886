//! Comparison of two snapshots: the changes, and what each means for clients and for data.

mod action;
mod action_rule;
mod deprecation;
mod embedding;
mod field;
mod kind;
mod record_rules;
mod rename;
mod report;
mod resource;
mod unique;

use crate::snapshot::Snapshot;

pub use field::{can_be_filled, is_wider};
pub use kind::is_convertible;
pub use rename::{Pair, fields, followed, resources};

/// The effect of a change on clients of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Clients cannot notice it, except by speed.
    Internal,
    /// Something new, or something that is allowed now.
    Addition,
    /// A request that succeeded may fail or return something else.
    Breaking,
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub resource: String,
    /// The part of the resource: `fields.name`, `actions.convert.input.at`; empty for the whole resource.
    pub at: String,
    pub effect: Effect,
    /// A sentence without its full stop.
    pub message: String,
    /// Data that is lost, or that may stop the migration.
    pub data: Option<String>,
}

/// All changes between two snapshots, in the order of the resources.
#[derive(Debug, Default)]
pub struct Diff {
    pub changes: Vec<Change>,
}

impl Diff {
    /// Compares two snapshots. `renamed_from` in the later one distinguishes a rename from a removal and an addition.
    /// `today`, such as `2026-03-21`, decides whether a removal keeps the announced date.
    pub fn between(before: &Snapshot, after: &Snapshot, today: &str) -> Diff {
        let mut diff = Diff::default();
        let before = &followed(before, after);
        for pair in resources(before, after) {
            let name = pair.after.or(pair.before).map_or("", |resource| resource.name.as_str());
            let known = diff.changes.len();
            resource::compare(&pair, &mut Changes { diff: &mut diff, resource: name, at: String::new() });
            if let Some(before) = pair.before {
                deprecation::describe_removals(before, pair.after, today, &mut diff.changes[known..]);
            }
        }
        embedding::compare(before, after, &mut diff);
        diff
    }

    /// The greatest effect on clients; none if nothing changed.
    pub fn effect(&self) -> Option<Effect> {
        self.changes.iter().map(|change| change.effect).max()
    }

    /// True if a change may lose data, or existing data may stop the migration.
    pub fn is_dangerous(&self) -> bool {
        self.changes.iter().any(|change| change.data.is_some())
    }
}

/// The changes of one part of a resource.
struct Changes<'a> {
    diff: &'a mut Diff,
    resource: &'a str,
    at: String,
}

impl Changes<'_> {
    /// The changes of a part within this part: `fields`, then `fields.name`.
    fn within(&mut self, part: &str) -> Changes<'_> {
        let at = if self.at.is_empty() { part.to_owned() } else { format!("{}.{part}", self.at) };
        Changes { diff: self.diff, resource: self.resource, at }
    }

    fn push(&mut self, effect: Effect, message: impl Into<String>) {
        self.push_with(effect, message, None);
    }

    /// Adds a change that also concerns existing rows.
    fn push_with(&mut self, effect: Effect, message: impl Into<String>, data: Option<String>) {
        let (resource, at, message) = (self.resource.to_owned(), self.at.clone(), message.into());
        self.diff.changes.push(Change { resource, at, effect, message, data });
    }

    /// Adds a breaking change if a setting that clients depend on differs.
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
