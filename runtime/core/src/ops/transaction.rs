//! Write transactions, their savepoints, and the `after_commit` hooks and other work that run after they commit.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use sea_orm::{ConnectionTrait, QueryResult};

use super::hooks::RunningHook;
use super::records;
use super::route::BoxFuture;
use crate::catalog::Entry;
use crate::db::Connection;
use crate::error::{Error, Result};
use crate::ops::{Context, State};
use crate::query::Condition;

/// A write transaction. Dropped without a commit, it rolls back and no hook runs.
#[derive(Debug)]
pub struct Transaction {
    connection: Connection,
    pending_hooks: Mutex<Vec<PendingHook>>,
    /// Records that its deletions changed or deleted by `on_delete`.
    affected: AtomicUsize,
}

/// Work with a context of its own.
pub type Work = Box<dyn for<'a> FnOnce(&'a Context<'a>) -> BoxFuture<'a, Result<()>> + Send>;

/// A hook or other work that runs after the commit.
struct PendingHook {
    work: Work,
    resource: &'static str,
    /// Nesting depth of the hook that made the change.
    depth: usize,
}

impl Transaction {
    pub async fn begin(state: &State) -> Result<Transaction> {
        Ok(Transaction {
            connection: state.db.begin().await?,
            pending_hooks: Mutex::default(),
            affected: AtomicUsize::new(0),
        })
    }

    /// Begins lazily, for the write of a request, which may be a single statement.
    pub async fn begin_late(state: &State) -> Result<Transaction> {
        Ok(Transaction {
            connection: state.db.begin_lazy().await?,
            pending_hooks: Mutex::default(),
            affected: AtomicUsize::new(0),
        })
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Adds records that a deletion changes or deletes by `on_delete`, and returns their number in the whole transaction.
    pub(super) fn count_affected(&self, records: usize) -> usize {
        self.affected.fetch_add(records, Ordering::Relaxed) + records
    }

    /// Runs `work` in a savepoint. If it fails, its rows and its pending hooks are rolled back. An internal error or an
    /// unavailable database aborts the whole transaction.
    ///
    /// # Errors
    /// An internal error, or an unavailable database: the transaction may be unusable.
    pub async fn attempt<T>(&self, work: impl Future<Output = Result<T>>) -> Result<Result<T>> {
        let pending_hooks = || self.pending_hooks.lock().unwrap_or_else(PoisonError::into_inner);
        let before = pending_hooks().len();
        let affected = self.affected.load(Ordering::Relaxed);
        self.connection.execute_unprepared("SAVEPOINT charter_part").await?;
        let result = work.await;
        match &result {
            Err(error @ (Error::Internal(_) | Error::Unavailable(_))) => {
                tracing::warn!(%error, "savepoint failure aborted the transaction");
                return result.map(Ok);
            }
            Err(_) => {
                self.connection.execute_unprepared("ROLLBACK TO SAVEPOINT charter_part").await?;
                pending_hooks().truncate(before);
                self.affected.store(affected, Ordering::Relaxed);
            }
            Ok(_) => {}
        }
        self.connection.execute_unprepared("RELEASE SAVEPOINT charter_part").await?;
        Ok(result)
    }

    /// Commits, then runs the pending `after_commit` hooks. Both finish even if the client disconnects.
    pub async fn commit(self, context: &Context<'_>) -> Result<()> {
        let pending_hooks = self.pending_hooks.into_inner().unwrap_or_else(PoisonError::into_inner);
        if pending_hooks.is_empty() {
            return context.state().detached_tasks.run_to_completion(self.connection.commit()).await;
        }
        let (state, caller, now) = (context.state_arc().clone(), context.caller().clone(), context.now());
        let (request_id, address) = (context.request_id().map(str::to_string), context.client_address());
        let import_id = context.import_id();
        context
            .state()
            .detached_tasks
            .run_to_completion(async move {
                self.connection.commit().await?;
                let context = Context::new(&state, &caller, state.db.reader())
                    .with_now(now)
                    .with_request_id(request_id.as_deref())
                    .with_client_address(address)
                    .with_import(import_id);
                for PendingHook { work, resource, depth } in pending_hooks {
                    let run = async {
                        let running = RunningHook::enter_after_commit(resource, "after_commit", depth)?;
                        work(&context.within_hook(&running)).await
                    };
                    let run = AssertUnwindSafe(run).catch_unwind().await;
                    // The change is committed: a failure is logged, and the client gets its response.
                    if let Err(error) = run.unwrap_or_else(|_| Err(Error::internal("a panic"))) {
                        tracing::error!(%error, resource, "after_commit failed");
                    }
                }
                Ok(())
            })
            .await
    }
}

impl std::fmt::Debug for PendingHook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingHook").field("resource", &self.resource).finish_non_exhaustive()
    }
}

/// Queues the resource's `after_commit` hook for after the commit, with the record as it is stored now and as it was before,
/// and for a singleton the signal of its change. A change queues it; an action that changes no field of its record does so itself.
///
/// # Errors
/// If the database fails.
pub async fn after_commit(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    before: Option<Arc<QueryResult>>,
) -> Result<()> {
    if entry.meta.singleton {
        let signal: Work = Box::new(|context| {
            Box::pin(async move {
                context.state().singletons_changed.notify();
                Ok(())
            })
        });
        work_after_commit(context, entry, signal);
    }
    if context.route(entry).hooks.after_commit.is_some() {
        let row = records::load(context, entry, id, &Condition::always(), false).await?;
        after_commit_of(context, entry, row.ok_or(Error::NotFound)?, before);
    }
    Ok(())
}

/// The same for a deleted record, with the record as it was before.
pub(super) fn after_commit_of(
    context: &Context<'_>,
    entry: &Entry,
    row: Arc<QueryResult>,
    before: Option<Arc<QueryResult>>,
) {
    if let Some(hook) = context.route(entry).hooks.after_commit {
        let work: Work = Box::new(move |context| Box::pin(async move { hook(context, &row, before.as_deref()).await }));
        work_after_commit(context, entry, work);
    }
}

/// Queues work of an action for after the commit, such as a mail, which must not hold the transaction open. The response
/// waits for it, and does not depend on its result.
pub fn work_after_commit(context: &Context<'_>, entry: &Entry, work: Work) {
    if let Some(transaction) = context.transaction() {
        let mut pending_hooks = transaction.pending_hooks.lock().unwrap_or_else(PoisonError::into_inner);
        let depth = context.running().map_or(0, RunningHook::depth);
        pending_hooks.push(PendingHook { work, resource: entry.meta.name, depth });
    }
}
