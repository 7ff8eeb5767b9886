//! Pairs of resources and fields in two snapshots, by name or by `renamed_from`. Nothing is guessed.

use std::collections::{BTreeMap, BTreeSet};

use crate::snapshot::{Field, Kind, Resource, Snapshot};

/// The same resource or field in two snapshots; in only one if it was added or removed.
#[derive(Debug)]
pub struct Pair<'a, T> {
    pub before: Option<&'a T>,
    pub after: Option<&'a T>,
}

/// The earlier snapshot with references under the later names of their resources, so that a rename is reported once,
/// where it is declared. A polymorphic reference stays, because its rows hold the former name.
pub fn followed(before: &Snapshot, after: &Snapshot) -> Snapshot {
    let mut followed = before.clone();
    let pairs = resources(before, after);
    let renames = pairs.iter().filter_map(|pair| Some((pair.before?.name.as_str(), pair.after?.name.as_str())));
    let renames: BTreeMap<&str, &str> = renames.filter(|(then, now)| then != now).collect();
    if renames.is_empty() {
        return followed;
    }
    let follow = |name: &mut String| {
        if let Some(now) = renames.get(name.as_str()) {
            *name = (*now).to_owned();
        }
    };
    let follow_path = |path: &mut String| {
        if let Some((head, tail)) = path.split_once('.')
            && let Some(now) = renames.get(head)
        {
            *path = format!("{now}.{tail}");
        }
    };
    for resource in followed.resources.values_mut() {
        resource.includes.values_mut().for_each(|include| follow_path(&mut include.loads));
        let actions = resource.actions.values_mut();
        let parameters = actions.flat_map(|action| action.input.values_mut().chain(action.output.values_mut()));
        for field in resource.fields.values_mut().chain(parameters) {
            field.rules.get_mut("exists").into_iter().for_each(follow_path);
            match &mut field.kind {
                Kind::Ref { resource } | Kind::RefList { resource } | Kind::Embedded { resource, .. } => {
                    follow(resource)
                }
                _ => {}
            }
        }
    }
    followed
}

/// The resources of two snapshots.
pub fn resources<'a>(before: &'a Snapshot, after: &'a Snapshot) -> Vec<Pair<'a, Resource>> {
    pairs(&before.resources, &after.resources, |resource| resource.renamed_from.as_deref())
}

/// The fields of a resource, an input or an output.
pub fn fields<'a>(before: &'a BTreeMap<String, Field>, after: &'a BTreeMap<String, Field>) -> Vec<Pair<'a, Field>> {
    pairs(before, after, |field| field.renamed_from.as_deref())
}

fn pairs<'a, T>(
    before: &'a BTreeMap<String, T>,
    after: &'a BTreeMap<String, T>,
    renamed_from: impl Fn(&T) -> Option<&str>,
) -> Vec<Pair<'a, T>> {
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    let mut pairs = Vec::new();
    for (name, now) in after {
        // A former name counts until the snapshot has the new one.
        let former = renamed_from(now).filter(|former| !before.contains_key(name) && !after.contains_key(*former));
        let then = before.get_key_value(former.unwrap_or(name));
        let then = then.filter(|(name, _)| taken.insert(name.as_str()));
        pairs.push(Pair { before: then.map(|(_, then)| then), after: Some(now) });
    }
    let gone = before.iter().filter(|(name, _)| !taken.contains(name.as_str()));
    pairs.extend(gone.map(|(_, then)| Pair { before: Some(then), after: None }));
    pairs
}
