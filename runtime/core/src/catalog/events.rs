//! Event names of a resource.

use super::Entry;
use crate::meta::{ActionMeta, ActionMethod, ActionOutput, Operation};

impl Entry {
    /// The events that the resource can emit: those of its plain operations, then those of its actions and
    /// of its code.
    pub fn events(&self) -> Vec<String> {
        let meta = self.meta;
        if !meta.events {
            return Vec::new();
        }
        let serves = |operation| meta.operations.contains(&operation);
        let changes = |a: &&ActionMeta| matches!(a.output, ActionOutput::Record) && a.method == ActionMethod::Post;
        let creates = |a: &ActionMeta| matches!(a.output, ActionOutput::Created);
        let plain = [
            ("created", !meta.singleton && serves(Operation::Create) || meta.actions.iter().any(creates)),
            ("updated", serves(Operation::Update) || meta.actions.iter().filter(changes).any(|a| a.event.is_none())),
            ("deleted", !meta.singleton && serves(Operation::Delete)),
            ("restored", meta.keeps_deleted()),
        ];
        let mut names: Vec<&str> = plain.iter().filter(|(_, emitted)| *emitted).map(|(name, _)| *name).collect();
        for event in meta.actions.iter().filter_map(|a| a.event).chain(meta.extra_events.iter().copied()) {
            if !names.contains(&event) {
                names.push(event);
            }
        }
        names.into_iter().map(|name| format!("{}.{name}", meta.name)).collect()
    }

    /// The events that can be in the outbox: those of [`Entry::events`] and those of changes that the application
    /// makes itself without serving the operation.
    pub fn outbox_events(&self) -> Vec<String> {
        let mut names = self.events();
        if self.meta.events {
            let plain =
                ["created", "updated", "deleted", "restored"].map(|event| format!("{}.{event}", self.meta.name));
            let others: Vec<String> = plain.into_iter().filter(|name| !names.contains(name)).collect();
            names.extend(others);
        }
        names
    }
}
