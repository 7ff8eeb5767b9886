//! The user resource: accounts that tokens and sessions authenticate.

use charter_macros::Resource;
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;

use super::TokenCache;
use super::{account_mail, consequences, erasure, invitation, oidc, passkey, role, second_factor, session};
use charter_core::db::{Lock, Sql};
use charter_core::error::{Error, Result};
use charter_core::ops::write::update::update;
use charter_core::ops::{Body, Context, Draft, Preconditions, Route, Transaction, after_commit};
use charter_core::query::Condition;
use charter_core::resource::Resource;

#[allow(clippy::duplicated_attributes, reason = "all actions are on a record")]
#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "user", menu = "Administration", write_permission = "users.manage", events)]
#[resource(description = "An account that tokens and panel sessions authenticate.")]
#[resource(action(
    name = "deactivate",
    on = "record",
    event = "deactivated",
    until = "not is_active",
    confirm = "The user cannot sign in, and requests with the user's tokens are rejected.",
    description = "Deactivates the user: requests with their tokens are rejected from then on."
))]
#[resource(action(
    name = "invite",
    on = "record",
    reveal(name = "invitation_url", description = "The invitation link. It is shown only once."),
    description = "Returns the user with `invitation_url`, a single-use link that is valid for seven days, by which the user sets a password and signs in to the panel. Earlier links of the user become invalid. If the server can send mail, the user also gets the link by mail. A token that expires cannot invite."
))]
#[resource(action(
    name = "erase",
    on = "record",
    confirm = "Name, email address, password, sessions, tokens and roles of the person are removed. This cannot be undone.",
    description = "Erases the person: name and email address are replaced by neutral ones, in the audit log too, and the account is deactivated for good, without its password, sessions, tokens, roles and invitations. Records and audit entries keep the user's id. For administrators with the ability `*`."
))]
#[resource(action(
    name = "remove_second_factor",
    on = "record",
    confirm = "From then on, the password alone signs the user in. The user's sessions end.",
    description = "Removes the second factor of the user with its recovery codes, and the user's passkeys, and ends the user's panel sessions. The user then signs in with the password alone. For administrators with the ability `*`."
))]
#[resource(action(
    name = "unlink_identity",
    on = "record",
    confirm = "The next sign-in by the identity provider links the identity with this email address. The user's sessions end.",
    description = "Removes the link between the user and the identity provider, and ends the user's panel sessions. The next sign-in by the provider links the identity with the user's email address. For administrators with the ability `*`."
))]
pub struct Model {
    pub id: i64,
    #[field(string(255), required)]
    pub name: String,
    #[field(string(255), required, unique, email, read = "users:read")]
    pub email: String,
    #[field(default = "true", description = "True if the user's tokens are accepted.")]
    pub is_active: bool,
    #[field(default = "false", description = "True if the user administers the service and has every permission.")]
    pub is_admin: bool,
    #[field(
        ref_list("role"),
        default_hook,
        description = "The ids of the user's roles. Default: the role of `settings.default_role_id`."
    )]
    pub role_ids: Json,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    let mut route = charter_core::route!(Entity, Behaviour, hooks(guard, check, before_save, before_delete, after_commit), actions(record deactivate, record invite, record remove_second_factor, record unlink_identity, record erase))
        .granting_access();
    route.hooks.consequences = Some(|context, verb, ids| Box::pin(consequences::of_users(context, verb, ids)));
    route
}

/// Changes the name of a user on behalf of this user, who needs no permission for it. The change is validated, and has
/// its event and its audit entry.
///
/// # Errors
/// 422 under `name`.
pub async fn rename(context: &Context<'_>, user_id: i64, name: &str) -> Result<()> {
    let json = serde_json::json!({ "name": name }).to_string();
    let body = Body::read(json.as_bytes(), None)?;
    let entry = context.catalog().linked(Entity::meta().name);
    let transaction = Transaction::begin(context.state()).await?;
    let (every, conditions) = (Condition::always(), Preconditions::default());
    update(&context.in_transaction(&transaction), entry, user_id, every, &conditions, &body, None).await?;
    transaction.commit(context).await
}

trait Behaviour {
    fn guard(context: &Context<'_>, user: &Model) -> impl Future<Output = Result<()>> + Send;
    fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn before_delete(context: &Context<'_>, user: &Model) -> impl Future<Output = Result<()>> + Send;
    fn after_commit(
        context: &Context<'_>,
        user: &Model,
        before: Option<&Model>,
    ) -> impl Future<Output = Result<()>> + Send;
    fn deactivate(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn invite(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn remove_second_factor(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
    ) -> impl Future<Output = Result<()>> + Send;
    fn unlink_identity(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn erase(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
}

impl Behaviour for Entity {
    async fn guard(context: &Context<'_>, user: &Model) -> Result<()> {
        if user.is_admin && !context.caller().is_admin { Err(Error::AdministratorsOnly) } else { Ok(()) }
    }

    async fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if let Some(email) = email(draft) {
            let id = draft.before.as_ref().map_or(0, |user| user.id);
            let same = Entity::find().filter(Column::Email.eq(&email)).filter(Column::Id.ne(id));
            if same.one(context.db()).await?.is_some() {
                draft.error(Column::Email, "is already taken");
            }
        }
        if let Some(problem) = exceeding_email(context, draft).await? {
            draft.error(Column::Email, problem);
        }
        if let Some(problem) = exceeding_role(context, draft).await? {
            draft.error(Column::RoleIds, problem);
        }
        let was = draft.before.as_ref().map(|user| user.is_admin).unwrap_or_default();
        let is = draft.model.is_admin.try_as_ref().copied().unwrap_or(was);
        if is != was && !context.caller().is_admin {
            draft.error(Column::IsAdmin, "can be changed by administrators only");
        } else if is && !was {
            // Only a token with the ability `*` may create an administrator.
            context.caller().need_ability("*")?;
        }
        if let Some(before) = &draft.before {
            let (id, active) = (before.id, is_active(draft, before));
            if before.is_admin && before.is_active && !(is && active) && is_last_admin(context, id).await? {
                draft.error(
                    if active { Column::IsAdmin } else { Column::IsActive },
                    "cannot change: this is the last administrator",
                );
            }
        }
        Ok(())
    }

    async fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let email = email(draft);
        if let Some(before) = &draft.before {
            let deactivated = before.is_active && !is_active(draft, before);
            // An invitation sent to the old email address must not work.
            if deactivated || email.as_ref().is_some_and(|email| before.email != *email) {
                invitation::end(context.state().db.dialect(), context.db(), before.id).await?;
            }
            if deactivated {
                session::end_all(context.state(), context.db(), before.id).await?;
                // Emitted for a plain update, too.
                draft.emit(Event::Deactivated);
            }
        }
        if let Some(email) = email {
            draft.model.email = Set(email);
        }
        if draft.model.role_ids.is_not_set() {
            let default = default_role(context).await?;
            draft.model.role_ids = Set(serde_json::json!(default.as_slice()));
        }
        Ok(())
    }

    async fn before_delete(context: &Context<'_>, user: &Model) -> Result<()> {
        let mut views = Sql::new(context.state().db.dialect(), "SELECT 1 FROM \"custom_views\" WHERE \"user_id\" = ");
        views.bind(user.id).push(" AND \"visibility\" <> 'personal' LIMIT 1");
        if views.one(context.db()).await?.is_some() {
            return Err(Error::Conflict(
                "Other users use saved views of this user. Deactivate the user, or delete the views or make them personal first.".into(),
            ));
        }
        if user.is_admin && is_last_admin(context, user.id).await? {
            return Err(Error::Conflict("The last administrator cannot be deleted.".into()));
        }
        Ok(())
    }

    async fn after_commit(context: &Context<'_>, _user: &Model, _: Option<&Model>) -> Result<()> {
        context.state().extension::<TokenCache>()?.clear();
        Ok(())
    }

    /// Deactivates the user: requests with their tokens get 403.
    async fn deactivate(_context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        draft.model.is_active = Set(false);
        Ok(())
    }

    /// Creates an invitation. Its holder gets all rights of the user, which is why it needs an administrator and the
    /// ability `*`.
    async fn invite(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        need_full_administrator(context)?;
        if context.caller().expires_at.is_some() {
            return Err(Error::Forbidden(
                "A token that expires cannot create invitations, because a password would outlive it.".into(),
            ));
        }
        let Some(user) = draft.before.as_ref().filter(|user| user.is_active) else {
            return Err(Error::Conflict("The user is deactivated: set `is_active` to true first.".into()));
        };
        let secret = invitation::create(context, user.id).await?;
        let url = invitation::url(context.state(), &secret);
        account_mail::send_invitation_after_commit(context, user, secret)?;
        draft.reveal("invitation_url", &url);
        Ok(())
    }

    /// Removes the second factor of a user who has lost it.
    async fn remove_second_factor(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        need_full_administrator(context)?;
        let caller = context.caller();
        let Some(user) = draft.before.as_ref() else { return Err(Error::NotFound) };
        // A token of one's own has no password to ask for, and rescues the last administrator.
        if caller.user_id == Some(user.id) && caller.token_id.is_none() {
            return Err(Error::Conflict("Turn off your own second factor on the page of your account.".into()));
        }
        let had_factor = second_factor::remove(context, user.id).await?;
        if !passkey::remove_all(context, user.id).await? && !had_factor {
            return Err(Error::Conflict("The user has no second factor and no passkey.".into()));
        }
        session::end_all(context.state(), context.db(), user.id).await?;
        after_commit(context, context.catalog().linked(Entity::meta().name), user.id, None).await
    }

    /// Unlinks a user whose identity at the provider has changed, or whose address has a new owner there.
    async fn unlink_identity(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        need_full_administrator(context)?;
        let Some(user) = draft.before.as_ref() else { return Err(Error::NotFound) };
        if !oidc::unlink(context, user.id).await? {
            return Err(Error::Conflict("The user is not linked to an identity provider.".into()));
        }
        session::end_all(context.state(), context.db(), user.id).await?;
        after_commit(context, context.catalog().linked(Entity::meta().name), user.id, None).await
    }

    /// Erases the person. The account stays, because records and audit entries refer to it.
    async fn erase(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        need_full_administrator(context)?;
        let Some(user) = draft.before.as_ref() else { return Err(Error::NotFound) };
        if context.caller().user_id == Some(user.id) {
            return Err(Error::Conflict("You cannot erase yourself. Ask another administrator.".into()));
        }
        let id = user.id;
        if user.is_admin && user.is_active && is_last_admin(context, id).await? {
            return Err(Error::Conflict("The last administrator cannot be erased.".into()));
        }
        erasure::end_access(context, id).await?;
        let (name, email) = (format!("Erased user {id}"), erased_email(id));
        erasure::redact_audit_entries(context, id, [&name, &email]).await?;
        draft.model.name = Set(name);
        draft.model.email = Set(email);
        draft.model.is_active = Set(false);
        draft.model.is_admin = Set(false);
        draft.model.role_ids = Set(serde_json::json!([]));
        draft.conceal(Column::Name);
        draft.conceal(Column::Email);
        Ok(())
    }
}

/// Rejects callers who are no administrator, or whose token does not allow everything.
fn need_full_administrator(context: &Context<'_>) -> Result<()> {
    context.caller().need_ability("*")?;
    if context.caller().is_admin { Ok(()) } else { Err(Error::AdministratorsOnly) }
}

/// The role of users who are created without one: that of the setting `default_role_id`, or else the seeded role Member
/// in an application without this setting.
async fn default_role(context: &Context<'_>) -> Result<Option<i64>> {
    let dialect = context.state().db.dialect();
    let setting = context.catalog().get("settings").ok().filter(|entry| entry.field(DEFAULT_ROLE).is_some());
    let mut sql = Sql::new(dialect, "SELECT ");
    match setting {
        Some(entry) => sql.name(DEFAULT_ROLE).push(" AS \"id\" FROM ").name(entry.meta.table),
        None => sql.push("\"id\" FROM \"roles\" WHERE \"name\" = ").bind(role::MEMBER),
    };
    let row = sql.one(context.db()).await?;
    Ok(row.map(|row| row.try_get("", "id")).transpose()?.flatten())
}

/// The setting with the default role.
const DEFAULT_ROLE: &str = "default_role_id";

/// The message for a role that a caller assigns although it grants more than the caller has.
async fn exceeding_role(context: &Context<'_>, draft: &Draft<Entity>) -> Result<Option<String>> {
    let Some(list) = draft.model.role_ids.try_as_ref() else { return Ok(None) };
    let before = draft.before.as_ref().map(|user| role_ids(&user.role_ids)).unwrap_or_default();
    let added: Vec<i64> = role_ids(list).into_iter().filter(|id| !before.contains(id)).collect();
    let exceeding = role::exceeding(context, &added).await?;
    Ok(exceeding.map(|(role, what)| format!("cannot assign the role {role}: you do not have its {what}")))
}

/// The message for another email address of a user who may do more than the caller. The owner of the address can set a password and
/// sign in as the user, so that the change is as much as an invitation.
async fn exceeding_email(context: &Context<'_>, draft: &Draft<Entity>) -> Result<Option<String>> {
    let (Some(before), Some(email)) = (&draft.before, email(draft)) else { return Ok(None) };
    if email == before.email || email == erased_email(before.id) {
        return Ok(None);
    }
    let caller = context.caller();
    if caller.expires_at.is_some() {
        return Ok(Some("cannot be changed with a token that expires, because a password would outlive it".into()));
    }
    if before.is_admin && !(caller.is_admin && caller.has_ability("*")) {
        return Ok(Some("of an administrator can be changed by administrators with the ability `*` only".into()));
    }
    let exceeding = role::exceeding(context, &role_ids(&before.role_ids)).await?;
    Ok(exceeding
        .map(|(role, what)| format!("cannot be changed: the user has the role {role}, and you do not have its {what}")))
}

fn role_ids(list: &Json) -> Vec<i64> {
    serde_json::from_value(list.clone()).unwrap_or_default()
}

/// An address that gets no mail (RFC 2606).
fn erased_email(id: i64) -> String {
    format!("erased-{id}@invalid")
}

/// The email address in lower case, which makes it unique regardless of case.
fn email(draft: &Draft<Entity>) -> Option<String> {
    draft.model.email.try_as_ref().map(|email| email.to_lowercase())
}

fn is_active(draft: &Draft<Entity>, before: &Model) -> bool {
    draft.model.is_active.try_as_ref().copied().unwrap_or(before.is_active)
}

/// Reports whether no other active administrator would be left. The lock serializes concurrent checks; locking
/// all administrators would deadlock, because each request has locked one already.
async fn is_last_admin(context: &Context<'_>, id: i64) -> Result<bool> {
    Lock::Admins.acquire(context.db()).await?;
    let admins = Entity::find().filter(Column::IsAdmin.eq(true)).filter(Column::IsActive.eq(true));
    Ok(admins.filter(Column::Id.ne(id)).one(context.db()).await?.is_none())
}
