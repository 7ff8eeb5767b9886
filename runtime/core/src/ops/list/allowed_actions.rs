//! The include `can`: the actions of each record that have a rule, and which of them the caller may run.

use std::collections::HashMap;

use serde_json::json;

use crate::catalog::Entry;
use crate::error::Result;
use crate::expression::Node;
use crate::meta::ActionMeta;
use crate::ops::action::rule::refusal_of_row;
use crate::ops::endpoints::RouteOperation;
use crate::ops::input::checks::{checked, frozen_by};
use crate::ops::protection::changeable_ids;
use crate::ops::row_access::NOT_CHANGEABLE;
use crate::ops::visibility::present;
use crate::ops::{Access, Context, records};

/// `[{"action": "solve", "allowed": false, "why": "…"}]` for each id, by the checks that the action makes.
pub async fn load(context: &Context<'_>, entry: &Entry, ids: &[Option<i64>]) -> Result<Vec<Vec<u8>>> {
    // The same for all records.
    let forbidden: Vec<(&ActionMeta, _, Option<String>)> = entry
        .meta
        .ruled_actions()
        .map(|(action, rule)| {
            let access = Access::of_operation(context.catalog(), entry, RouteOperation::Action(action));
            let refused = access.check(context.caller()).err();
            (action, rule, refused.map(|error| error.message(context.request_id().unwrap_or_default())))
        })
        .collect();
    let guards = entry.meta.ruled_actions().filter_map(|(_, rule)| rule.guard);
    let guards: Vec<&Node> = guards.map(|guard| checked(guard, entry.meta)).collect::<Result<_>>()?;
    let request = context.request(guards.into_iter().any(Node::needs_day)).await?;
    let known: Vec<i64> = ids.iter().flatten().copied().collect();
    let changeable = changeable_ids(context, entry, &known).await?;
    let mut lists: HashMap<i64, Vec<u8>> = HashMap::new();
    for row in records::load_many(context, entry, &known, &present(entry)).await? {
        let id: i64 = row.try_get("", "id")?;
        let frozen =
            frozen_by(context, entry.meta, &row).await?.map(|condition| format!("It is frozen, because {condition}."));
        let is_changeable = changeable.as_ref().is_none_or(|changeable| changeable.contains(&id));
        let mut list = Vec::with_capacity(forbidden.len());
        for (action, rule, forbidden) in &forbidden {
            let why = match forbidden {
                Some(why) => Some(why.clone()),
                None if !is_changeable => Some(NOT_CHANGEABLE.into()),
                None if frozen.is_some() => frozen.clone(),
                None => refusal_of_row(entry.meta, rule, &request, &row)?.map(|refusal| refusal.message),
            };
            list.push(json!({ "action": action.name, "allowed": why.is_none(), "why": why }));
        }
        lists.insert(id, serde_json::to_vec(&list).map_err(crate::error::Error::internal)?);
    }
    // A record that was deleted since its page was read allows nothing.
    Ok(ids.iter().map(|id| id.and_then(|id| lists.remove(&id)).unwrap_or_else(|| b"[]".to_vec())).collect())
}
