//! Locks of the parents of many children, before their triggers lock them one after the other.

use std::collections::BTreeMap;

use super::group::groups;
use crate::catalog::Catalog;
use crate::db::{Connection, Dialect, Sql};
use crate::error::Result;
use crate::meta::ResourceMeta;

/// Locks the parents whose rollups a write of these children changes, in the order of their tables and ids. `new` has the parents
/// that a reference gets. SQLite has one writer at a time.
///
/// # Errors
/// When the database fails, or another transaction holds a parent for too long.
pub async fn lock_parents(
    connection: &Connection,
    catalog: &Catalog,
    child: &ResourceMeta,
    children: &[i64],
    new: impl Fn(&str) -> Vec<i64>,
) -> Result<()> {
    let mut references: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for group in groups(catalog).iter().filter(|group| group.child.name == child.name) {
        references.entry(group.parent.table).or_default().push(group.by);
    }
    for (parent, references) in references {
        let mut ids: Vec<i64> = references.iter().flat_map(|by| new(by)).collect();
        for by in references.iter().filter(|_| !children.is_empty()) {
            let mut sql = Sql::new(Dialect::Postgres, format!("SELECT DISTINCT c.\"{by}\" AS \"id\" FROM "));
            sql.name(child.table).push(" c WHERE ").in_ids("c.\"id\"", children);
            for row in sql.all(connection).await? {
                ids.extend(row.try_get::<Option<i64>>("", "id")?);
            }
        }
        if !ids.is_empty() {
            let mut sql = Sql::new(Dialect::Postgres, "SELECT 1 AS \"one\" FROM ");
            sql.name(parent).push(" t WHERE ").in_ids("t.\"id\"", &ids);
            sql.push(" ORDER BY t.\"id\" FOR NO KEY UPDATE");
            sql.all(connection).await?;
        }
    }
    Ok(())
}
