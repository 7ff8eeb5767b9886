//! The webhook resource: URL, subscriptions, signing secret and failure streak.

use charter_macros::{Input, Output, Resource};
use chrono::TimeDelta;
use sea_orm::ActiveValue::Set;
use sea_orm::PaginatorTrait;
use sea_orm::entity::prelude::*;

use super::condition::{self, ALL_EVENTS};
use super::sealed_secret::seal;
use super::transport::Outcome;
use super::{SigningSecret, Webhooks, cancel, consequences, redelivery, subscriptions};
use charter_core::ability;
use charter_core::db::Lock;
use charter_core::error::{Error, FieldErrors, Result};
use charter_core::ops::visibility::is_for_administrators;
use charter_core::ops::{Access, Context, Draft, Route};
use charter_core::stale_reference::StaleReference;
use charter_core::suggest::hint;

/// How long the previous secret stays valid after a rotation.
const SECRET_OVERLAP: TimeDelta = TimeDelta::hours(24);
/// Maximum number of webhooks of one user.
const MAX_WEBHOOKS_PER_USER: u64 = 100;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "webhook", menu = "Administration", owner = "user_id")]
#[resource(reveal(name = "secret", description = "The secret that signs deliveries. It is shown only once."))]
#[resource(action(name = "test", on = "record", output = Delivery, key = "delivery", external))]
#[resource(action(name = "recover", on = "record", input = RecoverInput, output = Recovery, key = "recovery", external))]
#[resource(action(
    name = "rotate_secret",
    on = "record",
    confirm = "A new secret signs deliveries. The old one stays valid for 24 hours: give the receiver the new one until then.",
    reveal(name = "secret", description = "The new secret that signs deliveries. It is shown only once.")
))]
pub struct Model {
    pub id: i64,
    #[field(reference("user"), internal, default_caller)]
    pub user_id: i64,
    #[field(
        string(2048),
        required,
        description = "The URL that deliveries are sent to: https and a public address.",
        example = "https://hooks.example.com/records"
    )]
    pub url: String,
    /// Names of events; `*` subscribes to all.
    #[field(list(255), required, min_length = 1, example = "user.created")]
    pub events: Json,
    #[field(
        string(1000),
        description = "A condition over the record of the event, such as `priority = high`: only events that meet it are delivered. It names fields that the user of the webhook may read, of the resource of each event.",
        example = "id > 0"
    )]
    pub when: Option<String>,
    #[field(default = "true")]
    pub is_active: bool,
    /// Encrypted, like the previous one.
    #[field(string(255), internal)]
    pub secret: String,
    /// The secret before the last rotation, valid for 24 hours after it.
    #[field(string(255), internal)]
    pub previous_secret: Option<String>,
    #[field(internal)]
    pub previous_secret_until: Option<DateTimeUtc>,
    /// Start of the current failure streak.
    #[field(read_only)]
    pub failing_since: Option<DateTimeUtc>,
    #[field(internal)]
    pub last_failure_at: Option<DateTimeUtc>,
    #[field(read_only)]
    pub disabled_at: Option<DateTimeUtc>,
    #[field(
        string(32),
        read_only,
        description = "Why the server disabled the webhook: `failing`, `token_revoked` or `token_expired` (of the token that made it), `user_deactivated`, `condition` if `when` is no longer valid, or `delivery_limit` if its user had too many pending deliveries. Null if it is active, or if a request disabled it.",
        example = "failing"
    )]
    pub disabled_reason: Option<String>,
    /// The token that made or enabled it; null for a session, and for a webhook from before.
    #[field(internal)]
    pub token_id: Option<i64>,
    /// The abilities of that token at the time: the webhook receives no more.
    #[field(list(100), internal, default_hook)]
    pub abilities: Json,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

/// Outcome of an attempt at a user's request.
#[derive(Clone, Debug, Output)]
pub struct Delivery {
    pub delivered: bool,
    pub response_status: Option<i32>,
    /// The first 2 KiB of the response body.
    #[field(text)]
    pub response_body: Option<String>,
    /// Why no complete response arrived.
    #[field(text)]
    pub error: Option<String>,
    #[field(label = "Duration (ms)")]
    pub duration_ms: i32,
}

#[derive(Clone, Debug, Input)]
pub struct RecoverInput {
    /// Events since this time are queued again.
    #[field(required)]
    pub since: DateTimeUtc,
}

#[derive(Clone, Debug, Output)]
pub struct Recovery {
    pub since: DateTimeUtc,
    /// Number of queued deliveries.
    pub queued: i64,
}

impl From<Outcome> for Delivery {
    fn from(outcome: Outcome) -> Delivery {
        Delivery {
            delivered: outcome.is_delivered(),
            response_status: outcome.status.map(i32::from),
            response_body: outcome.body,
            error: outcome.error,
            duration_ms: i32::try_from(outcome.duration.as_millis()).unwrap_or(i32::MAX),
        }
    }
}

pub fn route() -> Route {
    let mut route = charter_core::route!(
        Entity,
        Behaviour,
        hooks(check, before_save, after_save),
        actions(record_output test, record_input_output recover: RecoverInput, record rotate_secret)
    )
    .granting_access();
    route.hooks.consequences = Some(|context, verb, ids| Box::pin(consequences::of_webhooks(context, verb, ids)));
    route
}

trait Behaviour {
    fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn after_save(
        context: &Context<'_>,
        webhook: &Model,
        before: Option<&Model>,
    ) -> impl Future<Output = Result<()>> + Send;
    fn test(context: &Context<'_>, webhook: &Model) -> impl Future<Output = Result<Delivery>> + Send;
    fn recover(
        context: &Context<'_>,
        webhook: &Model,
        input: RecoverInput,
    ) -> impl Future<Output = Result<Recovery>> + Send;
    fn rotate_secret(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
}

impl Behaviour for Entity {
    async fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let redirects = |before: &&Model| {
            Some(&before.url) != draft.model.url.try_as_ref()
                || Some(&before.events) != draft.model.events.try_as_ref()
                || Some(&before.when) != draft.model.when.try_as_ref()
        };
        if let Some(before) = draft.before.as_ref().filter(redirects) {
            need_abilities_of(context, before)?;
        }
        check_url(context, draft)?;
        check_events(context, draft);
        check_condition(context, draft);
        // Limited because each event creates a delivery for each subscribed webhook, and all users share the
        // dispatcher.
        let user = draft.model.user_id.try_as_ref().copied();
        if draft.before.is_none()
            && let Some(user) = user
        {
            // Serializes concurrent creations, which makes the limit exact.
            Lock::Webhooks.acquire(context.db()).await?;
            if Entity::find().filter(Column::UserId.eq(user)).count(context.db()).await? >= MAX_WEBHOOKS_PER_USER {
                draft.error(
                    Column::Url,
                    format!("cannot be added: a user has at most {MAX_WEBHOOKS_PER_USER} webhooks"),
                );
            }
        }
        Ok(())
    }

    async fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let was_active = draft.before.as_ref().is_none_or(|webhook| webhook.is_active);
        let is_active = draft.model.is_active.try_as_ref().copied().unwrap_or(was_active);
        if was_active != is_active {
            draft.model.disabled_at = Set((!is_active).then(|| context.now()));
            draft.model.disabled_reason = Set(None);
        }
        if let Some(before) = draft.before.as_ref().filter(|_| is_active && !was_active)
            && cancel(context.state().db.dialect(), context.db(), before.id, context.now()).await?
        {
            return Err(Error::Conflict(
                "The pending deliveries of the webhook are still being cancelled. Try again in a moment.".into(),
            ));
        }
        let is_owner = draft.model.user_id.try_as_ref() == context.caller().user_id.as_ref();
        if draft.before.is_none() || (is_active && !was_active && is_owner) {
            // It is as narrow as the token that makes or enables it.
            draft.model.token_id = Set(context.caller().token_id);
            draft.model.abilities = Set(serde_json::json!(context.caller().abilities));
        }
        let is_corrected = draft.before.as_ref().is_some_and(|before| {
            Some(&before.url) != draft.model.url.try_as_ref() || Some(&before.when) != draft.model.when.try_as_ref()
        });
        if is_corrected || (is_active && !was_active) {
            end_streak(draft);
        }
        if draft.before.is_none() {
            let secret = SigningSecret::generate()?;
            draft.model.secret = Set(seal(&context.state().secret_key, secret.reveal())?);
            draft.reveal("secret", secret.reveal());
        }
        Ok(())
    }

    /// Cancels the pending deliveries of a disabled webhook.
    async fn after_save(context: &Context<'_>, webhook: &Model, _: Option<&Model>) -> Result<()> {
        match webhook.is_active {
            true => Ok(()),
            false => cancel(context.state().db.dialect(), context.db(), webhook.id, context.now()).await.map(drop),
        }
    }

    /// Sends a test event now, even if the webhook is disabled.
    async fn test(context: &Context<'_>, webhook: &Model) -> Result<Delivery> {
        let state = context.state_arc();
        redelivery::test(state, state.extension::<Webhooks>()?.transport.clone(), webhook.id, context.trace())
            .await
            .map(Delivery::from)
    }

    /// Queues everything that the webhook missed since the given time.
    async fn recover(context: &Context<'_>, webhook: &Model, input: RecoverInput) -> Result<Recovery> {
        if input.since > context.now() {
            let mut errors = FieldErrors::default();
            errors.add("since", "must not be in the future");
            errors.into_result()?;
        }
        let queued = redelivery::recover(context.state_arc(), webhook.id, input.since).await?;
        Ok(Recovery { since: input.since, queued: i64::try_from(queued).unwrap_or(i64::MAX) })
    }

    /// Issues a new secret. The previous one stays valid for 24 hours, which lets receivers switch without a gap.
    async fn rotate_secret(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if let Some(before) = &draft.before {
            need_abilities_of(context, before)?;
        }
        let secret = SigningSecret::generate()?;
        draft.model.previous_secret = Set(draft.before.as_ref().map(|webhook| webhook.secret.clone()));
        draft.model.previous_secret_until = Set(Some(context.now() + SECRET_OVERLAP));
        draft.model.secret = Set(seal(&context.state().secret_key, secret.reveal())?);
        draft.reveal("secret", secret.reveal());
        end_streak(draft);
        Ok(())
    }
}

/// Refuses a token that is narrower than the webhook: it would get records that it may not read.
fn need_abilities_of(context: &Context<'_>, webhook: &Model) -> Result<()> {
    let abilities: Vec<String> = serde_json::from_value(webhook.abilities.clone()).map_err(Error::internal)?;
    let missing = abilities.into_iter().find(|one| !ability::grants(&context.caller().abilities, one));
    missing.map_or(Ok(()), |ability| Err(Error::AbilityMissing(ability)))
}

/// Checks a new URL against the policy. An unchanged URL is not checked, even if the operator has changed the policy:
/// its deliveries fail and the log has the reason.
fn check_url(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
    let Some(url) = draft.model.url.try_as_ref().cloned() else { return Ok(()) };
    if draft.before.as_ref().is_some_and(|webhook| webhook.url == url) {
        return Ok(());
    }
    if let Err(denial) = context.state().extension::<Webhooks>()?.policy.check(&url) {
        draft.error(Column::Url, denial.message());
    }
    Ok(())
}

/// Checks that every event is one that the application emits.
fn check_events(context: &Context<'_>, draft: &mut Draft<Entity>) {
    let Some(list) = draft.model.events.try_as_ref().cloned() else { return };
    if draft.before.as_ref().is_some_and(|webhook| webhook.events == list) {
        return;
    }
    let given: Vec<String> = serde_json::from_value(list).unwrap_or_default();
    if given.is_empty() {
        draft.error(Column::Events, "must contain at least one event");
    }
    let known = context.catalog().events();
    for event in given.iter().filter(|event| *event != ALL_EVENTS && !known.contains(event)) {
        let hint = hint(event, known.iter().map(String::as_str));
        draft.error(Column::Events, format!("refers to an unknown event `{event}`{hint}"));
    }
    // Permissions are checked for the owner only: when an administrator changes the webhook, the owner's permissions
    // still apply at delivery.
    if draft.model.user_id.try_as_ref() != context.caller().user_id.as_ref() {
        return;
    }
    for event in &given {
        let Some(entry) = subscriptions::resource_of(context.catalog(), event).filter(|entry| !entry.is_attached())
        else {
            continue;
        };
        let access = Access::read(entry);
        if let Some(needed) = access.permissions.iter().find(|needed| !context.caller().has_permission(needed)) {
            draft.error(Column::Events, format!("contains `{event}`, which requires the permission `{needed}`"));
        } else if !access.allows(context.caller()) {
            let needed = access.abilities_text();
            draft.error(Column::Events, format!("contains `{event}`, which requires the ability `{needed}`"));
        } else if !context.caller().is_admin && is_for_administrators(context.catalog(), entry) {
            let reason =
                "which only webhooks of administrators receive, because a rule decides who may read the record";
            draft.error(Column::Events, format!("contains `{event}`, {reason}"));
        }
    }
}

/// Checks `when` against the resources of the events, if either is new or the webhook is enabled.
fn check_condition(context: &Context<'_>, draft: &mut Draft<Entity>) {
    let Some(when) = draft.model.when.try_as_ref().cloned().flatten() else { return };
    let Some(list) = draft.model.events.try_as_ref().cloned() else { return };
    let is_enabled = |webhook: &Model| draft.model.is_active.try_as_ref() == Some(&true) && !webhook.is_active;
    let is_same = |webhook: &Model| webhook.when.as_ref() == Some(&when) && webhook.events == list;
    if draft.before.as_ref().is_some_and(|webhook| is_same(webhook) && !is_enabled(webhook)) {
        return;
    }
    // The rights of another owner are checked when the webhook is active.
    let is_owner = draft.model.user_id.try_as_ref() == context.caller().user_id.as_ref();
    let has_right = |right: &str| !is_owner || context.caller().has_right(right);
    let events: Vec<String> = serde_json::from_value(list).unwrap_or_default();
    if let Some(problem) = condition::problem(context.catalog(), &events, &when, &has_right) {
        draft.error(Column::When, problem);
    }
}

fn end_streak(draft: &mut Draft<Entity>) {
    draft.model.failing_since = Set(None);
    draft.model.last_failure_at = Set(None);
}

/// Webhooks that subscribe to an event that the application no longer emits, or whose condition is no longer valid.
pub async fn stale_references(context: &Context<'_>) -> Result<Vec<StaleReference>> {
    let known = context.catalog().events();
    let mut found = Vec::new();
    for webhook in Entity::find().all(context.db()).await? {
        let events: Vec<String> = serde_json::from_value(webhook.events).map_err(Error::internal)?;
        for event in events.iter().filter(|event| *event != ALL_EVENTS && !known.contains(event)) {
            let hint = hint(event, known.iter().map(String::as_str));
            let problem = format!("subscribes to `{event}`, which is never emitted{hint}");
            found.push(StaleReference { kind: "webhooks", id: webhook.id, name: webhook.url.clone(), problem });
        }
        let problem = webhook.when.and_then(|when| condition::problem(context.catalog(), &events, &when, &|_| true));
        if let Some(problem) = problem.map(|problem| format!("has a condition that {problem}")) {
            found.push(StaleReference { kind: "webhooks", id: webhook.id, name: webhook.url, problem });
        }
    }
    Ok(found)
}
