//! Lowering of rollups: the reference of the other resource, and the types, which follow from its fields.

use charter_model::rollup_type;

use super::field::ResourceContext;
use crate::diagnostic::Problems;
use crate::model::{Kind, Resource, Rollup};
use crate::syntax::rollup::RollupSyntax;

/// The rollup with the field that refers to this resource. None if that is ambiguous, which is reported.
pub fn lower(written: &RollupSyntax, context: &ResourceContext<'_>, problems: &mut Problems) -> Option<Rollup> {
    let RollupSyntax { function, resource, field, rows, .. } = written.clone();
    let by = context.links.by(&resource, &written.by, context.resource.as_str(), problems)?;
    Some(Rollup { function, resource, by, field, rows })
}

/// Completes the types of rollups without a declared one, when the fields of all resources are known. One whose type does
/// not follow keeps an unknown type; the check reports it.
pub fn complete(resources: &mut [Resource]) {
    let kind_of = |rollup: &Rollup| {
        let child = resources.iter().find(|resource| resource.name.value == rollup.resource.value)?;
        let field = match &rollup.field {
            Some(name) => Some(child.field(name.as_str())?.kind.known()?),
            None => None,
        };
        rollup_type(rollup.function, field)
    };
    let mut found = Vec::new();
    for (at, resource) in resources.iter().enumerate() {
        for (position, field) in resource.fields.iter().enumerate() {
            let Some(rollup) = field.rollup.as_ref().filter(|_| field.kind.is_unknown()) else { continue };
            found.extend(kind_of(rollup).map(|kind| (at, position, kind)));
        }
    }
    for (at, position, kind) in found {
        resources[at].fields[position].kind = Kind::Known(kind);
    }
}

/// The index of a smallest and a largest value, which is searched again when its record goes: by the reference, then the
/// value.
pub fn indexes(resources: &mut [Resource]) {
    let mut wanted: Vec<(String, String, String)> = Vec::new();
    for rollup in resources.iter().flat_map(|resource| &resource.fields).filter_map(|field| field.rollup.as_ref()) {
        if let (true, Some(field)) = (rollup.is_extreme(), &rollup.field) {
            let key = (rollup.resource.value.clone(), rollup.by.value.clone(), field.value.clone());
            if !wanted.contains(&key) {
                wanted.push(key);
            }
        }
    }
    for (name, by, field) in wanted {
        for resource in resources.iter_mut().filter(|resource| resource.name.value == name) {
            let has = |name: &str| resource.field(name).is_some_and(|field| field.is_column());
            if has(&by) && has(&field) {
                resource.rolled_up.push((by.clone(), field.clone()));
            }
        }
    }
}
