//! Worker of imports: claims those that wait, and rehearses, runs or undoes them.

use std::sync::Arc;
use std::time::Duration;

use charter_core::error::{Error, Result};
use charter_core::ops::action::{self, ActionCall};
use charter_core::ops::{Body, Context, Preconditions, State, Transaction};
use charter_core::principal::Principal;
use charter_core::query::Condition;
use charter_core::resource::Resource as _;
use tokio::time::timeout;

use super::lease;
use super::record::{DONE, Entity, FAILED, REHEARSED, REHEARSING, RUNNING, UNDOING, UNDONE};
use super::run::End;
use super::{Imports, progress, run, undo};
use crate::lease::Claim;

/// Interval at which it looks for imports of other processes and expired leases.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Works while the server runs, on two imports at a time: a long one does not hold up a rehearsal.
pub async fn run_worker(state: Arc<State>) {
    tokio::join!(work(&state), work(&state));
}

async fn work(state: &Arc<State>) {
    loop {
        let worked = work_once(state).await;
        state.metrics.tasks.round("imports", &worked);
        if let Err(error) = &worked {
            tracing::error!(%error, "imports: an error of the database; retrying");
        }
        if !worked.unwrap_or(false)
            && let Ok(imports) = state.extension::<Imports>()
        {
            let _ = timeout(POLL_INTERVAL, imports.wake.notified()).await;
        }
    }
}

/// Works on one import that waits. Returns false if none does.
///
/// # Errors
/// When the database fails.
pub async fn work_once(state: &Arc<State>) -> Result<bool> {
    let Some(claim) = lease::claim(state).await? else { return Ok(false) };
    process(state, &claim).await?;
    Ok(true)
}

/// Requests an action of an import and carries it out in this process.
///
/// # Errors
/// Those of the action. Why the work stopped is in the import.
pub async fn run_here(state: &Arc<State>, caller: &Principal, id: i64, action: &str) -> Result<()> {
    let entry = state.catalog.linked(Entity::meta().name);
    let action = entry.meta.actions.iter().find(|known| known.name == action);
    let action = action.ok_or_else(|| Error::internal("an import has no such action"))?;
    let claim = Claim::new(id)?;
    let transaction = Transaction::begin(state).await?;
    let outside = Context::new(state, caller, state.db.reader());
    let context = outside.in_transaction(&transaction);
    let (conditions, body) = (Preconditions::default(), Body::default());
    let call = ActionCall {
        action,
        id: Some(id),
        within: Condition::always(),
        conditions: &conditions,
        query: "",
        body: &body,
    };
    action::run(&context, entry, call).await?;
    // In the same transaction, so that no server takes it.
    claim.take(state, lease::TABLE, context.db()).await?;
    transaction.commit(&outside).await?;
    process(state, &claim).await
}

/// Carries out the work of a claimed import.
async fn process(state: &Arc<State>, claim: &Claim) -> Result<()> {
    let import = match progress::load(state.db.reader(), claim.id).await {
        Ok(import) => import,
        Err(Error::NotFound) => return Ok(()),
        Err(error) => return Err(error),
    };
    let (done, to) = match import.status.as_str() {
        REHEARSING => (run::process(state, claim, &import).await, REHEARSED),
        RUNNING => (run::process(state, claim, &import).await, DONE),
        UNDOING => (undo::process(state, claim, &import).await, UNDONE),
        _ => return Ok(()),
    };
    let from = import.status.as_str();
    match done {
        Ok(End::Complete) => progress::end(state, claim, (from, to), None).await,
        Ok(End::Lost) => Ok(()),
        // The lease expires, and a worker continues.
        Err(error @ (Error::Unavailable(_) | Error::Overloaded)) => Err(error),
        Err(error) => {
            let why = match &error {
                Error::Internal(cause) => {
                    tracing::error!(import = claim.id, cause = cause.to_string(), "an import failed");
                    let done = progress::load(state.db.reader(), claim.id).await?.rows_done;
                    format!("An internal error occurred after {done} rows. The log of the server has the cause.")
                }
                Error::Invalid(errors) => format!("The plan or the file is not valid: {}.", errors.to_text()),
                other => other.message("-"),
            };
            progress::end(state, claim, (from, FAILED), Some(&why)).await
        }
    }
}
