//! Callers by their tokens, with a cache of recently used tokens.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, SubsecRound, Utc};
use sea_orm::entity::prelude::*;

use super::role::{self, words};
use super::session::SessionCache;
use super::{Secret, account_log, token, user};
use charter_core::ability;
use charter_core::error::{Error, Result};
use charter_core::ops::{Context, State};
use charter_core::principal::Principal;
use charter_core::ttl_cache::TtlCache;

/// How long a token is cached. A revoked token is rejected at once on the node that revoked it and within this time on
/// others, where writes that grant access bypass the cache.
const CACHE_TTL: Duration = Duration::from_secs(30);
/// Minimum interval between two writes of `last_used_at`.
const LAST_USED_INTERVAL: chrono::TimeDelta = chrono::TimeDelta::minutes(1);
/// Maximum number of tokens known to be valid.
const MAX_KNOWN_TOKENS: usize = 10_000;

/// Cache of callers by the digest of their token, and of signed-in users.
#[derive(Debug, Default)]
pub struct TokenCache {
    inner: Mutex<CacheState>,
    pub(super) sessions: SessionCache,
    /// The database server that the entries are from, by `Db::server_changes`.
    server: AtomicU64,
}

#[derive(Debug, Default)]
struct CacheState {
    callers: TtlCache<[u8; 32], Arc<Principal>>,
    /// Tokens that were valid at their last lookup, including evicted ones.
    known: HashSet<[u8; 32]>,
    /// Locks of first lookups, by which concurrent requests with a new token share one lookup.
    lookup_locks: HashMap<[u8; 32], Arc<tokio::sync::Mutex<()>>>,
    /// Number of times the cache was cleared. A lookup that started before is not stored after.
    cleared: u64,
}

impl TokenCache {
    /// The cache of this application. It is cleared when connections have reached another database server, which may
    /// lack the last changes.
    ///
    /// # Errors
    /// An internal error if the application has none.
    pub(super) fn of(state: &State) -> Result<&TokenCache> {
        let (tokens, server) = (state.extension::<TokenCache>()?, state.db.server_changes());
        if tokens.server.swap(server, Ordering::AcqRel) != server {
            tokens.clear();
        }
        Ok(tokens)
    }

    /// Clears the cache, because a token, a user or a role has changed.
    pub fn clear(&self) {
        let mut inner = self.lock();
        inner.callers.clear();
        inner.cleared += 1;
        self.sessions.clear();
    }

    /// True if the token was valid at its last lookup.
    pub fn is_known(&self, digest: &[u8; 32]) -> bool {
        self.lock().known.contains(digest)
    }

    fn get(&self, digest: &[u8; 32], now: Instant) -> CachedToken {
        let inner = self.lock();
        let principal = inner.callers.get(digest, now);
        CachedToken { principal, known: inner.known.contains(digest), cleared: inner.cleared }
    }

    /// Lock for the first lookup of a token.
    fn lookup_lock(&self, digest: [u8; 32]) -> Arc<tokio::sync::Mutex<()>> {
        let mut inner = self.lock();
        // Removes locks that no request waits for.
        inner.lookup_locks.retain(|_, lookup_lock| Arc::strong_count(lookup_lock) > 1);
        inner.lookup_locks.entry(digest).or_default().clone()
    }

    /// Removes a token that is invalid.
    fn invalidate(&self, digest: &[u8; 32]) {
        let mut inner = self.lock();
        inner.known.remove(digest);
        inner.callers.remove(digest);
    }

    fn put(&self, digest: [u8; 32], caller: &Arc<Principal>, until: Instant, cleared: u64) {
        let mut inner = self.lock();
        if inner.cleared != cleared {
            return;
        }
        if inner.known.len() >= MAX_KNOWN_TOKENS {
            inner.known.clear();
        }
        inner.known.insert(digest);
        inner.callers.insert(digest, caller.clone(), until);
    }

    fn lock(&self) -> MutexGuard<'_, CacheState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cache entry of a token.
struct CachedToken {
    /// Its caller, unless expired.
    principal: Option<Arc<Principal>>,
    /// The token was valid at its last lookup.
    known: bool,
    cleared: u64,
}

/// A token that does not authenticate.
#[derive(Debug)]
pub struct Rejection {
    pub error: Error,
    /// The token was valid at its last lookup: its client is no guesser.
    pub was_known: bool,
}

/// The request that a token was sent with, for the audit entry of its first use.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sender<'a> {
    pub request_id: Option<&'a str>,
    pub client_address: Option<IpAddr>,
}

/// The caller of a token, active or not. `bypass_cache` looks the token up in the database.
///
/// # Errors
/// [`Error::InvalidToken`] if it is unknown or expired; those of the database.
pub async fn caller_of_secret(
    state: &Arc<State>,
    secret: &Secret,
    bypass_cache: bool,
    sender: Sender<'_>,
) -> Result<Arc<Principal>, Rejection> {
    let rejection = |error| Rejection { error, was_known: true };
    let tokens = TokenCache::of(state).map_err(rejection)?;
    let digest = secret.digest();
    let mut cached = tokens.get(&digest, state.clock.instant());
    let lookup_lock = (cached.principal.is_none() && !cached.known).then(|| tokens.lookup_lock(digest));
    let _guard = match &lookup_lock {
        Some(lookup_lock) => {
            let lookup_lock = lookup_lock.lock().await;
            cached = tokens.get(&digest, state.clock.instant());
            Some(lookup_lock)
        }
        None => None,
    };
    let CachedToken { principal, known, cleared } = cached;
    if let Some(caller) = principal.filter(|_| !bypass_cache) {
        return Ok(caller);
    }
    let found = look_up(state, secret, sender).await;
    if matches!(found, Err(Error::InvalidToken)) {
        tokens.invalidate(&digest);
    }
    let (caller, until) = found.map_err(|error| Rejection { error, was_known: known })?;
    tokens.put(digest, &caller, until, cleared);
    Ok(caller)
}

/// Loads a token with its user and roles. Returns how long they may be cached.
async fn look_up(state: &Arc<State>, secret: &Secret, sender: Sender<'_>) -> Result<(Arc<Principal>, Instant)> {
    let (db, started) = (state.db.reader(), state.clock.instant());
    let found = token::Entity::find().filter(token::Column::TokenHash.eq(secret.digest_hex())).one(db).await?;
    let token = found.ok_or(Error::InvalidToken)?;
    let now = state.clock.now();
    let remaining = remaining(&token, now)?;
    let (id, last_used_at) = (token.id, token.last_used_at);
    let caller = Arc::new(caller_of(state, token).await?);
    if last_used_at.is_none_or(|at| now - at > LAST_USED_INTERVAL) {
        let (request_id, address) = (sender.request_id.map(str::to_string), sender.client_address);
        let (state, caller, is_first) = (state.clone(), caller.clone(), last_used_at.is_none());
        tokio::spawn(async move {
            let context = Context::new(&state, &caller, state.db.writer());
            let context = context.with_request_id(request_id.as_deref()).with_client_address(address);
            if let Err(error) = record_use(&context, id, is_first).await {
                tracing::warn!(%error, "last_used_at of token {id} could not be written");
            }
        });
    }
    Ok((caller, started + remaining.min(CACHE_TTL)))
}

/// Remaining lifetime of a token, or [`CACHE_TTL`] if it does not expire.
///
/// # Errors
/// [`Error::InvalidToken`] if it has expired.
fn remaining(token: &token::Model, now: DateTime<Utc>) -> Result<Duration> {
    match token.expires_at {
        Some(at) => (at - now).to_std().map_err(|_| Error::InvalidToken),
        None => Ok(CACHE_TTL),
    }
}

/// Loads the current rights of a caller: receiving the body may have taken long, and a cached session may be outdated.
///
/// # Errors
/// 401 if the token or user is deleted or the token has expired; 403 if the user is deactivated.
pub async fn revalidate(state: &Arc<State>, caller: &Principal) -> Result<Principal> {
    let db = state.db.reader();
    let now = match (caller.token_id, caller.user_id) {
        (Some(id), _) => {
            let token = token::Entity::find_by_id(id).one(db).await?.ok_or(Error::InvalidToken)?;
            remaining(&token, state.clock.now())?;
            caller_of(state, token).await?
        }
        (None, Some(id)) => {
            let user = user::Entity::find_by_id(id).one(db).await?.ok_or(Error::Unauthenticated)?;
            Principal { abilities: caller.abilities.clone(), ..load_principal(state, user).await? }
        }
        (None, None) => caller.clone(),
    };
    if now.is_active { Ok(now) } else { Err(Error::UserDeactivated) }
}

/// Loads the caller of a token, even if the token has expired.
///
/// # Errors
/// [`Error::InvalidToken`] if its user is deleted.
pub async fn caller_of(state: &State, token: token::Model) -> Result<Principal> {
    let user = user::Entity::find_by_id(token.user_id).one(state.db.reader()).await?.ok_or(Error::InvalidToken)?;
    Ok(Principal {
        token_id: Some(token.id),
        abilities: state.catalog.expand_abilities(words(&token.abilities)?),
        expires_at: token.expires_at,
        ..load_principal(state, user).await?
    })
}

/// Loads the permissions and abilities of a user's roles; the abilities of the token stay empty.
pub(super) async fn load_principal(state: &State, user: user::Model) -> Result<Principal> {
    let role_ids: Vec<i64> = serde_json::from_value(user.role_ids).map_err(Error::internal)?;
    let roles = match role_ids.is_empty() {
        true => Vec::new(),
        false => role::Entity::find().filter(role::Column::Id.is_in(role_ids.clone())).all(state.db.reader()).await?,
    };
    let (mut permissions, mut role_abilities) = (HashSet::new(), Vec::new());
    for role in roles {
        permissions.extend(words(&role.permissions)?);
        role_abilities.extend(words(&role.abilities)?);
    }
    if user.is_admin {
        role_abilities = vec![ability::ALL.into()];
    }
    Ok(Principal {
        user_id: Some(user.id),
        is_admin: user.is_admin,
        is_active: user.is_active,
        permissions,
        role_abilities: state.catalog.expand_abilities(role_abilities),
        role_ids,
        ..Principal::default()
    })
}

/// Writes `last_used_at`. Of concurrent first uses, one has an audit entry.
async fn record_use(context: &Context<'_>, id: i64, is_first: bool) -> Result<()> {
    // In whole seconds, as the API shows it, which makes filters by a shown value match.
    let now = context.state().clock.now().trunc_subsecs(0);
    let used = token::Entity::update_many().col_expr(token::Column::LastUsedAt, Expr::value(now));
    let used = used.filter(token::Column::Id.eq(id));
    if !is_first {
        used.exec(context.db()).await?;
        return Ok(());
    }
    let transaction = context.state().db.begin().await?;
    let used = used.filter(token::Column::LastUsedAt.is_null()).exec(&transaction).await?;
    if used.rows_affected == 1 {
        account_log::record_first_use(&context.with_connection(&transaction), id).await?;
    }
    transaction.commit().await
}
