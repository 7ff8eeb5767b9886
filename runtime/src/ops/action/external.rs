//! Actions that wait for another server, under a key: no transaction is around one, and still it is run once.

use super::ActionCall;
use crate::catalog::Entry;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::idempotency::{Key, Once};
use crate::meta::ActionMeta;
use crate::ops::etag::Preconditions;
use crate::ops::input::body::Body;
use crate::query::Condition;

/// What a request brings to such an action. The conditions are those of the record, and this is none.
#[derive(Debug)]
pub struct ExternalCall<'r> {
    pub action: &'static ActionMeta,
    pub id: Option<i64>,
    pub within: Condition,
    pub query: &'r str,
    pub body: &'r [u8],
}

/// Runs an action unless one with this key has been run; a second one waits for the first. It goes on when its client
/// goes away, for as long as a request may take, so that its answer is there for whoever asks again.
///
/// # Errors
/// Those of the action, which gives the key back; [`Error::InProgress`] when another takes too long.
pub async fn run(context: &Context<'_>, entry: &Entry, call: ExternalCall<'_>, mut key: Key) -> Result<Once> {
    let (state, caller) = (context.state_arc().clone(), context.caller().clone());
    let (request_id, trace) = (context.request_id().map(str::to_string), context.trace());
    let (name, ExternalCall { action, id, within, query, body }) = (entry.meta.name, call);
    let (query, body) = (query.to_string(), body.to_vec());
    // The lease too: one of a client that goes away while it is committed would be nobody's.
    context
        .state()
        .lasting
        .to_the_end(async move {
            let outside = || {
                let context = Context::new(&state, &caller, state.db.reader());
                context.with_request_id(request_id.as_deref()).with_trace(trace)
            };
            if let Some(reply) = key.lease(&outside()).await? {
                return Ok(Once::Again(reply));
            }
            // Of its own time, which is not that of a wait for another.
            let context = outside();
            let entry = state.catalog.linked(name);
            let run = async {
                let (conditions, body) = (&Preconditions::default(), &Body::read(&body, Some(action.name))?);
                let call = ActionCall { action, id, within, conditions, query: &query, body };
                super::run(&context, entry, call).await
            };
            let run = tokio::time::timeout(state.config.request_timeout, run).await;
            let outcome = run.unwrap_or_else(|_| Err(Error::too_long()));
            let transaction = state.db.begin().await?;
            let inside = Context::new(&state, &caller, &transaction);
            match outcome {
                Ok(outcome) => {
                    let reveals = outcome.reveals;
                    let reply = outcome.reply(&state.catalog, entry, None);
                    key.keep(&inside, &reply, reveals).await?;
                    transaction.commit().await?;
                    Ok(Once::New(reply))
                }
                Err(error) => {
                    key.release(&inside).await?;
                    transaction.commit().await?;
                    Err(error)
                }
            }
        })
        .await
}
