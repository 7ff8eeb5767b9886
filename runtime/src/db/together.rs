//! What requests ask together: rows by their ids, the rows of the very same statement, and, on PostgreSQL, statements about
//! rows that they give.

use std::collections::HashSet;
use std::sync::Arc;

use sea_orm::{DbErr, QueryResult, Value};

use super::connection::{Connection, Pool, TransactionPool, Turn};
use super::gather::{Gather, Item};
use super::held::{Held, Kept};
use super::rows::{Rows, SharedRow};
use super::{Db, Dialect, Given, Sql};
use crate::error::{Error, Result};

/// Those who ask.
#[derive(Debug)]
pub(super) struct Together {
    same: Arc<Gather<Same, Arc<Rows>>>,
    records: Arc<Gather<i64, Option<SharedRow>>>,
    rows: Arc<Gather<i64, Option<Arc<QueryResult>>>>,
    given: Arc<Gather<Arc<[Value]>, Option<QueryResult>>>,
}

impl Default for Together {
    fn default() -> Together {
        let spare = Arc::default();
        Together {
            same: Arc::new(Gather::sharing(&spare)),
            records: Arc::new(Gather::sharing(&spare)),
            rows: Arc::new(Gather::sharing(&spare)),
            given: Arc::new(Gather::sharing(&spare)),
        }
    }
}

/// Somebody who asks for what the others ask for.
#[derive(Debug, Clone, Copy)]
struct Same;

/// With whom a statement goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// With those who want the same of other rows.
    Any,
    /// Alone: it may have to wait for another transaction.
    None,
}

/// Where a statement about given rows runs.
#[derive(Debug, Clone)]
enum Place {
    Reads(Pool),
    /// In a turn of those who write: it may wait for another transaction.
    Writes(TransactionPool),
}

impl Place {
    fn pool(&self) -> &Pool {
        match self {
            Place::Reads(pool) => pool,
            Place::Writes(turns) => &turns.pool,
        }
    }

    /// A connection, and the turn in which it is used. Who waits for a turn keeps no connection meanwhile.
    async fn take(&self, kept: Kept) -> Result<(Held, Option<Turn>), DbErr> {
        let (kept, turn) = match self {
            Place::Reads(_) => (kept, None),
            Place::Writes(turns) => match turns.try_turn() {
                Some(turn) => (kept, Some(turn)),
                None => {
                    drop(kept);
                    (None, Some(turns.turn().await?))
                }
            },
        };
        Ok((Held::of(self.pool(), kept).await?, turn))
    }
}

impl Db {
    /// The rows that a statement reads. Those who ask for the very same while it is read are answered together by the next,
    /// where its rows may be shared.
    pub async fn rows(&self, connection: &Connection, sql: Sql) -> Result<Arc<Rows>> {
        let pool = match connection {
            Connection::Pool(pool) if sql.is_shared() => pool.clone(),
            _ => return Ok(Arc::new(sql.rows(connection).await?)),
        };
        if let Some(rows) = self.near.as_ref().and_then(|near| near.read(&sql)) {
            return Ok(rows);
        }
        let kind = sql.written_out().into();
        let read = move |those: Vec<Same>, kept: Kept| {
            let (pool, sql) = (pool.clone(), sql.clone());
            async move {
                let mut held = Held::of(&pool, kept).await?;
                let rows = Arc::new(sql.rows_on(&mut held).await?);
                Ok::<_, DbErr>((vec![rows; those.len()], held.keep()))
            }
        };
        self.together.same.ask(kind, Same, read).await
    }

    /// The row of `t` with an id that `sql` finds, which ends in a condition, to be read only. `position`: that of the id in
    /// the row.
    pub async fn record(
        &self,
        connection: &Connection,
        mut sql: Sql,
        id: i64,
        position: usize,
    ) -> Result<Option<SharedRow>> {
        if let (Connection::Pool(_), Some(near)) = (connection, &self.near) {
            let mut one = sql.clone();
            one.push(" AND t.\"id\" = ").bind(id);
            if let Some(rows) = near.read(&one) {
                return Ok(SharedRow::new(rows, 0));
            }
        }
        let pool = match connection {
            // What is asked of this caller alone nobody else asks.
            Connection::Pool(pool) if sql.values.is_empty() && sql.is_shared() => pool.clone(),
            _ => {
                sql.push(" AND t.\"id\" = ").bind(id);
                return Ok(SharedRow::new(Arc::new(sql.rows(connection).await?), 0));
            }
        };
        sql.push(" AND ");
        let kind: Arc<str> = sql.text.as_str().into();
        let find = move |ids: Vec<i64>, kept: Kept| {
            let (pool, mut sql) = (pool.clone(), sql.clone());
            async move {
                let mut held = Held::of(&pool, kept).await?;
                sql.among("t.\"id\"", &ids);
                let rows = Arc::new(sql.rows_on(&mut held).await?);
                let found = rows.iter().map(|row| row.integer(position)).collect::<Result<Vec<_>, _>>()?;
                let answer = |id| SharedRow::new(rows.clone(), found.iter().position(|known| known == id)?);
                Ok::<_, DbErr>((ids.iter().map(answer).collect(), held.keep()))
            }
        };
        self.together.records.ask(kind, id, find).await
    }

    /// The row of `t` with an id that `sql` finds, which ends in a condition. `position`: that of the id in the row.
    pub async fn row(
        &self,
        connection: &Connection,
        mut sql: Sql,
        id: i64,
        position: usize,
    ) -> Result<Option<Arc<QueryResult>>> {
        let pool = match connection {
            // What is asked of this caller alone nobody else asks.
            Connection::Pool(pool) if sql.values.is_empty() => pool.clone(),
            _ => {
                sql.push(" AND t.\"id\" = ").bind(id);
                return Ok(sql.one(connection).await?.map(Arc::new));
            }
        };
        sql.push(" AND ");
        let kind: Arc<str> = sql.text.as_str().into();
        let find = move |ids: Vec<i64>, kept: Kept| {
            let (pool, sql) = (pool.clone(), sql.clone());
            async move {
                let mut held = Held::of(&pool, kept).await?;
                let mut answers: Vec<Option<Arc<QueryResult>>> = vec![None; ids.len()];
                let mut asked: Vec<usize> = (0..ids.len()).collect();
                while !asked.is_empty() {
                    let (once, again) = match sql.dialect {
                        Dialect::Postgres => (asked, Vec::new()),
                        // Who asks for the same record has a row of its own.
                        Dialect::Sqlite => apart(asked, &ids),
                    };
                    let mut sql = sql.clone();
                    sql.among("t.\"id\"", &once.iter().map(|place| ids[*place]).collect::<Vec<_>>());
                    let mut found = Vec::with_capacity(once.len());
                    for row in held.all(sql).await? {
                        let id: i64 = row.try_get_by_index(position)?;
                        found.push((id, Arc::new(row)));
                    }
                    for place in once {
                        let row = found.iter().find(|(known, _)| *known == ids[place]);
                        answers[place] = row.map(|(_, row)| row.clone());
                    }
                    asked = again;
                }
                Ok::<_, DbErr>((answers, held.keep()))
            }
        };
        self.together.rows.ask(kind, id, find).await
    }

    /// What a statement answers for the row that it is given. In a transaction that has not begun it is all of it, and
    /// stands by itself, whoever waits for it; where it finds nothing it has done nothing, and other statements may follow.
    pub async fn given(&self, connection: &Connection, given: Given, company: Company) -> Result<Option<QueryResult>> {
        let (statement, row) = given.split();
        let place = match connection {
            Connection::Pool(pool) => Place::Reads(pool.clone()),
            Connection::Transaction(unit) => match unit.not_begun() {
                Some(pool) => Place::Writes(pool.clone()),
                None => return statement.of_one(&row).one(connection).await,
            },
        };
        let kind = match company {
            Company::Any => statement.kind(&row),
            Company::None => None,
        };
        let answer = match kind {
            Some(kind) => {
                let statement = Arc::new(statement);
                let run = move |rows: Vec<Arc<[Value]>>, kept: Kept| {
                    let (place, statement) = (place.clone(), statement.clone());
                    async move {
                        let (mut held, _turn) = place.take(kept).await?;
                        let answers = statement.run(&mut held, &rows).await?;
                        Ok((answers, held.keep()))
                    }
                };
                self.together.given.ask(kind, row, run).await?
            }
            None => {
                let run = tokio::spawn(async move {
                    let (mut held, _turn) = place.take(None).await?;
                    statement.run(&mut held, &[row]).await
                });
                run.await.map_err(Error::internal)??.pop().flatten()
            }
        };
        if let Connection::Transaction(unit) = connection {
            unit.end(answer.is_some());
        }
        Ok(answer)
    }
}

/// The places of those ids that stand for the first time, and of the others.
fn apart(places: Vec<usize>, ids: &[i64]) -> (Vec<usize>, Vec<usize>) {
    let mut seen = HashSet::with_capacity(places.len());
    places.into_iter().partition(|place| seen.insert(ids[*place]))
}

impl Item for Same {
    /// They all want one answer.
    fn share(waiting: usize) -> usize {
        waiting
    }

    fn bytes(&self) -> usize {
        0
    }
}

impl Item for i64 {
    fn bytes(&self) -> usize {
        size_of::<i64>()
    }
}
