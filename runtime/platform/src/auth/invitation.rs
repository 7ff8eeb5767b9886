//! Invitations and password resets: single-use links, valid for seven days or an hour, by which a user sets a password.

use chrono::{DateTime, TimeDelta, Utc};

use super::account_log::{self, AccountEvent};
use super::proof::Proof;
use super::secret::{digest, random_base62};
use super::{account_mail, password, second_factor, session};
use charter_core::db::{Connection, Dialect, Sql};
use charter_core::error::Result;
use charter_core::ops::{Context, State};

const LIFETIME: TimeDelta = TimeDelta::days(7);
/// Time for which the link of a reset is valid.
const RESET_LIFETIME: TimeDelta = TimeDelta::hours(1);
/// Minimum time between two links of resets for one user, whose mailbox strangers could fill otherwise.
const RESET_INTERVAL: TimeDelta = TimeDelta::minutes(5);
const SECRET_CHARACTERS: usize = 40;

/// Creates an invitation in the context's transaction and returns its secret. Earlier invitations of the user end.
///
/// # Errors
/// If the database fails.
pub async fn create(context: &Context<'_>, user_id: i64) -> Result<String> {
    end(context.state().db.dialect(), context.db(), user_id).await?;
    let secret = insert(context, user_id, context.now() + LIFETIME, None).await?;
    account_log::record(context, user_id, AccountEvent::Invite).await?;
    Ok(secret)
}

/// Creates a link for a reset in the context's transaction, which has locked the user, and returns its secret. Earlier
/// resets of the user end. Invitations stay, because anybody can request a reset. `None` if the last link is too recent.
pub(super) async fn create_reset(context: &Context<'_>, user_id: i64) -> Result<Option<String>> {
    let (dialect, now) = (context.state().db.dialect(), context.now());
    let mut recent = Sql::new(dialect, "SELECT 1 FROM \"user_invitations\" WHERE \"user_id\" = ");
    recent.bind(user_id).push(" AND \"reset_requested_at\" > ").bind(now - RESET_INTERVAL);
    if recent.one(context.db()).await?.is_some() {
        return Ok(None);
    }
    let mut earlier = Sql::new(dialect, "DELETE FROM \"user_invitations\" WHERE \"user_id\" = ");
    earlier.bind(user_id).push(" AND \"reset_requested_at\" IS NOT NULL");
    earlier.run(context.db()).await?;
    let secret = insert(context, user_id, now + RESET_LIFETIME, Some(now)).await?;
    account_log::record(context, user_id, AccountEvent::RequestReset).await?;
    Ok(Some(secret))
}

async fn insert(
    context: &Context<'_>,
    user_id: i64,
    expires_at: DateTime<Utc>,
    reset_requested_at: Option<DateTime<Utc>>,
) -> Result<String> {
    let secret = random_base62(SECRET_CHARACTERS)?;
    let mut sql = Sql::new(
        context.state().db.dialect(),
        "INSERT INTO \"user_invitations\" (\"user_id\", \"digest\", \"expires_at\", \"reset_requested_at\") VALUES (",
    );
    sql.bind(user_id).push(", ").bind(hex::encode(digest(&secret))).push(", ").bind(expires_at);
    sql.push(", ").bind(reset_requested_at).push(")");
    sql.run(context.db()).await?;
    Ok(secret)
}

/// Deletes the invitations and resets of a user in a transaction.
///
/// # Errors
/// If the database fails.
pub async fn end(dialect: Dialect, transaction: &Connection, user_id: i64) -> Result<()> {
    let mut sql = Sql::new(dialect, "DELETE FROM \"user_invitations\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    sql.run(transaction).await.map(drop)
}

/// URL of an invitation or a reset.
pub fn url(state: &State, secret: &str) -> String {
    format!("{}/panel/invitation/{secret}", state.base_url())
}

/// The user of a valid link.
pub struct Invited {
    pub user_id: i64,
    pub name: String,
    pub email: String,
    /// The link resets a password. Otherwise it is an invitation.
    pub is_reset: bool,
}

/// The active user with this invitation or reset.
///
/// # Errors
/// If the database fails.
pub async fn find(state: &State, secret: &str) -> Result<Option<Invited>> {
    let mut sql = Sql::new(
        state.db.dialect(),
        "SELECT u.\"id\" AS \"id\", u.\"name\" AS \"name\", u.\"email\" AS \"email\", \
         i.\"reset_requested_at\" IS NOT NULL AS \"is_reset\" FROM \"user_invitations\" i \
         JOIN \"users\" u ON u.\"id\" = i.\"user_id\" WHERE i.\"digest\" = ",
    );
    sql.bind(hex::encode(digest(secret))).push(" AND i.\"expires_at\" > ").bind(state.clock.now());
    sql.push(" AND u.\"is_active\" = ").bind(true);
    let Some(row) = sql.one(state.db.reader()).await? else { return Ok(None) };
    Ok(Some(Invited {
        user_id: row.try_get("", "id")?,
        name: row.try_get("", "name")?,
        email: row.try_get("", "email")?,
        is_reset: row.try_get("", "is_reset")?,
    }))
}

/// Result of [`accept`].
pub enum Accepted {
    /// The secret of the new session.
    Session(String),
    /// The password is set. The user has a second factor: no session was started.
    NeedsCode(Proof),
}

/// Sets the password of the user, ends the link, and starts a session, unless the user has a second
/// factor. Returns `None` if the link has ended.
///
/// # Errors
/// Those of [`password::prepare`], which leave the link valid.
pub async fn accept(
    context: &Context<'_>,
    secret: &str,
    password: &str,
    user_agent: Option<&str>,
) -> Result<Option<Accepted>> {
    let state = context.state_arc();
    let Some(Invited { user_id, is_reset, .. }) = find(state, secret).await? else { return Ok(None) };
    let prepared = password::prepare(state, user_id, password).await?;
    let transaction = state.db.begin().await?;
    let invited = account_log::identified(user_id);
    let own = context.with_caller(&invited);
    let context = own.with_connection(&transaction);
    let mut sql = Sql::new(state.db.dialect(), "DELETE FROM \"user_invitations\" WHERE \"digest\" = ");
    sql.bind(hex::encode(digest(secret)));
    // A concurrent request has used the link.
    if sql.run(&transaction).await? == 0 {
        return Ok(None);
    }
    let event = if is_reset { AccountEvent::AcceptReset } else { AccountEvent::AcceptInvitation };
    account_log::record(&context, user_id, event).await?;
    password::store(&context, &prepared, None).await?;
    let proof = Proof::Password(prepared);
    // A concurrent set-up of a second factor updates the row of the password, too.
    let accepted = if second_factor::is_on(&context, user_id).await? {
        Accepted::NeedsCode(proof)
    } else {
        let Some(secret) = session::insert(&context, &proof, user_agent).await? else { return Ok(None) };
        Accepted::Session(secret)
    };
    session::commit(state, transaction).await?;
    if is_reset {
        account_mail::notify_of_new_password(&own, user_id)?;
    }
    Ok(Some(accepted))
}
