//! Fan-out: a delivery for each new event and each webhook that receives it.

use chrono::{DateTime, Utc};

use super::condition;
use super::subscriptions::{insert_deliveries, receives_sql};
use charter_core::db::{Dialect, Sql};
use charter_core::error::Result;
use charter_core::ops::State;

/// Maximum number of events, and of deliveries unless a single event has more, in one fan-out transaction. It holds
/// SQLite's only write lock and must finish within the statement timeout.
const MAX_BATCH_EVENTS: usize = 500;
pub(super) const MAX_BATCH_DELIVERIES: usize = 10_000;

/// A webhook receives events from one minute before its creation, because the clocks of two processes may differ.
const CLOCK_SKEW: &str = "1 minute";

/// Writes the query for the oldest `limit` events that were not fanned out.
///
/// The order has all columns of the partial index: ordered by `id` alone, PostgreSQL may scan the primary key through
/// all past events.
pub fn write_pending_events(sql: &mut Sql, limit: usize) {
    sql.push("SELECT \"id\" FROM \"events\" WHERE \"fanned_out_at\" IS NULL ORDER BY \"fanned_out_at\", \"id\"");
    sql.push(&format!(" LIMIT {limit}"));
}

/// Result of one fan-out transaction.
#[derive(Debug, Clone, Copy, Default)]
pub struct FannedOut {
    pub events: usize,
    /// The batch was full, which means that more events may be pending.
    pub may_have_more: bool,
}

/// Creates a delivery of each new event for each active webhook that receives it, in one transaction of limited size.
/// Events and webhooks stay locked until the commit: no other process fans the same events out, and no webhook is
/// disabled in the meantime. Webhooks are locked in the order of their ids, as everywhere, which prevents deadlocks.
pub async fn fan_out(state: &State, now: DateTime<Utc>) -> Result<FannedOut> {
    let (db, dialect, catalog) = (&state.db, state.db.dialect(), &state.catalog);
    // Check without a transaction first, which needs no write lock.
    let mut pending = Sql::new(dialect, "");
    write_pending_events(&mut pending, 1);
    if pending.one(db.reader()).await?.is_none() {
        return Ok(FannedOut::default());
    }
    let active = Sql::new(dialect, "SELECT COUNT(*) AS \"count\" FROM \"webhooks\" WHERE \"is_active\"");
    let active: i64 = active.one(db.reader()).await?.map_or(Ok(0), |row| row.try_get("", "count"))?;
    let limit = (MAX_BATCH_DELIVERIES / usize::try_from(active).unwrap_or(0).max(1)).clamp(1, MAX_BATCH_EVENTS);
    let mut pending = Sql::new(dialect, "");
    write_pending_events(&mut pending, limit);
    let transaction = db.begin().await?;
    if dialect == Dialect::Postgres {
        pending.push(" FOR UPDATE SKIP LOCKED");
    }
    let rows = pending.all(&transaction).await?;
    let ids = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<Vec<i64>, _>>()?;
    if ids.is_empty() {
        return Ok(FannedOut::default());
    }
    let mut sql = insert_deliveries(catalog, dialect, now, false);
    sql.push(" WHERE w.\"is_active\" AND ");
    if dialect == Dialect::Postgres {
        // A request that disables a webhook cancels its pending deliveries. This lock makes it wait until the new ones
        // are visible.
        let mut subscribed =
            Sql::new(dialect, "SELECT w.\"id\" FROM \"webhooks\" w WHERE w.\"is_active\" AND EXISTS (");
        subscribed
            .push("SELECT 1 FROM \"events\" e WHERE ")
            .push(&receives_sql(catalog, dialect))
            .push(" AND ")
            .in_ids("e.\"id\"", &ids);
        subscribed.push(") ORDER BY w.\"id\" FOR SHARE");
        let rows = subscribed.all(&transaction).await?;
        let locked = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<Vec<i64>, _>>()?;
        sql.in_ids("w.\"id\"", &locked).push(" AND ");
    }
    match dialect {
        Dialect::Postgres => sql.push(&format!("w.\"created_at\" - interval '{CLOCK_SKEW}' <= e.\"created_at\"")),
        Dialect::Sqlite => {
            sql.push(&format!("datetime(w.\"created_at\", '-{CLOCK_SKEW}') <= datetime(e.\"created_at\")"))
        }
    };
    sql.push(" AND ").in_ids("e.\"id\"", &ids);
    let excluded = condition::excluded(state, &transaction, None, &ids).await?;
    if !excluded.is_empty() {
        sql.push(" AND NOT EXISTS (SELECT 1 FROM ");
        let pairs = excluded.into_iter().map(|(webhook, event)| serde_json::json!([webhook, event]));
        sql.values_table(pairs.collect(), &[("webhook_id", "bigint"), ("event_id", "bigint")]);
        sql.push(" AS x WHERE x.\"webhook_id\" = w.\"id\" AND x.\"event_id\" = e.\"id\")");
    }
    sql.push(" ON CONFLICT (\"event_id\", \"webhook_id\") DO NOTHING");
    sql.run(&transaction).await?;
    let mut sql = Sql::new(dialect, "UPDATE \"events\" SET \"fanned_out_at\" = ");
    sql.bind(now).push(" WHERE ").in_ids("\"id\"", &ids);
    sql.run(&transaction).await?;
    transaction.commit().await?;
    Ok(FannedOut { events: ids.len(), may_have_more: ids.len() == limit })
}
