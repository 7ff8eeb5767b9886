//! Actions that the application's code runs, in the transaction of a hook, an action or a job.

use serde_json::Value;

use super::{ActionCall, run};
use crate::error::{Error, Result};
use crate::meta::ActionMethod;
use crate::ops::Context;
use crate::ops::etag::Preconditions;
use crate::ops::input::body::Body;
use crate::query::Condition;
use crate::resource::{Resource, ResourceAction};

/// Runs an action as a client does: its input is validated, the rules of the record are checked, and the change has the
/// event and the audit entry of the action. For a transition, the state and the guard are checked. The row rules apply to
/// the caller; its abilities and permissions are not checked. `id` is that of the record, or `None` for an action on the
/// collection. Returns the response of the action.
///
/// ```ignore
/// run_action(context, loan::Action::Extend, loan.id, json!({ "days": 7 })).await?;
/// ```
///
/// # Errors
/// [`Error::NotFound`] if the caller cannot see the record; [`Error::Invalid`] for the input;
/// [`Error::TransitionRefused`]; [`Error::Internal`] for an external action inside of a transaction, and for another one that
/// writes without one.
pub async fn run_action<A: ResourceAction>(
    context: &Context<'_>,
    action: A,
    id: impl Into<Option<i64>>,
    input: Value,
) -> Result<Value> {
    let meta = <A::Resource as Resource>::meta();
    let name = action.name();
    let found = meta.actions.iter().find(|known| known.name == name);
    let action = found.ok_or_else(|| Error::internal(format!("{} has no action `{name}`", meta.name)))?;
    if action.external && context.transaction().is_some() {
        let problem = "is external, and cannot run inside of a transaction";
        return Err(Error::internal(format!("the action {}.{name} {problem}", meta.name)));
    }
    // Without a transaction, a part of the change could be stored.
    if !action.external && action.method != ActionMethod::Get && context.transaction().is_none() {
        return Err(Error::internal(format!("the action {}.{name} needs a transaction", meta.name)));
    }
    let body = input.to_string();
    let (conditions, body) = (&Preconditions::default(), &Body::read(body.as_bytes(), Some(name))?);
    let call = ActionCall { action, id: id.into(), within: Condition::always(), conditions, query: "", body };
    let work = Box::pin(run(context, context.catalog().linked(meta.name), call));
    let result = match context.transaction() {
        // The code may catch the error, and a refused action then has changed nothing.
        Some(transaction) => transaction.attempt(work).await??,
        None => work.await?,
    };
    serde_json::from_slice(&result.body).map_err(Error::internal)
}
