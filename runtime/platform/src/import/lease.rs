//! Leases: one worker at a time works on an import. After a crash, another takes over when the lease has expired.

use charter_core::db::{Connection, Sql};
use charter_core::error::Result;
use charter_core::ops::State;
use chrono::TimeDelta;

use super::record::ACTIVE;
use crate::attachment::spool::new_uuid;

/// How long a lease lasts after the last portion.
pub(super) const LEASE: TimeDelta = TimeDelta::seconds(15);

/// An import that a worker works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    pub id: i64,
    pub owner: String,
}

impl Claim {
    /// A claim that is not in the table yet.
    pub(super) fn new(id: i64) -> Result<Claim> {
        Ok(Claim { id, owner: new_uuid()?.to_string() })
    }

    /// Takes the lease of an import, in the transaction that requests its work.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn take(&self, state: &State, connection: &Connection) -> Result<()> {
        let mut sql = Sql::new(state.db.dialect(), "UPDATE \"imports\" SET ");
        self.write_lease(&mut sql, state);
        sql.push(" WHERE \"id\" = ").bind(self.id);
        sql.run(connection).await.map(drop)
    }

    fn write_lease(&self, sql: &mut Sql, state: &State) {
        sql.push("\"lease_owner\" = ").bind(self.owner.as_str());
        sql.push(", \"lease_until\" = ").bind(state.clock.now() + LEASE);
    }

    /// Appends the condition that the import is still this worker's, and in a state.
    pub(super) fn write_own(&self, sql: &mut Sql, status: &str) {
        sql.push(" WHERE \"id\" = ").bind(self.id).push(" AND \"lease_owner\" = ").bind(self.owner.as_str());
        sql.push(" AND \"status\" = ").bind(status);
    }
}

/// Claims the oldest import that waits for a worker.
///
/// # Errors
/// When the database fails.
pub(super) async fn claim(state: &State) -> Result<Option<Claim>> {
    let now = state.clock.now();
    let waiting = |sql: &mut Sql| {
        let states = ACTIVE.map(|status| format!("'{status}'")).join(", ");
        sql.push(&format!("\"status\" IN ({states}) AND (\"lease_until\" IS NULL OR \"lease_until\" < "));
        sql.bind(now).push(")");
    };
    // Most of the time nothing waits: a read does not wait for other writers.
    let mut sql = Sql::new(state.db.dialect(), "SELECT \"id\" FROM \"imports\" WHERE ");
    waiting(&mut sql);
    sql.push(" ORDER BY \"id\" LIMIT 1");
    let Some(row) = sql.one(state.db.reader()).await? else { return Ok(None) };
    let claim = Claim::new(row.try_get("", "id")?)?;
    let transaction = state.db.begin().await?;
    let mut sql = Sql::new(state.db.dialect(), "UPDATE \"imports\" SET ");
    claim.write_lease(&mut sql, state);
    sql.push(" WHERE \"id\" = ").bind(claim.id).push(" AND ");
    // PostgreSQL evaluates the condition again on a row that another worker has just claimed.
    waiting(&mut sql);
    let claimed = sql.run(&transaction).await?;
    transaction.commit().await?;
    Ok((claimed == 1).then_some(claim))
}
