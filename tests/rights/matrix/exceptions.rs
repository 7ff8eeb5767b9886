//! Exceptions: parts of answers that the matrix would forbid and that are intended, each with its reason.

use charter_runtime::catalog::{Catalog, Entry};
use charter_runtime::meta::{DefaultValue, FieldMeta, IncludeTarget, Kind};

use super::callers::Caller;
use super::marker::{Marker, Role};
use super::world::World;

/// Doors whose answers are not compared between the worlds, each with the reason. Markers are looked for all the same.
pub const NOT_COMPARED: &[(&str, &str)] = &[
    ("list: explain", "the plan of the database counts rows; it needs the ability `system:explain`"),
    ("list: estimate", "it is of the database's statistics, which PostgreSQL renews at times of its own"),
    (
        "create: value of a hidden record",
        "a unique value is unique among all records, those that the caller does not see too",
    ),
];

/// Doors whose answers have no hidden records or values, even for the administrator.
pub const SILENT: &[(&str, &str)] = &[
    ("action that reads", "the application's only one converts currencies"),
    ("list: explain", "its plan has no values"),
    ("mcp: list of tools", "it is made from the metadata and the rights of the caller"),
];

pub fn is_silent(door: &str) -> bool {
    SILENT.iter().any(|(other, _)| *other == door)
}

/// Doors that tell the administrator something of some resource, and not of each one that hides something.
const SILENT_OF_SOME: &[(&str, &str)] = &[
    ("list: HEAD", "has the number of records, which differs for resources with hidden ones alone"),
    ("list: page", "shows one record, which may be one without hidden values"),
    ("list: cursor", "shows one record, which may be one without hidden values"),
    ("list: deleted", "most resources have no deleted records"),
    ("list: view", "a view of another resource is refused"),
    ("list: or", "a text is refused as an id"),
    ("list: filter through a relation", "a relation that the record does not show is refused"),
    ("list: sort through a relation", "a relation that the record does not show is refused"),
    ("record: HEAD", "has the length and the tag alone"),
    ("record: 304", "has the tag alone"),
    ("record: 412", "has the tag alone"),
    ("summary", "has the number of records, which differs for resources with hidden ones alone"),
    ("summary: group", "texts and numbers have no groups"),
    ("summary: aggregate", "texts have no sum"),
    ("panel: new", "shows the titles of what the record can refer to"),
    ("panel: bulk", "shows the number of the records"),
    ("panel: cell", "is of the first text, which may be visible to everybody"),
    ("panel: question before a deletion", "shows the title of the record"),
    ("panel: search", "shows the titles of records"),
    ("panel: titles", "shows the titles of records"),
];

/// Doors that tell the administrator nothing of one resource, or all doors of the resource.
const SILENT_OF_ONE: &[(&str, &str, &str)] = &[
    ("", "custom_view", "belongs to its user, and the administrator sees those of others as little"),
    ("list: fields", "attachment", "a list under its record has no hidden files"),
    ("list: filter", "attachment", "a list under its record has no hidden files"),
    ("list: filters", "attachment", "a list under its record has no hidden files"),
    ("list: sort", "attachment", "a list under its record has no hidden files"),
    ("summary: filter", "attachment", "a list under its record has no hidden files"),
    ("summary: filter", "drawer", "a list under its parent has no hidden records"),
    ("panel: list", "product_group", "no column needs a right"),
    ("panel: export as csv", "product_group", "no column needs a right"),
    ("panel: export as ndjson", "product_group", "no column needs a right"),
];

/// True for a door through which the administrator need not learn something of a resource that hides something.
pub fn is_silent_of(door: &str, resource: &str) -> bool {
    SILENT_OF_SOME.iter().any(|(other, _)| *other == door)
        || SILENT_OF_ONE.iter().any(|(other, of, _)| *of == resource && (other.is_empty() || *other == door))
}

pub fn is_compared(door: &str) -> bool {
    !NOT_COMPARED.iter().any(|(other, _)| *other == door)
}

/// True for a resource with a rollup over records that a rule hides: it counts them for everybody (decision 56), because the
/// stored value is the same for all callers. The values of fields that need a right are found in its answers all the same.
pub fn counts_hidden(catalog: &Catalog, entry: &Entry) -> bool {
    let rollups = entry.meta.fields.iter().filter_map(|field| field.rollup);
    rollups.map(|rollup| catalog.linked(rollup.of)).any(|of| of.is_restricted)
}

/// True for a field that changes with each request of its owner, so that its order is a matter of time.
pub fn is_of_the_moment(field: &FieldMeta) -> bool {
    field.name == "last_used_at"
}

/// True if the entity tag of a record is not compared: that of a file has its random uuid, and that of a record with a
/// publication the published value.
pub fn has_other_tag(catalog: &Catalog, entry: &Entry) -> bool {
    entry.is_attached() || entry.meta.fields.iter().any(|field| is_publication(catalog, entry, field))
}

/// True for a door whose entity tag is made of the versions of tables: it tells that something in them has changed, and
/// not what.
pub fn has_tag_of_tables(door: &str) -> bool {
    ["list", "summary", "panel: api"].iter().any(|start| door.starts_with(start))
}

/// True for an export of the audit log: each export is in the log, so that the next one differs by it. The list is compared.
pub fn exports_itself(resource: &str, door: &str) -> bool {
    resource == "audit_entry" && is_export(door)
}

/// True for a door that writes an audit entry. The requests are sent after all others, so that the log does not differ by
/// their order.
pub fn is_export(door: &str) -> bool {
    door.ends_with("csv") || door.ends_with("ndjson")
}

/// True for a derived field of a record that a rule hides: it is a publication, so that everybody who sees the record
/// sees the value, and may filter and sort by it.
pub fn is_publication(catalog: &Catalog, entry: &Entry, field: &FieldMeta) -> bool {
    published(catalog, entry, field).is_some_and(|(target, _)| target.is_restricted)
}

/// The resource and the field that a derived field shows.
fn published<'c>(catalog: &'c Catalog, entry: &Entry, field: &FieldMeta) -> Option<(&'c Entry, &'static str)> {
    let Kind::Derived { via, field } = field.kind else { return None };
    match entry.field(via)?.kind {
        Kind::Ref { resource } => Some((catalog.linked(resource), field)),
        _ => None,
    }
}

/// The markers that a caller sees on records which refer to the record with the marker:
///
/// - the value of a derived field;
/// - the declared fields of an include, which are a part of the record and need no ability;
/// - the smallest or largest value that a rollup over hidden records found;
/// - the value that a default or an action copied from a record which its caller sees.
pub fn publications(world: &World, caller: &Caller) -> Vec<Marker> {
    let catalog = &world.server.state.catalog;
    let mut found = Vec::new();
    for row in &world.rows {
        let entry = catalog.linked(row.resource);
        if !caller.may_read(catalog, catalog.linked(row.holder)) || !caller.sees(entry, row.role) {
            continue;
        }
        for rollup in entry.meta.fields.iter().filter_map(|field| field.rollup) {
            if !catalog.linked(rollup.of).is_restricted {
                continue;
            }
            let Some(name) = rollup.field else { continue };
            let counted = world.rows_of(rollup.of).filter(|other| other.refers.get(rollup.by) == Some(&row.id));
            let roles: Vec<Role> = counted.map(|other| other.role).collect();
            let is_it =
                |marker: &&Marker| (marker.resource, marker.field) == (rollup.of, name) && roles.contains(&marker.role);
            let may_read = |marker: &&Marker| caller.may_read_field(catalog, marker.resource, marker.field);
            found.extend(world.markers.iter().filter(is_it).filter(may_read).cloned());
        }
        let mut show = |via: &str, name: &str, with_row: bool| {
            let Some(Kind::Ref { resource }) = entry.field(via).map(|field| field.kind) else { return };
            let target = catalog.linked(resource);
            let of = row.refers.get(via).and_then(|id| world.rows_of(resource).find(|other| other.id == *id));
            let Some(of) = of.filter(|of| with_row || caller.sees(target, of.role)) else { return };
            let is_it = |marker: &&Marker| (marker.resource, marker.role, marker.field) == (resource, of.role, name);
            let may_read = |marker: &&Marker| caller.may_read_field(catalog, marker.resource, marker.field);
            found.extend(world.markers.iter().filter(is_it).filter(may_read).cloned());
        };
        for field in entry.meta.fields {
            if let Kind::Derived { via, field } = field.kind {
                show(via, field, true);
            }
            // The record of a bridge is one whose value nobody who writes the bridge can copy.
            if let DefaultValue::Expression(text) = field.default
                && let Some((relation, name)) = text.split_once('.')
            {
                show(&format!("{relation}_id"), name, row.role == Role::Open);
            }
        }
        for include in entry.meta.includes {
            if let IncludeTarget::One { via } = include.target {
                include.fields.iter().for_each(|name| show(via, name, false));
            }
        }
    }
    found
}
