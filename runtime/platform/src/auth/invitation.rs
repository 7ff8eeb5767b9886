//! Invitations: single-use links, valid for seven days, by which a user sets a password.

use chrono::TimeDelta;

use super::account_log::{self, AccountEvent};
use super::proof::Proof;
use super::secret::{digest, random_base62};
use super::{password, second_factor, session};
use charter_core::db::{Connection, Dialect, Sql};
use charter_core::error::Result;
use charter_core::ops::{Context, State};

const LIFETIME: TimeDelta = TimeDelta::days(7);
const SECRET_CHARACTERS: usize = 40;

/// Creates an invitation in the context's transaction and returns its secret. Earlier invitations of the user end.
///
/// # Errors
/// If the database fails.
pub async fn create(context: &Context<'_>, user_id: i64) -> Result<String> {
    let (dialect, secret) = (context.state().db.dialect(), random_base62(SECRET_CHARACTERS)?);
    end(context.state().db.dialect(), context.db(), user_id).await?;
    let mut sql =
        Sql::new(dialect, "INSERT INTO \"user_invitations\" (\"user_id\", \"digest\", \"expires_at\") VALUES (");
    sql.bind(user_id).push(", ").bind(hex::encode(digest(&secret))).push(", ").bind(context.now() + LIFETIME).push(")");
    sql.run(context.db()).await?;
    account_log::record(context, user_id, AccountEvent::Invite).await?;
    Ok(secret)
}

/// Deletes the invitations of a user in a transaction.
///
/// # Errors
/// If the database fails.
pub async fn end(dialect: Dialect, transaction: &Connection, user_id: i64) -> Result<()> {
    let mut sql = Sql::new(dialect, "DELETE FROM \"user_invitations\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    sql.run(transaction).await.map(drop)
}

/// URL of an invitation.
pub fn url(state: &State, secret: &str) -> String {
    format!("{}/panel/invitation/{secret}", state.base_url())
}

/// Id, name and email address of the active user with this invitation.
///
/// # Errors
/// If the database fails.
pub async fn find(state: &State, secret: &str) -> Result<Option<(i64, String, String)>> {
    let mut sql = Sql::new(
        state.db.dialect(),
        "SELECT u.\"id\" AS \"id\", u.\"name\" AS \"name\", u.\"email\" AS \"email\" FROM \"user_invitations\" i \
         JOIN \"users\" u ON u.\"id\" = i.\"user_id\" WHERE i.\"digest\" = ",
    );
    sql.bind(hex::encode(digest(secret))).push(" AND i.\"expires_at\" > ").bind(state.clock.now());
    sql.push(" AND u.\"is_active\" = ").bind(true);
    let row = sql.one(state.db.reader()).await?;
    row.map(|row| Ok((row.try_get("", "id")?, row.try_get("", "name")?, row.try_get("", "email")?))).transpose()
}

/// Result of [`accept`].
pub enum Accepted {
    /// The secret of the new session.
    Session(String),
    /// The password is set. The user has a second factor: no session was started.
    NeedsCode(Proof),
}

/// Sets the password of the invited user, ends the invitation, and starts a session, unless the user has a second
/// factor. Returns `None` if the invitation has ended.
///
/// # Errors
/// Those of [`password::prepare`], which leave the invitation valid.
pub async fn accept(
    context: &Context<'_>,
    secret: &str,
    password: &str,
    user_agent: Option<&str>,
) -> Result<Option<Accepted>> {
    let state = context.state_arc();
    let Some((user_id, ..)) = find(state, secret).await? else { return Ok(None) };
    let prepared = password::prepare(state, user_id, password).await?;
    let transaction = state.db.begin().await?;
    let invited = account_log::identified(user_id);
    let context = context.with_connection(&transaction).with_caller(&invited);
    let mut sql = Sql::new(state.db.dialect(), "DELETE FROM \"user_invitations\" WHERE \"digest\" = ");
    sql.bind(hex::encode(digest(secret)));
    // A concurrent request has used the invitation.
    if sql.run(&transaction).await? == 0 {
        return Ok(None);
    }
    account_log::record(&context, user_id, AccountEvent::AcceptInvitation).await?;
    password::store(&context, &prepared, None).await?;
    let proof = Proof::Password(prepared);
    // A concurrent set-up of a second factor updates the row of the password, too.
    if second_factor::is_on(&context, user_id).await? {
        session::commit(state, transaction).await?;
        return Ok(Some(Accepted::NeedsCode(proof)));
    }
    let Some(secret) = session::insert(&context, &proof, user_agent).await? else { return Ok(None) };
    session::commit(state, transaction).await?;
    Ok(Some(Accepted::Session(secret)))
}
