//! SQL that reads the maintained counts.

use crate::db::{Dialect, Sql};

/// Number of consecutive ids in a block. The triggers shift an id right by 12 bits.
pub const BLOCK_IDS: i64 = 1 << 12;

/// Writes the number of records of a table that are not deleted, as a scalar subquery.
pub fn write_live_count(sql: &mut Sql, table: &str) {
    let is_postgres = sql.dialect == Dialect::Postgres;
    sql.push(if is_postgres { "(SELECT SUM(\"live\")::bigint FROM (" } else { "(" });
    sql.push("SELECT \"live\" FROM \"record_totals\" WHERE \"table\" = '").push(table).push("'");
    if is_postgres {
        sql.push(" UNION ALL SELECT \"live\" FROM \"record_changes\" WHERE \"table\" = '").push(table).push("') AS c");
    }
    sql.push(")");
}

/// Bits of a version that count changes.
const CHANGE_BITS: u32 = 40;

/// Start time of PostgreSQL, in the bits of a version above the changes. A standby that takes over may lack the last
/// commits, so that its tables reach the same numbers of changes again with other contents.
const SERVER: &str = "(((EXTRACT(EPOCH FROM pg_postmaster_start_time()) * 1000000)::bigint & 8388607) << 40)";

/// True if a value of version `new` may replace a cached one of version `known`: it is not older, or is of another
/// server.
pub fn supersedes(new: i64, known: i64) -> bool {
    new >= known || (new ^ known) >> CHANGE_BITS != 0
}

/// Writes the sum of these tables' versions, as a scalar subquery. On PostgreSQL it also identifies the server.
pub fn write_versions(sql: &mut Sql, tables: &[&str]) {
    let is_postgres = sql.dialect == Dialect::Postgres;
    if is_postgres {
        sql.push("(SELECT SUM(\"changes\")::bigint + ").push(SERVER).push(" FROM (");
    } else {
        sql.push("(");
    }
    sql.push("SELECT SUM(\"changes\") AS \"changes\" FROM \"record_totals\" WHERE \"table\" IN (");
    write_names(sql, tables);
    sql.push(")");
    if is_postgres {
        sql.push(" UNION ALL SELECT COUNT(*) FROM \"record_changes\" WHERE \"table\" IN (");
        write_names(sql, tables);
        sql.push(")) AS c");
    }
    sql.push(")");
}

/// Writes table names as text literals. Metadata guarantees that they are snake_case.
fn write_names(sql: &mut Sql, tables: &[&str]) {
    for (index, table) in tables.iter().enumerate() {
        sql.push(if index == 0 { "'" } else { ", '" }).push(table).push("'");
    }
}

/// Writes `WITH charter_block AS (...) `. Its row has `first`, the first id of the block in which the page at
/// `offset` begins, and `skipped`, the number of records of that block before the page. There is no row if the table
/// has fewer records.
pub fn write_block_offset(sql: &mut Sql, table: &str, offset: i64) {
    // Sums of bigint are `numeric` on PostgreSQL, which is slower. A row counts at most the records of one block,
    // which fits an int.
    let (block_cast, cast, changes) = match sql.dialect {
        Dialect::Sqlite => ("", "", String::new()),
        Dialect::Postgres => (
            "::int",
            "::bigint",
            format!(" UNION ALL SELECT \"block\", \"live\" FROM \"record_changes\" WHERE \"table\" = '{table}'"),
        ),
    };
    sql.push(&format!("WITH charter_block AS (SELECT \"block\" * {BLOCK_IDS} AS \"first\", ")).bind(offset);
    sql.push(&format!(
        " - \"before\" AS \"skipped\" FROM (SELECT \"block\", \"live\", \
         SUM(\"live\") OVER (ORDER BY \"block\"){cast} - \"live\" AS \"before\" \
         FROM (SELECT \"block\", SUM(\"live\"{block_cast}) AS \"live\" FROM (SELECT \"block\", \"live\" FROM \"record_blocks\" \
         WHERE \"table\" = '{table}'{changes}) AS c GROUP BY 1) AS b) AS p WHERE \"before\" + \"live\" > "
    ));
    sql.bind(offset).push(" ORDER BY \"block\" LIMIT 1) ");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_superseded_by_a_later_one_or_by_another_server() {
        let of = |server: i64, changes: i64| (server << CHANGE_BITS) + changes;
        assert!(supersedes(of(7, 3), of(7, 3)) && supersedes(of(7, 4), of(7, 3)) && !supersedes(of(7, 2), of(7, 3)));
        assert!(supersedes(of(6, 2), of(7, 3)) && supersedes(of(8, 2), of(7, 3)));
        assert!(supersedes(2, 2) && !supersedes(1, 2), "SQLite has one server");
    }
}
