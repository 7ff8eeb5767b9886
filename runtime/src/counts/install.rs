//! The triggers on the tables of the resources, and the count that they begin with.
//!
//! They stand in the database and not in the code that writes, so that whatever writes there is counted: a seed, a
//! migration, an operator with `psql`. The metadata says which records count; a start puts right what is missing.

use std::collections::BTreeMap;

use super::trigger::{PREFIX, triggers};
use crate::catalog::Catalog;
use crate::db::{Connection, Db, Dialect, Lock, Sql};
use crate::error::{Error, Result};
use crate::meta::ResourceMeta;

/// Puts the triggers on each table that lacks some, takes those away that are not wanted any more, and counts those
/// tables. Answers which.
///
/// # Errors
/// When the database fails.
pub async fn install(db: &Db, catalog: &Catalog) -> Result<Vec<&'static str>> {
    let found = installed(db).await?;
    let mut counted = Vec::new();
    for meta in tables(catalog) {
        let wanted: Vec<(String, String)> = triggers(db.dialect(), meta);
        let there = found.get(meta.table).map(Vec::as_slice).unwrap_or_default();
        if wanted.len() == there.len() && wanted.iter().all(|(name, _)| there.contains(name)) {
            continue;
        }
        let transaction = db.begin_without_timeout().await?;
        lock(&transaction, db.dialect(), meta).await?;
        for name in there {
            let on = if db.dialect() == Dialect::Postgres { format!(" ON \"{}\"", meta.table) } else { String::new() };
            Sql::new(db.dialect(), format!("DROP TRIGGER \"{name}\"{on}")).run(&transaction).await?;
        }
        for (_, text) in wanted {
            Sql::new(db.dialect(), text).run(&transaction).await?;
        }
        count(&transaction, db.dialect(), meta).await?;
        transaction.commit().await?;
        counted.push(meta.table);
    }
    Ok(counted)
}

/// Counts tables again, or the one of a resource with this plural name: after rows were loaded with the triggers off.
/// Answers each table with its number of records.
///
/// # Errors
/// When no resource has that name, or the database fails.
pub async fn recount(db: &Db, catalog: &Catalog, plural: Option<&str>) -> Result<Vec<(&'static str, i64)>> {
    let wanted: Vec<_> = tables(catalog).filter(|meta| plural.is_none_or(|plural| meta.plural == plural)).collect();
    if wanted.is_empty() {
        return Err(Error::internal(format!("no resource is called `{}`", plural.unwrap_or_default())));
    }
    let mut totals = Vec::new();
    for meta in wanted {
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

/// The triggers of each table.
async fn installed(db: &Db) -> Result<BTreeMap<String, Vec<String>>> {
    let text = match db.dialect() {
        Dialect::Postgres => {
            "SELECT c.relname::text AS \"table\", t.tgname::text AS \"name\" FROM pg_trigger t \
             JOIN pg_class c ON c.oid = t.tgrelid WHERE pg_table_is_visible(c.oid) AND NOT t.tgisinternal"
        }
        Dialect::Sqlite => "SELECT \"tbl_name\" AS \"table\", \"name\" FROM sqlite_master WHERE \"type\" = 'trigger'",
    };
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in Sql::new(db.dialect(), text).all(db.reader()).await? {
        let (table, name): (String, String) = (row.try_get("", "table")?, row.try_get("", "name")?);
        if name.starts_with(PREFIX) {
            found.entry(table).or_default().push(name);
        }
    }
    Ok(found)
}

/// Keeps every writer of a table out until the transaction ends, and whoever folds its changes. That one first: while it is
/// waited for others write.
async fn lock(transaction: &Connection, dialect: Dialect, meta: &ResourceMeta) -> Result<()> {
    if dialect == Dialect::Postgres {
        Lock::Fold.acquire(transaction).await?;
        let text = format!("LOCK TABLE \"{}\" IN SHARE ROW EXCLUSIVE MODE", meta.table);
        Sql::new(dialect, text).run(transaction).await?;
    }
    Ok(())
}

/// Counts a locked table, and answers how many records it has.
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
