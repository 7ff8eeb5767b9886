//! Locks of the parents of many children, before their triggers lock them one after the other.

use std::collections::{BTreeMap, BTreeSet};

use super::group::of_resource;
use crate::catalog::Catalog;
use crate::db::{Connection, Dialect, Sql};
use crate::error::Result;
use crate::hash::fnv1a;
use crate::meta::ResourceMeta;

/// Children of one resource that a write changes.
pub struct Children<'c> {
    pub meta: &'c ResourceMeta,
    /// Those that are stored.
    pub ids: Vec<i64>,
    /// The references that they get: the field and the id of the parent.
    pub references: Vec<(&'c str, i64)>,
    /// A reference whose parents the caller has locked, or has inserted.
    pub locked: Option<&'c str>,
}

/// Locks the parents whose rollups a write of these children changes, in the order in which their triggers lock them: by table
/// and then by id. PostgreSQL only: SQLite has one writer at a time.
///
/// # Errors
/// When the database fails, or another transaction holds a parent for too long.
pub async fn lock_parents(connection: &Connection, catalog: &Catalog, written: &[Children<'_>]) -> Result<()> {
    let mut parents: BTreeMap<(u32, &str), BTreeSet<i64>> = BTreeMap::new();
    for children in written {
        for (parent, by) in references(catalog, children) {
            let ids = parents.entry((rank(parent), parent)).or_default();
            ids.extend(children.references.iter().filter(|(name, _)| *name == by).map(|(_, id)| *id));
            if !children.ids.is_empty() {
                let mut sql = Sql::new(Dialect::Postgres, format!("SELECT DISTINCT c.\"{by}\" AS \"id\" FROM "));
                sql.name(children.meta.table).push(" c WHERE ").in_ids("c.\"id\"", &children.ids);
                for row in sql.all(connection).await? {
                    ids.extend(row.try_get::<Option<i64>>("", "id")?);
                }
            }
        }
    }
    for ((_, parent), ids) in parents {
        if !ids.is_empty() {
            let ids: Vec<i64> = ids.into_iter().collect();
            let mut sql = Sql::new(Dialect::Postgres, "SELECT 1 AS \"one\" FROM ");
            sql.name(parent).push(" t WHERE ").in_ids("t.\"id\"", &ids);
            sql.push(" ORDER BY t.\"id\" FOR NO KEY UPDATE");
            sql.all(connection).await?;
        }
    }
    Ok(())
}

/// The order of a table among those that one write locks. PostgreSQL fires the triggers of a table in the order of their
/// names, which begin with it.
pub(super) fn rank(parent: &str) -> u32 {
    fnv1a(parent)
}

/// The tables with rollups over these children, each with the reference by which it has them.
fn references<'c>(catalog: &'c Catalog, children: &Children<'_>) -> BTreeSet<(&'c str, &'c str)> {
    let mut found = BTreeSet::new();
    for parent in catalog.entries().iter().map(|entry| entry.meta) {
        let over = of_resource(parent).filter(|(_, rollup)| rollup.of == children.meta.name);
        found.extend(over.map(|(_, rollup)| (parent.table, rollup.by)));
    }
    found.retain(|(_, by)| children.locked != Some(*by));
    found
}
