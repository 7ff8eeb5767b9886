//! Rights of a caller to the records that includes load.

use crate::catalog::{Catalog, Entry};
use crate::error::{Error, Result};
use crate::meta::{IncludeMeta, IncludeTarget, Kind};
use crate::ops::{Access, Context};
use crate::principal::Principal;
use crate::query::{embedded_names, may_include};

/// Checks that the caller may read what the includes load. An include with declared `fields` shows a part of the record
/// itself and needs no ability, only the permission to read its resource.
///
/// # Errors
/// 403 for the first include that the caller may not read.
pub fn check_access(context: &Context<'_>, entry: &Entry, includes: &[&'static IncludeMeta]) -> Result<()> {
    includes.iter().try_for_each(|include| check_targets(context.catalog(), entry, include, context.caller()))
}

fn check_targets(catalog: &Catalog, entry: &Entry, include: &IncludeMeta, caller: &Principal) -> Result<()> {
    for target in targets(catalog, entry, include)? {
        let access = Access::read(target);
        let abilities = if include.fields.is_empty() { access.abilities } else { Vec::new() };
        Access { abilities, ..access }.check(caller)?;
    }
    Ok(())
}

/// The names that `include` accepts from the caller.
pub fn allowed_names(catalog: &Catalog, entry: &Entry, caller: &Principal) -> Vec<&'static str> {
    let is_allowed = |include: &&IncludeMeta| {
        may_include(entry, include, caller) && check_targets(catalog, entry, include, caller).is_ok()
    };
    let included = entry.meta.includes.iter().filter(is_allowed).map(|include| include.name);
    included.chain(embedded_names(entry, caller)).collect()
}

/// The resources whose records an include can load.
pub(super) fn targets<'c>(catalog: &'c Catalog, entry: &Entry, include: &IncludeMeta) -> Result<Vec<&'c Entry>> {
    let via = match include.target {
        IncludeTarget::CustomFieldValues | IncludeTarget::AllowedActions => return Ok(Vec::new()),
        IncludeTarget::Many { resource, .. } => return Ok(vec![catalog.linked(resource)]),
        IncludeTarget::One { via } | IncludeTarget::Links { field: via } => via,
    };
    let kind = |name| entry.field(name).map(|field| field.kind);
    match kind(via) {
        Some(Kind::Ref { resource } | Kind::Links { resource, .. }) => Ok(vec![catalog.linked(resource)]),
        Some(Kind::PolymorphicRef { type_field }) => match kind(type_field) {
            Some(Kind::PolymorphicType { type_names }) => {
                Ok(type_names.iter().filter_map(|name| catalog.by_type(name)).collect())
            }
            _ => Err(no_reference(include)),
        },
        _ => Err(no_reference(include)),
    }
}

pub(super) fn no_reference(include: &IncludeMeta) -> Error {
    Error::internal(format!("the include `{}` has no reference", include.name))
}
