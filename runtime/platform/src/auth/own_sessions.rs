//! The panel sessions of one user: listed, and ended by the user.

use chrono::{DateTime, Utc};
use sea_orm::QueryResult;
use serde_json::json;

use super::account_log::{self, AccountEvent};
use super::session::{IDLE_TIMEOUT, MAX_LIFETIME, SignedIn, commit};
use charter_core::db::Sql;
use charter_core::error::Result;
use charter_core::ops::{Context, State};

/// A session of the user, as the user sees it.
#[derive(Debug)]
pub struct OwnSession {
    pub id: i64,
    /// The session of the request.
    pub is_current: bool,
    pub created_at: DateTime<Utc>,
    /// Accurate to five minutes.
    pub last_used_at: DateTime<Utc>,
    /// Client address of the sign-in.
    pub address: Option<String>,
    /// `User-Agent` header of the sign-in.
    pub user_agent: Option<String>,
}

/// The sessions to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The session with this id.
    One(i64),
    /// All but the session of the request.
    Others,
}

/// The sessions of the user that have not expired, the last used first.
///
/// # Errors
/// If the database fails.
pub async fn list(state: &State, user: &SignedIn) -> Result<Vec<OwnSession>> {
    let now = state.clock.now();
    let mut sql = Sql::new(
        state.db.dialect(),
        "SELECT \"id\", \"created_at\", \"last_used_at\", \"address\", \"user_agent\" FROM \"user_sessions\" \
         WHERE \"user_id\" = ",
    );
    sql.bind(user.principal.user_id).push(" AND \"last_used_at\" >= ").bind(now - IDLE_TIMEOUT);
    sql.push(" AND \"created_at\" >= ").bind(now - MAX_LIFETIME).push(" ORDER BY \"last_used_at\" DESC, \"id\" DESC");
    let session = |row: &QueryResult| {
        let id: i64 = row.try_get("", "id")?;
        Ok(OwnSession {
            id,
            is_current: id == user.id,
            created_at: row.try_get("", "created_at")?,
            last_used_at: row.try_get("", "last_used_at")?,
            address: row.try_get("", "address")?,
            user_agent: row.try_get("", "user_agent")?,
        })
    };
    sql.all(state.db.reader()).await?.iter().map(session).collect()
}

/// Ends other sessions of the user, with one audit entry. The session of the request stays.
///
/// # Errors
/// If the database fails.
pub async fn end(context: &Context<'_>, user: &SignedIn, ended: Ended) -> Result<()> {
    let state = context.state_arc();
    let transaction = state.db.begin().await?;
    end_in(&context.with_connection(&transaction), user, ended).await?;
    commit(state, transaction).await
}

/// [`end`] in the context's transaction, which [`commit`] must commit.
pub(super) async fn end_in(context: &Context<'_>, user: &SignedIn, ended: Ended) -> Result<()> {
    let Some(user_id) = user.principal.user_id else { return Ok(()) };
    let mut sql = Sql::new(context.state().db.dialect(), "DELETE FROM \"user_sessions\" WHERE \"user_id\" = ");
    sql.bind(user_id).push(" AND \"id\" <> ").bind(user.id);
    if let Ended::One(id) = ended {
        sql.push(" AND \"id\" = ").bind(id);
    }
    // A concurrent request may have ended them.
    match sql.run(context.db()).await? {
        0 => Ok(()),
        count => {
            let details = [("sessions", json!(count))];
            account_log::record_with(context, user_id, AccountEvent::EndSessions, &details).await
        }
    }
}
