//! Changes of a transition: its states, guard, permission, and the values that it sets.

use super::{Changes, Effect, lacking, quoted};
use crate::snapshot::Transition;

pub fn compare(before: Option<&Transition>, after: Option<&Transition>, changes: &mut Changes<'_>) {
    match (before, after) {
        (Some(before), Some(after)) => both(before, after, changes),
        (None, Some(after)) => {
            changes.push(Effect::Breaking, format!("it is a transition now, and runs only in {}", quoted(&after.from)));
        }
        (Some(_), None) => {
            changes
                .push(Effect::Internal, "it is no longer a transition: the effect depends on the code of the action");
        }
        (None, None) => {}
    }
}

fn both(before: &Transition, after: &Transition, changes: &mut Changes<'_>) {
    changes.breaking_if("the field of the state", &before.field, &after.field, "it changes another field");
    let fewer = lacking(&before.from, &after.from);
    if !fewer.is_empty() {
        changes.push(Effect::Breaking, format!("it no longer runs in {}", quoted(fewer)));
    }
    let more = lacking(&after.from, &before.from);
    if !more.is_empty() {
        changes.push(Effect::Addition, format!("it also runs in {}", quoted(more)));
    }
    changes.breaking_if("`to`", &before.to, &after.to, "it leads to another state");
    match (&before.guard, &after.guard) {
        (then, now) if then == now => {}
        (Some(then), None) => changes.push(Effect::Addition, format!("the condition `{then}` is removed")),
        (_, Some(now)) => {
            changes.push(Effect::Breaking, format!("it needs `{now}`: requests for other records are refused"));
        }
        (None, None) => {}
    }
    match (&before.permission, &after.permission) {
        (then, now) if then == now => {}
        (Some(then), None) => {
            changes.push(Effect::Addition, format!("the permission `{then}` is no longer needed"));
        }
        (_, Some(now)) => changes.push(Effect::Breaking, format!("the permission `{now}` is needed")),
        (None, None) => {}
    }
    if before.set != after.set {
        changes.push(Effect::Internal, "`set` sets other values");
    }
}
