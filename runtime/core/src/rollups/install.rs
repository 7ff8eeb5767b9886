//! Installs the triggers of rollups, and computes the values of existing records.
//!
//! The name of a trigger has a hash of its definition: a changed rollup gets other triggers. On PostgreSQL the values are
//! computed in batches after the triggers are there, so that writers wait for one batch at most. A comment on a trigger says
//! that this was finished.

use std::collections::BTreeSet;

use super::group::{Group, groups};
use super::lock::rank;
use super::{PREFIX, postgres, sqlite};
use crate::catalog::Catalog;
use crate::db::{Connection, Db, Dialect, InstalledTrigger, Sql};
use crate::error::{Error, Result};
use crate::hash::fnv1a;

/// Parents of one batch.
const BATCH_PARENTS: i64 = 5_000;

/// A trigger, and the statements that make it: on PostgreSQL first its function.
pub(super) struct Trigger {
    pub name: String,
    pub statements: Vec<String>,
}

/// Installs missing triggers, drops those of former rollups, and returns the tables whose rollups it computed.
///
/// # Errors
/// When the database fails, or an existing sum does not fit its column.
pub async fn install(db: &Db, catalog: &Catalog) -> Result<Vec<&'static str>> {
    let with_triggers = |group: Group| {
        let all = triggers(db.dialect(), &group);
        (group, all)
    };
    let groups: Vec<(Group, Vec<Trigger>)> = groups(catalog).into_iter().map(with_triggers).collect();
    let installed = InstalledTrigger::with_prefix(db, PREFIX).await?;
    let wanted: BTreeSet<&str> = groups.iter().flat_map(|(_, all)| all.iter().map(|one| one.name.as_str())).collect();
    let obsolete: Vec<&InstalledTrigger> = installed.iter().filter(|one| !wanted.contains(one.name.as_str())).collect();
    let is_done = |trigger: &Trigger| installed.iter().any(|one| one.name == trigger.name && one.has_comment);
    let due: Vec<&(Group, Vec<Trigger>)> = groups.iter().filter(|(_, all)| !all.iter().all(is_done)).collect();
    if obsolete.is_empty() && due.is_empty() {
        return Ok(Vec::new());
    }
    let transaction = db.begin_without_timeout().await?;
    for one in obsolete {
        one.drop(&transaction, db.dialect()).await?;
    }
    for (_, all) in &due {
        for trigger in all.iter() {
            if let Some(one) = installed.iter().find(|one| one.name == trigger.name) {
                one.drop(&transaction, db.dialect()).await?;
            }
            for statement in &trigger.statements {
                Sql::new(db.dialect(), statement.as_str()).run(&transaction).await?;
            }
        }
    }
    if db.dialect() == Dialect::Sqlite {
        for (group, _) in &due {
            compute(&transaction, db.dialect(), group, None).await?;
        }
    }
    transaction.commit().await?;
    if db.dialect() == Dialect::Postgres {
        for (group, all) in &due {
            compute_in_batches(db, group).await?;
            for trigger in all {
                let text =
                    format!("COMMENT ON TRIGGER \"{}\" ON \"{}\" IS 'computed'", trigger.name, group.child.table);
                Sql::new(db.dialect(), text).run(db.writer()).await?;
            }
        }
        drop_functions(db).await?;
    }
    Ok(due.iter().map(|(group, _)| group.parent.table).collect())
}

/// Computes the rollups of all resources again, or those of the resource with this plural name and over its records.
///
/// # Errors
/// When the database fails, or a sum does not fit its column.
pub async fn recompute(db: &Db, catalog: &Catalog, plural: Option<&str>) -> Result<()> {
    for group in groups(catalog) {
        if plural.is_some_and(|plural| group.parent.plural != plural && group.child.plural != plural) {
            continue;
        }
        compute_in_batches(db, &group).await?;
    }
    Ok(())
}

fn triggers(dialect: Dialect, group: &Group) -> Vec<Trigger> {
    let text = group.text(dialect);
    // Two hashes, because all tables share the names of functions and of SQLite's triggers. They follow the rank of the table,
    // because a bulk write locks parents in the order in which the triggers do.
    let rank = rank(group.parent.table);
    let hash = format!("{rank:08x}{:08x}{:08x}", fnv1a(&text), fnv1a(&format!("rollups of {text}")));
    match dialect {
        Dialect::Postgres => postgres::triggers(group, &hash),
        Dialect::Sqlite => sqlite::triggers(group, &hash),
    }
}

/// Drops the functions of PostgreSQL that no trigger calls.
async fn drop_functions(db: &Db) -> Result<()> {
    let text = "SELECT p.proname::text AS \"name\" FROM pg_proc p WHERE pg_function_is_visible(p.oid) \
                AND p.proname LIKE 'charter\\_rollup\\_%' AND NOT EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgfoid = p.oid)";
    for row in Sql::new(db.dialect(), text).all(db.writer()).await? {
        let name: String = row.try_get("", "name")?;
        Sql::new(db.dialect(), format!("DROP FUNCTION IF EXISTS \"{name}\"()")).run(db.writer()).await?;
    }
    Ok(())
}

/// Computes the values of all parents, each batch in a transaction of its own.
async fn compute_in_batches(db: &Db, group: &Group) -> Result<()> {
    let parent = group.parent.table;
    let mut last = i64::MIN;
    loop {
        let transaction = db.begin_without_timeout().await?;
        let mut end = Sql::new(
            db.dialect(),
            format!("SELECT MAX(\"id\") AS \"end\" FROM (SELECT \"id\" FROM \"{parent}\" WHERE \"id\" > "),
        );
        end.bind(last).push(" ORDER BY \"id\" LIMIT ").bind(BATCH_PARENTS).push(") AS batch");
        let end = end.one(&transaction).await?.map_or(Ok(None), |row| row.try_get::<Option<i64>>("", "end"))?;
        let Some(end) = end else { return transaction.commit().await };
        if db.dialect() == Dialect::Postgres {
            // A writer of a child has its parent locked until it commits. The next statement sees what it committed.
            let mut lock = Sql::new(db.dialect(), format!("SELECT 1 AS \"one\" FROM \"{parent}\" WHERE \"id\" > "));
            lock.bind(last).push(" AND \"id\" <= ").bind(end).push(" ORDER BY \"id\" FOR NO KEY UPDATE");
            lock.all(&transaction).await?;
        }
        compute(&transaction, db.dialect(), group, Some((last, end))).await?;
        transaction.commit().await?;
        last = end;
    }
}

/// Sets the values that differ from those of the children, for the parents above the first id and up to the second.
async fn compute(transaction: &Connection, dialect: Dialect, group: &Group, range: Option<(i64, i64)>) -> Result<()> {
    let (parent, child, by) = (group.parent.table, group.child.table, group.by);
    let (mut values, mut set, mut differs) = (Vec::new(), Vec::new(), Vec::new());
    for (index, rollup) in group.rollups.iter().enumerate() {
        let (column, value) = (rollup.column.name, rollup.value(group.child, "c", dialect));
        let of_children = format!("{}(CASE WHEN c.\"id\" IS NOT NULL THEN {value} END)", rollup.aggregate());
        let value = if rollup.is_extreme() { of_children } else { format!("COALESCE({of_children}, 0)") };
        values.push(format!("{value} AS \"v{index}\""));
        set.push(format!("\"{column}\" = v.\"v{index}\""));
        let is_other = if dialect == Dialect::Postgres { "IS DISTINCT FROM" } else { "IS NOT" };
        differs.push(format!("p.\"{column}\" {is_other} v.\"v{index}\""));
    }
    let mut sql = Sql::new(
        dialect,
        format!(
            "UPDATE \"{parent}\" AS p SET {} FROM (SELECT p.\"id\", {} FROM \"{parent}\" AS p \
             LEFT JOIN \"{child}\" AS c ON c.\"{by}\" = p.\"id\"",
            set.join(", "),
            values.join(", ")
        ),
    );
    if let Some((last, end)) = range {
        sql.push(" WHERE p.\"id\" > ").bind(last).push(" AND p.\"id\" <= ").bind(end);
    }
    sql.push(&format!(" GROUP BY p.\"id\") AS v WHERE v.\"id\" = p.\"id\" AND ({})", differs.join(" OR ")));
    sql.run(transaction).await?;
    // PostgreSQL has refused such a number.
    if dialect == Dialect::Sqlite
        && let Some(exceeded) = sqlite::exceeded(group)
    {
        let text = format!("SELECT \"id\" FROM \"{parent}\" WHERE {exceeded} LIMIT 1");
        if let Some(row) = Sql::new(dialect, text).one(transaction).await? {
            let id: i64 = row.try_get("", "id")?;
            return Err(Error::internal(format!("a sum of the record {id} in `{parent}` does not fit its column")));
        }
    }
    Ok(())
}
