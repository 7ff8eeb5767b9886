//! Roles: named sets of permissions.

use charter_macros::Resource;
use sea_orm::QueryResult;
use sea_orm::entity::prelude::*;

use super::TokenCache;
use charter_core::error::{Error, Result};
use charter_core::meta::{FieldMeta, Kind};
use charter_core::ops::{Context, Draft, Route, load_all, release};
use charter_core::query::Condition;
use charter_core::stale_reference::StaleReference;
use charter_core::suggest::hint;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "role", write_permission = "users.manage", events)]
#[resource(description = "A named set of permissions, assigned to users.")]
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
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    charter_core::route!(Entity, Behaviour, hooks(check, after_delete, after_commit), actions()).granting_access()
}

trait Behaviour {
    fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn after_delete(context: &Context<'_>, role: &Model) -> impl Future<Output = Result<()>> + Send;
    fn after_commit(context: &Context<'_>, role: &Model) -> impl Future<Output = Result<()>> + Send;
}

impl Behaviour for Entity {
    async fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let known = context.catalog().permissions();
        let given: Vec<String> = match draft.model.permissions.try_as_ref() {
            Some(list) => serde_json::from_value(list.clone()).unwrap_or_default(),
            None => Vec::new(),
        };
        for permission in given.iter().filter(|p| !known.contains(&p.as_str())) {
            let hint = hint(permission, known.iter().copied());
            draft.error("permissions", format!("refers to an unknown permission `{permission}`{hint}"));
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

    async fn after_commit(context: &Context<'_>, _role: &Model) -> Result<()> {
        context.state().extension::<TokenCache>()?.clear();
        Ok(())
    }
}

/// Roles with permissions that no endpoint needs.
pub async fn stale_references(context: &Context<'_>) -> Result<Vec<StaleReference>> {
    let known = context.catalog().permissions();
    let mut found = Vec::new();
    for role in Entity::find().all(context.db()).await? {
        let permissions: Vec<String> = serde_json::from_value(role.permissions).map_err(Error::internal)?;
        for permission in permissions.iter().filter(|one| !known.contains(one.as_str())) {
            let problem = format!("grants `{permission}`, which no endpoint needs");
            found.push(StaleReference { kind: "roles", id: role.id, name: role.name.clone(), problem });
        }
    }
    Ok(found)
}
