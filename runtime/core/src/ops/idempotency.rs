//! Idempotency keys: a POST with the same key and request is executed once, and its response is replayed for 24 hours.
//!
//! The transaction of the request first inserts the row of its key, where a unique index makes a concurrent request
//! with the same key wait, and updates it with the response at the end. A crash or a rollback undoes both the change
//! and the key. An upload stores its file before that; the file of a duplicate is deleted.
//!
//! Actions that call other servers run outside a transaction. They commit the row first, as a lease, and the response
//! later. A failure deletes the row; after a crash it blocks the key until the lease expires, and the result of the
//! action is unknown.

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use sha2::{Digest, Sha256};

use crate::crypto::aead;
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::header::IDEMPOTENCY_KEY;
use crate::ops::{Context, State};
use crate::ops::{StoredResponse, Transaction};
use crate::principal::Principal;

/// How long a response is replayed.
const RETENTION: TimeDelta = TimeDelta::hours(24);
/// Maximum wait for a concurrent request with the same key, after which the client must retry.
const WAIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval at which a waiting request checks a lease.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Time that a lease lasts beyond the request timeout.
const LEASE_MARGIN: TimeDelta = TimeDelta::seconds(30);
/// Status of a row without a response.
const STATUS_IN_PROGRESS: i32 = 0;
/// Maximum length of a key in characters.
pub const MAX_KEY_CHARACTERS: usize = 255;
/// Interval between prunings, and rows deleted per transaction.
const PRUNE_INTERVAL: Duration = Duration::from_secs(600);
const BATCH_ROWS: u64 = 1_000;

/// Idempotency key of a request, with its user and fingerprint.
#[derive(Debug, Clone)]
pub struct Key {
    user_id: i64,
    token_id: Option<i64>,
    text: String,
    /// SHA-256 of method, path, query string and body, which must match for a replay.
    hash: Sha256,
    /// When this request claimed the key. The row has the same value until another request claims it.
    claimed_at: DateTime<Utc>,
}

/// Result of a request with an idempotency key.
#[derive(Debug)]
pub enum Execution {
    /// The request was executed.
    Fresh(StoredResponse),
    /// An earlier request with the same key was executed, and this is its reply.
    Replayed(StoredResponse),
}

impl Key {
    /// Parses the header. The fingerprint is added with [`Key::add`].
    ///
    /// # Errors
    /// 422 if it is not 1 to 255 visible ASCII characters.
    pub fn read(header: &[u8], caller: &Principal) -> Result<Key> {
        let fits = (1..=MAX_KEY_CHARACTERS).contains(&header.len()) && header.iter().all(u8::is_ascii_graphic);
        let text = std::str::from_utf8(header).ok().filter(|_| fits);
        let text = text.ok_or_else(|| Error::invalid(IDEMPOTENCY_KEY, "must be 1 to 255 visible ASCII characters"))?;
        Ok(Key {
            user_id: caller.user_id.unwrap_or_default(),
            token_id: caller.token_id,
            text: text.to_string(),
            hash: Sha256::new(),
            claimed_at: DateTime::UNIX_EPOCH,
        })
    }

    /// Adds a part of the request to the fingerprint.
    pub fn add(&mut self, part: &[u8]) {
        // The length keeps bytes from moving between parts.
        self.hash.update((part.len() as u64).to_be_bytes());
        self.hash.update(part);
    }

    fn fingerprint(&self) -> String {
        hex::encode(self.hash.clone().finalize())
    }

    /// Purpose of the encryption of a reply.
    fn purpose(&self) -> String {
        format!("idempotency:{}:{}", self.user_id, self.text)
    }

    /// The reply to the same request if it was executed; `None` while it is in progress, too.
    ///
    /// # Errors
    /// 422 if the key was used for another request; [`Error::Conflict`] if the reply is for another token, or contains a secret and
    /// cannot be decrypted.
    pub async fn find_reply(&self, context: &Context<'_>) -> Result<Option<StoredResponse>> {
        let columns = "\"fingerprint\", \"token_id\", \"status\", \"location\", \"etag\", \"body\", \"sealed\"";
        let mut sql = Sql::new(
            context.state().db.dialect(),
            format!("SELECT {columns} FROM \"idempotency_keys\" WHERE \"user_id\" = "),
        );
        sql.bind(self.user_id).push(" AND \"key\" = ").bind(self.text.clone());
        sql.push(" AND \"created_at\" > ").bind(context.now() - RETENTION);
        sql.push(" AND (\"status\" <> ")
            .bind(STATUS_IN_PROGRESS)
            .push(" OR \"created_at\" > ")
            .bind(lease_cutoff(context))
            .push(")");
        let Some(row) = sql.one(context.db()).await? else { return Ok(None) };
        if row.try_get::<String>("", "fingerprint")? != self.fingerprint() {
            return Err(Error::invalid(IDEMPOTENCY_KEY, "was used for another request"));
        }
        let status: i32 = row.try_get("", "status")?;
        if status == STATUS_IN_PROGRESS {
            return Ok(None);
        }
        // Another token of the user may have fewer abilities.
        if row.try_get::<Option<i64>>("", "token_id")? != self.token_id {
            return Err(not_replayable("only the token that sent the first request receives it"));
        }
        let mut body: String = row.try_get("", "body")?;
        if row.try_get("", "sealed")? {
            let key = context.state().secret_key.as_str();
            let opened = aead::decrypt(key, &self.purpose(), &body);
            body = opened.ok_or_else(|| not_replayable("it was encrypted with another secret key"))?;
        }
        let status = u16::try_from(status).map_err(Error::internal)?;
        let (location, etag) = (row.try_get("", "location")?, row.try_get("", "etag")?);
        Ok(Some(StoredResponse { status, location, etag, body: body.into_bytes() }))
    }

    /// Claims the key in the context's transaction and waits for a concurrent request that has it. Returns the reply of
    /// that request, or `None` if this one must be executed.
    ///
    /// # Errors
    /// [`Error::InProgress`] if the other request takes too long; those of [`Key::find_reply`].
    pub async fn claim(&mut self, context: &Context<'_>) -> Result<Option<StoredResponse>> {
        self.claimed_at = context.now();
        let mut sql = Sql::new(
            context.state().db.dialect(),
            "INSERT INTO \"idempotency_keys\" (\"user_id\", \"token_id\", \"key\", \"fingerprint\", \"status\", \
             \"body\", \"sealed\", \"created_at\") VALUES (",
        );
        sql.bind(self.user_id).push(", ").bind(self.token_id).push(", ").bind(self.text.clone()).push(", ");
        sql.bind(self.fingerprint()).push(", ").bind(STATUS_IN_PROGRESS).push(", '', ");
        sql.bind(false).push(", ").bind(self.claimed_at);
        // An expired row that is not pruned yet, or an expired lease, is replaced.
        sql.push(
            ") ON CONFLICT (\"user_id\", \"key\") DO UPDATE SET \"token_id\" = excluded.\"token_id\", \
             \"fingerprint\" = excluded.\"fingerprint\", \"created_at\" = excluded.\"created_at\", \"location\" = NULL, \
             \"etag\" = NULL, \"status\" = excluded.\"status\", \"body\" = excluded.\"body\" WHERE \"idempotency_keys\".\"created_at\" <= ",
        );
        sql.bind(context.now() - RETENTION).push(" OR (\"idempotency_keys\".\"status\" = ").bind(STATUS_IN_PROGRESS);
        sql.push(" AND \"idempotency_keys\".\"created_at\" <= ").bind(lease_cutoff(context)).push(") RETURNING \"id\"");
        let taken =
            tokio::time::timeout(WAIT_TIMEOUT, sql.one(context.db())).await.map_err(|_| Error::InProgress)??;
        if taken.is_some() {
            return Ok(None);
        }
        match self.find_reply(context).await? {
            Some(kept) => Ok(Some(kept)),
            // The other request has a lease, or its row has just expired.
            None => Err(Error::InProgress),
        }
    }

    /// Claims the key as a lease for work outside a transaction, and waits for a concurrent request that has it.
    /// Returns the reply of that request, or `None` if this one must be executed, within the request timeout.
    /// [`Key::store_reply`] or [`Key::release`] ends the lease.
    ///
    /// # Errors
    /// Those of [`Key::claim`].
    pub async fn lease(&mut self, context: &Context<'_>) -> Result<Option<StoredResponse>> {
        let until = Instant::now() + WAIT_TIMEOUT;
        loop {
            let now = Context::new(context.state_arc(), context.caller(), context.db());
            let transaction = Transaction::begin(context.state()).await?;
            match self.claim(&now.in_transaction(&transaction)).await {
                Ok(None) => return transaction.commit(&now).await.map(|()| None),
                Err(Error::InProgress) if Instant::now() < until => drop(transaction),
                done => return done,
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Releases the key after a failure.
    pub async fn release(&self, context: &Context<'_>) -> Result<()> {
        let mut sql = Sql::new(context.state().db.dialect(), "DELETE FROM \"idempotency_keys\"");
        self.write_own_row(&mut sql);
        sql.run(context.db()).await.map(drop)
    }

    /// Restricts a statement to the row that this request claimed. After the lease has expired, the row may belong to
    /// another request.
    fn write_own_row(&self, sql: &mut Sql) {
        sql.push(" WHERE \"user_id\" = ").bind(self.user_id).push(" AND \"key\" = ").bind(self.text.clone());
        sql.push(" AND \"status\" = ").bind(STATUS_IN_PROGRESS).push(" AND \"created_at\" = ").bind(self.claimed_at);
    }

    /// Stores the reply, in the transaction of the claim or after a lease. A reply with a secret is encrypted.
    pub async fn store_reply(&self, context: &Context<'_>, answer: &StoredResponse, secret: bool) -> Result<()> {
        let text = String::from_utf8_lossy(&answer.body);
        let key = context.state().secret_key.as_str();
        let body = match secret {
            true => aead::encrypt(key, &self.purpose(), &text)?,
            false => text.into_owned(),
        };
        let mut sql = Sql::new(context.state().db.dialect(), "UPDATE \"idempotency_keys\" SET \"status\" = ");
        sql.bind(i32::from(answer.status)).push(", \"location\" = ").bind(answer.location.clone());
        sql.push(", \"etag\" = ").bind(answer.etag.clone()).push(", \"body\" = ").bind(body);
        sql.push(", \"sealed\" = ").bind(secret);
        self.write_own_row(&mut sql);
        sql.run(context.db()).await.map(drop)
    }
}

/// Leases that began before this time have expired.
fn lease_cutoff(context: &Context<'_>) -> DateTime<Utc> {
    let longest = TimeDelta::from_std(context.state().request_timeout).unwrap_or(RETENTION);
    context.now() - longest - LEASE_MARGIN
}

fn not_replayable(why: &str) -> Error {
    Error::Conflict(format!("The request was executed, but its response cannot be replayed: {why}."))
}

/// Deletes expired keys in batches and returns their number.
pub async fn prune(state: &State) -> Result<u64> {
    let mut removed = 0;
    loop {
        let mut sql = Sql::new(
            state.db.dialect(),
            "DELETE FROM \"idempotency_keys\" WHERE \"id\" IN (SELECT \"id\" FROM \"idempotency_keys\" \
             WHERE \"created_at\" <= ",
        );
        sql.bind(state.clock.now() - RETENTION).push(&format!(" ORDER BY \"created_at\" LIMIT {BATCH_ROWS})"));
        let transaction = state.db.begin().await?;
        let batch = sql.run(&transaction).await?;
        transaction.commit().await?;
        removed += batch;
        if batch < BATCH_ROWS {
            return Ok(removed);
        }
    }
}

/// Prunes periodically.
pub async fn run_pruning(state: std::sync::Arc<State>) {
    loop {
        let pruned = prune(&state).await;
        state.metrics.tasks.round("idempotency", &pruned);
        if let Err(error) = pruned {
            tracing::warn!(%error, "expired idempotency keys could not be deleted");
        }
        tokio::time::sleep(PRUNE_INTERVAL).await;
    }
}
