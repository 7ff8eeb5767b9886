//! The two batched reads: identical statements, and records by id.

use std::sync::Arc;

use sea_orm::DbErr;

use super::batcher::Batcher;
use super::rows::{Rows, SharedRow};
use super::{Connection, Db, Sql};
use crate::client::{Caller, Lane};
use crate::error::Result;
use crate::metrics;

/// Limit on the records of one statement.
const MAX_BATCH_RECORDS: usize = 64;

#[derive(Debug)]
pub(super) struct Batchers {
    identical: Arc<Batcher<(), Arc<Rows>>>,
    records: Arc<Batcher<i64, Option<SharedRow>>>,
}

impl Batchers {
    pub(super) fn new(metrics: &metrics::Database) -> Batchers {
        Batchers {
            identical: Batcher::new("identical", metrics, usize::MAX),
            records: Batcher::new("records", metrics, MAX_BATCH_RECORDS),
        }
    }
}

impl Db {
    /// The rows of a statement. Outside a transaction, concurrent requests for the same statement with the same
    /// values share one execution.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn rows(&self, connection: &Connection, sql: Sql) -> Result<Arc<Rows>> {
        let Connection::Pool(_) = connection else { return Ok(Arc::new(Rows::of_driver(sql.all(connection).await?))) };
        let (reads, kind) = (self.reads.clone(), sql.with_literals().into());
        let run = move |items: Vec<()>| {
            let (reads, sql) = (reads.clone(), sql.clone());
            async move {
                let rows = Arc::new(reads.rows(sql).await?);
                Ok::<_, DbErr>(vec![rows; items.len()])
            }
        };
        self.batchers.identical.submit(kind, (), run).await
    }

    /// The row of `t` with this id. `sql` ends in a condition, to which `AND t.id = ...` is added. `position` is the
    /// id's column in the row. Outside a transaction, concurrent requests for records by the same statement share one
    /// execution.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn record(
        &self,
        connection: &Connection,
        mut sql: Sql,
        id: i64,
        position: usize,
    ) -> Result<Option<SharedRow>> {
        sql.push(" AND ");
        // Bound values belong to one caller, so that no other request has the same statement.
        if matches!(connection, Connection::Transaction(_)) || !sql.values.is_empty() {
            sql.in_ids("t.\"id\"", &[id]);
            return Ok(SharedRow::new(self.rows(connection, sql).await?, 0));
        }
        let (reads, kind): (_, Arc<str>) = (self.reads.clone(), sql.text.as_str().into());
        let run = move |ids: Vec<i64>| {
            let (reads, mut sql) = (reads.clone(), sql.clone());
            async move {
                sql.in_ids("t.\"id\"", &ids);
                let rows = Arc::new(reads.rows(sql).await?);
                let row_ids = rows.iter().map(|row| row.integer(position)).collect::<Result<Vec<_>, _>>()?;
                let row = |id| SharedRow::new(rows.clone(), row_ids.iter().position(|row_id| row_id == id)?);
                Ok::<_, DbErr>(ids.iter().map(row).collect())
            }
        };
        // The statement serves several clients, and is as cheap as the cheapest request.
        let caller = Caller { lane: Lane::Record, ..Caller::SERVER };
        caller.scope(self.batchers.records.submit(kind, id, run)).await
    }
}
