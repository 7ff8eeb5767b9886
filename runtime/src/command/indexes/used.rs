//! What a database does with the indexes that it has. PostgreSQL counts that; of SQLite the planner is asked.

use super::present::Present;
use super::{Remark, Wanted};
use crate::context::Context;
use crate::counts;
use crate::db::{Dialect, Sql, TRUE};
use crate::error::Result;
use crate::meta::ResourceMeta;
use crate::online_indexes::is_managed;

/// Of a table with fewer records an index tells nothing by not being used: reading all of it is as quick.
const LARGE: i64 = 10_000;

/// A table that was read as a whole so often is told.
const OFTEN: i64 = 100;

/// What PostgreSQL has counted of a table: its rows, how often it was read from one end, how many rows that took in all, and
/// since when. Statistics that were never reset began with the database.
const COUNTED: &str = "
    SELECT s.n_live_tup AS rows, s.seq_scan AS scans, s.seq_tup_read AS read,
           coalesce((SELECT to_char(d.stats_reset AT TIME ZONE 'UTC', 'YYYY-MM-DD') FROM pg_stat_database d
                     WHERE d.datname = current_database()), 'they began') AS since
    FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
    WHERE c.relname = {table} AND pg_table_is_visible(c.oid)";

/// The indexes of a large table that nothing has used, and whether the table is often read without one.
pub async fn unused(context: &Context<'_>, meta: &'static ResourceMeta, there: &[Present]) -> Result<Vec<Remark>> {
    let mut found = Vec::new();
    if context.state().db.dialect() == Dialect::Sqlite {
        return Ok(found);
    }
    let (before, after) = COUNTED.split_once("{table}").unwrap_or_default();
    let mut sql = Sql::new(Dialect::Postgres, before);
    sql.bind(meta.table).push(after);
    let Some(row) = sql.one(context.db()).await? else { return Ok(found) };
    let (rows, scans, read): (i64, i64, i64) =
        (row.try_get("", "rows")?, row.try_get("", "scans")?, row.try_get("", "read")?);
    let since: String = row.try_get("", "since")?;
    if rows < LARGE {
        return Ok(found);
    }
    let mut advise = |name: &str, problem: String| {
        found.push(Remark { kind: meta.plural, name: name.to_string(), problem, advice: true })
    };
    for index in there.iter().filter(|index| index.valid && !index.unique && !is_managed(&index.name)) {
        if let Some((0, bytes)) = index.used {
            advise(&index.name, format!("was never used by statistics since {since}, and takes {} KiB", bytes / 1024));
        }
    }
    // Pages without a filter end early: those are no reads of the whole.
    if scans >= OFTEN && read / scans >= rows / 2 {
        let what = format!(
            "was read as a whole {scans} times since {since}, {} rows each time: `explain=1` tells of a list why",
            read / scans
        );
        advise(meta.table, what);
    }
    Ok(found)
}

/// Whether SQLite's planner leaves an index of a large table alone that is there for a question.
pub async fn unplanned(
    context: &Context<'_>,
    meta: &'static ResourceMeta,
    wanted: &Wanted,
    fitting: &[&Present],
) -> Result<Option<Remark>> {
    let (Some(first), Some(index)) = (wanted.fields.first(), fitting.first()) else { return Ok(None) };
    // What keeps values apart has its use by that.
    if wanted.unique || context.state().db.dialect() == Dialect::Postgres {
        return Ok(None);
    }
    // What SQLite knows of a small table may well be that reading all of it is cheaper.
    let mut kept = Sql::new(Dialect::Sqlite, "SELECT ");
    counts::write_live_count(&mut kept, meta.table);
    let live = kept.push(" AS \"live\"").clone().one(context.db()).await?;
    if live.map(|row| row.try_get::<Option<i64>>("", "live")).transpose()?.flatten().unwrap_or(0) < LARGE {
        return Ok(None);
    }
    let mut sql = Sql::new(Dialect::Sqlite, "EXPLAIN QUERY PLAN SELECT * FROM ");
    sql.name(meta.table).push(" WHERE ").push(if meta.soft_delete { "\"deleted_at\" IS NULL" } else { TRUE });
    if wanted.word == "ordered" {
        sql.push(" ORDER BY ").name(first).push(", \"id\" LIMIT 20");
    } else {
        for field in &wanted.fields {
            sql.push(" AND ").name(field).push(" = ").bind(1);
        }
    }
    let mut plan = String::new();
    for row in sql.all(context.db()).await? {
        plan.push_str(&row.try_get::<String>("", "detail")?);
        plan.push('\n');
    }
    let indexes = plan.split("INDEX ").skip(1).filter_map(|rest| rest.split([' ', '\n']).next());
    if indexes.into_iter().any(|used| fitting.iter().any(|index| index.name == used)) {
        return Ok(None);
    }
    let problem = format!("is declared under `{}`, and SQLite does not use its index `{}`", wanted.word, index.name);
    Ok(Some(Remark { kind: meta.plural, name: wanted.fields.join(", "), problem, advice: true }))
}
