//! The pieces of SQL that read what the triggers keep.

use super::matches::Matches;
use super::trigger::RECENT;
use crate::db::{Dialect, Sql, TRUE};

/// So many ids in a row are a block: the bits that the triggers cut off.
pub const BLOCK: i64 = 1 << 12;

/// So many records that changed are looked at one by one; of more, all that are found are counted again.
const MOST: i64 = 2_000;
const _: () = assert!(MOST < RECENT);

/// Writes the number of records of a table that are not deleted, as one scalar.
pub fn write_live(sql: &mut Sql, table: &str) {
    let of_postgres = sql.dialect == Dialect::Postgres;
    sql.push(if of_postgres { "(SELECT SUM(\"live\")::bigint FROM (" } else { "(" });
    sql.push("SELECT \"live\" FROM \"record_totals\" WHERE \"table\" = '").push(table).push("'");
    if of_postgres {
        sql.push(" UNION ALL SELECT \"live\" FROM \"record_changes\" WHERE \"table\" = '").push(table).push("') AS c");
    }
    sql.push(")");
}

/// Writes how often any of these tables has changed, as one scalar. It is part of what each list asks.
pub fn write_changes(sql: &mut Sql, tables: &[&str]) {
    let of_postgres = sql.dialect == Dialect::Postgres;
    sql.push(if of_postgres { "(SELECT SUM(\"changes\")::bigint FROM (" } else { "(" });
    sql.push("SELECT SUM(\"changes\") AS \"changes\" FROM \"record_totals\" WHERE \"table\" IN (");
    write_names(sql, tables);
    sql.push(")");
    if of_postgres {
        sql.push(" UNION ALL SELECT COUNT(*) FROM \"record_changes\" WHERE \"table\" IN (");
        write_names(sql, tables);
        sql.push(")) AS c");
    }
    sql.push(")");
}

/// Names of tables as texts. They come from metadata, where they are snake_case.
fn write_names(sql: &mut Sql, tables: &[&str]) {
    for (index, table) in tables.iter().enumerate() {
        sql.push(if index == 0 { "'" } else { ", '" }).push(table).push("'");
    }
}

/// Writes `WITH ..., charter_place AS (...) `: the first id of the block in which the page behind so many records begins, and how
/// many records of that block are before the page. No row when there are not so many records.
///
/// It is looked for among stretches of 64 blocks first: to add up each block of ten million records takes three times as long
/// as the page.
pub fn write_place(sql: &mut Sql, table: &str, offset: i64) {
    // Sums of bigint are numeric on PostgreSQL, which is slower; one row tells of a block's records at most.
    let (small, cast) = match sql.dialect {
        Dialect::Sqlite => ("", ""),
        Dialect::Postgres => ("::int", "::bigint"),
    };
    // What is kept of each stretch or block, and what has happened to it since.
    let summed = |by: &str, kept: &str, within: &str| {
        let column = if by == "stretch" { "\"block\" >> 6" } else { "\"block\"" };
        let changes = match sql.dialect {
            Dialect::Sqlite => String::new(),
            Dialect::Postgres => format!(
                " UNION ALL SELECT {column}, \"live\" FROM \"record_changes\" WHERE \"table\" = '{table}'{}",
                within.replace("{block}", "\"block\"")
            ),
        };
        format!(
            "(SELECT \"{by}\", SUM(\"live\"{small}) AS \"live\" FROM (SELECT \"{by}\", \"live\" FROM \"{kept}\" \
             WHERE \"table\" = '{table}'{}{changes}) AS c GROUP BY 1)",
            within.replace("{block}", "\"block\"")
        )
    };
    let before = |by: &str| format!("SUM(\"live\") OVER (ORDER BY \"{by}\"){cast} - \"live\"");
    let stretches = summed("stretch", "record_stretches", "");
    let here = "(SELECT \"stretch\" FROM charter_stretch)";
    let blocks =
        summed("block", "record_blocks", &format!(" AND {{block}} >= {here} << 6 AND {{block}} < ({here} + 1) << 6"));
    sql.push(&format!(
        "WITH charter_stretch AS (SELECT \"stretch\", \"before\" FROM (SELECT \"stretch\", \"live\", {} AS \"before\" \
         FROM {stretches} AS s) AS s WHERE \"before\" + \"live\" > ",
        before("stretch")
    ));
    sql.bind(offset).push(" ORDER BY \"stretch\" LIMIT 1), ");
    sql.push(&format!("charter_place AS (SELECT \"block\" * {BLOCK} AS \"first\", ")).bind(offset);
    sql.push(&format!(
        " - \"before\" AS \"skipped\" FROM (SELECT \"block\", \"live\", (SELECT \"before\" FROM charter_stretch) + {} \
         AS \"before\" FROM {blocks} AS b) AS p WHERE \"before\" + \"live\" > ",
        before("block")
    ));
    sql.bind(offset).push(" ORDER BY \"block\" LIMIT 1) ");
}

/// What tells a later statement which changes this one sees, as one scalar of text.
pub fn write_snapshot(sql: &mut Sql) {
    sql.push(match sql.dialect {
        Dialect::Postgres => "pg_current_snapshot()::text",
        // The number of changes says it.
        Dialect::Sqlite => "''",
    });
}

/// Writes the ids of a column as one text, with commas between them; null when there are none.
pub fn write_ids(sql: &mut Sql, column: &str) {
    match sql.dialect {
        Dialect::Postgres => sql.push("string_agg(").push(column).push("::text, ',')"),
        Dialect::Sqlite => sql.push("group_concat(").push(column).push(", ',')"),
    };
}

/// Whether what a statement sees can be carried on from, as one scalar: not while a writer is at it that is older than the
/// changes that are kept.
pub fn write_lasting(sql: &mut Sql, table: &str) {
    match sql.dialect {
        Dialect::Postgres => sql.push(&format!(
            "(SELECT \"floor\" IS NULL OR \"floor\" < pg_snapshot_xmin(pg_current_snapshot()) FROM \"record_totals\" \
             WHERE \"table\" = '{table}')"
        )),
        Dialect::Sqlite => sql.push(TRUE),
    };
}

/// Writes `WITH charter_recent AS (...), charter_changed AS (...) `: in the first in its only row whether all records are known that changed
/// since these were found, and are few enough to look at each; in the second their ids, if so.
pub fn write_changed(sql: &mut Sql, table: &str, since: &Matches) {
    match sql.dialect {
        Dialect::Postgres => {
            sql.push("WITH charter_seen AS MATERIALIZED (SELECT ")
                .bind(since.snapshot())
                .push("::pg_snapshot AS \"before\"), ");
            // Rows of transactions that were under way then are behind the oldest of them.
            sql.push(&format!(
                "charter_batch AS MATERIALIZED (SELECT \"ids\" FROM charter_seen, \"record_recent\" WHERE \"table\" = '{table}' \
                 AND \"xid\" >= pg_snapshot_xmin(\"before\") AND NOT pg_visible_in_snapshot(\"xid\", \"before\") \
                 UNION ALL SELECT \"ids\" FROM charter_seen, \"record_changes\" WHERE \"table\" = '{table}' \
                 AND NOT pg_visible_in_snapshot(\"xid\", \"before\") LIMIT {MOST}), \
                 charter_recent AS MATERIALIZED (SELECT COUNT(*) < {MOST} AND COUNT(*) = COUNT(\"ids\") \
                 AND COALESCE(SUM(cardinality(\"ids\")), 0) < {MOST} AND (SELECT \"floor\" IS NULL \
                 OR \"floor\" < pg_snapshot_xmin(\"before\") FROM charter_seen, \"record_totals\" WHERE \"table\" = '{table}') \
                 AS \"complete\" FROM charter_batch), \
                 charter_changed AS MATERIALIZED (SELECT DISTINCT unnest(\"ids\") AS \"id\" FROM charter_batch \
                 WHERE (SELECT \"complete\" FROM charter_recent)) "
            ));
        }
        Dialect::Sqlite => {
            sql.push("WITH charter_recent AS MATERIALIZED (SELECT ").bind(since.changes());
            sql.push(&format!(
                " >= MAX(COALESCE(\"floor\", 0), \"changes\" - {MOST}) AS \"complete\" FROM \"record_totals\" \
                 WHERE \"table\" = '{table}'), charter_changed AS MATERIALIZED (SELECT DISTINCT \"id\" FROM \"record_recent\" \
                 WHERE \"table\" = '{table}' AND (SELECT \"complete\" FROM charter_recent) AND \"change\" > "
            ));
            sql.bind(since.changes()).push(") ");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_statement_is_called_as_a_table_may_be() {
        for dialect in [Dialect::Sqlite, Dialect::Postgres] {
            let mut sql = Sql::new(dialect, "");
            write_place(&mut sql, "blocks", 5_000);
            write_changed(&mut sql, "blocks", &Matches::read(1, "1:1:", Some("1")).expect("a set"));
            let text = sql.text;
            let names: Vec<&str> = text
                .match_indices(" AS ")
                .filter(|(at, _)| [" AS (SELECT", " AS MATERIALIZED"].iter().any(|w| text[*at..].starts_with(w)))
                .map(|(at, _)| text[..at].rsplit([' ', '(']).next().unwrap_or_default())
                .collect();
            assert!(names.len() >= 4 && names.iter().all(|name| name.starts_with("charter_")), "{names:?}");
        }
    }
}
