//! Roles: named sets of abilities and permissions.

use charter_macros::Resource;
use sea_orm::QueryResult;
use sea_orm::entity::prelude::*;

use super::TokenCache;
use super::consequences;
use charter_core::catalog::Catalog;
use charter_core::error::{Error, Result};
use charter_core::meta::{FieldMeta, Kind};
use charter_core::ops::{Context, Draft, Route, load_all, release};
use charter_core::query::Condition;
use charter_core::stale_reference::StaleReference;
use charter_core::suggest::hint;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "role", menu = "Administration", write_permission = "users.manage", events)]
#[resource(description = "A named set of abilities and permissions, assigned to users.")]
pub struct Model {
    pub id: i64,
    #[field(string(255), required, unique)]
    pub name: String,
    #[field(text)]
    pub description: Option<String>,
    #[field(
        list(100),
        description = "The permissions that the role grants, such as `users.manage`.",
        example = "users.manage"
    )]
    pub permissions: Json,
    #[field(
        list(100),
        description = "The operations that the role grants, such as `users:read`; `application:read` and `application:write` stand for all resources of the application, `*:read` for every read, and `*` for everything. A request may do what both its token and the roles of its user allow. You cannot grant abilities or permissions that you do not have.",
        example = "users:read"
    )]
    pub abilities: Json,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    let mut route =
        charter_core::route!(Entity, Behaviour, hooks(check, after_delete, after_commit), actions()).granting_access();
    route.hooks.consequences = Some(|context, verb, ids| Box::pin(consequences::of_roles(context, verb, ids)));
    route
}

/// The first of these roles that grants more than the caller has: its name, and the ability or permission that the caller lacks.
///
/// # Errors
/// When the database fails.
pub async fn exceeding(context: &Context<'_>, ids: &[i64]) -> Result<Option<(String, String)>> {
    let caller = context.caller();
    for role in Entity::find().filter(Column::Id.is_in(ids.iter().copied())).all(context.db()).await? {
        if let Some(word) = words(&role.abilities)?.into_iter().find(|word| !caller.has_ability(word)) {
            return Ok(Some((role.name, format!("ability `{word}`"))));
        }
        if let Some(word) = words(&role.permissions)?.into_iter().find(|word| !caller.has_permission(word)) {
            return Ok(Some((role.name, format!("permission `{word}`"))));
        }
    }
    Ok(None)
}

trait Behaviour {
    fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn after_delete(context: &Context<'_>, role: &Model) -> impl Future<Output = Result<()>> + Send;
    fn after_commit(
        context: &Context<'_>,
        role: &Model,
        before: Option<&Model>,
    ) -> impl Future<Output = Result<()>> + Send;
}

impl Behaviour for Entity {
    async fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let (catalog, caller) = (context.catalog(), context.caller());
        let known = catalog.permissions();
        let before = draft.before.as_ref().map(|role| words(&role.permissions)).transpose()?.unwrap_or_default();
        for permission in draft.model.permissions.try_as_ref().map(words).transpose()?.unwrap_or_default() {
            if !known.contains(permission.as_str()) {
                let hint = hint(&permission, known.iter().copied());
                draft.error(Column::Permissions, format!("refers to an unknown permission `{permission}`{hint}"));
            } else if !before.contains(&permission) && !caller.has_permission(&permission) {
                draft.error(Column::Permissions, format!("cannot grant `{permission}`, which you do not have"));
            }
        }
        let before = draft.before.as_ref().map(|role| words(&role.abilities)).transpose()?.unwrap_or_default();
        for ability in draft.model.abilities.try_as_ref().map(words).transpose()?.unwrap_or_default() {
            if before.contains(&ability) {
                continue;
            }
            if let Some(problem) = unknown_ability(catalog, &ability) {
                draft.error(Column::Abilities, problem);
            } else if !caller.has_ability(&ability) {
                draft.error(Column::Abilities, format!("cannot grant `{ability}`, which you do not have"));
            }
        }
        Ok(())
    }

    /// Removes the deleted role from users and saved views.
    async fn after_delete(context: &Context<'_>, role: &Model) -> Result<()> {
        let of_roles = |field: &&FieldMeta| matches!(field.kind, Kind::RefList { resource: "role" });
        for entry in context.catalog().entries() {
            for field in entry.meta.fields.iter().filter(of_roles) {
                let holders = Condition::Overlaps { field, ids: vec![role.id] };
                let without = |row: &QueryResult| {
                    let mut ids: Vec<i64> =
                        serde_json::from_value(row.try_get("", field.name)?).map_err(Error::internal)?;
                    ids.retain(|id| *id != role.id);
                    Ok(serde_json::json!(ids).into())
                };
                for row in load_all(context, entry, &holders).await? {
                    release(context, entry, row.try_get("", "id")?, field, without).await?;
                }
            }
        }
        Ok(())
    }

    async fn after_commit(context: &Context<'_>, _role: &Model, _: Option<&Model>) -> Result<()> {
        context.state().extension::<TokenCache>()?.clear();
        Ok(())
    }
}

/// The message for an ability that no endpoint needs.
pub(super) fn unknown_ability(catalog: &Catalog, ability: &str) -> Option<String> {
    let known = catalog.grantable_abilities();
    let hint = || hint(ability, known.iter().map(String::as_str));
    (!known.contains(ability)).then(|| format!("refers to an unknown ability `{ability}`{}", hint()))
}

/// The seeded role that reads and writes the resources of the application.
pub const MEMBER: &str = "Member";

/// The words of a stored list of abilities or permissions.
///
/// # Errors
/// An internal error if another program stored something else.
pub fn words(list: &Json) -> Result<Vec<String>> {
    serde_json::from_value(list.clone()).map_err(Error::internal)
}

/// Roles with abilities or permissions that no endpoint needs.
pub async fn stale_references(context: &Context<'_>) -> Result<Vec<StaleReference>> {
    let (permissions, abilities) = (context.catalog().permissions(), context.catalog().grantable_abilities());
    let mut found = Vec::new();
    for role in Entity::find().all(context.db()).await? {
        let stale_permissions = words(&role.permissions)?.into_iter().filter(|one| !permissions.contains(one.as_str()));
        let stale_abilities = words(&role.abilities)?.into_iter().filter(|one| !abilities.contains(one));
        for word in stale_permissions.chain(stale_abilities) {
            let problem = format!("grants `{word}`, which no endpoint needs");
            found.push(StaleReference { kind: "roles", id: role.id, name: role.name.clone(), problem });
        }
    }
    Ok(found)
}
