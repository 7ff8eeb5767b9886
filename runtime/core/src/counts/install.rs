//! Installs the count triggers on the tables of the resources and counts the existing records.
//!
//! Triggers count every write: seeds, migrations and `psql` sessions included. Each start repairs missing triggers.

use super::trigger::{PREFIX, triggers};
use crate::catalog::Catalog;
use crate::db::{Connection, Db, Dialect, InstalledTrigger, Lock, Sql};
use crate::error::{Error, Result};
use crate::meta::ResourceMeta;

/// Installs the triggers on tables where they are missing or outdated, counts those tables and returns them.
///
/// # Errors
/// When the database fails.
pub async fn install(db: &Db, catalog: &Catalog) -> Result<Vec<&'static str>> {
    let all = InstalledTrigger::with_prefix(db, PREFIX).await?;
    let mut counted = Vec::new();
    for meta in tables(catalog) {
        let desired: Vec<(String, String)> = triggers(db.dialect(), meta);
        let installed: Vec<&InstalledTrigger> = all.iter().filter(|one| one.table == meta.table).collect();
        let is_installed = |name: &String| installed.iter().any(|one| one.name == *name);
        if desired.len() == installed.len() && desired.iter().all(|(name, _)| is_installed(name)) {
            continue;
        }
        let transaction = db.begin_without_timeout().await?;
        lock(&transaction, db.dialect(), meta).await?;
        for one in installed {
            one.drop(&transaction, db.dialect()).await?;
        }
        for (_, text) in desired {
            Sql::new(db.dialect(), text).run(&transaction).await?;
        }
        count(&transaction, db.dialect(), meta).await?;
        transaction.commit().await?;
        counted.push(meta.table);
    }
    Ok(counted)
}

/// Recounts all tables, or the table of the resource with this plural name, after rows were loaded with the triggers
/// disabled. Returns each table with its number of records.
///
/// # Errors
/// No resource has that name, or the database fails.
pub async fn recount(db: &Db, catalog: &Catalog, plural: Option<&str>) -> Result<Vec<(&'static str, i64)>> {
    let selected: Vec<_> = tables(catalog).filter(|meta| plural.is_none_or(|plural| meta.plural == plural)).collect();
    if selected.is_empty() {
        return Err(Error::internal(format!("no resource is called `{}`", plural.unwrap_or_default())));
    }
    let mut totals = Vec::new();
    for meta in selected {
        let transaction = db.begin_without_timeout().await?;
        lock(&transaction, db.dialect(), meta).await?;
        totals.push((meta.table, count(&transaction, db.dialect(), meta).await?));
        transaction.commit().await?;
    }
    Ok(totals)
}

fn tables(catalog: &Catalog) -> impl Iterator<Item = &'static ResourceMeta> {
    catalog.entries().iter().map(|entry| entry.meta)
}

/// Blocks writers of the table and compaction until the transaction ends. The compaction lock comes first, so that
/// writers continue while it is waited for.
async fn lock(transaction: &Connection, dialect: Dialect, meta: &ResourceMeta) -> Result<()> {
    if dialect == Dialect::Postgres {
        Lock::Compact.acquire(transaction).await?;
        let text = format!("LOCK TABLE \"{}\" IN SHARE ROW EXCLUSIVE MODE", meta.table);
        Sql::new(dialect, text).run(transaction).await?;
    }
    Ok(())
}

/// Counts a locked table and returns the number of records.
async fn count(transaction: &Connection, dialect: Dialect, meta: &ResourceMeta) -> Result<i64> {
    let table = meta.table;
    let mut changes = 1;
    if dialect == Dialect::Postgres {
        let sql = Sql::new(dialect, format!("DELETE FROM \"record_changes\" WHERE \"table\" = '{table}'"));
        changes += sql.run(transaction).await?;
    }
    let sql = Sql::new(dialect, format!("DELETE FROM \"record_blocks\" WHERE \"table\" = '{table}'"));
    sql.run(transaction).await?;
    let live = if meta.soft_delete { " WHERE \"deleted_at\" IS NULL" } else { "" };
    let blocks = format!(
        "INSERT INTO \"record_blocks\" (\"table\", \"block\", \"live\") \
         SELECT '{table}', \"id\" >> 12, COUNT(*) FROM \"{table}\"{live} GROUP BY \"id\" >> 12"
    );
    Sql::new(dialect, blocks).run(transaction).await?;
    let total = format!(
        "INSERT INTO \"record_totals\" AS t (\"table\", \"live\", \"changes\") \
         SELECT '{table}', COALESCE(SUM(\"live\"), 0), {changes} FROM \"record_blocks\" WHERE \"table\" = '{table}' \
         ON CONFLICT (\"table\") DO UPDATE SET \"live\" = excluded.\"live\", \
         \"changes\" = t.\"changes\" + excluded.\"changes\" RETURNING \"live\""
    );
    let row = Sql::new(dialect, total).one(transaction).await?;
    Ok(row.map(|row| row.try_get("", "live")).transpose()?.unwrap_or(0))
}
