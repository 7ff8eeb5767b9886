//! Consequences of deleting and deactivating users, deleting roles and revoking tokens, for the page that asks first.

use sea_orm::QuerySelect;
use sea_orm::entity::prelude::*;

use super::session::{IDLE_TIMEOUT, MAX_LIFETIME};
use super::user;
use charter_core::catalog::Entry;
use charter_core::error::Result;
use charter_core::meta::Kind;
use charter_core::ops::Context;
use charter_core::ops::consequences::{
    Consequence, Counted, DELETE, Effect, Subject, begin_count, count_visible, finish_count,
};
use charter_core::query::Condition;
use charter_core::resource::Resource;

const REJECTED: Effect = Effect::new("is rejected from then on", "are rejected from then on");
const DISABLED: Effect = Effect::new(
    "is disabled, and its pending deliveries are dropped",
    "are disabled, and their pending deliveries are dropped",
);
const REMOVED: Effect = Effect::new("is removed", "are removed");
const LOSES_ROLE: Effect = Effect::new("loses the role", "lose the role");
const SHARED_NO_LONGER: Effect =
    Effect::new("is no longer shared with its users", "are no longer shared with its users");
const USED_BY_OTHERS: Effect = Effect { one: "is used by others", many: "are used by others", forbids: true };

/// Consequences of an operation on users.
pub(super) async fn of_users(context: &Context<'_>, verb: &str, ids: &[i64]) -> Result<Vec<Consequence>> {
    let caller = context.caller();
    let may_know = caller.is_admin || ids.iter().all(|id| caller.user_id == Some(*id));
    let mut found = Vec::new();
    if matches!(verb, DELETE | "deactivate" | "erase" | "remove_second_factor" | "unlink_identity") {
        let sessions = Counted::of(count_sessions(context, ids).await?, may_know);
        found.extend(sessions.affects(Subject::Named("session", "sessions"), Effect::ENDS));
    }
    // An effect for tokens, and one for webhooks.
    let effects = match verb {
        DELETE => Some((Effect::ENDS, Effect::DELETED)),
        "erase" => Some((Effect::ENDS, DISABLED)),
        "deactivate" => Some((REJECTED, DISABLED)),
        _ => None,
    };
    if let Some((of_tokens, of_webhooks)) = effects {
        found.extend(of_owned(context, "token", "user_id", ids, of_tokens).await?);
        found.extend(of_owned(context, "webhook", "user_id", ids, of_webhooks).await?);
    }
    if verb == DELETE {
        for (visibility, effect) in
            [("personal", Effect::DELETED), ("shared", USED_BY_OTHERS), ("system", USED_BY_OTHERS)]
        {
            let views = context.catalog().get("custom_view")?;
            let (Some(field), Some(of)) = (views.field("visibility"), views.field("user_id")) else { continue };
            let condition = Condition::equals(field, visibility).and(Condition::is_one_of(of, ids));
            let views_found = count_visible(context, views, condition).await?;
            found.extend(views_found.affects(Subject::Records(views.meta), effect));
        }
    }
    if verb == "remove_second_factor" {
        for (table, subject) in [
            ("user_passkeys", Subject::Named("passkey", "passkeys")),
            ("user_recovery_codes", Subject::Named("recovery code", "recovery codes")),
        ] {
            let rows = count_of_users(context, table, ids).await?;
            found.extend(Counted::of(rows, may_know).affects(subject, REMOVED));
        }
    }
    if verb == "erase" {
        let users = user::Entity::find().filter(user::Column::Id.is_in(ids.iter().copied()));
        let lists: Vec<Json> = users.select_only().column(user::Column::RoleIds).into_tuple().all(context.db()).await?;
        let roles: usize = lists.iter().filter_map(Json::as_array).map(Vec::len).sum();
        let roles = i64::try_from(roles).unwrap_or(i64::MAX);
        found.extend(Counted::of(roles, true).affects(Subject::Named("role", "roles"), REMOVED));
    }
    Ok(found)
}

/// Consequences of deleting roles.
pub(super) async fn of_roles(context: &Context<'_>, verb: &str, ids: &[i64]) -> Result<Vec<Consequence>> {
    let mut found = Vec::new();
    if verb != DELETE {
        return Ok(found);
    }
    for entry in context.catalog().entries() {
        for field in entry.meta.fields.iter().filter(|field| matches!(field.kind, Kind::RefList { resource: "role" })) {
            let holders = count_visible(context, entry, Condition::Overlaps { field, ids: ids.to_vec() }).await?;
            let effect = if entry.meta.name == user::Entity::meta().name { LOSES_ROLE } else { SHARED_NO_LONGER };
            found.extend(holders.affects(Subject::Records(entry.meta), effect));
        }
    }
    Ok(found)
}

/// Consequences of revoking tokens: the webhooks that they made are disabled.
pub(super) async fn of_tokens(context: &Context<'_>, verb: &str, ids: &[i64]) -> Result<Vec<Consequence>> {
    match verb {
        DELETE => of_owned(context, "webhook", "token_id", ids, DISABLED).await,
        _ => Ok(Vec::new()),
    }
}

/// The consequences for the records of a resource that belong to users or tokens. Of webhooks, only active ones count,
/// unless they are deleted.
async fn of_owned(
    context: &Context<'_>,
    resource: &str,
    by: &str,
    ids: &[i64],
    effect: Effect,
) -> Result<Vec<Consequence>> {
    let entry: &Entry = context.catalog().get(resource)?;
    let Some(field) = entry.field(by) else { return Ok(Vec::new()) };
    let mut condition = Condition::is_one_of(field, ids);
    if let (true, Some(active)) = (effect == DISABLED, entry.field("is_active")) {
        condition = condition.and(Condition::equals(active, true));
    }
    let owned = count_visible(context, entry, condition).await?;
    Ok(owned.affects(Subject::Records(entry.meta), effect).collect())
}

/// The sessions of users that have not expired.
async fn count_sessions(context: &Context<'_>, ids: &[i64]) -> Result<i64> {
    let mut sql = begin_count(context.state().db.dialect());
    sql.push(" FROM \"user_sessions\" WHERE ").in_ids("\"user_id\"", ids);
    sql.push(" AND \"last_used_at\" >= ").bind(context.now() - IDLE_TIMEOUT);
    sql.push(" AND \"created_at\" >= ").bind(context.now() - MAX_LIFETIME);
    finish_count(context, sql).await
}

async fn count_of_users(context: &Context<'_>, table: &str, ids: &[i64]) -> Result<i64> {
    let mut sql = begin_count(context.state().db.dialect());
    sql.push(" FROM ").name(table).push(" WHERE ").in_ids("\"user_id\"", ids);
    finish_count(context, sql).await
}
