//! Panel sessions: a secret in a cookie, stored as a digest and rotated every hour.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::EntityTrait;
use serde_json::json;

use super::TokenCache;
use super::account_log::{self, AccountEvent};
use super::known_network;
use super::proof::Proof;
use super::secret::{digest, random_base62};
use super::token_cache::load_principal;
use super::{second_factor, user};
use charter_core::db::{Connection, Dialect, Sql};
use charter_core::error::{Error, Result};
use charter_core::ops::{Context, State};
use charter_core::principal::Principal;
use charter_core::ttl_cache::TtlCache;

const SECRET_CHARACTERS: usize = 43;
/// Stored characters of the `User-Agent` header.
const USER_AGENT_CHARACTERS: usize = 255;
/// A session ends after this time without use, and at the latest after [`MAX_LIFETIME`].
pub(super) const IDLE_TIMEOUT: TimeDelta = TimeDelta::hours(12);
pub(super) const MAX_LIFETIME: TimeDelta = TimeDelta::days(30);
/// Interval between rotations of the secret. The previous secret stays valid for the grace period, for requests in
/// progress, and until the new one is used, because its response may be lost.
const ROTATION_INTERVAL: TimeDelta = TimeDelta::hours(1);
const ROTATION_GRACE: TimeDelta = TimeDelta::minutes(1);
/// Minimum interval between two writes of `last_used_at`.
const LAST_USED_INTERVAL: TimeDelta = TimeDelta::minutes(5);
/// How long a session is cached. A session that ends is rejected at once on the node that ended it and within this time
/// on others.
const CACHE_TTL: Duration = Duration::from_secs(30);
/// Maximum time that a request waits for a rotation. After it, the request continues with its current secret.
const ROTATION_TIMEOUT: Duration = Duration::from_secs(1);

/// A user who is signed in to the panel.
#[derive(Debug)]
pub struct SignedIn {
    /// Has the ability `*`: the user's permissions alone decide.
    pub principal: Arc<Principal>,
    pub name: String,
    pub email: String,
    pub(super) id: i64,
    created_at: DateTime<Utc>,
}

impl SignedIn {
    /// Identifies the session over its lifetime, across rotations of its secret.
    pub fn session_key(&self) -> String {
        format!("{} {}", self.id, self.created_at.timestamp_micros())
    }
}

/// The session of a cookie.
#[derive(Debug)]
pub struct CookieSession {
    pub user: Arc<SignedIn>,
    /// New secret that replaces the one of the cookie.
    pub renewed: Option<String>,
}

/// Cache of signed-in users by the digest of their secret.
#[derive(Debug, Default)]
pub struct SessionCache(Mutex<CacheState>);

#[derive(Debug, Default)]
struct CacheState {
    users: TtlCache<[u8; 32], Arc<SignedIn>>,
    cleared: u64,
}

impl SessionCache {
    pub(super) fn clear(&self) {
        let mut state = self.lock();
        state.users.clear();
        state.cleared += 1;
    }

    fn get(&self, digest: &[u8; 32], now: Instant) -> (Option<Arc<SignedIn>>, u64) {
        let state = self.lock();
        (state.users.get(digest, now), state.cleared)
    }

    fn put(&self, digest: [u8; 32], user: &Arc<SignedIn>, until: Instant, cleared: u64) {
        let state = self.lock();
        if state.cleared != cleared {
            return;
        }
        state.users.insert(digest, user.clone(), until);
    }

    fn lock(&self) -> MutexGuard<'_, CacheState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Result of [`begin`].
pub enum Begun {
    /// The secret of the new session.
    Session(String),
    /// The user has a second factor: no session was started.
    NeedsCode,
    /// The user was deactivated, or the password changed, after the proof.
    Refused,
}

/// Starts a session after a proof, unless the user has a second factor. The start of `user_agent`, the request's
/// header, is stored.
///
/// # Errors
/// If the database fails.
pub async fn begin(context: &Context<'_>, proof: &Proof, user_agent: Option<&str>) -> Result<Begun> {
    let transaction = context.state().db.begin().await?;
    let context = context.with_connection(&transaction);
    let Some(secret) = insert(&context, proof, user_agent).await? else { return Ok(Begun::Refused) };
    // Read after `insert`, which waits for a transaction that sets up a second factor. Nothing is committed.
    if second_factor::is_on(&context, proof.user_id()).await? {
        return Ok(Begun::NeedsCode);
    }
    transaction.commit().await?;
    Ok(Begun::Session(secret))
}

/// Starts a session in the context's transaction and deletes expired sessions of the user. The caller has verified the
/// second factor, if there is one.
///
/// # Errors
/// If the database fails.
pub(super) async fn insert(context: &Context<'_>, proof: &Proof, user_agent: Option<&str>) -> Result<Option<String>> {
    let user_id = proof.user_id();
    let (transaction, dialect, now) = (context.db(), context.state().db.dialect(), context.now());
    let secret = random_base62(SECRET_CHARACTERS)?;
    let mut expired = Sql::new(dialect, "DELETE FROM \"user_sessions\" WHERE \"user_id\" = ");
    expired.bind(user_id).push(" AND (\"last_used_at\" < ").bind(now - IDLE_TIMEOUT);
    expired.push(" OR \"created_at\" < ").bind(now - MAX_LIFETIME).push(")");
    expired.run(transaction).await?;
    let columns =
        "\"user_id\", \"digest\", \"created_at\", \"rotated_at\", \"last_used_at\", \"address\", \"user_agent\"";
    let mut sql = Sql::new(dialect, format!("INSERT INTO \"user_sessions\" ({columns}) SELECT u.\"id\", "));
    sql.bind(hex::encode(digest(&secret)));
    for _ in 0..3 {
        sql.push(", ").bind(now);
    }
    sql.push(", ").bind(context.client_address().map(|address| address.to_string()));
    sql.push(", ").bind(user_agent.map(|text| text.chars().take(USER_AGENT_CHARACTERS).collect::<String>()));
    sql.push(" FROM \"users\" u");
    if let Proof::Password(password) = proof {
        sql.push(" JOIN \"user_passwords\" p ON p.\"user_id\" = u.\"id\" AND p.\"hash\" = ")
            .bind(password.hash.as_str());
    }
    sql.push(" WHERE u.\"id\" = ").bind(user_id).push(" AND u.\"is_active\" = ").bind(true);
    // Waits for a transaction that changes the password or deactivates the user, or is seen by it and ended.
    if dialect == Dialect::Postgres {
        sql.push(" FOR SHARE");
    }
    if sql.run(transaction).await? == 0 {
        return Ok(None);
    }
    let (user, details) = (account_log::identified(user_id), [("method", json!(proof.method()))]);
    account_log::record_with(&context.with_caller(&user), user_id, AccountEvent::SignIn, &details).await?;
    known_network::remember(context, user_id).await?;
    Ok(Some(secret))
}

/// Finds the user of a secret; `None` if the session has ended or expired, or the user is deleted or deactivated.
/// `bypass_cache` looks the session up in the database.
///
/// # Errors
/// If the database fails.
pub async fn find(state: &Arc<State>, secret: &str, bypass_cache: bool) -> Result<Option<CookieSession>> {
    let key = digest(secret);
    let started = state.clock.instant();
    let (known, cleared) = TokenCache::of(state)?.sessions.get(&key, started);
    if let Some(user) = known.filter(|_| !bypass_cache) {
        return Ok(Some(CookieSession { user, renewed: None }));
    }
    let Some(row) = read(state, &hex::encode(key)).await? else { return Ok(None) };
    let now = state.clock.now();
    let expired = now - row.last_used_at > IDLE_TIMEOUT || now - row.created_at > MAX_LIFETIME;
    // A previous secret after the new one is in use, and after the grace period, may be stolen.
    let age = now - row.rotated_at;
    if expired || (row.is_previous && row.is_seen() && age > ROTATION_GRACE) {
        return Ok(None);
    }
    let Some(model) = user::Entity::find_by_id(row.user_id).one(state.db.reader()).await? else { return Ok(None) };
    if !model.is_active {
        return Ok(None);
    }
    let (name, email) = (model.name.clone(), model.email.clone());
    let principal = Principal { abilities: vec!["*".into()], ..load_principal(state, model).await? };
    let user =
        Arc::new(SignedIn { principal: Arc::new(principal), name, email, id: row.id, created_at: row.created_at });
    // A previous secret after the grace period means that the response with the new one was lost: rotate again.
    let renewed = match age > if row.is_previous { ROTATION_GRACE } else { ROTATION_INTERVAL } {
        true => rotate(state, &row, &hex::encode(key), now).await,
        false => None,
    };
    if renewed.is_none() && !row.is_previous {
        if now - row.last_used_at > LAST_USED_INTERVAL || !row.is_seen() {
            let used_at = now.max(row.rotated_at + TimeDelta::milliseconds(1));
            record_use(state.clone(), row, used_at);
        }
        state.extension::<TokenCache>()?.sessions.put(key, &user, started + CACHE_TTL, cleared);
    }
    Ok(Some(CookieSession { user, renewed }))
}

/// Ends a session.
///
/// # Errors
/// If the database fails.
pub async fn end(context: &Context<'_>, user: &SignedIn) -> Result<()> {
    let state = context.state_arc();
    let mut sql = Sql::new(state.db.dialect(), "DELETE FROM \"user_sessions\" WHERE \"id\" = ");
    sql.bind(user.id);
    let transaction = state.db.begin().await?;
    // A concurrent request may have ended it.
    if sql.run(&transaction).await? == 1
        && let Some(user_id) = user.principal.user_id
    {
        account_log::record(&context.with_connection(&transaction), user_id, AccountEvent::SignOut).await?;
    }
    commit(state, transaction).await
}

/// Commits a transaction that ends sessions, and clears the cache, both even if the client disconnects.
///
/// # Errors
/// If the database fails.
pub(super) async fn commit(state: &Arc<State>, transaction: Connection) -> Result<()> {
    let (state, detached_tasks) = (state.clone(), state.detached_tasks.clone());
    detached_tasks
        .run_to_completion(async move {
            let committed = transaction.commit().await;
            // Even after an error, because the commit may have succeeded.
            state.extension::<TokenCache>()?.clear();
            committed
        })
        .await
}

/// Ends all sessions of a user.
///
/// # Errors
/// If the database fails.
pub async fn end_all(state: &State, connection: &Connection, user_id: i64) -> Result<()> {
    let mut sql = Sql::new(state.db.dialect(), "DELETE FROM \"user_sessions\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    sql.run(connection).await.map(drop)
}

struct Row {
    id: i64,
    user_id: i64,
    digest: String,
    is_previous: bool,
    created_at: DateTime<Utc>,
    rotated_at: DateTime<Utc>,
    last_used_at: DateTime<Utc>,
}

impl Row {
    /// Reports whether the current secret has been used, which means that it reached the browser.
    fn is_seen(&self) -> bool {
        self.last_used_at > self.rotated_at
    }
}

async fn read(state: &State, digest: &str) -> Result<Option<Row>> {
    let mut sql = Sql::new(
        state.db.dialect(),
        "SELECT \"id\", \"user_id\", \"digest\", \"created_at\", \"rotated_at\", \"last_used_at\" FROM \"user_sessions\" \
         WHERE \"digest\" = ",
    );
    sql.bind(digest).push(" OR \"previous\" = ").bind(digest);
    let Some(row) = sql.one(state.db.reader()).await? else { return Ok(None) };
    let in_force: String = row.try_get("", "digest")?;
    Ok(Some(Row {
        id: row.try_get("", "id")?,
        user_id: row.try_get("", "user_id")?,
        is_previous: in_force != digest,
        digest: in_force,
        created_at: row.try_get("", "created_at")?,
        rotated_at: row.try_get("", "rotated_at")?,
        last_used_at: row.try_get("", "last_used_at")?,
    }))
}

/// Rotates the secret. Returns `None` if a concurrent request has rotated it, or if the rotation fails or times out,
/// because reads must not depend on writes. An interrupted rotation is handled like a lost response.
async fn rotate(state: &State, row: &Row, sent: &str, now: DateTime<Utc>) -> Option<String> {
    let rotated = tokio::time::timeout(ROTATION_TIMEOUT, try_rotate(state, row, sent, now)).await;
    rotated.unwrap_or_else(|_| Err(Error::too_long())).unwrap_or_else(|error| {
        tracing::warn!(%error, "the secret of session {} could not be rotated", row.id);
        None
    })
}

async fn try_rotate(state: &State, row: &Row, sent: &str, now: DateTime<Utc>) -> Result<Option<String>> {
    let secret = random_base62(SECRET_CHARACTERS)?;
    let mut sql = Sql::new(state.db.dialect(), "UPDATE \"user_sessions\" SET \"digest\" = ");
    sql.bind(hex::encode(digest(&secret))).push(", \"previous\" = ").bind(sent).push(", \"rotated_at\" = ").bind(now);
    sql.push(", \"last_used_at\" = ").bind(now).push(" WHERE \"id\" = ").bind(row.id);
    sql.push(" AND \"digest\" = ").bind(row.digest.as_str());
    let changed = write(state, sql).await?;
    Ok((changed == 1).then_some(secret))
}

/// Writes `last_used_at` in the background. A failure is only logged. The digest in the condition excludes a secret
/// that was rotated in the meantime, because the new one may not have reached the browser.
fn record_use(state: Arc<State>, row: Row, now: DateTime<Utc>) {
    tokio::spawn(async move {
        let mut sql = Sql::new(state.db.dialect(), "UPDATE \"user_sessions\" SET \"last_used_at\" = ");
        sql.bind(now).push(" WHERE \"id\" = ").bind(row.id).push(" AND \"digest\" = ").bind(row.digest.as_str());
        if let Err(error) = write(&state, sql).await {
            tracing::warn!(%error, "last_used_at of session {} could not be written", row.id);
        }
    });
}

/// Runs one statement in its own transaction and returns the number of changed rows.
async fn write(state: &State, sql: Sql) -> Result<u64> {
    let transaction = state.db.begin().await?;
    let changed = sql.run(&transaction).await?;
    transaction.commit().await?;
    Ok(changed)
}
