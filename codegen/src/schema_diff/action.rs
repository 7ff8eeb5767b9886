//! Changes of actions: path, method, input, output, event and transition.

use std::collections::BTreeMap;

use super::field::{self, Role};
use super::{Changes, Effect, action_rule, fields};
use crate::snapshot::Action;

pub fn compare_all(before: &BTreeMap<String, Action>, after: &BTreeMap<String, Action>, changes: &mut Changes<'_>) {
    let mut changes = changes.within("actions");
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        changes.within(name).push(Effect::Breaking, "the action is removed");
    }
    for (name, now) in after {
        let mut changes = changes.within(name);
        match before.get(name) {
            None => changes.push(Effect::Addition, "the action is added"),
            Some(then) => compare(then, now, &mut changes),
        }
    }
}

fn compare(before: &Action, after: &Action, changes: &mut Changes<'_>) {
    changes.breaking_if("`on`", &before.on, &after.on, "its path changed");
    changes.breaking_if("`method`", &before.method, &after.method, "requests with the old method are rejected");
    let key = |action: &Action| action.answer.clone().unwrap_or_else(|| "the record".to_owned());
    let event = |action: &Action| action.event.clone().unwrap_or_else(|| "updated".to_owned());
    changes.breaking_if(
        "`event`",
        &event(before),
        &event(after),
        "webhooks that subscribe to the old event no longer fire",
    );
    changes.breaking_if("the answer", &key(before), &key(after), "its response changed");
    action_rule::compare(before, after, changes);
    field::compare_all(&fields(&before.input, &after.input), Role::Input, &mut changes.within("input"));
    field::compare_all(&fields(&before.output, &after.output), Role::Output, &mut changes.within("output"));
}
