//! The second factor of a user: set up, verified at a sign-in, and removed. See `totp` for its codes.

use charter_core::crypto::aead;
use charter_core::db::Sql;
use charter_core::error::{Error, Result};
use charter_core::ops::{Context, State};

use super::account_log::{self, AccountEvent};
use super::own_sessions::{self, Ended};
use super::password::Password;
use super::session::{self, SignedIn};
use super::{recovery_code, totp};

/// A secret that is offered to a user and not yet stored.
pub struct Offer {
    /// In Base32.
    pub secret: String,
    pub uri: String,
    /// The encrypted secret, which only this user can confirm.
    pub sealed: String,
}

/// Offers a new secret.
///
/// # Errors
/// When the operating system has no randomness.
pub fn offer(state: &State, user: &SignedIn, issuer: &str) -> Result<Offer> {
    let secret = totp::generate_secret()?;
    let sealed = aead::encrypt(state.secret_key.as_str(), &purpose(user_id(user)?), &secret)?;
    Ok(Offer { uri: totp::uri(&secret, issuer, &user.email), secret, sealed })
}

/// The offer of a form that is shown again; `None` if it was changed or belongs to another user.
///
/// # Errors
/// [`Error::NotFound`] if the session has no user.
pub fn offered(state: &State, user: &SignedIn, issuer: &str, sealed: &str) -> Result<Option<Offer>> {
    let secret = aead::decrypt(state.secret_key.as_str(), &purpose(user_id(user)?), sealed);
    Ok(secret.map(|secret| Offer { uri: totp::uri(&secret, issuer, &user.email), secret, sealed: sealed.into() }))
}

/// Result of [`confirm`] and [`renew_recovery_codes`].
pub enum Confirmed {
    /// The recovery codes, which cannot be shown again.
    Added(Vec<String>),
    WrongCode,
    /// Another request has set one up, removed it, or changed the password.
    Outdated,
}

/// Stores an offered secret after its first code, and ends the other sessions of the user. The password was verified.
///
/// # Errors
/// If the database fails.
pub async fn confirm(
    context: &Context<'_>,
    user: &SignedIn,
    password: &Password,
    offer: &Offer,
    code: &str,
) -> Result<Confirmed> {
    let (state, user_id) = (context.state_arc(), user_id(user)?);
    let Some(step) = totp::step_of(&offer.secret, &plain(code), context.now()) else { return Ok(Confirmed::WrongCode) };
    let transaction = state.db.begin().await?;
    let context = &context.with_connection(&transaction);
    // A concurrent sign-in waits for the row, and then sees the second factor (`session::begin`).
    let mut lock =
        Sql::new(state.db.dialect(), "UPDATE \"user_passwords\" SET \"hash\" = \"hash\" WHERE \"user_id\" = ");
    lock.bind(user_id).push(" AND \"hash\" = ").bind(password.hash.as_str());
    let mut sql = Sql::new(
        state.db.dialect(),
        "INSERT INTO \"user_second_factors\" (\"user_id\", \"secret\", \"last_step\", \"created_at\") VALUES (",
    );
    sql.bind(user_id).push(", ").bind(offer.sealed.as_str()).push(", ").bind(step).push(", ").bind(context.now());
    sql.push(") ON CONFLICT (\"user_id\") DO NOTHING");
    if lock.run(&transaction).await? == 0 || sql.run(&transaction).await? == 0 {
        return Ok(Confirmed::Outdated);
    }
    let codes = recovery_code::create(context, user_id).await?;
    account_log::record(context, user_id, AccountEvent::AddSecondFactor).await?;
    own_sessions::end_in(context, user, Ended::Others).await?;
    session::commit(state, transaction).await?;
    Ok(Confirmed::Added(codes))
}

/// Replaces the recovery codes of the user after a code of the second factor or one of the old ones. The password was
/// verified.
///
/// # Errors
/// If the database fails.
pub async fn renew_recovery_codes(context: &Context<'_>, user: &SignedIn, code: &str) -> Result<Confirmed> {
    let (state, user_id) = (context.state_arc(), user_id(user)?);
    let transaction = state.db.begin().await?;
    let context = &context.with_connection(&transaction);
    // Locks the second factor first, as `remove` does.
    let mut lock = Sql::new(
        state.db.dialect(),
        "UPDATE \"user_second_factors\" SET \"last_step\" = \"last_step\" WHERE \"user_id\" = ",
    );
    lock.bind(user_id);
    if lock.run(&transaction).await? == 0 {
        return Ok(Confirmed::Outdated);
    }
    if !consume(context, user_id, code).await? {
        return Ok(Confirmed::WrongCode);
    }
    let codes = recovery_code::create(context, user_id).await?;
    account_log::record(context, user_id, AccountEvent::RenewRecoveryCodes).await?;
    session::commit(state, transaction).await?;
    Ok(Confirmed::Added(codes))
}

/// Removes the second factor of the user, and ends the user's other sessions. The password was verified.
///
/// # Errors
/// If the database fails.
pub async fn turn_off(context: &Context<'_>, user: &SignedIn) -> Result<()> {
    let state = context.state_arc();
    let transaction = state.db.begin().await?;
    let context = &context.with_connection(&transaction);
    // A concurrent request may have removed it.
    if remove(context, user_id(user)?).await? {
        own_sessions::end_in(context, user, Ended::Others).await?;
    }
    session::commit(state, transaction).await
}

/// Removes the second factor of a user with its recovery codes, in the context's transaction. Returns whether there was
/// one.
pub(super) async fn remove(context: &Context<'_>, user_id: i64) -> Result<bool> {
    let dialect = context.state().db.dialect();
    let mut sql = Sql::new(dialect, "DELETE FROM \"user_second_factors\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    if sql.run(context.db()).await? == 0 {
        return Ok(false);
    }
    recovery_code::delete_all(context, user_id).await?;
    account_log::record(context, user_id, AccountEvent::RemoveSecondFactor).await?;
    Ok(true)
}

/// Returns true if a user has a second factor, as the connection of the context sees it.
///
/// # Errors
/// If the database fails.
pub async fn is_on(context: &Context<'_>, user_id: i64) -> Result<bool> {
    let dialect = context.state().db.dialect();
    let mut sql = Sql::new(dialect, "SELECT 1 FROM \"user_second_factors\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    Ok(sql.one(context.db()).await?.is_some())
}

/// The number of unused recovery codes of the user; `None` without a second factor.
///
/// # Errors
/// If the database fails.
pub async fn recovery_codes(context: &Context<'_>, user: &SignedIn) -> Result<Option<i64>> {
    let user_id = user_id(user)?;
    match is_on(context, user_id).await? {
        true => recovery_code::count(context.state(), user_id).await.map(Some),
        false => Ok(None),
    }
}

/// Uses up a code of the second factor or a recovery code, in the context's transaction. Returns whether it was valid.
pub(super) async fn consume(context: &Context<'_>, user_id: i64, sent: &str) -> Result<bool> {
    let (state, sent) = (context.state(), plain(sent));
    if sent.len() == totp::DIGITS {
        let Some(secret) = stored_secret(context, user_id).await? else { return Ok(false) };
        let Some(step) = totp::step_of(&secret, &sent, context.now()) else { return Ok(false) };
        // Each code works once (RFC 6238, section 5.2).
        let mut sql = Sql::new(state.db.dialect(), "UPDATE \"user_second_factors\" SET \"last_step\" = ");
        sql.bind(step).push(" WHERE \"user_id\" = ").bind(user_id).push(" AND \"last_step\" < ").bind(step);
        return Ok(sql.run(context.db()).await? == 1);
    }
    // Without a second factor there are no codes.
    let is_valid = recovery_code::consume(context, user_id, &sent).await?;
    if is_valid {
        let user = account_log::identified(user_id);
        account_log::record(&context.with_caller(&user), user_id, AccountEvent::UseRecoveryCode).await?;
    }
    Ok(is_valid)
}

async fn stored_secret(context: &Context<'_>, user_id: i64) -> Result<Option<String>> {
    let state = context.state();
    let mut sql = Sql::new(state.db.dialect(), "SELECT \"secret\" FROM \"user_second_factors\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    let Some(row) = sql.one(context.db()).await? else { return Ok(None) };
    let sealed: String = row.try_get("", "secret")?;
    let secret = aead::decrypt(state.secret_key.as_str(), &purpose(user_id), &sealed);
    if secret.is_none() {
        tracing::warn!(
            user_id,
            "the second factor was encrypted with another secret key: restore CHARTER_SECRET_KEY or remove it"
        );
    }
    Ok(secret)
}

/// Purpose of the encryption key. The user's id prevents that a secret is copied to another row.
fn purpose(user_id: i64) -> String {
    format!("second factor of user {user_id}")
}

/// A code without the spaces and hyphens that people type.
fn plain(sent: &str) -> String {
    sent.chars().filter(|c| !c.is_whitespace() && *c != '-').collect()
}

fn user_id(user: &SignedIn) -> Result<i64> {
    user.principal.user_id.ok_or(Error::NotFound)
}
