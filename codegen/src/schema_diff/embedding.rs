//! Changes of what deleting a record does to the records that refer to it: embedded records are deleted with it.

use super::{Changes, Diff, Effect, fields, resources};
use crate::snapshot::{Kind, Resource, Snapshot};

/// Compares existing references whose records become embedded or stop being so.
pub fn compare(before: &Snapshot, after: &Snapshot, diff: &mut Diff) {
    let pairs = resources(before, after);
    for pair in &pairs {
        let (Some(then), Some(now)) = (pair.before, pair.after) else { continue };
        for field in fields(&then.fields, &now.fields) {
            let (Some(old), Some(new)) = (field.before, field.after) else { continue };
            let Kind::Ref { resource: target } = &new.kind else { continue };
            let whole = pairs.iter().find(|pair| pair.after.is_some_and(|resource| resource.name == *target));
            let Some(whole) = whole.filter(|_| old.kind == new.kind) else { continue };
            let went = whole.before.is_some_and(|resource| has(resource, &now.name, &old.name));
            let goes = whole.after.is_some_and(|resource| has(resource, &now.name, &new.name));
            let mut changes = Changes { diff, resource: &now.name, at: format!("fields.{}", new.name) };
            if goes && !went {
                let lost = format!("rows are now deleted with the `{target}` that they refer to");
                let message =
                    format!("deleting the `{target}` now deletes the record; the reference prevented it before");
                changes.push_with(Effect::Addition, message, Some(lost));
            } else if went && !goes {
                let message = format!("the record now prevents deleting the `{target}`; it was deleted with it before");
                changes.push(Effect::Breaking, message);
            }
        }
    }
}

/// True if a resource embeds the records of another by a field.
fn has(whole: &Resource, part: &str, field: &str) -> bool {
    let is_it = |kind: &Kind| kind.dependents().is_some_and(|(resource, by)| resource == part && by == field);
    whole.fields.values().any(|field| is_it(&field.kind))
}
