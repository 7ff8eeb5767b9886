//! Existing indexes of a table, from the catalogs of the database.

use charter_core::db::{Dialect, Sql};
use charter_core::error::Result;
use charter_core::ops::Context;

#[derive(Debug)]
pub(super) struct ExistingIndex {
    pub name: String,
    /// Columns, `folded <column>`, or other expressions as the database writes them.
    pub columns: Vec<String>,
    pub unique: bool,
    pub partial: bool,
    /// Its condition is `deleted_at IS NULL`.
    pub live: bool,
    pub substrings: bool,
    pub nulls_first: bool,
    /// False if its creation was interrupted.
    pub valid: bool,
    /// Number of scans since the statistics were reset, and size in bytes. SQLite has no such statistics.
    pub scans_and_bytes: Option<(i64, i64)>,
}

/// Selects the columns of an index as one text, one per line: no name or expression of an index contains a line break.
const SQLITE: &str = "
    SELECT i.name, i.\"unique\" = 1 AS is_unique, i.partial = 1 AS is_partial, 0 AS nulls_first, 1 AS is_valid,
           replace(coalesce(s.sql, ''), '\"', '') LIKE '% WHERE deleted_at IS NULL' AS live, 0 AS substrings, 0 AS used, 0 AS bytes,
           (SELECT group_concat(keyed, char(10)) FROM (
                SELECT CASE x.coll WHEN 'NOCASE' THEN 'folded ' ELSE '' END || coalesce(x.name, 'an expression') AS keyed
                FROM pragma_index_xinfo(i.name) AS x WHERE x.key = 1 ORDER BY x.seqno)) AS keys
    FROM pragma_index_list({table}) AS i LEFT JOIN sqlite_schema AS s ON s.name = i.name";

const POSTGRES: &str = "
    SELECT x.relname::text AS name, i.indisunique AS is_unique, i.indpred IS NOT NULL AS is_partial,
           i.indoption[0] & 2 = 2 AS nulls_first, i.indisvalid AS is_valid,
           coalesce(pg_get_expr(i.indpred, i.indrelid), '') = '(deleted_at IS NULL)' AS live,
           pg_get_indexdef(i.indexrelid) LIKE '%gin_trgm_ops%' AS substrings,
           coalesce(s.idx_scan, 0) AS used, pg_relation_size(i.indexrelid) AS bytes,
           (SELECT string_agg(pg_get_indexdef(i.indexrelid, n, true), E'\\n' ORDER BY n)
            FROM generate_series(1, i.indnkeyatts::int) AS n) AS keys
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
         LEFT JOIN pg_stat_user_indexes s ON s.indexrelid = i.indexrelid
    WHERE c.relname = {table} AND pg_table_is_visible(c.oid) ORDER BY 1";

/// The indexes of a table; empty if the table does not exist.
pub(super) async fn read(context: &Context<'_>, table: &str) -> Result<Vec<ExistingIndex>> {
    let dialect = context.state().db.dialect();
    let (before, after) =
        if dialect == Dialect::Sqlite { SQLITE } else { POSTGRES }.split_once("{table}").unwrap_or_default();
    let mut sql = Sql::new(dialect, before);
    sql.bind(table).push(after);
    let mut found = Vec::new();
    for row in sql.all(context.db()).await? {
        let flag = |column: &str| row.try_get::<bool>("", column);
        let columns: Option<String> = row.try_get("", "keys")?;
        let scans_and_bytes = (row.try_get("", "used")?, row.try_get("", "bytes")?);
        found.push(ExistingIndex {
            name: row.try_get("", "name")?,
            columns: columns.unwrap_or_default().lines().map(column).collect(),
            unique: flag("is_unique")?,
            partial: flag("is_partial")?,
            live: flag("live")?,
            substrings: flag("substrings")?,
            nulls_first: flag("nulls_first")?,
            valid: flag("is_valid")?,
            scans_and_bytes: (dialect == Dialect::Postgres).then_some(scans_and_bytes),
        });
    }
    Ok(found)
}

/// A column or expression: `charter_fold(email::text)` becomes `folded email`.
fn column(written: &str) -> String {
    match written.strip_prefix("charter_fold(").and_then(|rest| rest.strip_suffix(')')) {
        Some(folded) => format!("folded {}", folded.split("::").next().unwrap_or(folded).trim_matches(['"', '(', ')'])),
        None => written.trim_matches('"').to_string(),
    }
}
