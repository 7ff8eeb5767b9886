//! Keys that make a POST safe to repeat: the same key and request are carried out once, and answered alike for a day.
//!
//! The row of a key is written first in the transaction of the request, where a unique index makes a second one with the
//! same key wait, and its answer last. So the answer stands exactly if the change does: a crash leaves both or neither,
//! and what is rolled back may be tried again. An upload has received and stored its file by then, and a second one too:
//! its file is deleted again.
//!
//! What waits for another server has no transaction around it. There the row is committed first, as a lease, and the
//! answer later. A failure takes the row away; a crash leaves it until the lease ends, and then nobody knows what was done.

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use sha2::{Digest, Sha256};

use crate::auth::Principal;
use crate::context::{Context, State};
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::header::IDEMPOTENCY_KEY;
use crate::ops::{StoredResponse, Transaction};
use crate::seal;

/// An answer is replayed for so long.
const KEPT: TimeDelta = TimeDelta::hours(24);
/// A request waits so long for another with its key, and is told to come back then.
const WAITS: Duration = Duration::from_secs(10);
/// It looks so often whether one that has a lease is done.
const LOOKS: Duration = Duration::from_millis(200);
/// A lease lasts longer than any request by this much.
const BEYOND: TimeDelta = TimeDelta::seconds(30);
/// The status of a row without an answer.
const UNDER_WAY: i32 = 0;
/// The most characters of a key.
pub const LONGEST_KEY: usize = 255;
/// What is past is removed so often, and so many rows at once.
const PRUNED: Duration = Duration::from_secs(600);
const BATCH: u64 = 1_000;

/// The key of a request, with whose it is and what is asked.
#[derive(Debug, Clone)]
pub struct Key {
    user_id: i64,
    token_id: Option<i64>,
    text: String,
    /// The SHA-256 of what makes two requests the same: method, path, query string and body.
    hash: Sha256,
    /// When this request took it. The row holds the same, until another takes it.
    claimed_at: DateTime<Utc>,
}

/// What became of a request that may be one of several.
#[derive(Debug)]
pub enum Once {
    /// This one was carried out.
    New(StoredResponse),
    /// An earlier one was.
    Again(StoredResponse),
}

impl Key {
    /// Reads the header of a request. What makes two requests the same is added to it.
    ///
    /// # Errors
    /// 422 when it is not 1 to 255 visible ASCII characters.
    pub fn read(header: &[u8], caller: &Principal) -> Result<Key> {
        let fits = (1..=LONGEST_KEY).contains(&header.len()) && header.iter().all(u8::is_ascii_graphic);
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

    /// Adds a part of what makes two requests the same.
    pub fn add(&mut self, part: &[u8]) {
        // With its length, so that nothing moves from one part to the next.
        self.hash.update((part.len() as u64).to_be_bytes());
        self.hash.update(part);
    }

    fn fingerprint(&self) -> String {
        hex::encode(self.hash.clone().finalize())
    }

    /// What its answer is sealed for.
    fn purpose(&self) -> String {
        format!("idempotency:{}:{}", self.user_id, self.text)
    }

    /// The answer to the same request, if it was carried out, and `None` also while it still is.
    ///
    /// # Errors
    /// 422 when the key stands for another request; [`Error::Conflict`] when the answer held a secret and can no longer
    /// be read, or another token asks for it.
    pub async fn find(&self, context: &Context<'_>) -> Result<Option<StoredResponse>> {
        let columns = "\"fingerprint\", \"token_id\", \"status\", \"location\", \"etag\", \"body\", \"sealed\"";
        let mut sql = Sql::new(
            context.state().db.dialect(),
            format!("SELECT {columns} FROM \"idempotency_keys\" WHERE \"user_id\" = "),
        );
        sql.bind(self.user_id).push(" AND \"key\" = ").bind(self.text.clone());
        sql.push(" AND \"created_at\" > ").bind(context.now() - KEPT);
        sql.push(" AND (\"status\" <> ").bind(UNDER_WAY).push(" OR \"created_at\" > ").bind(over(context)).push(")");
        let Some(row) = sql.one(context.db()).await? else { return Ok(None) };
        if row.try_get::<String>("", "fingerprint")? != self.fingerprint() {
            return Err(Error::invalid(IDEMPOTENCY_KEY, "was used for another request"));
        }
        let status: i32 = row.try_get("", "status")?;
        if status == UNDER_WAY {
            return Ok(None);
        }
        let mut body: String = row.try_get("", "body")?;
        if row.try_get("", "sealed")? {
            if row.try_get::<Option<i64>>("", "token_id")? != self.token_id {
                return Err(gone("it shows a secret, to the token that made it alone"));
            }
            let key = context.state().config.secret_key.as_deref().unwrap_or_default();
            let opened = seal::open(key, &self.purpose(), &body);
            body = opened.ok_or_else(|| gone("it was sealed under another secret key"))?;
        }
        let status = u16::try_from(status).map_err(Error::internal)?;
        let (location, etag) = (row.try_get("", "location")?, row.try_get("", "etag")?);
        Ok(Some(StoredResponse { status, location, etag, body: body.into_bytes() }))
    }

    /// Takes the key in the context's transaction, waiting for another request that has it; answers what that one did,
    /// or `None` when this one is to be carried out.
    ///
    /// # Errors
    /// [`Error::InProgress`] when the other one takes too long; those of [`Key::find`].
    pub async fn claim(&mut self, context: &Context<'_>) -> Result<Option<StoredResponse>> {
        self.claimed_at = context.now();
        let mut sql = Sql::new(
            context.state().db.dialect(),
            "INSERT INTO \"idempotency_keys\" (\"user_id\", \"token_id\", \"key\", \"fingerprint\", \"status\", \
             \"body\", \"sealed\", \"created_at\") VALUES (",
        );
        sql.bind(self.user_id).push(", ").bind(self.token_id).push(", ").bind(self.text.clone()).push(", ");
        sql.bind(self.fingerprint()).push(", ").bind(UNDER_WAY).push(", '', ");
        sql.bind(false).push(", ").bind(self.claimed_at);
        // What is past and not yet pruned makes room, and so does a lease that is over.
        sql.push(
            ") ON CONFLICT (\"user_id\", \"key\") DO UPDATE SET \"token_id\" = excluded.\"token_id\", \
             \"fingerprint\" = excluded.\"fingerprint\", \"created_at\" = excluded.\"created_at\", \"location\" = NULL, \
             \"etag\" = NULL, \"status\" = excluded.\"status\", \"body\" = excluded.\"body\" WHERE \"idempotency_keys\".\"created_at\" <= ",
        );
        sql.bind(context.now() - KEPT).push(" OR (\"idempotency_keys\".\"status\" = ").bind(UNDER_WAY);
        sql.push(" AND \"idempotency_keys\".\"created_at\" <= ").bind(over(context)).push(") RETURNING \"id\"");
        let taken = tokio::time::timeout(WAITS, sql.one(context.db())).await.map_err(|_| Error::InProgress)??;
        if taken.is_some() {
            return Ok(None);
        }
        match self.find(context).await? {
            Some(kept) => Ok(Some(kept)),
            // It has a lease, or ran out in between.
            None => Err(Error::InProgress),
        }
    }

    /// Takes the key for work that no transaction holds, waiting for another request that has it; answers what that one
    /// did, or `None` when this one is to be carried out, within the time of a request. [`Key::keep`] or
    /// [`Key::release`] ends the lease.
    ///
    /// # Errors
    /// Those of [`Key::claim`].
    pub async fn lease(&mut self, context: &Context<'_>) -> Result<Option<StoredResponse>> {
        let until = Instant::now() + WAITS;
        loop {
            let now = Context::new(context.state_arc(), context.caller(), context.db());
            let transaction = Transaction::begin(context.state()).await?;
            match self.claim(&now.in_transaction(&transaction)).await {
                Ok(None) => return transaction.commit(&now).await.map(|()| None),
                Err(Error::InProgress) if Instant::now() < until => drop(transaction),
                done => return done,
            }
            tokio::time::sleep(LOOKS).await;
        }
    }

    /// Gives the key back, for a request that failed.
    pub async fn release(&self, context: &Context<'_>) -> Result<()> {
        let mut sql = Sql::new(context.state().db.dialect(), "DELETE FROM \"idempotency_keys\"");
        self.mine(&mut sql);
        sql.run(context.db()).await.map(drop)
    }

    /// Narrows a statement to the row as this request took it: who is late finds that of another.
    fn mine(&self, sql: &mut Sql) {
        sql.push(" WHERE \"user_id\" = ").bind(self.user_id).push(" AND \"key\" = ").bind(self.text.clone());
        sql.push(" AND \"status\" = ").bind(UNDER_WAY).push(" AND \"created_at\" = ").bind(self.claimed_at);
    }

    /// Keeps the answer, in the transaction of the claim or after a lease. One that shows a secret is sealed.
    pub async fn keep(&self, context: &Context<'_>, answer: &StoredResponse, secret: bool) -> Result<()> {
        let text = String::from_utf8_lossy(&answer.body);
        let key = context.state().config.secret_key.as_deref().unwrap_or_default();
        let body = match secret {
            true => seal::seal(key, &self.purpose(), &text)?,
            false => text.into_owned(),
        };
        let mut sql = Sql::new(context.state().db.dialect(), "UPDATE \"idempotency_keys\" SET \"status\" = ");
        sql.bind(i32::from(answer.status)).push(", \"location\" = ").bind(answer.location.clone());
        sql.push(", \"etag\" = ").bind(answer.etag.clone()).push(", \"body\" = ").bind(body);
        sql.push(", \"sealed\" = ").bind(secret);
        self.mine(&mut sql);
        sql.run(context.db()).await.map(drop)
    }
}

/// A lease that began then is over now.
fn over(context: &Context<'_>) -> DateTime<Utc> {
    let longest = TimeDelta::from_std(context.state().config.request_timeout).unwrap_or(KEPT);
    context.now() - longest - BEYOND
}

fn gone(why: &str) -> Error {
    Error::Conflict(format!("The request was carried out, and its answer cannot be given again: {why}."))
}

/// Removes the keys that are past, a batch at a time, and answers how many they were.
pub async fn prune(state: &State) -> Result<u64> {
    let mut removed = 0;
    loop {
        let mut sql = Sql::new(
            state.db.dialect(),
            "DELETE FROM \"idempotency_keys\" WHERE \"id\" IN (SELECT \"id\" FROM \"idempotency_keys\" \
             WHERE \"created_at\" <= ",
        );
        sql.bind(state.clock.now() - KEPT).push(&format!(" ORDER BY \"created_at\" LIMIT {BATCH})"));
        let transaction = state.db.begin().await?;
        let batch = sql.run(&transaction).await?;
        transaction.commit().await?;
        removed += batch;
        if batch < BATCH {
            return Ok(removed);
        }
    }
}

/// Prunes now and then, for as long as it is not dropped.
pub async fn keep_pruned(state: std::sync::Arc<State>) {
    loop {
        let pruned = prune(&state).await;
        state.metrics.tasks.round("idempotency", &pruned);
        if let Err(error) = pruned {
            tracing::warn!(%error, "the keys of past requests were not removed");
        }
        tokio::time::sleep(PRUNED).await;
    }
}
