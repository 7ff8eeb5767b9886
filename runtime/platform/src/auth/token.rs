//! The token resource: named, bound to a user and limited to abilities; the secret is shown once.

use charter_macros::Resource;
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;

use super::Secret;
use super::TokenCache;
use super::consequences;
use super::role::{unknown_ability, words};
use charter_core::ability;
use charter_core::error::Result;
use charter_core::ops::{Context, Draft, Route};
use charter_core::stale_reference::StaleReference;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "token", menu = "Administration", owner = "user_id")]
#[resource(description = "A credential of API clients, which authenticates a user and is limited to abilities.")]
#[resource(reveal(name = "value", description = "The token itself. It is shown only once."))]
pub struct Model {
    pub id: i64,
    #[field(string(255), required, description = "The purpose of the token.")]
    pub name: String,
    #[field(
        reference("user"),
        immutable,
        default_caller,
        help = "The user that the token authenticates.",
        description = "The id of the user that the token authenticates."
    )]
    pub user_id: i64,
    #[field(string(64), internal)]
    pub token_hash: String,
    #[field(
        list(100),
        required,
        min_length = 1,
        description = "The operations that the token allows, such as `users:read`; `*` allows everything. A token cannot have abilities that its creator's token lacks.",
        example = "users:read"
    )]
    pub abilities: Json,
    #[field(
        timestamp(seconds),
        description = "When the token expires; must be in the future.",
        example = "2126-03-21T10:00:00Z"
    )]
    pub expires_at: Option<DateTimeUtc>,
    #[field(timestamp(seconds), read_only, description = "When the token was last used, accurate to a minute.")]
    pub last_used_at: Option<DateTimeUtc>,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    let mut route =
        charter_core::route!(Entity, Behaviour, hooks(check, before_save, after_commit), actions()).granting_access();
    route.hooks.consequences = Some(|context, verb, ids| Box::pin(consequences::of_tokens(context, verb, ids)));
    route
}

trait Behaviour {
    fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn after_commit(
        context: &Context<'_>,
        token: &Model,
        before: Option<&Model>,
    ) -> impl Future<Output = Result<()>> + Send;
}

impl Behaviour for Entity {
    async fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let caller = context.caller();
        if let Some(before) = &draft.before {
            // A caller who changes a token may also use it: it must not have more abilities than the caller's own.
            for ability in words(&before.abilities)? {
                caller.need_ability(&ability)?;
            }
        }
        check_abilities(context, draft)?;
        if let Some(limit) = caller.expires_at
            && draft.model.expires_at.try_as_ref().copied().flatten().is_none_or(|at| at > limit)
            && grants(draft)?
        {
            draft.error(Column::ExpiresAt, "must not be later than the expiry of your own token");
        }
        if let Some(Some(at)) = draft.model.expires_at.try_as_ref()
            && *at <= context.now()
            && draft.before.as_ref().is_none_or(|token| token.expires_at != Some(*at))
        {
            draft.error(Column::ExpiresAt, "must be in the future");
        }
        Ok(())
    }

    async fn before_save(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if draft.before.is_none() {
            let secret = Secret::generate()?;
            draft.model.token_hash = Set(secret.digest_hex());
            draft.reveal("value", secret.reveal());
        }
        Ok(())
    }

    async fn after_commit(context: &Context<'_>, _token: &Model, _: Option<&Model>) -> Result<()> {
        context.state().extension::<TokenCache>()?.clear();
        Ok(())
    }
}

/// Reports whether a token is new, or gets more abilities or another expiry.
fn grants(draft: &Draft<Entity>) -> Result<bool> {
    let Some(before) = &draft.before else { return Ok(true) };
    let current = words(&before.abilities)?;
    let given = draft.model.abilities.try_as_ref().map(words).transpose()?.unwrap_or_default();
    let does_more = given.iter().any(|one| !ability::grants(&current, one));
    Ok(does_more || Some(&before.expires_at) != draft.model.expires_at.try_as_ref())
}

/// Checks that the abilities exist and that the caller's own token has them.
fn check_abilities(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
    let Some(given) = draft.model.abilities.try_as_ref() else { return Ok(()) };
    let given = words(given)?;
    let before = draft.before.as_ref().map(|token| words(&token.abilities)).transpose()?;
    if before.is_some_and(|before| before == given) {
        return Ok(());
    }
    if given.is_empty() {
        draft.error(Column::Abilities, "must contain at least one ability");
    }
    for ability in &given {
        if let Some(problem) = unknown_ability(context.catalog(), ability) {
            draft.error(Column::Abilities, problem);
        } else if !ability::grants(&context.caller().abilities, ability) {
            draft.error(Column::Abilities, format!("cannot grant `{ability}`, which your own token does not have"));
        } else if !context.caller().has_ability(ability) {
            draft.error(Column::Abilities, format!("cannot grant `{ability}`, which your roles do not grant"));
        }
    }
    Ok(())
}

/// Tokens with abilities that no endpoint needs.
pub async fn stale_references(context: &Context<'_>) -> Result<Vec<StaleReference>> {
    let known = context.catalog().grantable_abilities();
    let mut found = Vec::new();
    for token in Entity::find().all(context.db()).await? {
        for ability in words(&token.abilities)?.iter().filter(|one| !known.contains(*one)) {
            let problem = format!("grants `{ability}`, which no endpoint needs");
            found.push(StaleReference { kind: "tokens", id: token.id, name: token.name.clone(), problem });
        }
    }
    Ok(found)
}
