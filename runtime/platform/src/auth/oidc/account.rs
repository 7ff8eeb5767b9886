//! The account of an identity: linked by its subject, found by its verified address, or created, with the roles of its
//! groups.

use sea_orm::entity::prelude::*;
use serde_json::json;

use super::{Identity, OidcConfig};
use crate::auth::account_log::{self, AccountEvent};
use crate::auth::{role, user};
use charter_core::db::Sql;
use charter_core::error::{Error, Result};
use charter_core::ops::write::update::update;
use charter_core::ops::{Body, Context, Preconditions, Transaction, create};
use charter_core::principal::Principal;
use charter_core::query::Condition;
use charter_core::resource::Resource;

const MAX_NAME_CHARS: usize = 255;

/// The account of an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Account {
    /// The id of the active user.
    User(i64),
    Deactivated,
    /// No account has the address, and users are not created.
    Unknown,
    /// The provider does not confirm an address.
    NoAddress,
    /// The account is linked to another identity of this provider: the address may have a new owner.
    LinkedToAnother,
}

/// Finds, links or creates the account of an identity, and assigns the roles of its groups.
///
/// # Errors
/// 422 if an account cannot be created with this name and address.
pub async fn account_of(context: &Context<'_>, config: &OidcConfig, identity: &Identity) -> Result<Account> {
    let operator = Principal::operator();
    let context = &context.with_caller(&operator);
    let transaction = Transaction::begin(context.state_arc()).await?;
    let inside = &context.in_transaction(&transaction);
    let granted = granted_roles(inside, config, identity).await?;
    let account = find(inside, config, identity, granted.as_ref()).await?;
    if let Account::User(user_id) = account {
        if let Some(granted) = &granted {
            assign(inside, user_id, granted).await?;
        }
        transaction.commit(context).await?;
    }
    Ok(account)
}

async fn find(
    context: &Context<'_>,
    config: &OidcConfig,
    identity: &Identity,
    granted: Option<&GrantedRoles>,
) -> Result<Account> {
    if let Some(user_id) = linked_user(context, config, identity).await? {
        return active(context, user_id).await;
    }
    let Some(email) = identity.email.as_ref().map(|email| email.to_lowercase()) else { return Ok(Account::NoAddress) };
    let known = user::Entity::find().filter(user::Column::Email.eq(&email)).one(context.db()).await?;
    let user_id = match known {
        Some(user) if !user.is_active => return Ok(Account::Deactivated),
        Some(user) => user.id,
        None if config.creates_users => create_user(context, identity, &email, granted).await?,
        None => return Ok(Account::Unknown),
    };
    if link(context, config, identity, user_id).await? {
        Ok(Account::User(user_id))
    } else {
        Ok(Account::LinkedToAnother)
    }
}

async fn active(context: &Context<'_>, user_id: i64) -> Result<Account> {
    let user = user::Entity::find_by_id(user_id).one(context.db()).await?;
    Ok(if user.is_some_and(|user| user.is_active) { Account::User(user_id) } else { Account::Deactivated })
}

async fn linked_user(context: &Context<'_>, config: &OidcConfig, identity: &Identity) -> Result<Option<i64>> {
    let dialect = context.state().db.dialect();
    let mut sql = Sql::new(dialect, "SELECT \"user_id\" FROM \"user_identities\" WHERE \"issuer\" = ");
    sql.bind(config.issuer.as_str()).push(" AND \"subject\" = ").bind(identity.subject.as_str());
    let row = sql.one(context.db()).await?;
    Ok(row.map(|row| row.try_get("", "user_id")).transpose()?)
}

/// Links the identity to the user. Returns false if the user has another identity of this issuer.
async fn link(context: &Context<'_>, config: &OidcConfig, identity: &Identity, user_id: i64) -> Result<bool> {
    let columns = "\"user_id\", \"issuer\", \"subject\", \"created_at\"";
    let mut sql =
        Sql::new(context.state().db.dialect(), format!("INSERT INTO \"user_identities\" ({columns}) VALUES ("));
    sql.bind(user_id).push(", ").bind(config.issuer.as_str()).push(", ").bind(identity.subject.as_str());
    sql.push(", ").bind(context.now()).push(") ON CONFLICT DO NOTHING");
    if sql.run(context.db()).await? == 0 {
        return Ok(linked_user(context, config, identity).await? == Some(user_id));
    }
    let details = [("issuer", json!(config.issuer))];
    let user = account_log::identified(user_id);
    account_log::record_with(&context.with_caller(&user), user_id, AccountEvent::LinkIdentity, &details).await?;
    Ok(true)
}

/// Removes the identities of a user, in the context's transaction. Returns whether there were any.
pub(in crate::auth) async fn unlink(context: &Context<'_>, user_id: i64) -> Result<bool> {
    let mut sql = Sql::new(context.state().db.dialect(), "DELETE FROM \"user_identities\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    if sql.run(context.db()).await? == 0 {
        return Ok(false);
    }
    account_log::record(context, user_id, AccountEvent::UnlinkIdentity).await?;
    Ok(true)
}

async fn create_user(
    context: &Context<'_>,
    identity: &Identity,
    email: &str,
    granted: Option<&GrantedRoles>,
) -> Result<i64> {
    let name = identity.name.as_deref().unwrap_or(email).chars().take(MAX_NAME_CHARS).collect::<String>();
    let mut fields = json!({ "name": name, "email": email });
    // Where groups decide on roles, nobody gets the default role.
    if let Some(granted) = granted {
        fields["role_ids"] = json!(granted.ids);
    }
    let json = fields.to_string();
    let body = Body::read(json.as_bytes(), None)?;
    let outcome = create(context, context.catalog().linked(user::Entity::meta().name), &body, None).await?;
    outcome.created.ok_or_else(|| Error::internal("a created user has no id"))
}

/// The roles that the provider decides on.
struct GrantedRoles {
    /// Roles of the groups of the user.
    ids: Vec<i64>,
    /// Roles of all groups.
    of_all_groups: Vec<i64>,
}

/// The roles of the groups of an identity; `None` if groups do not decide on roles.
async fn granted_roles(
    context: &Context<'_>,
    config: &OidcConfig,
    identity: &Identity,
) -> Result<Option<GrantedRoles>> {
    if config.role_claim.is_none() {
        return Ok(None);
    }
    let mut granted = GrantedRoles { ids: Vec::new(), of_all_groups: Vec::new() };
    for (group, name) in &config.roles {
        let Some(role) = role::Entity::find().filter(role::Column::Name.eq(name)).one(context.db()).await? else {
            tracing::warn!(role = name, "oidc-roles names a role that does not exist");
            continue;
        };
        granted.of_all_groups.push(role.id);
        if identity.groups.contains(group) && !granted.ids.contains(&role.id) {
            granted.ids.push(role.id);
        }
    }
    Ok(Some(granted))
}

/// Gives a user the roles of their groups and takes those of other groups. Roles that no group grants stay.
async fn assign(context: &Context<'_>, user_id: i64, granted: &GrantedRoles) -> Result<()> {
    let user = user::Entity::find_by_id(user_id).one(context.db()).await?.ok_or(Error::NotFound)?;
    let before: Vec<i64> = serde_json::from_value(user.role_ids).map_err(Error::internal)?;
    let stays = |id: &&i64| !granted.of_all_groups.contains(id) || granted.ids.contains(id);
    let mut after: Vec<i64> = before.iter().filter(stays).copied().collect();
    after.extend(granted.ids.iter().filter(|id| !before.contains(id)));
    if after == before {
        return Ok(());
    }
    let entry = context.catalog().linked(user::Entity::meta().name);
    let json = json!({ "role_ids": after }).to_string();
    let body = Body::read(json.as_bytes(), None)?;
    let (every, conditions) = (Condition::always(), Preconditions::default());
    update(context, entry, user_id, every, &conditions, &body, None).await?;
    Ok(())
}
