//! Tokens as records: named, bound to a user, limited to abilities; the secret itself is shown once.

use charter_macros::Resource;
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;

use super::Secret;
use super::principal::holds;
use crate::error::Result;
use crate::finding::Finding;
use crate::ops::{Context, Draft, Route};
use crate::query::hint;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "token", owner = "user_id")]
#[resource(description = "What a client sends to be known: it speaks for a user, limited to abilities.")]
#[resource(reveal(name = "value", description = "The token itself, which is shown this once and never again."))]
pub struct Model {
    pub id: i64,
    #[field(string(255), required, description = "What the token is for.")]
    pub name: String,
    #[field(
        reference("user"),
        immutable,
        default_caller,
        help = "Who it speaks for.",
        description = "The id of the user that it speaks for."
    )]
    pub user_id: i64,
    #[field(string(64), internal)]
    pub token_hash: String,
    #[field(
        list(100),
        required,
        min_length = 1,
        description = "What it may do, such as `users:read`; `*` is everything. It grants nothing that the maker's own token lacks.",
        example = "users:read"
    )]
    pub abilities: Json,
    #[field(
        timestamp(seconds),
        description = "When it ends, which is later than now.",
        example = "2126-03-21T10:00:00Z"
    )]
    pub expires_at: Option<DateTimeUtc>,
    #[field(timestamp(seconds), read_only, description = "When it was last used, to the minute.")]
    pub last_used_at: Option<DateTimeUtc>,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    crate::route!(Entity, Behaviour, hooks(check, before_save, after_commit), actions()).public()
}

trait Behaviour {
    fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn after_commit(context: &Context<'_>, token: &Model) -> impl Future<Output = Result<()>> + Send;
}

impl Behaviour for Entity {
    async fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let caller = context.caller();
        if let Some(before) = &draft.before {
            // Whoever changes a token could use it: it must not be stronger than the caller's own.
            for ability in abilities(Some(&before.abilities)) {
                caller.need_ability(&ability)?;
            }
        }
        check_abilities(context, draft);
        if let Some(limit) = caller.expires_at
            && draft.model.expires_at.try_as_ref().copied().flatten().is_none_or(|at| at > limit)
            && grants(draft)
        {
            draft.error("expires_at", "must not be later than that of your own token");
        }
        if let Some(Some(at)) = draft.model.expires_at.try_as_ref()
            && *at <= context.now()
            && draft.before.as_ref().is_none_or(|token| token.expires_at != Some(*at))
        {
            draft.error("expires_at", "must be in the future");
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

    async fn after_commit(context: &Context<'_>, _token: &Model) -> Result<()> {
        context.state().tokens.clear();
        Ok(())
    }
}

/// Whether a token is new, or will hold longer or do more than before.
fn grants(draft: &Draft<Entity>) -> bool {
    let Some(before) = &draft.before else { return true };
    let held = abilities(Some(&before.abilities));
    let given = abilities(draft.model.abilities.try_as_ref());
    let does_more = given.iter().any(|ability| !holds(&held, ability));
    does_more || Some(&before.expires_at) != draft.model.expires_at.try_as_ref()
}

/// A token grants known abilities only, and only those that the caller's own token holds.
fn check_abilities(context: &Context<'_>, draft: &mut Draft<Entity>) {
    let Some(given) = draft.model.abilities.try_as_ref() else { return };
    let given = abilities(Some(given));
    if draft.before.as_ref().is_some_and(|token| abilities(Some(&token.abilities)) == given) {
        return;
    }
    if given.is_empty() {
        draft.error("abilities", "must name at least one ability");
    }
    let known = context.catalog().abilities();
    for ability in &given {
        if ability != "*" && !known.contains(ability) {
            let hint = hint(ability, known.iter().map(String::as_str));
            draft.error("abilities", format!("names an unknown ability `{ability}`{hint}"));
        } else if !context.caller().has_ability(ability) {
            draft.error("abilities", format!("cannot grant `{ability}`, which your own token does not hold"));
        }
    }
}

fn abilities(list: Option<&Json>) -> Vec<String> {
    list.and_then(|list| serde_json::from_value(list.clone()).ok()).unwrap_or_default()
}

/// The tokens that grant an ability that no endpoint needs any more.
pub async fn lost(context: &Context<'_>) -> Result<Vec<Finding>> {
    let known = context.catalog().abilities();
    let mut found = Vec::new();
    for token in Entity::find().all(context.db()).await? {
        for ability in abilities(Some(&token.abilities)).iter().filter(|one| *one != "*" && !known.contains(*one)) {
            let problem = format!("grants `{ability}`, which nothing needs");
            found.push(Finding { kind: "tokens", id: token.id, name: token.name.clone(), problem });
        }
    }
    Ok(found)
}
