//! Passkeys of a user: created on the account page, and used to sign in without a password (WebAuthn Level 3).

use std::net::IpAddr;

use chrono::{DateTime, TimeDelta, Utc};
use passki::{
    AuthenticationCredential, AuthenticationOptions, AuthenticationState, Passki, RegistrationCredential,
    RegistrationOptions, RegistrationState, ResidentKeyRequirement, StoredPasskey, UserVerificationRequirement,
};
use sea_orm::QueryResult;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use url::Url;

use super::account_log::{self, AccountEvent};
use super::proof::Proof;
use super::session::{self, SignedIn};
use charter_core::crypto::aead;
use charter_core::crypto::hmac::hmac_sha256;
use charter_core::db::Sql;
use charter_core::error::{Error, Result};
use charter_core::ops::{Context, State};

/// Maximum number of passkeys of a user.
pub const MAX_PASSKEYS: usize = 20;
/// Maximum length of the name of a passkey.
pub const MAX_NAME_CHARS: usize = 100;
/// Maximum length of a stored credential id in base64url: 1023 bytes (WebAuthn, section 4).
const MAX_ID_CHARS: usize = 1364;
/// How long a user may take for a ceremony.
const LIFETIME: TimeDelta = TimeDelta::minutes(5);
/// Purpose of the key that seals a sign-in.
const SIGN_IN: &str = "passkey sign-in";

/// A passkey, as its user sees it.
#[derive(Debug)]
pub struct Passkey {
    pub id: i64,
    pub name: String,
    pub created_at: DateTime<Utc>,
    pub last_used_at: Option<DateTime<Utc>>,
}

/// The first half of a ceremony.
pub struct Ceremony {
    /// The options for the browser, as JSON.
    pub options: String,
    /// The sealed state for the second half, in a hidden field.
    pub sealed: String,
}

/// The state of a ceremony with its time.
#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    state: T,
    begun_at: DateTime<Utc>,
}

/// Returns true if browsers can have passkeys for this service: its address is a domain name with HTTPS, or `localhost`.
pub fn are_possible(state: &State) -> bool {
    relying_party(state).is_some()
}

fn relying_party(state: &State) -> Option<Passki> {
    let url = Url::parse(&state.base_url()).ok()?;
    let host = url.host_str()?;
    let is_address = host.parse::<IpAddr>().is_ok() || host.starts_with('[');
    let is_secure = url.scheme() == "https" || host == "localhost";
    (!is_address && is_secure).then(|| Passki::new(host, &[url.origin().ascii_serialization()], state.name))
}

/// The passkeys of the user, the oldest first.
///
/// # Errors
/// If the database fails.
pub async fn list(state: &State, user: &SignedIn) -> Result<Vec<Passkey>> {
    let columns = "\"id\", \"name\", \"created_at\", \"last_used_at\"";
    let mut sql = Sql::new(state.db.dialect(), format!("SELECT {columns} FROM \"user_passkeys\" WHERE \"user_id\" = "));
    sql.bind(user_id(user)?).push(" ORDER BY \"id\"");
    let passkey = |row: &QueryResult| {
        Ok(Passkey {
            id: row.try_get("", "id")?,
            name: row.try_get("", "name")?,
            created_at: row.try_get("", "created_at")?,
            last_used_at: row.try_get("", "last_used_at")?,
        })
    };
    sql.all(state.db.reader()).await?.iter().map(passkey).collect()
}

/// Begins the creation of a passkey. The password was verified.
///
/// # Errors
/// [`Error::Conflict`] if passkeys are impossible or the user has the maximum.
pub async fn begin_creation(context: &Context<'_>, user: &SignedIn) -> Result<Ceremony> {
    let (state, id) = (context.state(), user_id(user)?);
    let existing = stored(context, id).await?;
    if existing.len() >= MAX_PASSKEYS {
        return Err(Error::Conflict(format!("You have {MAX_PASSKEYS} passkeys. Remove one first.")));
    }
    let mut options = RegistrationOptions::default();
    options.resident_key = ResidentKeyRequirement::Required;
    options.user_verification = UserVerificationRequirement::Required;
    options.exclude_credentials = Some(&existing);
    // The handle must not identify the person to others (WebAuthn, section 14.6.1).
    let handle = hmac_sha256(state.secret_key.as_str().as_bytes(), format!("passkeys of user {id}").as_bytes());
    let party = relying_party(state).ok_or_else(impossible)?;
    let (challenge, state_of_ceremony) =
        party.start_passkey_registration(&handle, &user.email, &user.name, options).map_err(Error::internal)?;
    let options = serde_json::to_string(&challenge).map_err(Error::internal)?;
    Ok(Ceremony { options, sealed: seal(context, &creation(id), state_of_ceremony)? })
}

/// Stores the passkey that the browser created. Returns false if the ceremony has expired or its answer is invalid, or
/// the passkey is known already.
///
/// # Errors
/// If the database fails.
pub async fn create(
    context: &Context<'_>,
    user: &SignedIn,
    sealed: &str,
    credential: &str,
    name: &str,
) -> Result<bool> {
    let (state, id) = (context.state_arc(), user_id(user)?);
    let Some(ceremony) = open::<RegistrationState>(state, &creation(id), sealed) else { return Ok(false) };
    let Ok(credential) = serde_json::from_str::<RegistrationCredential>(credential) else { return Ok(false) };
    let party = relying_party(state).ok_or_else(impossible)?;
    let passkey = match party.finish_passkey_registration(&credential, &ceremony.state) {
        Ok(passkey) => passkey,
        Err(error) => {
            tracing::info!(%error, "a passkey was refused");
            return Ok(false);
        }
    };
    let credential_id = Passki::base64_encode(&passkey.credential_id);
    if credential_id.len() > MAX_ID_CHARS {
        return Ok(false);
    }
    let transaction = state.db.begin().await?;
    let context = &context.with_connection(&transaction);
    let columns = "\"user_id\", \"name\", \"credential_id\", \"credential\", \"created_at\"";
    let mut sql = Sql::new(state.db.dialect(), format!("INSERT INTO \"user_passkeys\" ({columns}) VALUES ("));
    let name: String = name.trim().chars().take(MAX_NAME_CHARS).collect();
    sql.bind(id).push(", ").bind(if name.is_empty() { "Passkey".to_string() } else { name });
    sql.push(", ").bind(credential_id).push(", ");
    sql.bind(serde_json::to_string(&passkey).map_err(Error::internal)?).push(", ").bind(context.now());
    sql.push(") ON CONFLICT DO NOTHING");
    if sql.run(&transaction).await? == 0 {
        return Ok(false);
    }
    account_log::record(context, id, AccountEvent::AddPasskey).await?;
    transaction.commit().await?;
    Ok(true)
}

/// Removes a passkey of the user.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn remove(context: &Context<'_>, user: &SignedIn, passkey: i64) -> Result<()> {
    let (state, id) = (context.state(), user_id(user)?);
    let transaction = state.db.begin().await?;
    let mut sql = Sql::new(state.db.dialect(), "DELETE FROM \"user_passkeys\" WHERE \"user_id\" = ");
    sql.bind(id).push(" AND \"id\" = ").bind(passkey);
    if sql.run(&transaction).await? == 0 {
        return Err(Error::NotFound);
    }
    account_log::record(&context.with_connection(&transaction), id, AccountEvent::RemovePasskey).await?;
    transaction.commit().await
}

/// Removes all passkeys of a user, in the context's transaction. Returns whether there were any.
pub(super) async fn remove_all(context: &Context<'_>, user_id: i64) -> Result<bool> {
    let mut sql = Sql::new(context.state().db.dialect(), "DELETE FROM \"user_passkeys\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    if sql.run(context.db()).await? == 0 {
        return Ok(false);
    }
    account_log::record(context, user_id, AccountEvent::RemovePasskey).await?;
    Ok(true)
}

/// Begins a sign-in with any passkey of this service.
///
/// # Errors
/// [`Error::Conflict`] if passkeys are impossible.
pub fn begin_sign_in(context: &Context<'_>) -> Result<Ceremony> {
    let mut options = AuthenticationOptions::default();
    options.user_verification = UserVerificationRequirement::Required;
    let party = relying_party(context.state()).ok_or_else(impossible)?;
    let (challenge, state) = party.start_passkey_authentication(&[], options).map_err(Error::internal)?;
    let options = serde_json::to_string(&challenge).map_err(Error::internal)?;
    Ok(Ceremony { options, sealed: seal(context, SIGN_IN, state)? })
}

/// Starts a session for the owner of the passkey, and returns its secret; `None` if the passkey is unknown, its answer
/// is invalid or was used before, or the user is deactivated. A passkey verifies its user, and so replaces both factors.
///
/// # Errors
/// If the database fails.
pub async fn finish_sign_in(
    context: &Context<'_>,
    sealed: &str,
    credential: &str,
    user_agent: Option<&str>,
) -> Result<Option<String>> {
    let state = context.state();
    let Some(ceremony) = open::<AuthenticationState>(state, SIGN_IN, sealed) else { return Ok(None) };
    let Ok(credential) = serde_json::from_str::<AuthenticationCredential>(credential) else { return Ok(None) };
    let party = relying_party(state).ok_or_else(impossible)?;
    let transaction = state.db.begin().await?;
    let context = &context.with_connection(&transaction);
    let mut sql = Sql::new(
        state.db.dialect(),
        "SELECT \"id\", \"user_id\", \"credential\" FROM \"user_passkeys\" WHERE \"credential_id\" = ",
    );
    sql.bind(credential.raw_id.trim_end_matches('='));
    let Some(row) = sql.one(&transaction).await? else { return Ok(None) };
    let mut passkey = parse(&row)?;
    match party.finish_passkey_authentication(&credential, &ceremony.state, &passkey) {
        Ok(result) => passkey.counter = result.counter,
        Err(error) => {
            tracing::info!(%error, "a sign-in with a passkey was refused");
            return Ok(None);
        }
    }
    let (id, user_id): (i64, i64) = (row.try_get("", "id")?, row.try_get("", "user_id")?);
    let mut sql = Sql::new(state.db.dialect(), "UPDATE \"user_passkeys\" SET \"credential\" = ");
    sql.bind(serde_json::to_string(&passkey).map_err(Error::internal)?);
    sql.push(", \"last_used_at\" = ").bind(context.now()).push(" WHERE \"id\" = ").bind(id);
    // Each answer works once: the passkey was not used since the challenge was made.
    sql.push(" AND (\"last_used_at\" IS NULL OR \"last_used_at\" < ").bind(ceremony.begun_at).push(")");
    if sql.run(&transaction).await? == 0 {
        return Ok(None);
    }
    let Some(secret) = session::insert(context, &Proof::Passkey { user_id }, user_agent).await? else {
        return Ok(None);
    };
    transaction.commit().await?;
    Ok(Some(secret))
}

/// The stored passkeys of a user.
async fn stored(context: &Context<'_>, user_id: i64) -> Result<Vec<StoredPasskey>> {
    let dialect = context.state().db.dialect();
    let mut sql = Sql::new(dialect, "SELECT \"credential\" FROM \"user_passkeys\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    sql.all(context.db()).await?.iter().map(parse).collect()
}

fn parse(row: &QueryResult) -> Result<StoredPasskey> {
    let text: String = row.try_get("", "credential")?;
    serde_json::from_str(&text).map_err(Error::internal)
}

/// Purpose of the key that seals a creation. The user's id prevents that another user finishes it.
fn creation(user_id: i64) -> String {
    format!("passkey of user {user_id}")
}

fn seal<T: Serialize>(context: &Context<'_>, purpose: &str, state: T) -> Result<String> {
    let sealed = Sealed { state, begun_at: context.now() };
    let text = serde_json::to_string(&sealed).map_err(Error::internal)?;
    aead::encrypt(context.state().secret_key.as_str(), purpose, &text)
}

/// `None` if it was changed or has expired.
fn open<T: DeserializeOwned>(state: &State, purpose: &str, sealed: &str) -> Option<Sealed<T>> {
    let text = aead::decrypt(state.secret_key.as_str(), purpose, sealed)?;
    let sealed: Sealed<T> = serde_json::from_str(&text).ok()?;
    (state.clock.now() - sealed.begun_at <= LIFETIME).then_some(sealed)
}

fn impossible() -> Error {
    Error::Conflict("Passkeys need an address with a domain name and HTTPS.".into())
}

fn user_id(user: &SignedIn) -> Result<i64> {
    user.principal.user_id.ok_or(Error::NotFound)
}
