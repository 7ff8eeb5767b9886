//! The transaction of a write, and what is to follow once it stands.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use sea_orm::{ConnectionTrait, QueryResult};

use super::hooks::RunningHook;
use super::records;
use super::route::RecordHook;
use crate::catalog::Entry;
use crate::context::{Context, State};
use crate::db::Connection;
use crate::error::{Error, Result};
use crate::query::Condition;

/// A transaction that writes. Dropped without a commit it is rolled back, and nothing follows.
#[derive(Debug)]
pub struct Transaction {
    connection: Connection,
    after: Mutex<Vec<After>>,
}

/// A hook that runs once the change stands, with the record as it was stored or, if it is gone, as it was.
struct After {
    hook: RecordHook,
    resource: &'static str,
    row: Arc<QueryResult>,
    /// How deep within hooks the change was made.
    depth: usize,
}

impl Transaction {
    pub async fn begin(state: &State) -> Result<Transaction> {
        Ok(Transaction { connection: state.db.begin().await?, after: Mutex::default() })
    }

    /// One for the write of a request, which may be a single statement.
    pub async fn begin_late(state: &State) -> Result<Transaction> {
        Ok(Transaction { connection: state.db.begin_lazy().await?, after: Mutex::default() })
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// A part of the transaction that leaves no trace when it fails: neither rows nor what was to follow. What is no fault
    /// of the request ends all of it.
    ///
    /// # Errors
    /// A fault of the server or the database, of which the transaction may not recover.
    pub async fn attempt<T>(&self, work: impl Future<Output = Result<T>>) -> Result<Result<T>> {
        let after = || self.after.lock().unwrap_or_else(PoisonError::into_inner);
        let before = after().len();
        self.connection.execute_unprepared("SAVEPOINT charter_part").await?;
        let done = work.await;
        match &done {
            Err(error @ (Error::Internal(_) | Error::Unavailable(_))) => {
                tracing::warn!(%error, "a part of a transaction ended all of it");
                return done.map(Ok);
            }
            Err(_) => {
                self.connection.execute_unprepared("ROLLBACK TO SAVEPOINT charter_part").await?;
                after().truncate(before);
            }
            Ok(_) => {}
        }
        self.connection.execute_unprepared("RELEASE SAVEPOINT charter_part").await?;
        Ok(done)
    }

    /// Commits, and runs what was left for then. A client that goes away meanwhile stops neither.
    pub async fn commit(self, context: &Context<'_>) -> Result<()> {
        let after = self.after.into_inner().unwrap_or_else(PoisonError::into_inner);
        if after.is_empty() {
            return context.state().lasting.to_the_end(self.connection.commit()).await;
        }
        let (state, caller, now) = (context.state_arc().clone(), context.caller().clone(), context.now());
        context
            .state()
            .lasting
            .to_the_end(async move {
                self.connection.commit().await?;
                let context = Context::new(&state, &caller, state.db.reader()).with_now(now);
                for After { hook, resource, row, depth } in after {
                    let run = async {
                        let running = RunningHook::later(resource, "after_commit", depth)?;
                        hook(&context.within_hook(&running), &row).await
                    };
                    let run = AssertUnwindSafe(run).catch_unwind().await;
                    // The change stands: its failure is logged and not answered.
                    if let Err(error) = run.unwrap_or_else(|_| Err(Error::internal("a panic"))) {
                        tracing::error!(%error, resource, "after_commit failed");
                    }
                }
                Ok(())
            })
            .await
    }
}

impl std::fmt::Debug for After {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("After").field("resource", &self.resource).finish_non_exhaustive()
    }
}

/// Leaves the hook that sees a record as it is stored now for when the change stands.
pub async fn after_commit(context: &Context<'_>, entry: &Entry, id: i64) -> Result<()> {
    if entry.route.hooks.after_commit.is_some() {
        let row = records::load(context, entry, id, &Condition::always(), false).await?;
        after_commit_of(context, entry, row.ok_or(Error::NotFound)?);
    }
    Ok(())
}

/// The same for a record that is gone.
pub fn after_commit_of(context: &Context<'_>, entry: &Entry, row: Arc<QueryResult>) {
    if let (Some(hook), Some(transaction)) = (entry.route.hooks.after_commit, context.transaction()) {
        let mut after = transaction.after.lock().unwrap_or_else(PoisonError::into_inner);
        let depth = context.running().map_or(0, RunningHook::depth);
        after.push(After { hook, resource: entry.meta.name, row, depth });
    }
}
