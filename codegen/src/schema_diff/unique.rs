//! Changes of the unique sets of a resource.

use super::resource::renamed;
use super::{Changes, Effect, fields, lacking};
use crate::snapshot::{Resource, UniqueSet};

pub fn compare(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    // A set stays the same under the new names of its fields.
    let renamed = |set: &UniqueSet| UniqueSet {
        fields: set.fields.iter().map(|name| renamed(after, before, name)).collect(),
        ..set.clone()
    };
    let then: Vec<UniqueSet> = before.unique.iter().map(renamed).collect();
    let mut changes = changes.within("unique");
    for set in lacking(&after.unique, &then) {
        let (what, must) = (set.described(), must_be_unique(set));
        if is_permuted(set, &then) && after.soft_delete == before.soft_delete {
            changes.push(Effect::Internal, format!("the order of the columns is {what}"));
        } else if was_unique(before, after, &then, set) {
            changes.push(Effect::Internal, format!("{what} {must}, and already were"));
        } else {
            let stops = format!("rows with the same {what} stop the migration");
            changes.push_with(Effect::Breaking, format!("{what} {must}"), Some(stops));
        }
    }
    for set in lacking(&then, &after.unique).into_iter().filter(|set| !is_permuted(set, &after.unique)) {
        changes.push(Effect::Addition, format!("{} can repeat", set.described()));
    }
}

fn must_be_unique(set: &UniqueSet) -> &'static str {
    if set.fields.len() > 1 { "must be unique together" } else { "must be unique" }
}

/// True if one of the sets has the same fields in another order.
fn is_permuted(set: &UniqueSet, sets: &[UniqueSet]) -> bool {
    sets.iter().any(|other| {
        (&set.rows, set.ignore_case, set.fields.len()) == (&other.rows, other.ignore_case, other.fields.len())
            && set.fields.iter().all(|name| other.fields.contains(name))
    })
}

/// True if existing rows satisfy a new unique set: a subset of its fields was unique before, in the same rows or in all, and with
/// the same values.
fn was_unique(before: &Resource, after: &Resource, then: &[UniqueSet], set: &UniqueSet) -> bool {
    let pairs = fields(&before.fields, &after.fields);
    let earlier = |name: &String| {
        pairs.iter().find(|pair| pair.after.is_some_and(|field| field.name == *name)).and_then(|pair| pair.before)
    };
    let is_filled = |name: &String| match (earlier(name), after.fields.get(name)) {
        (Some(then), Some(now)) => then.nullable && !now.nullable || then.kind != now.kind,
        _ => true,
    };
    let alone = |name: &&String| earlier(name).is_some_and(|field| field.rules.contains_key("unique"));
    let alone =
        set.fields.iter().filter(alone).map(|name| UniqueSet { fields: vec![name.clone()], ..UniqueSet::default() });
    let mut sets: Vec<UniqueSet> = alone.collect();
    sets.extend(then.iter().cloned());
    let is_stricter = |those: &UniqueSet| {
        those.fields.iter().all(|name| set.fields.contains(name) && !is_filled(name))
            && (those.rows.is_none() || those.rows == set.rows)
            && (those.ignore_case || !set.ignore_case)
    };
    (after.soft_delete || !before.soft_delete) && sets.iter().any(is_stricter)
}
