//! Names of indexes, which follow from tables and columns and must not meet: a database has one of each name.

use std::collections::BTreeMap;

use super::Checked;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::migration::table::{Index, IndexKind, Table, owned};
use crate::model::{Resource, Schema};
use crate::snapshot::Snapshot;
use crate::source::Span;

/// Looks at all tables together, once everything else is right.
pub fn check(schema: &Checked<Schema>, problems: &mut Problems) {
    let snapshot = Snapshot::of(schema);
    let mut taken: BTreeMap<String, (String, Span)> = BTreeMap::new();
    for resource in schema.declared() {
        let (table, span) = (&resource.table.value, resource.table.span);
        // Tables stand among them, and so do what PostgreSQL makes for the key.
        for name in [table.clone(), owned(table, "_pkey"), owned(table, "_id_seq")] {
            let what = format!("the table `{table}`");
            let Some((other, first)) = taken.insert(name.clone(), (what.clone(), span)) else { continue };
            let message = format!("{what} takes the name `{name}` on PostgreSQL, as {other} does");
            let problem = Diagnostic::new(Code::NotIndexable, span, message, "the same name");
            problems.push(problem.related(first, "taken already").help("say another: `table: …`"));
            break;
        }
    }
    for resource in schema.declared() {
        let Some(captured) = snapshot.resources.get(resource.name.as_str()) else { continue };
        let table = Table::of(&snapshot, captured);
        for index in &table.indexes {
            let name = index.name(&table.name);
            let columns = index.columns.join(", ");
            let (what, span) = (format!("the index of `{columns}` in `{}`", table.name), place(resource, index));
            let Some((other, first)) = taken.insert(name.clone(), (what.clone(), span)) else { continue };
            let message = format!("{what} would be called `{name}`, as {other} is");
            let problem = Diagnostic::new(Code::NotIndexable, span, message, "the same name");
            let problem = if first == span { problem } else { problem.related(first, "called so already") };
            problems
                .push(problem.help("the name is made of the table and its columns: call one of them something else"));
        }
    }
}

/// Where an index is asked for: by the set that names these columns, or else by the first of them.
fn place(resource: &Resource, index: &Index) -> Span {
    let sets = if index.kind == IndexKind::Unique { &resource.unique } else { &resource.indexes };
    let set = sets.iter().find(|set| set.value.iter().map(|name| &name.value).eq(&index.columns));
    let field = || index.columns.first().and_then(|column| resource.field(column)).map(|field| field.name.span);
    set.map(|set| set.span).or_else(field).unwrap_or(resource.name.span)
}
