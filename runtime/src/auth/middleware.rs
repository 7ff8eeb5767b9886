//! From a request's headers to its caller, with a cache of recently seen tokens.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, SubsecRound, Utc};
use salvo::Request;
use salvo::http::HeaderMap;
use sea_orm::entity::prelude::*;

use super::session::SessionCache;
use super::{Principal, Secret, role, token, user};
use crate::cache::TtlCache;
use crate::context::State;
use crate::error::{Error, Result};
use crate::header;
use crate::server::{Usage, client_ip};

/// A revoked token stops on other nodes within this time; on the node that revoked it at once, and at once everywhere for
/// what would outlast it.
const REMEMBERED: Duration = Duration::from_secs(30);
/// `last_used_at` is written at most so often.
const NOTED: chrono::TimeDelta = chrono::TimeDelta::minutes(1);
/// More tokens than this are not known at once.
const MOST: usize = 10_000;

/// Cache of callers by the digests of their tokens, and of signed-in users.
#[derive(Debug, Default)]
pub struct TokenCache {
    memory: Mutex<Memory>,
    pub(super) sessions: SessionCache,
}

#[derive(Debug, Default)]
struct Memory {
    callers: TtlCache<[u8; 32], Arc<Principal>>,
    /// The tokens that were valid when they were last read, also after the callers were forgotten.
    known: HashSet<[u8; 32]>,
    /// The tokens that are being read for the first time, so that many requests at once read and count one once.
    first: HashMap<[u8; 32], Arc<tokio::sync::Mutex<()>>>,
    /// Counts the times it was cleared: a caller that was read before is not remembered after.
    cleared: u64,
}

impl TokenCache {
    /// Forgets everything: a token, a user or a role has changed.
    pub fn clear(&self) {
        let mut memory = self.lock();
        memory.callers.clear();
        memory.cleared += 1;
        self.sessions.clear();
    }

    fn get(&self, digest: &[u8; 32], now: Instant) -> Remembered {
        let memory = self.lock();
        let fresh = memory.callers.get(digest, now);
        Remembered { fresh, known: memory.known.contains(digest), cleared: memory.cleared }
    }

    /// What those who read a token for the first time take turns at.
    fn first(&self, digest: [u8; 32]) -> Arc<tokio::sync::Mutex<()>> {
        let mut memory = self.lock();
        // Those that nobody waits for any more.
        memory.first.retain(|_, turn| Arc::strong_count(turn) > 1);
        memory.first.entry(digest).or_default().clone()
    }

    /// The token turned out not to be valid.
    fn refuse(&self, digest: &[u8; 32]) {
        let mut memory = self.lock();
        memory.known.remove(digest);
        memory.callers.remove(digest);
    }

    fn put(&self, digest: [u8; 32], caller: &Arc<Principal>, until: Instant, cleared: u64) {
        let mut memory = self.lock();
        if memory.cleared != cleared {
            return;
        }
        if memory.known.len() >= MOST {
            memory.known.clear();
        }
        memory.known.insert(digest);
        memory.callers.insert(digest, caller.clone(), until);
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is remembered of a token.
struct Remembered {
    /// Its caller, if that need not be read again.
    fresh: Option<Arc<Principal>>,
    /// It was valid when it was last read.
    known: bool,
    cleared: u64,
}

/// The caller of a request: `Authorization: Bearer <token>`, or `X-AUTH-TOKEN: <token>` as older clients send it.
///
/// # Errors
/// 401 without a token or with one that is unknown or expired; 403 when its user was deactivated; 429 when the token, or
/// the address of a request without a valid one, has asked too often.
pub async fn authenticate(state: &Arc<State>, request: &mut Request) -> Result<Arc<Principal>> {
    identify(state, request, false).await
}

/// The same; `anew`: whatever is remembered of the token.
pub(crate) async fn identify(state: &Arc<State>, request: &mut Request, anew: bool) -> Result<Arc<Principal>> {
    // What the panel asks in this process. No client can send it.
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
    let mut remembered = state.tokens.get(&digest, state.clock.instant());
    let turn = (remembered.fresh.is_none() && !remembered.known).then(|| state.tokens.first(digest));
    let _turn = match &turn {
        Some(turn) => {
            let turn = turn.lock().await;
            remembered = state.tokens.get(&digest, state.clock.instant());
            Some(turn)
        }
        None => None,
    };
    let Remembered { fresh, known, cleared } = remembered;
    let caller = match fresh.filter(|_| !anew) {
        Some(caller) => caller,
        None => {
            let found = look_up(state, &secret).await;
            if matches!(found, Err(Error::InvalidToken)) {
                state.tokens.refuse(&digest);
                // A guess counts for its address, and only a guess: a valid token is not refused for what others of its
                // address sent. The checksum of a token keeps most guesses from the database.
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

/// Counts a request without a valid token for its address.
fn count_anonymous(state: &State, request: &mut Request) -> Result<()> {
    let address = client_ip(request, &state.config.trusted_proxies);
    count(state.anonymous_rate.count(address), request)
}

/// Leaves with the request how its caller stands, for the headers of the answer.
fn count(usage: Option<Usage>, request: &mut Request) -> Result<()> {
    request.extensions_mut().remove::<Usage>();
    let Some(usage) = usage else { return Ok(()) };
    request.extensions_mut().insert(usage);
    usage.allowed()
}

fn secret(headers: &HeaderMap) -> Result<Secret> {
    let sent = credentials(headers)?.ok_or(Error::Unauthenticated)?;
    Secret::parse(sent).ok_or(Error::InvalidToken)
}

/// The token that was sent. A scheme other than `Bearer` is somebody else's, such as a proxy's.
fn credentials(headers: &HeaderMap) -> Result<Option<&str>> {
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

/// Reads the token, its user and the user's roles; answers how long they may be remembered.
async fn look_up(state: &Arc<State>, secret: &Secret) -> Result<(Arc<Principal>, Instant)> {
    let (db, begun) = (state.db.reader(), state.clock.instant());
    let found = token::Entity::find().filter(token::Column::TokenHash.eq(secret.digest_hex())).one(db).await?;
    let token = found.ok_or(Error::InvalidToken)?;
    let now = state.clock.now();
    let left = left(&token, now)?;
    let (id, last_used_at) = (token.id, token.last_used_at);
    let caller = caller_of(state, token).await?;
    if last_used_at.is_none_or(|at| now - at > NOTED) {
        note_use(state.clone(), id);
    }
    Ok((Arc::new(caller), begun + left.min(REMEMBERED)))
}

/// How long a token holds from now on, or may be remembered where it does not end.
///
/// # Errors
/// [`Error::InvalidToken`] when it has expired.
fn left(token: &token::Model, now: DateTime<Utc>) -> Result<Duration> {
    match token.expires_at {
        Some(at) => (at - now).to_std().map_err(|_| Error::InvalidToken),
        None => Ok(REMEMBERED),
    }
}

/// Whom a caller speaks for by now: the body of a request may take long, and a session may have been read before.
///
/// # Errors
/// 401 when the token or the user is gone or the token has expired; 403 when the user was deactivated.
pub(crate) async fn still(state: &Arc<State>, caller: &Principal) -> Result<Principal> {
    let db = state.db.reader();
    let now = match (caller.token_id, caller.user_id) {
        (Some(id), _) => {
            let token = token::Entity::find_by_id(id).one(db).await?.ok_or(Error::InvalidToken)?;
            left(&token, state.clock.now())?;
            caller_of(state, token).await?
        }
        (None, Some(id)) => {
            let user = user::Entity::find_by_id(id).one(db).await?.ok_or(Error::Unauthenticated)?;
            Principal { abilities: caller.abilities.clone(), ..of_user(state, user).await? }
        }
        (None, None) => caller.clone(),
    };
    if now.is_active { Ok(now) } else { Err(Error::UserDeactivated) }
}

/// Whom a token speaks for, whether or not it has expired.
///
/// # Errors
/// [`Error::InvalidToken`] when its user is gone.
pub async fn caller_of(state: &State, token: token::Model) -> Result<Principal> {
    let user = user::Entity::find_by_id(token.user_id).one(state.db.reader()).await?.ok_or(Error::InvalidToken)?;
    Ok(Principal {
        token_id: Some(token.id),
        abilities: serde_json::from_value(token.abilities).map_err(Error::internal)?,
        expires_at: token.expires_at,
        ..of_user(state, user).await?
    })
}

/// A user with the permissions of their roles, and as yet without an ability.
pub(super) async fn of_user(state: &State, user: user::Model) -> Result<Principal> {
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

/// Writes `last_used_at` beside the request: nobody waits for it, and its failure is only logged.
fn note_use(state: Arc<State>, id: i64) {
    tokio::spawn(async move {
        // As it is shown, so that a filter by what is shown finds it.
        let now = state.clock.now().trunc_subsecs(0);
        let noted = token::Entity::update_many()
            .col_expr(token::Column::LastUsedAt, Expr::value(now))
            .filter(token::Column::Id.eq(id))
            .exec(state.db.writer())
            .await;
        if let Err(error) = noted {
            tracing::warn!(%error, "last_used_at of token {id} was not written");
        }
    });
}
