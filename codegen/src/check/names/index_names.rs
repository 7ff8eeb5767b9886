//! Index names, which follow from tables and columns: a database allows each name once.

use std::collections::BTreeMap;

use crate::check::Checked;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::migration::table::{Index, IndexKind, Table, owned};
use crate::model::{Resource, Schema};
use crate::snapshot::Snapshot;
use crate::source::Span;

/// Compares the names of all tables, once everything else is valid.
pub fn check(schema: &Checked<Schema>, problems: &mut Problems) {
    let snapshot = Snapshot::of(schema);
    let mut taken: BTreeMap<String, (String, Span)> = BTreeMap::new();
    for resource in schema.declared() {
        let (table, span) = (&resource.table.value, resource.table.span);
        // Tables share the namespace, and so do the primary key and the sequence that PostgreSQL creates.
        for name in [table.clone(), owned(table, "_pkey"), owned(table, "_id_seq")] {
            let what = format!("the table `{table}`");
            let Some((other, first)) = taken.insert(name.clone(), (what.clone(), span)) else { continue };
            let message = format!("{what} uses the name `{name}` on PostgreSQL, and so does {other}");
            let problem = Diagnostic::new(Code::NotIndexable, span, message, "the same name");
            problems.push(problem.related(first, "used here").help("choose another: `table: …`"));
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
            let message = format!("{what} has the name `{name}`, and so does {other}");
            let problem = Diagnostic::new(Code::NotIndexable, span, message, "the same name");
            let problem = if first == span { problem } else { problem.related(first, "used here") };
            problems.push(problem.help("index names consist of the table and the columns: rename one of them"));
        }
    }
}

/// The place of the declaration that asks for an index: the set of these columns, or the first column.
fn place(resource: &Resource, index: &Index) -> Span {
    let unique: Vec<_> = resource.unique.iter().map(|set| &set.fields).collect();
    let sets = if index.kind == IndexKind::Unique { unique } else { resource.indexes.iter().collect() };
    let set = sets.into_iter().find(|set| set.value.iter().map(|name| &name.value).eq(&index.columns));
    let field = || index.columns.first().and_then(|column| resource.field(column)).map(|field| field.name.span);
    set.map(|set| set.span).or_else(field).unwrap_or(resource.name.span)
}
