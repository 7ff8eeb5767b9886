//! Includes and embedded records in the cache key of a list: all that their content depends on.

use super::include::projection;
use super::include_access::targets;
use super::include_links;
use super::response_cache::CacheKeyBuilder;
use crate::catalog::Entry;
use crate::custom_field;
use crate::db::Sql;
use crate::error::Result;
use crate::meta::{IncludeMeta, IncludeTarget, Kind};
use crate::ops::input::embedded;
use crate::ops::{Context, field_access, visibility};
use crate::query::write_condition;
use crate::record::Shape;

/// Adds everything that the result of [`load`](super::include::load) depends on to the cache key. Computed fields are not covered: they are
/// not cached.
pub(super) fn add_to_cache_key(
    context: &Context<'_>,
    entry: &Entry,
    shape: &Shape,
    includes: &[&'static IncludeMeta],
    cache_key: &mut CacheKeyBuilder,
) -> Result<()> {
    let get = |resource| context.catalog().linked(resource);
    for field in &shape.embedded {
        if let Kind::Embedded { resource, by } = field.kind {
            let target = get(resource);
            cache_key.add(field.name);
            let shown = field_access::shape_of(context, target, embedded::shown(target, by));
            depend_on(context, target, &shown, cache_key)?;
        }
        if let Kind::Links { .. } = field.kind {
            cache_key.add(field.name);
            include_links::add_to_cache_key(context, field, cache_key)?;
        }
    }
    for include in includes {
        cache_key.add(include.name);
        if let IncludeTarget::CustomFieldValues = include.target {
            cache_key.depends_on_table(custom_field::TABLE);
        }
        if let IncludeTarget::Links { field } = include.target
            && let Some(field) = entry.field(field)
        {
            include_links::add_to_cache_key(context, field, cache_key)?;
        }
        for target in targets(context.catalog(), entry, include)? {
            depend_on(context, target, &projection(context, target, include), cache_key)?;
        }
    }
    Ok(())
}

/// Adds the visibility of the target's records, and the columns that the caller may read.
pub(super) fn depend_on(
    context: &Context<'_>,
    target: &Entry,
    shape: &Shape,
    cache_key: &mut CacheKeyBuilder,
) -> Result<()> {
    let visible = visibility::visible(context, target);
    let mut sql = Sql::new(context.state().db.dialect(), "");
    write_condition(&mut sql, &visible);
    cache_key.add(sql.with_literals());
    // The fields that callers may read differ.
    shape.columns.iter().for_each(|column| cache_key.add(&column.key));
    cache_key.depends_on_records(target, shape, &visible);
    Ok(())
}
