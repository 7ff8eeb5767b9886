//! Former names that a migration cannot follow. Ignoring one would lose the values that it should keep.

use super::{Step, Unsupported};
use crate::diagnostic::nearest;
use crate::schema_diff::{Pair, fields, resources};
use crate::snapshot::{Field, Kind, Resource, Snapshot};

/// The `renamed_from` declarations that contradict the last snapshot. A rename that is done contradicts nothing: the
/// former name is gone, and the new one exists.
pub fn unsupported(before: &Snapshot, after: &Snapshot) -> Vec<Unsupported> {
    let mut unsupported = Vec::new();
    // The first migration has no values to keep.
    if before.resources.is_empty() {
        return unsupported;
    }
    for (name, now) in &after.resources {
        let leaving = |name: &str| before.resources.contains_key(name) && !after.resources.contains_key(name);
        let gone = before.resources.keys().map(String::as_str).filter(|name| leaving(name));
        let known = before.resources.contains_key(name);
        let former = now.renamed_from.as_deref();
        let contradicts = former.and_then(|former| contradiction(name, former, known, "resource", gone, &leaving));
        unsupported.extend(contradicts.map(|message| Unsupported::of_resource(now, message)));
    }
    for pair in resources(before, after) {
        let Pair { before: Some(then), after: Some(now) } = pair else { continue };
        for pair in fields(&then.fields, &now.fields) {
            let Some(field) = pair.after.filter(|field| field.is_column() && !follows_parent(field, after)) else {
                continue;
            };
            unsupported.extend(of_field(then, now, field));
        }
    }
    unsupported
}

fn of_field(then: &Resource, now: &Resource, field: &Field) -> Option<Unsupported> {
    let leaving = |name: &str| then.fields.get(name).is_some_and(Field::is_column) && !now.fields.contains_key(name);
    let gone = then.fields.keys().map(String::as_str).filter(|name| leaving(name));
    let known = then.fields.get(&field.name).is_some_and(Field::is_column);
    let place = format!("{}.{}", now.name, field.name);
    let message = contradiction(&place, field.renamed_from.as_deref()?, known, "field", gone, &leaving)?;
    Some(Unsupported::of_field(field, message))
}

/// `known`: the last snapshot has the present name too.
fn contradiction<'a>(
    place: &str,
    former: &str,
    known: bool,
    what: &str,
    gone: impl Iterator<Item = &'a str>,
    leaving: &dyn Fn(&str) -> bool,
) -> Option<String> {
    match (known, leaving(former)) {
        (false, true) | (true, false) => None,
        (true, true) => Some(format!(
            "{place}: `{former}` cannot take the name of another {what} in the migration that removes it: remove that one first, and rename `{former}` in the next migration"
        )),
        (false, false) => {
            let help = match nearest(former, gone) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("remove the key for a new {what}"),
            };
            Some(format!("{place}: the last migration has no {what} `{former}` to rename: {help}"))
        }
    }
}

/// True if the field follows from `under`, and so is renamed with its parent.
fn follows_parent(field: &Field, after: &Snapshot) -> bool {
    let Kind::Ref { resource: target } = &field.kind else { return false };
    let parent = after.resources.get(target).and_then(|parent| parent.renamed_from.as_ref());
    parent.is_some_and(|former| field.renamed_from.as_deref() == Some(&format!("{former}_id")))
}

/// Orders renames so that none takes a name that is still in use.
pub fn in_turn(mut renames: Vec<(Step, Unsupported)>, unsupported: &mut Vec<Unsupported>) -> Vec<Step> {
    let names = |(step, _): &(Step, Unsupported)| match step {
        Step::RenameTable { from, to, .. } => (String::new(), from.clone(), to.clone()),
        Step::RenameColumn { table, from, to, .. } => (table.clone(), from.clone(), to.clone()),
        // Index names are unique in the database.
        Step::RenameIndex { from, to, .. } => (String::new(), from.clone(), to.clone()),
        _ => unreachable!("only renames are put in turn"),
    };
    let mut ordered = Vec::new();
    while !renames.is_empty() {
        let is_free = |rename: &(Step, Unsupported)| {
            let (table, _, to) = names(rename);
            !renames.iter().any(|other| names(other).0 == table && names(other).1 == to)
        };
        let Some(at) = renames.iter().position(is_free) else {
            unsupported.push(Unsupported::of_circle(renames.into_iter().map(|(_, called)| called).collect()));
            return ordered;
        };
        ordered.push(renames.remove(at).0);
    }
    ordered
}
