//! Changes of the rule of an action: its states, condition, permission, and the values that it sets.

use super::{Changes, Effect, lacking, quoted};
use crate::snapshot::{Action, Transition};

pub fn compare(before: &Action, after: &Action, changes: &mut Changes<'_>) {
    match (&before.transition, &after.transition) {
        (Some(before), Some(after)) => states(before, after, changes),
        (None, Some(after)) => {
            changes.push(Effect::Breaking, format!("it is a transition now, and runs only in {}", quoted(&after.from)));
        }
        (Some(_), None) if after.set.is_empty() => {
            changes
                .push(Effect::Internal, "it is no longer a transition: the effect depends on the code of the action");
        }
        (Some(_), None) => changes.push(Effect::Internal, "it is no longer a transition: it runs in each state"),
        (None, None) => {}
    }
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
    let (had_code, has_code) = (has_code(before), has_code(after));
    if had_code && !has_code {
        changes.push(Effect::Internal, "`set` says what it does, in place of the code of the application");
    } else if !had_code && has_code && before.transition.is_none() {
        changes.push(Effect::Internal, "without `set`, the effect depends on the code of the action");
    } else if before.set != after.set {
        changes.push(Effect::Internal, "`set` sets other values");
    }
}

/// True if the application implements the action.
fn has_code(action: &Action) -> bool {
    action.transition.is_none() && action.set.is_empty()
}

fn states(before: &Transition, after: &Transition, changes: &mut Changes<'_>) {
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
}
