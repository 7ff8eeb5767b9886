//! Authentication of requests by token, with a cache of recently used tokens.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, SubsecRound, Utc};
use salvo::Request;
use salvo::http::HeaderMap;
use sea_orm::entity::prelude::*;

use super::session::SessionCache;
use super::{Secret, role, token, user};
use crate::cache::TtlCache;
use crate::context::State;
use crate::error::{Error, Result};
use crate::header;
use crate::principal::Principal;
use crate::server::{Usage, client_ip};

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
    /// Clears the cache, because a token, a user or a role has changed.
    pub fn clear(&self) {
        let mut inner = self.lock();
        inner.callers.clear();
        inner.cleared += 1;
        self.sessions.clear();
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

/// Authenticates a request by `Authorization: Bearer <token>` or `X-AUTH-TOKEN: <token>`.
///
/// # Errors
/// 401 if the token is missing, unknown or expired; 403 if its user is deactivated; 429 if the token, or the client
/// address of requests without a valid token, exceeds its rate limit.
pub async fn authenticate(state: &Arc<State>, request: &mut Request) -> Result<Arc<Principal>> {
    authenticate_with(state, request, false).await
}

/// Authenticates a request; `bypass_cache` looks the token up in the database.
pub(crate) async fn authenticate_with(
    state: &Arc<State>,
    request: &mut Request,
    bypass_cache: bool,
) -> Result<Arc<Principal>> {
    // Set by the panel for requests within this process. Clients cannot set it.
    if let Some(caller) = request.extensions().get::<Arc<Principal>>() {
        return Ok(caller.clone());
    }
    let secret = match secret(request.headers()) {
        Ok(secret) => secret,
        Err(error) => {
            count_anonymous(state, request)?;
            return Err(error);
        }
    };
    let digest = secret.digest();
    let mut cached = state.tokens.get(&digest, state.clock.instant());
    let lookup_lock = (cached.principal.is_none() && !cached.known).then(|| state.tokens.lookup_lock(digest));
    let _guard = match &lookup_lock {
        Some(lookup_lock) => {
            let lookup_lock = lookup_lock.lock().await;
            cached = state.tokens.get(&digest, state.clock.instant());
            Some(lookup_lock)
        }
        None => None,
    };
    let CachedToken { principal, known, cleared } = cached;
    let caller = match principal.filter(|_| !bypass_cache) {
        Some(caller) => caller,
        None => {
            let found = look_up(state, &secret).await;
            if matches!(found, Err(Error::InvalidToken)) {
                state.tokens.invalidate(&digest);
                // An invalid token counts against the client address, and a valid one does not: other clients of that
                // address cannot block it. The checksum keeps most guesses away from the database.
                if !known {
                    count_anonymous(state, request)?;
                }
            }
            let (caller, until) = found?;
            state.tokens.put(digest, &caller, until, cleared);
            caller
        }
    };
    count(state.token_rate.count(digest), request)?;
    if caller.is_active { Ok(caller) } else { Err(Error::UserDeactivated) }
}

/// Counts a request without a valid token against its client address.
fn count_anonymous(state: &State, request: &mut Request) -> Result<()> {
    let address = client_ip(request, &state.config.trusted_proxies);
    count(state.anonymous_rate.count(address), request)
}

/// Stores the rate limit usage in the request, for the response headers.
fn count(usage: Option<Usage>, request: &mut Request) -> Result<()> {
    request.extensions_mut().remove::<Usage>();
    let Some(usage) = usage else { return Ok(()) };
    request.extensions_mut().insert(usage);
    usage.allowed()
}

fn secret(headers: &HeaderMap) -> Result<Secret> {
    let sent = sent_token(headers)?.ok_or(Error::Unauthenticated)?;
    Secret::parse(sent).ok_or(Error::InvalidToken)
}

/// The token of a request. Schemes other than `Bearer` are ignored, because they may be meant for a proxy.
fn sent_token(headers: &HeaderMap) -> Result<Option<&str>> {
    let read = |name: &str| -> Result<Option<&str>> {
        let Some(header) = headers.get(name) else { return Ok(None) };
        header.to_str().map(|text| Some(text.trim())).map_err(|_| Error::InvalidToken)
    };
    let bearer = read("authorization")?.and_then(|text| {
        let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    match bearer {
        Some(token) => Ok(Some(token)),
        None => Ok(read(header::AUTH_TOKEN)?.filter(|token| !token.is_empty())),
    }
}

/// Loads a token with its user and roles. Returns how long they may be cached.
async fn look_up(state: &Arc<State>, secret: &Secret) -> Result<(Arc<Principal>, Instant)> {
    let (db, started) = (state.db.reader(), state.clock.instant());
    let found = token::Entity::find().filter(token::Column::TokenHash.eq(secret.digest_hex())).one(db).await?;
    let token = found.ok_or(Error::InvalidToken)?;
    let now = state.clock.now();
    let remaining = remaining(&token, now)?;
    let (id, last_used_at) = (token.id, token.last_used_at);
    let caller = caller_of(state, token).await?;
    if last_used_at.is_none_or(|at| now - at > LAST_USED_INTERVAL) {
        record_use(state.clone(), id);
    }
    Ok((Arc::new(caller), started + remaining.min(CACHE_TTL)))
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
pub(crate) async fn revalidate(state: &Arc<State>, caller: &Principal) -> Result<Principal> {
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
        abilities: serde_json::from_value(token.abilities).map_err(Error::internal)?,
        expires_at: token.expires_at,
        ..load_principal(state, user).await?
    })
}

/// Loads a user's role permissions; the abilities stay empty.
pub(super) async fn load_principal(state: &State, user: user::Model) -> Result<Principal> {
    let role_ids: Vec<i64> = serde_json::from_value(user.role_ids).map_err(Error::internal)?;
    let roles = match role_ids.is_empty() {
        true => Vec::new(),
        false => role::Entity::find().filter(role::Column::Id.is_in(role_ids.clone())).all(state.db.reader()).await?,
    };
    let permissions = roles.into_iter().map(|role| serde_json::from_value::<Vec<String>>(role.permissions));
    let permissions = permissions.collect::<Result<Vec<_>, _>>().map_err(Error::internal)?;
    Ok(Principal {
        user_id: Some(user.id),
        is_admin: user.is_admin,
        is_active: user.is_active,
        permissions: permissions.into_iter().flatten().collect(),
        role_ids,
        ..Principal::default()
    })
}

/// Writes `last_used_at` in the background. A failure is only logged.
fn record_use(state: Arc<State>, id: i64) {
    tokio::spawn(async move {
        // In whole seconds, as the API shows it, which makes filters by a shown value match.
        let now = state.clock.now().trunc_subsecs(0);
        let noted = token::Entity::update_many()
            .col_expr(token::Column::LastUsedAt, Expr::value(now))
            .filter(token::Column::Id.eq(id))
            .exec(state.db.writer())
            .await;
        if let Err(error) = noted {
            tracing::warn!(%error, "last_used_at of token {id} could not be written");
        }
    });
}
