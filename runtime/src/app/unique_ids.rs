//! Check of the start that no table has two records with the same id: a write of one would change both.

use charter_core::catalog::Catalog;
use charter_core::db::{Db, Dialect, Sql};
use charter_core::error::{Error, Result};

/// Tables with a column `id` that neither a primary key nor a unique index has alone.
const POSTGRES: &str = "
    SELECT c.relname::text AS name FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'id' AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
          AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid
                          AND i.indpred IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum)
    ORDER BY 1";
const SQLITE: &str = "
    SELECT t.name FROM pragma_table_list AS t
    WHERE t.schema = 'main' AND t.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) AS c WHERE c.name = 'id')
          AND (SELECT group_concat(c.name) FROM pragma_table_info(t.name) AS c WHERE c.pk > 0) IS NOT 'id'
          AND NOT EXISTS (SELECT 1 FROM pragma_index_list(t.name) AS i WHERE i.\"unique\" = 1 AND i.partial = 0
                          AND (SELECT group_concat(coalesce(x.name, '')) FROM pragma_index_info(i.name) AS x) = 'id')
    ORDER BY 1";

/// # Errors
/// If the `id` of a resource's table is not unique. The message names each such table.
pub(super) async fn check(db: &Db, catalog: &Catalog) -> Result<()> {
    let text = match db.dialect() {
        Dialect::Postgres => POSTGRES,
        Dialect::Sqlite => SQLITE,
    };
    let rows = Sql::new(db.dialect(), text).all(db.reader()).await?;
    let names: Vec<String> = rows.iter().map(|row| row.try_get("", "name")).collect::<Result<_, _>>()?;
    let found: Vec<&String> =
        names.iter().filter(|name| catalog.entries().iter().any(|entry| entry.meta.table == name.as_str())).collect();
    if found.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = found.into_iter().map(|name| format!("`{name}`")).collect();
    Err(Error::internal(format!(
        "`id` is not unique in the table {}: a write would change every record with the id. Make it the primary key",
        names.join(", ")
    )))
}
