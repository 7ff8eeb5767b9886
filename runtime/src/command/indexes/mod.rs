//! Check of `doctor` for missing, invalid and unused indexes.

mod existing;
mod usage;

use existing::ExistingIndex;

use charter_core::db::Dialect;
use charter_core::error::Result;
use charter_core::meta::{FieldMeta, Kind, ResourceMeta, UniqueMeta};
use charter_core::ops::Context;

/// A remark about an index or a table.
#[derive(Debug)]
pub(super) struct IndexFinding {
    /// The plural of the resource.
    pub kind: &'static str,
    /// The fields, or the index.
    pub name: String,
    /// A clause whose subject is either.
    pub problem: String,
    /// Not a problem.
    pub advice: bool,
}

/// An index that a resource declares.
#[derive(Debug)]
struct DeclaredIndex {
    /// The key that declares it: `indexes`.
    key: &'static str,
    fields: Vec<&'static str>,
    /// The leading index columns: columns, and `folded <column>`.
    columns: Vec<String>,
    unique: bool,
    /// It has a condition of its own.
    partial: bool,
    substrings: bool,
    /// It is sorted with nulls first.
    nulls_first: bool,
}

/// Missing and invalid indexes, unused indexes, and frequent sequential scans of large tables. With pending migrations, no index is
/// reported as missing.
pub(super) async fn findings(context: &Context<'_>, migrated: bool) -> Result<Vec<IndexFinding>> {
    let mut found = Vec::new();
    let dialect = context.state().db.dialect();
    for entry in context.catalog().entries() {
        let existing = existing::read(context, entry.meta.table).await?;
        for declared in declared(dialect, entry.meta).into_iter().filter(|_| migrated) {
            let matching: Vec<&ExistingIndex> =
                existing.iter().filter(|index| declared.matches(dialect, entry.meta, index)).collect();
            if matching.iter().any(|index| index.valid) {
                found.extend(usage::unused_by_planner(context, entry.meta, &declared, &matching).await?);
                continue;
            }
            let problem = match matching.first() {
                Some(invalid) => {
                    format!(
                        "is declared under `{}`, but its index `{}` is invalid: recreate it",
                        declared.key, invalid.name
                    )
                }
                None => format!("is declared under `{}`, but the index is missing", declared.key),
            };
            found.push(IndexFinding {
                kind: entry.meta.plural,
                name: declared.fields.join(", "),
                problem,
                advice: false,
            });
        }
        found.extend(usage::unused(context, entry.meta, &existing).await?);
    }
    Ok(found)
}

/// The indexes that a resource declares and that exist on this database.
fn declared(dialect: Dialect, meta: &'static ResourceMeta) -> Vec<DeclaredIndex> {
    let plain = |key, fields: &[&'static str], unique| DeclaredIndex {
        key,
        fields: fields.to_vec(),
        columns: fields.iter().map(ToString::to_string).collect(),
        unique,
        partial: false,
        substrings: false,
        nulls_first: false,
    };
    let unique = |set: UniqueMeta| {
        let mut index = DeclaredIndex { partial: set.rows.is_some(), ..plain("unique", set.fields, true) };
        if set.ignore_case {
            let text = |name: &str| meta.fields.iter().any(|field| field.name == name && is_folded(field));
            for name in index.columns.iter_mut().filter(|name| text(name)) {
                *name = format!("folded {name}");
            }
        }
        index
    };
    let mut declared: Vec<DeclaredIndex> = meta.unique_sets().map(unique).collect();
    declared.extend(meta.indexes.iter().map(|set| plain("indexes", set, false)));
    for field in meta.fields.iter().filter(|field| meta.ordered.contains(&field.name)) {
        let mut order = plain("ordered", &[field.name], false);
        order.nulls_first = field.nullable;
        if is_folded(field) {
            order.columns.insert(0, format!("folded {}", field.name));
        }
        // SQLite has no index for the order of text, which would depend on a function of the application.
        if dialect == Dialect::Postgres || !is_folded(field) {
            declared.push(order);
        }
    }
    for &name in meta.search.iter().filter(|_| dialect == Dialect::Postgres) {
        let columns = vec![format!("folded {name}")];
        declared.push(DeclaredIndex { columns, substrings: true, ..plain("search", &[name], false) });
    }
    declared
}

/// True if lists sort the field by its case-folded text.
fn is_folded(field: &FieldMeta) -> bool {
    matches!(field.kind, Kind::String { .. } | Kind::Text | Kind::Enum { .. } | Kind::PolymorphicType { .. })
}

impl DeclaredIndex {
    /// True if an existing index serves as this one, if it is valid.
    fn matches(&self, dialect: Dialect, meta: &ResourceMeta, index: &ExistingIndex) -> bool {
        // A case-insensitive unique index is narrower than the declared one, and finds the same rows.
        let is_same = |(existing, declared): (&String, &String)| {
            existing == declared || self.unique && *existing == format!("folded {declared}")
        };
        let has_prefix =
            index.columns.len() >= self.columns.len() && index.columns.iter().zip(&self.columns).all(is_same);
        let is_unique = if self.unique { index.unique && index.columns.len() == self.columns.len() } else { true };
        let has_rows = match self.partial {
            true => index.partial && !index.live,
            false => !index.partial || index.live && meta.soft_delete,
        };
        // SQLite always sorts nulls first.
        let has_nulls = !self.nulls_first || index.nulls_first || dialect == Dialect::Sqlite;
        has_prefix && is_unique && has_rows && has_nulls && index.substrings == self.substrings
    }
}
