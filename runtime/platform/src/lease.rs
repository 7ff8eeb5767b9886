//! Leases on rows of work: one worker at a time has a row. After a crash, another takes over when the lease has expired.
//!
//! A row has the columns `status`, `lease_owner` and `lease_until`. A result counts only if the row still has the owner of
//! its claim ([`Claim::write_own`]): a worker that lost its lease changes nothing.

use charter_core::db::{Connection, Dialect, Sql};
use charter_core::error::{Error, Result};
use charter_core::ops::State;
use chrono::{DateTime, TimeDelta, Utc};

/// Duration of a lease. A worker extends it every [`KEEP_INTERVAL`].
pub(crate) const LEASE: TimeDelta = TimeDelta::seconds(15);

/// Interval at which a worker extends its lease.
pub(crate) const KEEP_INTERVAL: std::time::Duration = std::time::Duration::from_secs(5);

/// A row that a worker works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    pub id: i64,
    pub owner: String,
}

/// Table of work, and the rows that wait for a worker.
pub(crate) struct Queue<'q> {
    pub table: &'static str,
    /// Appends the condition of rows that wait for a worker or have one.
    pub waiting: &'q (dyn Fn(&mut Sql) + Sync),
    /// Columns of the order in which rows are claimed.
    pub order: &'static str,
    /// Appends assignments to the columns of a claimed row: `, "status" = 'running'`.
    pub begin: &'q (dyn Fn(&mut Sql) + Sync),
}

impl Claim {
    /// A claim that is not in the table yet.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn new(id: i64) -> Result<Claim> {
        Ok(Claim { id, owner: new_owner()? })
    }

    /// Takes the lease of a row, in the transaction that requests its work.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) async fn take(&self, state: &State, table: &'static str, connection: &Connection) -> Result<()> {
        let mut sql = Sql::new(state.db.dialect(), "UPDATE ");
        sql.name(table).push(" SET ");
        write_lease(&mut sql, &self.owner, state.clock.now());
        sql.push(" WHERE \"id\" = ").bind(self.id);
        sql.run(connection).await.map(drop)
    }

    /// Appends the condition that the row is still this worker's, and in a state.
    pub(crate) fn write_own(&self, sql: &mut Sql, status: &str) {
        sql.push(" WHERE \"id\" = ").bind(self.id).push(" AND \"lease_owner\" = ").bind(self.owner.as_str());
        sql.push(" AND \"status\" = ").bind(status);
    }
}

fn new_owner() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Error::internal)?;
    Ok(uuid::Builder::from_random_bytes(bytes).into_uuid().to_string())
}

fn write_lease(sql: &mut Sql, owner: &str, now: DateTime<Utc>) {
    sql.push("\"lease_owner\" = ").bind(owner);
    sql.push(", \"lease_until\" = ").bind(now + LEASE);
}

/// Claims the first row of a queue that waits and has no lease.
///
/// # Errors
/// When the database fails.
pub(crate) async fn claim(state: &State, queue: &Queue<'_>) -> Result<Option<Claim>> {
    let (now, dialect) = (state.clock.now(), state.db.dialect());
    let write_first = |sql: &mut Sql| {
        sql.push("SELECT \"id\" FROM ").name(queue.table).push(" WHERE ");
        (queue.waiting)(sql);
        sql.push(" AND (\"lease_until\" IS NULL OR \"lease_until\" < ").bind(now);
        sql.push(") ORDER BY ").push(queue.order).push(" LIMIT 1");
    };
    // Most of the time nothing waits: a read does not wait for other writers.
    let mut sql = Sql::new(dialect, "");
    write_first(&mut sql);
    if sql.one(state.db.reader()).await?.is_none() {
        return Ok(None);
    }
    let owner = new_owner()?;
    let transaction = state.db.begin().await?;
    let mut sql = Sql::new(dialect, "UPDATE ");
    sql.name(queue.table).push(" SET ");
    write_lease(&mut sql, &owner, now);
    (queue.begin)(&mut sql);
    sql.push(" WHERE \"id\" = (");
    write_first(&mut sql);
    // Concurrent workers claim different rows.
    sql.push(if dialect == Dialect::Postgres { " FOR UPDATE SKIP LOCKED)" } else { ")" }).push(" RETURNING \"id\"");
    let row = sql.one(&transaction).await?;
    transaction.commit().await?;
    row.map(|row| Ok(Claim { id: row.try_get("", "id")?, owner })).transpose()
}
