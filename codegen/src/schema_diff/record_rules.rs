//! Changes of the rules of a whole record: `checks` and `frozen`.

use super::{Changes, Effect};
use crate::snapshot::Resource;

/// The effect of a stricter rule, for clients and for existing rows.
const OLD_ROWS: &str = "records that break it stay as they are, until a write sets one of its fields";

pub fn compare(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    let mut checks = changes.within("checks");
    for (that, now) in &after.checks {
        match before.checks.get(that) {
            None => {
                let message = format!("a record must meet `{that}`");
                checks.push_with(Effect::Breaking, message, Some(OLD_ROWS.to_owned()));
            }
            Some(then) if then != now => {
                checks.push(Effect::Internal, format!("the field or the message of `{that}` changes"));
            }
            Some(_) => {}
        }
    }
    for that in before.checks.keys().filter(|that| !after.checks.contains_key(*that)) {
        checks.push(Effect::Addition, format!("a record need no longer meet `{that}`"));
    }
    let mut changes = changes.within("frozen");
    match (&before.frozen, &after.frozen) {
        (then, now) if then == now => {}
        (_, Some(now)) => {
            changes.push(Effect::Breaking, format!("records with `{now}` are frozen: updates and deletes are refused"));
        }
        (Some(then), None) => changes.push(Effect::Addition, format!("records with `{then}` are no longer frozen")),
        (None, None) => {}
    }
}
