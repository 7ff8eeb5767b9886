//! A sign-in between the proof and the code of the second factor: sealed in the form that asks for the code.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::password::Password;
use super::proof::Proof;
use super::secret::digest;
use super::{second_factor, session};
use charter_core::crypto::aead;
use charter_core::db::Sql;
use charter_core::error::Result;
use charter_core::ops::{Context, State};

/// Purpose of the encryption key.
const PURPOSE: &str = "second factor sign-in";
/// How long the code may take.
const LIFETIME: TimeDelta = TimeDelta::minutes(5);

/// A user who has proved to own the account, and needs a code as well.
pub struct PendingSignIn {
    pub email: String,
    proof: Proof,
}

/// Seals a proof for the next form. The hash of a password is not in the text.
///
/// # Errors
/// When the operating system has no randomness.
pub fn seal(context: &Context<'_>, proof: &Proof) -> Result<String> {
    let until = (context.now() + LIFETIME).timestamp();
    let hash = match proof {
        Proof::Password(password) => Some(hex::encode(digest(&password.hash))),
        Proof::Provider { .. } | Proof::Passkey { .. } => None,
    };
    let text = json!({ "user": proof.user_id(), "hash": hash, "until": until });
    aead::encrypt(context.state().secret_key.as_str(), PURPOSE, &text.to_string())
}

/// Opens a sealed sign-in; `None` if it has expired, or the password has been changed or the user deactivated since.
///
/// # Errors
/// If the database fails.
pub async fn open(state: &State, sealed: &str) -> Result<Option<PendingSignIn>> {
    let text = aead::decrypt(state.secret_key.as_str(), PURPOSE, sealed);
    let Some(pending) = text.and_then(|text| serde_json::from_str::<Value>(&text).ok()) else { return Ok(None) };
    if pending["until"].as_i64().is_none_or(|until| until < state.clock.now().timestamp()) {
        return Ok(None);
    }
    let mut sql = Sql::new(
        state.db.dialect(),
        "SELECT u.\"id\" AS \"id\", u.\"email\" AS \"email\", p.\"hash\" AS \"hash\" FROM \"users\" u \
         LEFT JOIN \"user_passwords\" p ON p.\"user_id\" = u.\"id\" WHERE u.\"id\" = ",
    );
    sql.bind(pending["user"].as_i64()).push(" AND u.\"is_active\" = ").bind(true);
    let Some(row) = sql.one(state.db.reader()).await? else { return Ok(None) };
    let (user_id, hash): (i64, Option<String>) = (row.try_get("", "id")?, row.try_get("", "hash")?);
    let proof = match (pending["hash"].as_str(), hash) {
        (None, _) => Proof::Provider { user_id },
        (Some(sealed), Some(hash)) if sealed == hex::encode(digest(&hash)) => {
            Proof::Password(Password { user_id, hash })
        }
        (Some(_), _) => return Ok(None),
    };
    Ok(Some(PendingSignIn { email: row.try_get("", "email")?, proof }))
}

/// Starts the session after a valid code, and returns its secret; `None` if the code is wrong or was used before, or
/// the password has been changed meanwhile.
///
/// # Errors
/// If the database fails.
pub async fn finish(
    context: &Context<'_>,
    pending: &PendingSignIn,
    code: &str,
    user_agent: Option<&str>,
) -> Result<Option<String>> {
    let transaction = context.state().db.begin().await?;
    let context = &context.with_connection(&transaction);
    if !second_factor::consume(context, pending.proof.user_id(), code).await? {
        return Ok(None);
    }
    let Some(secret) = session::insert(context, &pending.proof, user_agent).await? else { return Ok(None) };
    transaction.commit().await?;
    Ok(Some(secret))
}
