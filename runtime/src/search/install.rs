//! How the indexes of substrings are made and put right, while others write.
//!
//! Nothing is noted anywhere: an index is complete when its table and its triggers are there. While it is being made
//! others stand in their place, which hold up to an id only, up to which the rows are in the index; each portion is one
//! transaction, so that nobody who writes waits for long.

use std::time::{Duration, Instant};

use super::index::{Index, Upto, drop_index, drop_triggers, names};
use crate::catalog::Catalog;
use crate::context::State;
use crate::db::{Db, Dialect, Sql};
use crate::error::Result;

/// A portion takes about so long, and then the others have their turn.
const TURN: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(5);

/// So many rows are taken first, and never more or fewer than so many.
const FIRST: u64 = 200;
const FEWEST: u64 = 50;
const MOST: u64 = 20_000;

/// So long nothing may happen to an index that is not complete before it is made anew.
const PATIENCE: Duration = Duration::from_secs(2);

/// So long it takes until what the database refused is tried again.
const REST: Duration = Duration::from_secs(5);

/// Keeps the indexes for as long as the server runs. Until one is complete, lists do without.
pub async fn keep(state: &State) {
    if let Err(error) = drop_strays(state).await {
        tracing::warn!(%error, "an index of substrings that nobody asks stays");
    }
    let mut done = settle(state).await;
    loop {
        match done {
            Ok(()) => state.searches.lost.notified().await,
            Err(error) => {
                tracing::error!(%error, "the indexes of substrings are not as they should be; searches are slower");
                tokio::time::sleep(REST).await;
            }
        }
        done = settle_those(state, Others::Stay).await;
    }
}

/// What becomes of an index that another release made of the same table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    /// This one takes its place: who starts last is the later release.
    Go,
    /// This one does without.
    Stay,
}

/// Drops the indexes of tables that nobody searches any more.
async fn drop_strays(state: &State) -> Result<()> {
    if state.db.dialect() == Dialect::Postgres {
        return Ok(());
    }
    let wanted: Vec<Index> = state.catalog.entries().iter().filter_map(Index::of).collect();
    for name in names(state.db.reader(), None).await? {
        if !wanted.iter().any(|index| index.has_place(&name)) {
            drop_alone(&state.db, &name).await?;
        }
    }
    Ok(())
}

async fn drop_alone(db: &Db, name: &str) -> Result<()> {
    let transaction = db.begin_unhurried().await?;
    drop_index(&transaction, name).await?;
    transaction.commit().await
}

/// Makes the indexes that are missing on SQLite, in place of those of another release.
///
/// # Errors
/// When the database refuses a statement; the others have run.
pub async fn settle(state: &State) -> Result<()> {
    settle_those(state, Others::Go).await
}

async fn settle_those(state: &State, others: Others) -> Result<()> {
    let mut done = Ok(());
    if state.db.dialect() == Dialect::Postgres {
        return done;
    }
    for index in state.catalog.entries().iter().filter_map(Index::of) {
        match index.settle(state, others).await {
            Ok(true) => state.searches.put(index.table, &index.name),
            Ok(false) => {}
            Err(error) => done = Err(error),
        }
    }
    done
}

/// Drops the indexes of all tables, or of the resource with this plural name: servers that run do without, and the next
/// one that starts makes them anew.
///
/// # Errors
/// When the database fails.
pub async fn forget(db: &Db, catalog: &Catalog, plural: Option<&str>) -> Result<()> {
    if db.dialect() == Dialect::Postgres {
        return Ok(());
    }
    let entries = catalog.entries().iter().filter(|entry| plural.is_none_or(|plural| entry.meta.plural == plural));
    for table in entries.map(|entry| entry.meta.table) {
        for name in names(db.reader(), Some(table)).await? {
            drop_alone(db, &name).await?;
        }
    }
    Ok(())
}

impl Index {
    /// Makes it, unless it is complete or another process is at it, for which it waits. Answers whether it is there: a later
    /// release may have put its own in its place.
    async fn settle(&self, state: &State, others: Others) -> Result<bool> {
        let mut seen = None;
        loop {
            let there = self.triggers_there(state.db.reader()).await?;
            let names = names(state.db.reader(), Some(self.table)).await?;
            let is_there = names.contains(&self.name);
            if is_there && there == self.triggers(Upto::End) {
                for other in names.iter().filter(|name| others == Others::Go && **name != self.name) {
                    drop_alone(&state.db, other).await?;
                }
                return Ok(true);
            }
            state.searches.remove(self.table);
            if others == Others::Stay && !is_there && !names.is_empty() {
                return Ok(false);
            }
            if is_there && seen.as_ref() != Some(&there) && !there.is_empty() {
                seen = Some(there);
                tokio::time::sleep(PATIENCE).await;
            } else if self.make(state, &there).await? {
                return Ok(true);
            }
        }
    }

    /// Makes it anew. Answers whether that was left to it: `there` is how its triggers were found.
    async fn make(&self, state: &State, there: &[String]) -> Result<bool> {
        let (mut last, mut rows) = (None, FIRST);
        let mut mine = there.to_vec();
        loop {
            let transaction = state.db.begin_unhurried().await?;
            let begun = Instant::now();
            if self.triggers_there(&transaction).await? != mine {
                return Ok(false);
            }
            drop_triggers(&transaction, &self.name).await?;
            if last.is_none() {
                for name in names(&transaction, Some(self.table)).await? {
                    drop_index(&transaction, &name).await?;
                }
                Sql::new(Dialect::Sqlite, self.table_text()).run(&transaction).await?;
            }
            let upto = self.take(&transaction, last, rows).await?;
            mine = self.triggers(upto);
            for text in &mine {
                Sql::new(Dialect::Sqlite, text.clone()).run(&transaction).await?;
            }
            transaction.commit().await?;
            match upto {
                Upto::Id(id) => last = Some(id),
                Upto::End => return Ok(true),
            }
            // Texts may be long.
            let fitting = rows as f64 * TURN.as_secs_f64() / begun.elapsed().as_secs_f64().max(0.001);
            rows = (fitting as u64).clamp(FEWEST, MOST);
            tokio::time::sleep(PAUSE).await;
        }
    }
}
