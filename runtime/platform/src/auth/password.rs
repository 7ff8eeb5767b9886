//! Passwords for the panel: Argon2id hashes, verified in a time that does not reveal whether the user exists.

use std::sync::{Arc, LazyLock, OnceLock};

use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use sea_orm::EntityTrait;
use tokio::sync::Semaphore;

use super::account_log::{self, AccountEvent};
use super::password_policy::{normalized, problem};
use super::proof::Proof;
use super::{invitation, session, user};
use charter_core::db::Sql;
use charter_core::error::{Error, Result};
use charter_core::ops::{Context, State};
use charter_core::tasks::spawn_blocking_limited;

pub use super::password_policy::LENGTH;

/// Limits concurrent hashes: each needs 19 MiB and about 20 ms of CPU time.
static HASH_PERMITS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(2)));

/// Hash of a user's password. The password may change while it is verified: actions after a successful verification
/// check that this hash is still stored. It has no `Debug`, which keeps it out of logs.
#[derive(Clone)]
pub struct Password {
    pub user_id: i64,
    pub(super) hash: String,
}

/// Sets the password of a user and ends all of their sessions.
///
/// # Errors
/// Those of [`prepare`].
pub async fn set(context: &Context<'_>, user_id: i64, password: &str) -> Result<()> {
    let state = context.state_arc();
    let prepared = prepare(state, user_id, password).await?;
    let transaction = state.db.begin().await?;
    store(&context.with_connection(&transaction), &prepared, None).await?;
    session::commit(state, transaction).await
}

/// Replaces a verified password, ends all sessions of the user, and starts a new one; returns its secret. Returns
/// `None` if the old password is no longer valid.
///
/// # Errors
/// Those of [`prepare`].
pub async fn change(
    context: &Context<'_>,
    old: &Password,
    password: &str,
    user_agent: Option<&str>,
) -> Result<Option<String>> {
    let state = context.state_arc();
    let prepared = prepare(state, old.user_id, password).await?;
    let transaction = state.db.begin().await?;
    let context = context.with_connection(&transaction);
    if !store(&context, &prepared, Some(old)).await? {
        return Ok(None);
    }
    let Some(secret) = session::insert(&context, &Proof::Password(prepared), user_agent).await? else {
        return Ok(None);
    };
    session::commit(state, transaction).await?;
    Ok(Some(secret))
}

/// Validates and hashes a new password.
///
/// # Errors
/// 422 under `password` if the policy refuses it; [`Error::NotFound`] if there is no such user.
pub async fn prepare(state: &State, user_id: i64, password: &str) -> Result<Password> {
    let user = user::Entity::find_by_id(user_id).one(state.db.reader()).await?.ok_or(Error::NotFound)?;
    let password = normalized(password);
    if let Some(problem) = problem(&password, &[&user.name, &user.email, state.name]) {
        return Err(Error::invalid("password", problem));
    }
    Ok(Password { user_id, hash: hash(password).await? })
}

/// Stores the password, with `old` only in its place, and ends all sessions and invitations of the user, in the context's
/// transaction, which [`session::commit`] must commit. Returns whether it was stored.
pub(super) async fn store(context: &Context<'_>, prepared: &Password, old: Option<&Password>) -> Result<bool> {
    let (state, transaction) = (context.state(), context.db());
    let mut sql =
        Sql::new(state.db.dialect(), "INSERT INTO \"user_passwords\" (\"user_id\", \"hash\", \"changed_at\") VALUES (");
    sql.bind(prepared.user_id).push(", ").bind(prepared.hash.as_str()).push(", ").bind(context.now());
    sql.push(
        ") ON CONFLICT (\"user_id\") DO UPDATE SET \"hash\" = excluded.\"hash\", \"changed_at\" = excluded.\"changed_at\"",
    );
    if let Some(old) = old {
        sql.push(" WHERE \"user_passwords\".\"hash\" = ").bind(old.hash.as_str());
    }
    if sql.run(transaction).await? == 0 {
        return Ok(false);
    }
    invitation::end(state.db.dialect(), transaction, prepared.user_id).await?;
    session::end_all(state, transaction, prepared.user_id).await?;
    let event = if old.is_some() { AccountEvent::ChangePassword } else { AccountEvent::SetPassword };
    account_log::record(context, prepared.user_id, event).await?;
    Ok(true)
}

/// Verifies the password of the active user with this email address. It takes the same time if there is no such user.
///
/// # Errors
/// If the database fails or a stored hash is malformed.
pub async fn find(state: &State, email: &str, password: &str) -> Result<Option<Password>> {
    let mut sql = Sql::new(
        state.db.dialect(),
        "SELECT u.\"id\" AS \"id\", p.\"hash\" AS \"hash\" FROM \"users\" u JOIN \"user_passwords\" p \
         ON p.\"user_id\" = u.\"id\" WHERE u.\"email\" = ",
    );
    sql.bind(email.trim().to_lowercase()).push(" AND u.\"is_active\" = ").bind(true);
    let row = sql.one(state.db.reader()).await?;
    let known = match &row {
        Some(row) => Some(Password { user_id: row.try_get("", "id")?, hash: row.try_get("", "hash")? }),
        None => None,
    };
    let hash = match &known {
        Some(known) => known.hash.clone(),
        None => dummy_hash().await?.to_string(),
    };
    if password.chars().count() > *LENGTH.end() {
        return Ok(None);
    }
    let sent = normalized(password);
    let mut fits = verify(sent.clone(), hash.clone()).await?;
    if !fits && sent != password {
        // The hash may be from before passwords were normalized.
        fits = verify(password.to_string(), hash).await?;
    }
    Ok(known.filter(|_| fits))
}

/// Hash of a random password, verified in place of a missing one.
async fn dummy_hash() -> Result<&'static str> {
    static HASH: OnceLock<String> = OnceLock::new();
    match HASH.get() {
        Some(hash) => Ok(hash),
        None => {
            let prepared = hash(super::secret::random_base62(32)?).await?;
            Ok(HASH.get_or_init(|| prepared))
        }
    }
}

async fn hash(password: String) -> Result<String> {
    let work = move || Argon2::default().hash_password(password.as_bytes()).map(|hash| hash.to_string());
    spawn_blocking_limited(&HASH_PERMITS, work).await?.map_err(Error::internal)
}

async fn verify(password: String, hash: String) -> Result<bool> {
    let compare = move || {
        let hash = PasswordHash::new(&hash)?;
        Ok::<_, argon2::password_hash::Error>(Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
    };
    spawn_blocking_limited(&HASH_PERMITS, compare).await?.map_err(Error::internal)
}
