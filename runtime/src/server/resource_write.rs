//! Writes of a request: the transaction around one operation, and its response.

use std::sync::Arc;

use sea_orm::QueryResult;

use super::{Response, headers};
use charter_core::catalog::Entry;
use charter_core::error::{Error, Result};
use charter_core::meta::Operation;
use charter_core::ops::Context;
use charter_core::ops::action::{self, ActionCall};
use charter_core::ops::endpoints::RouteOperation;
use charter_core::ops::etag::Preconditions;
use charter_core::ops::idempotency::Key;
use charter_core::ops::input::body::Body;
use charter_core::ops::list::ListRequest;
use charter_core::ops::write::bulk::Site;
use charter_core::ops::write::{bulk, create, delete, restore, update};
use charter_core::ops::{RESTORE, StoredResponse, Transaction};
use charter_core::query::Condition;
use charter_platform::attachment::Storage;

/// Arguments of an operation.
pub(super) struct Arguments<'r> {
    pub id: Option<i64>,
    pub parent: Option<i64>,
    pub within: Condition,
    pub conditions: &'r Preconditions,
    pub list: ListRequest<'r>,
    pub query: &'r str,
    pub bytes: &'r [u8],
    /// The record as loaded before the body was read, with its row version.
    pub found: Option<Arc<QueryResult>>,
}

/// Runs a write in its own transaction. A repeated idempotency key replays the first response.
pub(super) async fn in_transaction(
    context: &Context<'_>,
    entry: &Entry,
    call: RouteOperation,
    arguments: Arguments<'_>,
    mut key: Option<Key>,
) -> Result<Response> {
    // A malformed body fails before the transaction begins.
    let body = read(entry, call, arguments.bytes)?;
    let state = context.state();
    let transaction = Transaction::begin_late(context.state_arc()).await?;
    let write_context = context.in_transaction(&transaction);
    if let Some(key) = &mut key
        && let Some(reply) = key.claim(&write_context).await?
    {
        return headers::replayed(reply);
    }
    let (reply, reveals) = write(&write_context, entry, call, arguments, &body).await?;
    if let Some(key) = &key {
        key.store_reply(&write_context, &reply, reveals).await?;
    }
    transaction.commit(context).await?;
    let deletes = matches!(call, RouteOperation::Operation(Operation::Delete) | RouteOperation::Bulk);
    if deletes && (entry.meta.attachments || entry.receives_file()) {
        state.extension::<Storage>()?.wake_collector();
    }
    headers::write_response(reply)
}

/// Reads the body of a write.
///
/// # Errors
/// [`Error::Malformed`].
pub(super) fn read<'b>(entry: &Entry, call: RouteOperation, bytes: &'b [u8]) -> Result<Body<'b>> {
    Ok(match call {
        RouteOperation::Operation(_) => Body::read(bytes, Some(entry.meta.name))?,
        RouteOperation::Action(action) => Body::read(bytes, Some(action.name))?,
        // A restore takes no parameters, but a body that is not JSON is refused as for an action.
        RouteOperation::Restore => Body::read(bytes, Some(RESTORE))?,
        // A bulk write reads its own body, because it looks up no record before.
        RouteOperation::Bulk | RouteOperation::Summary => Body::default(),
    })
}

/// Runs a write in the context's transaction. Returns its response, and whether that contains a secret.
pub(super) async fn write(
    context: &Context<'_>,
    entry: &Entry,
    call: RouteOperation,
    arguments: Arguments<'_>,
    body: &Body<'_>,
) -> Result<(StoredResponse, bool)> {
    let Arguments { id, parent, within, conditions, query, bytes, found, .. } = arguments;
    let outcome = match (call, id) {
        (RouteOperation::Operation(Operation::Create), _) => create::create(context, entry, body, parent).await?,
        (RouteOperation::Operation(Operation::Delete), Some(id)) => {
            delete::delete(context, entry, id, within, conditions).await?;
            return Ok((StoredResponse::empty(), false));
        }
        (RouteOperation::Operation(_), Some(id)) => {
            update::update(context, entry, id, within, conditions, body, found).await?
        }
        (RouteOperation::Restore, Some(id)) => restore::restore(context, entry, id, within, conditions).await?,
        (RouteOperation::Operation(_) | RouteOperation::Restore, None) | (RouteOperation::Summary, _) => {
            return Err(Error::NotFound);
        }
        (RouteOperation::Bulk, _) => return bulk::run(context, entry, &Site { parent, within }, bytes).await,
        (RouteOperation::Action(action), id) => {
            action::run(context, entry, ActionCall { action, id, within, conditions, query, body }).await?
        }
    };
    let reveals = outcome.reveals;
    Ok((outcome.reply(context.catalog(), entry, parent), reveals))
}
