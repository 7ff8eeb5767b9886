//! Who is signed in to the panel: a secret in a cookie, whose digest is stored, and which is changed every hour.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::EntityTrait;

use super::middleware::of_user;
use super::password::Password;
use super::secret::{digest, random};
use super::{Principal, user};
use crate::cache::TtlCache;
use crate::context::State;
use crate::db::{Connection, Dialect, Sql};
use crate::error::{Error, Result};

const CHARACTERS: usize = 43;
/// A session ends when it was not used for so long, and at last.
const IDLE: TimeDelta = TimeDelta::hours(12);
const LONGEST: TimeDelta = TimeDelta::days(30);
/// The secret is changed so often; the one before it holds so long, for requests that were under way, and until the new one
/// is used: the answer that tells it may be lost.
const ROTATED: TimeDelta = TimeDelta::hours(1);
const GRACE: TimeDelta = TimeDelta::minutes(1);
/// Its use is noted at most so often.
const NOTED: TimeDelta = TimeDelta::minutes(5);
/// What was read of it holds so long, on other nodes too; on the node that ends it, it ends at once.
const REMEMBERED: Duration = Duration::from_secs(30);
/// A request waits so long for its secret to be changed, and goes on with the one that it has.
const PATIENCE: Duration = Duration::from_secs(1);

/// A user in a browser.
#[derive(Debug)]
pub struct SignedIn {
    /// May everything that the user's permissions allow.
    pub principal: Arc<Principal>,
    pub name: String,
    pub email: String,
    id: i64,
    created_at: DateTime<Utc>,
}

impl SignedIn {
    /// What the session is known by for as long as it lasts, whatever its secret is by now.
    pub fn mark(&self) -> String {
        format!("{} {}", self.id, self.created_at.timestamp_micros())
    }
}

/// What a cookie leads to.
#[derive(Debug)]
pub struct Found {
    pub user: Arc<SignedIn>,
    /// The secret that takes the place of the one that was sent.
    pub renewed: Option<String>,
}

/// Cache of signed-in users by the digests of their sessions.
#[derive(Debug, Default)]
pub struct SessionCache(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    users: TtlCache<[u8; 32], Arc<SignedIn>>,
    cleared: u64,
}

impl SessionCache {
    pub(super) fn clear(&self) {
        let mut memory = self.lock();
        memory.users.clear();
        memory.cleared += 1;
    }

    fn get(&self, digest: &[u8; 32], now: Instant) -> (Option<Arc<SignedIn>>, u64) {
        let memory = self.lock();
        (memory.users.get(digest, now), memory.cleared)
    }

    fn put(&self, digest: [u8; 32], user: &Arc<SignedIn>, until: Instant, cleared: u64) {
        let memory = self.lock();
        if memory.cleared != cleared {
            return;
        }
        memory.users.insert(digest, user.clone(), until);
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins a session by a password that fitted: its secret. Nothing when the password is not the user's any more, or the user
/// was deactivated meanwhile.
///
/// # Errors
/// When the database fails.
pub async fn begin(state: &State, password: &Password) -> Result<Option<String>> {
    let transaction = state.db.begin().await?;
    let secret = insert(state, &transaction, password).await?;
    transaction.commit().await?;
    Ok(secret)
}

/// The same in a transaction. Those of the user that are over are removed.
///
/// # Errors
/// When the database fails.
pub(super) async fn insert(state: &State, transaction: &Connection, password: &Password) -> Result<Option<String>> {
    let (dialect, now, secret) = (state.db.dialect(), state.clock.now(), random(CHARACTERS)?);
    let mut over = Sql::new(dialect, "DELETE FROM \"user_sessions\" WHERE \"user_id\" = ");
    over.bind(password.user_id).push(" AND (\"last_used_at\" < ").bind(now - IDLE);
    over.push(" OR \"created_at\" < ").bind(now - LONGEST).push(")");
    over.run(transaction).await?;
    let columns = "\"user_id\", \"digest\", \"created_at\", \"rotated_at\", \"last_used_at\"";
    let mut sql = Sql::new(dialect, format!("INSERT INTO \"user_sessions\" ({columns}) SELECT u.\"id\", "));
    sql.bind(hex::encode(digest(&secret)));
    for _ in 0..3 {
        sql.push(", ").bind(now);
    }
    sql.push(" FROM \"users\" u JOIN \"user_passwords\" p ON p.\"user_id\" = u.\"id\" WHERE u.\"id\" = ");
    sql.bind(password.user_id).push(" AND p.\"hash\" = ").bind(password.hash.as_str());
    sql.push(" AND u.\"is_active\" = ").bind(true);
    // Who sets another password or deactivates the user is waited for, or ends this session as every other.
    if dialect == Dialect::Postgres {
        sql.push(" FOR SHARE");
    }
    Ok((sql.run(transaction).await? == 1).then_some(secret))
}

/// Who has this secret; nobody when the session is over, was ended, or its user is gone or was deactivated. `anew`: whatever
/// is remembered of it.
///
/// # Errors
/// When the database fails.
pub async fn find(state: &Arc<State>, secret: &str, anew: bool) -> Result<Option<Found>> {
    let key = digest(secret);
    let begun = state.clock.instant();
    let (known, cleared) = state.tokens.sessions.get(&key, begun);
    if let Some(user) = known.filter(|_| !anew) {
        return Ok(Some(Found { user, renewed: None }));
    }
    let Some(row) = read(state, &hex::encode(key)).await? else { return Ok(None) };
    let now = state.clock.now();
    let over = now - row.last_used_at > IDLE || now - row.created_at > LONGEST;
    // Who comes with a secret whose successor is in use has it from somebody else, or from a request that was under way.
    let age = now - row.rotated_at;
    if over || (row.is_previous && row.is_seen() && age > GRACE) {
        return Ok(None);
    }
    let Some(model) = user::Entity::find_by_id(row.user_id).one(state.db.reader()).await? else { return Ok(None) };
    if !model.is_active {
        return Ok(None);
    }
    let (name, email) = (model.name.clone(), model.email.clone());
    let principal = Principal { abilities: vec!["*".into()], ..of_user(state, model).await? };
    let user =
        Arc::new(SignedIn { principal: Arc::new(principal), name, email, id: row.id, created_at: row.created_at });
    // The answer that told the successor of a previous one was lost.
    let renewed = match age > if row.is_previous { GRACE } else { ROTATED } {
        true => rotate(state, &row, &hex::encode(key), now).await,
        false => None,
    };
    if renewed.is_none() && !row.is_previous {
        if now - row.last_used_at > NOTED || !row.is_seen() {
            let used_at = now.max(row.rotated_at + TimeDelta::milliseconds(1));
            note(state.clone(), row, used_at);
        }
        state.tokens.sessions.put(key, &user, begun + REMEMBERED, cleared);
    }
    Ok(Some(Found { user, renewed }))
}

/// Ends a session.
///
/// # Errors
/// When the database fails.
pub async fn end(state: &Arc<State>, user: &SignedIn) -> Result<()> {
    let mut sql = Sql::new(state.db.dialect(), "DELETE FROM \"user_sessions\" WHERE \"id\" = ");
    sql.bind(user.id);
    let transaction = state.db.begin().await?;
    sql.run(&transaction).await?;
    commit(state, transaction).await
}

/// Commits what ends sessions, and forgets what was remembered of them. A client that goes away meanwhile stops neither.
///
/// # Errors
/// When the database fails.
pub(super) async fn commit(state: &Arc<State>, transaction: Connection) -> Result<()> {
    let (state, tasks) = (state.clone(), state.tasks.clone());
    tasks
        .to_the_end(async move {
            let committed = transaction.commit().await;
            // Also when the word of it was lost: it may stand.
            state.tokens.clear();
            committed
        })
        .await
}

/// Ends every session of a user.
///
/// # Errors
/// When the database fails.
pub async fn end_all(state: &State, connection: &Connection, user_id: i64) -> Result<()> {
    let mut sql = Sql::new(state.db.dialect(), "DELETE FROM \"user_sessions\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    sql.run(connection).await.map(drop)
}

struct Row {
    id: i64,
    user_id: i64,
    digest: String,
    is_previous: bool,
    created_at: DateTime<Utc>,
    rotated_at: DateTime<Utc>,
    last_used_at: DateTime<Utc>,
}

impl Row {
    /// Whether the secret that is in force was used, so that it has arrived.
    fn is_seen(&self) -> bool {
        self.last_used_at > self.rotated_at
    }
}

async fn read(state: &State, digest: &str) -> Result<Option<Row>> {
    let mut sql = Sql::new(
        state.db.dialect(),
        "SELECT \"id\", \"user_id\", \"digest\", \"created_at\", \"rotated_at\", \"last_used_at\" FROM \"user_sessions\" \
         WHERE \"digest\" = ",
    );
    sql.bind(digest).push(" OR \"previous\" = ").bind(digest);
    let Some(row) = sql.one(state.db.reader()).await? else { return Ok(None) };
    let in_force: String = row.try_get("", "digest")?;
    Ok(Some(Row {
        id: row.try_get("", "id")?,
        user_id: row.try_get("", "user_id")?,
        is_previous: in_force != digest,
        digest: in_force,
        created_at: row.try_get("", "created_at")?,
        rotated_at: row.try_get("", "rotated_at")?,
        last_used_at: row.try_get("", "last_used_at")?,
    }))
}

/// Changes the secret in the place of the one that was sent; nothing when another request has just done so, or when it
/// cannot be done now: who only reads needs nobody who writes. Left in the middle it is as when the answer is lost.
async fn rotate(state: &State, row: &Row, sent: &str, now: DateTime<Utc>) -> Option<String> {
    let rotated = tokio::time::timeout(PATIENCE, try_rotate(state, row, sent, now)).await;
    rotated.unwrap_or_else(|_| Err(Error::too_long())).unwrap_or_else(|error| {
        tracing::warn!(%error, "the secret of session {} was not changed", row.id);
        None
    })
}

async fn try_rotate(state: &State, row: &Row, sent: &str, now: DateTime<Utc>) -> Result<Option<String>> {
    let secret = random(CHARACTERS)?;
    let mut sql = Sql::new(state.db.dialect(), "UPDATE \"user_sessions\" SET \"digest\" = ");
    sql.bind(hex::encode(digest(&secret))).push(", \"previous\" = ").bind(sent).push(", \"rotated_at\" = ").bind(now);
    sql.push(", \"last_used_at\" = ").bind(now).push(" WHERE \"id\" = ").bind(row.id);
    sql.push(" AND \"digest\" = ").bind(row.digest.as_str());
    let changed = write(state, sql).await?;
    Ok((changed == 1).then_some(secret))
}

/// Writes `last_used_at` beside the request: nobody waits for it, and its failure is only logged. Of a secret that another
/// request has changed meanwhile it says nothing: the new one may not have arrived.
fn note(state: Arc<State>, row: Row, now: DateTime<Utc>) {
    tokio::spawn(async move {
        let mut sql = Sql::new(state.db.dialect(), "UPDATE \"user_sessions\" SET \"last_used_at\" = ");
        sql.bind(now).push(" WHERE \"id\" = ").bind(row.id).push(" AND \"digest\" = ").bind(row.digest.as_str());
        if let Err(error) = write(&state, sql).await {
            tracing::warn!(%error, "last_used_at of session {} was not written", row.id);
        }
    });
}

/// Runs one statement in a transaction of its own, and answers how many rows it changed.
async fn write(state: &State, sql: Sql) -> Result<u64> {
    let transaction = state.db.begin().await?;
    let changed = sql.run(&transaction).await?;
    transaction.commit().await?;
    Ok(changed)
}
