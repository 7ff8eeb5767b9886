//! From a request's headers to its caller, with a short memory of the tokens seen lately.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{SubsecRound, Utc};
use salvo::Request;
use salvo::http::HeaderMap;
use sea_orm::entity::prelude::*;

use super::{Principal, Secret, role, token, user};
use crate::context::State;
use crate::error::{Error, Result};

/// A revoked token stops on other nodes within this time; on the node that revoked it at once.
const REMEMBERED: Duration = Duration::from_secs(30);
/// `last_used_at` is written at most so often.
const NOTED: chrono::TimeDelta = chrono::TimeDelta::minutes(1);
/// More tokens than this are not remembered at once.
const MOST: usize = 10_000;

/// The callers of the tokens seen lately, by the tokens' digests.
#[derive(Debug, Default)]
pub struct TokenCache(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    callers: HashMap<[u8; 32], (Arc<Principal>, Instant)>,
    /// Counts the times it was cleared: a caller that was read before is not remembered after.
    cleared: u64,
}

impl TokenCache {
    /// Forgets everything: a token, a user or a role has changed.
    pub fn clear(&self) {
        let mut memory = self.lock();
        memory.callers.clear();
        memory.cleared += 1;
    }

    fn get(&self, digest: &[u8; 32]) -> (Option<Arc<Principal>>, u64) {
        let memory = self.lock();
        let fresh = |(caller, until): &(Arc<Principal>, Instant)| (*until > Instant::now()).then(|| caller.clone());
        (memory.callers.get(digest).and_then(fresh), memory.cleared)
    }

    fn put(&self, digest: [u8; 32], caller: &Arc<Principal>, until: Instant, cleared: u64) {
        let mut memory = self.lock();
        if memory.cleared != cleared {
            return;
        }
        if memory.callers.len() >= MOST {
            memory.callers.clear();
        }
        memory.callers.insert(digest, (caller.clone(), until));
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The caller of a request: `Authorization: Bearer <token>`, or `X-AUTH-TOKEN: <token>` as older clients send it.
///
/// # Errors
/// 401 without a token or with one that is unknown or expired; 403 when its user was deactivated; 429 when the token, or
/// the address of a request without a valid one, has asked too often.
pub async fn authenticate(state: &Arc<State>, request: &Request) -> Result<Arc<Principal>> {
    match identify(state, request.headers()).await {
        Ok((caller, digest)) => {
            state.token_rate.count(digest)?;
            if caller.is_active { Ok(caller) } else { Err(Error::UserDeactivated) }
        }
        Err(error @ (Error::Unauthenticated | Error::InvalidToken)) => {
            // Guessing tokens is counted too.
            let address = request.remote_addr().clone().into_std().map(|address| address.ip());
            state.anonymous_rate.count(address.unwrap_or(IpAddr::from([0, 0, 0, 0])))?;
            Err(error)
        }
        Err(error) => Err(error),
    }
}

async fn identify(state: &Arc<State>, headers: &HeaderMap) -> Result<(Arc<Principal>, [u8; 32])> {
    let sent = credentials(headers)?.ok_or(Error::Unauthenticated)?;
    let secret = Secret::parse(sent).ok_or(Error::InvalidToken)?;
    let digest = secret.digest();
    let (remembered, cleared) = state.tokens.get(&digest);
    let caller = match remembered {
        Some(caller) => caller,
        None => {
            let (caller, until) = look_up(state, &secret).await?;
            state.tokens.put(digest, &caller, until, cleared);
            caller
        }
    };
    Ok((caller, digest))
}

fn credentials(headers: &HeaderMap) -> Result<Option<&str>> {
    if let Some(header) = headers.get("authorization") {
        let text = header.to_str().map_err(|_| Error::InvalidToken)?;
        let (scheme, token) = text.trim().split_once(' ').unwrap_or((text, ""));
        return if scheme.eq_ignore_ascii_case("bearer") {
            Ok(Some(token.trim()))
        } else {
            Err(Error::Unauthenticated)
        };
    }
    headers
        .get("x-auth-token")
        .map(|header| header.to_str().map(str::trim).map_err(|_| Error::InvalidToken))
        .transpose()
}

/// Reads the token, its user and the user's roles; answers how long they may be remembered.
async fn look_up(state: &Arc<State>, secret: &Secret) -> Result<(Arc<Principal>, Instant)> {
    let db = state.db.reader();
    let found = token::Entity::find().filter(token::Column::TokenHash.eq(secret.digest_hex())).one(db).await?;
    let token = found.ok_or(Error::InvalidToken)?;
    let now = Utc::now();
    let left = match token.expires_at {
        Some(at) => (at - now).to_std().map_err(|_| Error::InvalidToken)?,
        None => REMEMBERED,
    };
    let user = user::Entity::find_by_id(token.user_id).one(db).await?.ok_or(Error::InvalidToken)?;
    let role_ids: Vec<i64> = serde_json::from_value(user.role_ids).map_err(Error::internal)?;
    let roles = match role_ids.is_empty() {
        true => Vec::new(),
        false => role::Entity::find().filter(role::Column::Id.is_in(role_ids.clone())).all(db).await?,
    };
    let permissions =
        roles.into_iter().filter_map(|r| serde_json::from_value::<Vec<String>>(r.permissions).ok()).flatten();
    let caller = Principal {
        user_id: Some(user.id),
        is_admin: user.is_admin,
        is_active: user.is_active,
        permissions: permissions.collect(),
        role_ids,
        abilities: serde_json::from_value(token.abilities).map_err(Error::internal)?,
        expires_at: token.expires_at,
    };
    if token.last_used_at.is_none_or(|at| now - at > NOTED) {
        note_use(state.clone(), token.id);
    }
    Ok((Arc::new(caller), Instant::now() + left.min(REMEMBERED)))
}

/// Writes `last_used_at` beside the request: nobody waits for it, and its failure is only logged.
fn note_use(state: Arc<State>, id: i64) {
    tokio::spawn(async move {
        let now = Utc::now().trunc_subsecs(3);
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
