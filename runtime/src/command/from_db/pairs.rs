//! Tables of pairs, which are links between two resources (`many` with `through`) and need no file of their own.

use charter_core::catalog::Entry;
use charter_core::db::Dialect;
use charter_model::naming;

use super::name::{is_free, is_name, singular};
use super::table::{Column, Reference, Table};
use super::{faults, yaml};

/// Columns that a table of pairs can have besides the references.
const OWN_COLUMNS: [&str; 3] = ["id", "created_at", "updated_at"];

/// The links that a table of pairs stands for.
pub(super) struct Links {
    /// The resource whose records have the links, and whose file gets the field.
    pub holder: &'static str,
    /// The line of the field.
    pub field: String,
    /// The name by which clients read and write the ids.
    pub ids: String,
    /// Changes that a migration must make before the links can use the table.
    pub changes: Vec<String>,
}

/// One end of a pair.
struct End<'t> {
    column: &'t str,
    resource: &'static str,
    /// A resource of the platform has no file.
    has_file: bool,
}

/// The links of a table with exactly two required references, whose pairs are unique. `None` for another table.
pub(super) fn find(dialect: Dialect, table: &str, found: &Table, entries: &[Entry]) -> Option<Links> {
    let ends = found.references.iter().map(|reference| end(reference, found, entries)).collect::<Option<Vec<_>>>()?;
    let [first, second] = ends.as_slice() else { return None };
    let is_end = |name: &str| [first.column, second.column].contains(&name);
    let is_pair = |columns: &[&str]| columns.len() == 2 && is_end(columns[0]) && is_end(columns[1]);
    let is_plain = |column: &Column| is_end(&column.name) || OWN_COLUMNS.contains(&column.name.as_str());
    let columns_of = |index: &super::table::Index| index.columns.clone().filter(|_| !index.partial).unwrap_or_default();
    let unique: Vec<Vec<String>> = found.indexes.iter().filter(|index| index.unique).map(columns_of).collect();
    let is_unique = unique.iter().any(|columns| is_pair(&columns.iter().map(String::as_str).collect::<Vec<_>>()));
    let key: Vec<&str> = found.key().collect();
    if first.column == second.column || !found.columns.iter().all(is_plain) || !(is_unique || is_pair(&key)) {
        return None;
    }
    if !first.has_file && !second.has_file {
        return None;
    }
    let (by, to) = if is_held_by_second(table, first, second) { (second, first) } else { (first, second) };
    let stem = to.column.strip_suffix("_id").unwrap_or(to.column);
    let (field, through) = (naming::plural(stem), singular(table));
    let mut changes = yaml::required_changes(dialect, found);
    let is_field = |name: &str| is_end(name) || OWN_COLUMNS.contains(&name);
    let faults = faults::find(dialect, found, is_field, false);
    changes.extend(faults.into_iter().map(|fault| format!("`{}` {}", fault.column, fault.problem)));
    for (column, wanted) in [(by.column, format!("{}_id", by.resource)), (to.column, format!("{stem}_id"))] {
        if column != wanted {
            changes.push(format!("rename `{column}` to `{wanted}`"));
        }
    }
    for column in found.columns.iter().filter(|column| is_end(&column.name)) {
        if dialect == Dialect::Postgres && column.kind == "integer" {
            changes.push(format!("change `{}` from integer to bigint", column.name));
        }
    }
    if naming::plural(&through) != table {
        changes.push(format!("rename the table to `{}`", naming::plural(&through)));
    }
    let has_set = |wanted: &[&str]| unique.iter().any(|columns| columns == wanted);
    if !has_set(&[by.column, to.column]) {
        changes.push(format!("add a unique index over ({}, {})", by.column, to.column));
    }
    let leads = |index: &super::table::Index| columns_of(index) == [to.column];
    if !found.indexes.iter().any(leads) {
        changes.push(format!("add an index over ({})", to.column));
    }
    let is_possible =
        naming::singular(&field).as_deref() == Some(stem) && is_name(&field) && is_free(&through, entries);
    is_possible.then(|| Links {
        holder: by.resource,
        field: format!("{field}: {{ many: {}, through: {through} }}", to.resource),
        ids: format!("{stem}_ids"),
        changes,
    })
}

/// A required column of whole numbers that refers to the id of a resource.
fn end<'t>(reference: &'t Reference, found: &Table, entries: &[Entry]) -> Option<End<'t>> {
    let [column] = reference.columns.as_slice() else { return None };
    let is_whole = |kind: &str| matches!(yaml::word(kind).0, "bigint" | "int8" | "integer" | "int" | "int4");
    let is_required = |other: &&Column| other.name == *column && !other.nullable && is_whole(&other.kind);
    let entry = entries.iter().find(|entry| entry.meta.table == reference.table)?;
    found.columns.iter().find(is_required).filter(|_| reference.targets == ["id"])?;
    Some(End { column, resource: entry.meta.name, has_file: !entry.behavior.is_platform })
}

/// True if the records of the second reference have the links: the name of the table begins with it, as that of
/// `ticket_tags` does with the ticket, or it alone has a file. Of two references to one resource, the links belong to the one with its name.
fn is_held_by_second(table: &str, first: &End<'_>, second: &End<'_>) -> bool {
    if first.resource == second.resource {
        return second.column == format!("{}_id", second.resource);
    }
    if first.has_file != second.has_file {
        return second.has_file;
    }
    // The first in the name, and of two the longer: `tag_group_tags` begins with `tag` as well.
    let place = |end: &End<'_>| {
        let at = table.find(end.resource).unwrap_or(usize::MAX);
        (at, std::cmp::Reverse(end.resource.len()))
    };
    place(second) < place(first) && place(second).0 != usize::MAX
}
