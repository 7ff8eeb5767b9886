//! Rights of fields: the projection of a resource that a caller may read, and the check of the fields that a body sets.

use std::borrow::Cow;

use crate::catalog::{Catalog, Entry};
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{Access, FieldMeta, Kind, Shown};
use crate::ops::input::embedded::matching;
use crate::ops::{Changes, Context};
use crate::principal::Principal;
use crate::record::Shape;

/// The fields of a list item that the caller may read.
pub fn list_shape<'e>(context: &Context<'_>, entry: &'e Entry) -> Cow<'e, Shape> {
    match hides_any(context, entry) {
        true => shape_of(context, entry, entry.meta.fields.iter().filter(|field| field.shown == Shown::Always)),
        false => Cow::Borrowed(&entry.list),
    }
}

/// A projection of those fields that the caller may read.
pub fn shape_of<'e>(
    context: &Context<'_>,
    entry: &Entry,
    fields: impl Iterator<Item = &'static FieldMeta>,
) -> Cow<'e, Shape> {
    Cow::Owned(entry.shape(fields.filter(|field| entry.may_read_field(field, context.caller()))))
}

/// True if the caller may not read some field of the resource, or of the records that are embedded in it.
pub fn hides_any(context: &Context<'_>, entry: &Entry) -> bool {
    entry.has_field_rights && entry.meta.fields.iter().any(|field| hides(context, entry, field))
}

/// True if the caller may not read a field, or some field of the records that it embeds.
pub fn hides(context: &Context<'_>, entry: &Entry, field: &FieldMeta) -> bool {
    let has = |right: &str| context.caller().has_right(right);
    !entry.may_read_field(field, context.caller()) || !hidden_in(context.catalog(), field, has).is_empty()
}

/// The names of the fields of an embedded record whose right `has` denies; none for any other field.
pub fn hidden_in(catalog: &Catalog, field: &FieldMeta, has: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let Kind::Embedded { resource, .. } = field.kind else { return Vec::new() };
    let part = catalog.linked(resource);
    part.meta.fields.iter().filter(|field| !has(part.read_right(field))).map(|field| field.name).collect()
}

/// Lets the resource's hook narrow a projection to what the caller may read.
pub fn narrow(context: &Context<'_>, entry: &Entry, shape: &mut Cow<'_, Shape>) {
    if let Some(hook) = context.route(entry).hooks.narrow {
        hook(context, shape.to_mut());
    }
}

/// Keeps the values of a body for fields that the caller may not read: no response has them, so that nobody sends them back
/// unchanged, and a guess that changes nothing would tell the stored value.
pub fn keep_unread(context: &Context<'_>, entry: &Entry, changes: &mut Changes) {
    let is_shown = |field: &FieldMeta| !matches!(field.access, Access::Secret | Access::WriteOnly);
    changes.keep_unread(|field| is_shown(field) && entry.may_read_field(field, context.caller()));
}

/// Checks the fields that a body sets, after unchanged ones were dropped, also those of embedded records: what a client has
/// read it can send back. `id` is that of the record, `None` for a new one.
///
/// # Errors
/// [`Error::FieldsForbidden`] with every field that the caller may not set; those of the database.
pub async fn check_writes(context: &Context<'_>, changes: &mut Changes, id: Option<i64>) -> Result<()> {
    matching::match_sent(context, changes, id).await?;
    let mut errors = FieldErrors::default();
    let mut check = |changes: &Changes, prefix: &str| {
        for (field, _) in changes.iter() {
            if let Some(right) = missing_write_right(context.caller(), field) {
                errors.add(format!("{prefix}{}", field.name), format!("requires the permission `{right}`"));
            }
        }
    };
    check(&*changes, "");
    for set in &changes.embedded {
        for (index, changes) in set.set_values() {
            check(changes, &format!("{}.{index}.", set.field().name));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(Error::FieldsForbidden(errors)) }
}

/// The right that the caller lacks to set a field.
pub fn missing_write_right(caller: &Principal, field: &FieldMeta) -> Option<&'static str> {
    let right = if field.write.is_empty() { field.read } else { field.write };
    // The ability that reading needs says nothing about writing.
    let is_allowed = right.contains(':') && field.write.is_empty() || caller.has_right(right);
    (!is_allowed).then_some(right)
}
