//! The pieces of SQL that read what the triggers keep.

use crate::db::{Dialect, Sql};

/// So many ids in a row are a block: the bits that the triggers cut off.
pub const BLOCK: i64 = 1 << 12;

/// Writes the number of records of a table that are not deleted, as one scalar.
pub fn write_live(sql: &mut Sql, table: &str) {
    let kept = format!("SELECT \"live\" FROM \"record_totals\" WHERE \"table\" = '{table}'");
    match sql.dialect {
        Dialect::Sqlite => sql.push(&format!("({kept})")),
        Dialect::Postgres => sql.push(&format!(
            "(SELECT SUM(\"live\")::bigint FROM ({kept} UNION ALL SELECT \"live\" FROM \"record_changes\" \
             WHERE \"table\" = '{table}') AS c)"
        )),
    };
}

/// Writes how often any of these tables has changed, as one scalar.
pub fn write_changes(sql: &mut Sql, tables: &[&str]) {
    let tables = tables.iter().map(|table| format!("'{table}'")).collect::<Vec<_>>().join(", ");
    let kept = format!("SELECT SUM(\"changes\") AS \"changes\" FROM \"record_totals\" WHERE \"table\" IN ({tables})");
    match sql.dialect {
        Dialect::Sqlite => sql.push(&format!("({kept})")),
        Dialect::Postgres => sql.push(&format!(
            "(SELECT SUM(\"changes\")::bigint FROM ({kept} UNION ALL SELECT COUNT(*) FROM \"record_changes\" \
             WHERE \"table\" IN ({tables})) AS c)"
        )),
    };
}

/// Writes `WITH place AS (...) `: the first id of the block in which the page behind so many records begins, and how many
/// records of that block are before the page. No row when there are not so many records.
pub fn write_place(sql: &mut Sql, table: &str, offset: i64) {
    let kept = format!("SELECT \"block\", \"live\" FROM \"record_blocks\" WHERE \"table\" = '{table}'");
    let blocks = match sql.dialect {
        Dialect::Sqlite => kept,
        Dialect::Postgres => format!(
            "SELECT \"block\", SUM(\"live\")::bigint AS \"live\" FROM ({kept} UNION ALL SELECT \"block\", \"live\" \
             FROM \"record_changes\" WHERE \"table\" = '{table}') AS c GROUP BY \"block\""
        ),
    };
    let cast = if sql.dialect == Dialect::Postgres { "::bigint" } else { "" };
    sql.push(&format!("WITH place AS (SELECT \"block\" * {BLOCK} AS \"first\", "));
    sql.bind(offset).push(&format!(
        " - \"before\" AS \"skipped\" FROM (SELECT \"block\", \"live\", \
         SUM(\"live\") OVER (ORDER BY \"block\"){cast} - \"live\" AS \"before\" FROM ({blocks}) AS b) AS p \
         WHERE \"before\" + \"live\" > "
    ));
    sql.bind(offset).push(" ORDER BY \"block\" LIMIT 1) ");
}
