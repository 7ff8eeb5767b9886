//! External actions (`external`), which call another server outside of a transaction; an idempotency lease makes them run
//! once.

use super::ActionCall;
use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::meta::ActionMeta;
use crate::ops::Context;
use crate::ops::etag::Preconditions;
use crate::ops::idempotency::{Execution, Key};
use crate::ops::input::body::Body;
use crate::query::Condition;

/// Arguments of an external action, which has no preconditions.
#[derive(Debug)]
pub struct ExternalCall<'r> {
    pub action: &'static ActionMeta,
    pub id: Option<i64>,
    pub within: Condition,
    pub query: &'r str,
    pub body: &'r [u8],
}

/// Runs an action unless a request with this key has run it. A concurrent request with the same key waits for the first
/// one. The action continues if its client disconnects, within the request timeout, so that a retry gets its response.
///
/// # Errors
/// The action's own errors, which release the key; [`Error::InProgress`] if a concurrent request takes too long.
pub async fn run(context: &Context<'_>, entry: &Entry, call: ExternalCall<'_>, mut key: Key) -> Result<Execution> {
    let (state, caller) = (context.state_arc().clone(), context.caller().clone());
    let (request_id, address, trace) =
        (context.request_id().map(str::to_string), context.client_address(), context.trace());
    let (name, ExternalCall { action, id, within, query, body }) = (entry.meta.name, call);
    let (query, body) = (query.to_string(), body.to_vec());
    // The detached task takes the lease as well: a client that disconnects during its commit would leave a lease
    // without an owner.
    context
        .state()
        .detached_tasks
        .run_to_completion(async move {
            let new_context = || {
                let context = Context::new(&state, &caller, state.db.reader());
                context.with_request_id(request_id.as_deref()).with_client_address(address).with_trace(trace)
            };
            if let Some(reply) = key.lease(&new_context()).await? {
                return Ok(Execution::Replayed(reply));
            }
            // A new context, because the wait for a concurrent request took time.
            let context = new_context();
            let entry = state.catalog.linked(name);
            let run = async {
                let (conditions, body) = (&Preconditions::default(), &Body::read(&body, Some(action.name))?);
                let call = ActionCall { action, id, within, conditions, query: &query, body };
                super::run(&context, entry, call).await
            };
            let run = tokio::time::timeout(state.request_timeout, run).await;
            let outcome = run.unwrap_or_else(|_| Err(Error::too_long()));
            let transaction = state.db.begin().await?;
            let write_context = Context::new(&state, &caller, &transaction);
            match outcome {
                Ok(outcome) => {
                    let reveals = outcome.reveals;
                    let reply = outcome.reply(&state.catalog, entry, None);
                    key.store_reply(&write_context, &reply, reveals).await?;
                    transaction.commit().await?;
                    Ok(Execution::Fresh(reply))
                }
                Err(error) => {
                    key.release(&write_context).await?;
                    transaction.commit().await?;
                    Err(error)
                }
            }
        })
        .await
}
