//! Usage of existing indexes, by the statistics of PostgreSQL or the query planner of SQLite.

use super::existing::ExistingIndex;
use super::{DeclaredIndex, IndexFinding};
use charter_core::counts;
use charter_core::db::{Dialect, Sql, TRUE};
use charter_core::error::Result;
use charter_core::meta::ResourceMeta;
use charter_core::online_indexes::is_managed;
use charter_core::ops::Context;

/// Smallest number of rows of a table for advice. Scanning a smaller table is as fast as using an index.
const MIN_ROWS: i64 = 10_000;

/// Smallest number of sequential scans that is reported.
const MIN_SEQUENTIAL_SCANS: i64 = 100;

/// Statistics of a table: rows, sequential scans, rows read by them, and the day of the last reset.
const TABLE_STATISTICS: &str = "
    SELECT s.n_live_tup AS rows, s.seq_scan AS scans, s.seq_tup_read AS read,
           coalesce((SELECT to_char(d.stats_reset AT TIME ZONE 'UTC', 'YYYY-MM-DD') FROM pg_stat_database d
                     WHERE d.datname = current_database()), 'the statistics began') AS since
    FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
    WHERE c.relname = {table} AND pg_table_is_visible(c.oid)";

/// Unused indexes and frequent sequential scans of a large table, on PostgreSQL.
pub(super) async fn unused(
    context: &Context<'_>,
    meta: &'static ResourceMeta,
    existing: &[ExistingIndex],
) -> Result<Vec<IndexFinding>> {
    let mut found = Vec::new();
    if context.state().db.dialect() == Dialect::Sqlite {
        return Ok(found);
    }
    let (before, after) = TABLE_STATISTICS.split_once("{table}").unwrap_or_default();
    let mut sql = Sql::new(Dialect::Postgres, before);
    sql.bind(meta.table).push(after);
    let Some(row) = sql.one(context.db()).await? else { return Ok(found) };
    let (rows, scans, read): (i64, i64, i64) =
        (row.try_get("", "rows")?, row.try_get("", "scans")?, row.try_get("", "read")?);
    let since: String = row.try_get("", "since")?;
    if rows < MIN_ROWS {
        return Ok(found);
    }
    let mut advise = |name: &str, problem: String| {
        found.push(IndexFinding { kind: meta.plural, name: name.to_string(), problem, advice: true })
    };
    for index in existing.iter().filter(|index| index.valid && !index.unique && !is_managed(&index.name)) {
        if let Some((0, bytes)) = index.scans_and_bytes {
            advise(&index.name, format!("was not used since {since}, and takes {} KiB", bytes / 1024));
        }
    }
    // Pages without filters stop early. They do not scan the whole table.
    if scans >= MIN_SEQUENTIAL_SCANS && read / scans >= rows / 2 {
        let problem = format!(
            "had {scans} sequential scans of {} rows on average since {since}; `explain=1` shows the plan of a list",
            read / scans
        );
        advise(meta.table, problem);
    }
    Ok(found)
}

/// Advice if SQLite's planner does not use the index of a declaration, on a large table.
pub(super) async fn unused_by_planner(
    context: &Context<'_>,
    meta: &'static ResourceMeta,
    declared: &DeclaredIndex,
    matching: &[&ExistingIndex],
) -> Result<Option<IndexFinding>> {
    let (Some(first), Some(index)) = (declared.fields.first(), matching.first()) else { return Ok(None) };
    // A unique index is used by its constraint.
    if declared.unique || context.state().db.dialect() == Dialect::Postgres {
        return Ok(None);
    }
    // For a small table the planner rightly prefers a scan.
    let mut count = Sql::new(Dialect::Sqlite, "SELECT ");
    counts::write_live_count(&mut count, meta.table);
    let live = count.push(" AS \"live\"").clone().one(context.db()).await?;
    if live.map(|row| row.try_get::<Option<i64>>("", "live")).transpose()?.flatten().unwrap_or(0) < MIN_ROWS {
        return Ok(None);
    }
    let mut sql = Sql::new(Dialect::Sqlite, "EXPLAIN QUERY PLAN SELECT * FROM ");
    sql.name(meta.table).push(" WHERE ").push(if meta.soft_delete { "\"deleted_at\" IS NULL" } else { TRUE });
    if declared.key == "ordered" {
        sql.push(" ORDER BY ").name(first).push(", \"id\" LIMIT 20");
    } else {
        for field in &declared.fields {
            sql.push(" AND ").name(field).push(" = ").bind(1);
        }
    }
    let mut plan = String::new();
    for row in sql.all(context.db()).await? {
        plan.push_str(&row.try_get::<String>("", "detail")?);
        plan.push('\n');
    }
    let indexes = plan.split("INDEX ").skip(1).filter_map(|rest| rest.split([' ', '\n']).next());
    if indexes.into_iter().any(|used| matching.iter().any(|index| index.name == used)) {
        return Ok(None);
    }
    let problem = format!("is declared under `{}`, but SQLite does not use its index `{}`", declared.key, index.name);
    Ok(Some(IndexFinding { kind: meta.plural, name: declared.fields.join(", "), problem, advice: true }))
}
