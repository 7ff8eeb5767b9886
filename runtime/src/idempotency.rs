//! Keys that make a POST safe to repeat: the same key and request are carried out once, and answered alike for a day.
//!
//! The row of a key is written first in the transaction of the request, where a unique index makes a second one with the
//! same key wait, and its answer last. So the answer stands exactly if the change does: a crash leaves both or neither,
//! and what is rolled back may be tried again.

use std::time::Duration;

use chrono::TimeDelta;
use sha2::{Digest, Sha256};

use crate::auth::Principal;
use crate::context::{Context, State};
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::header::IDEMPOTENCY_KEY;
use crate::seal;

/// An answer is replayed for so long.
const KEPT: TimeDelta = TimeDelta::hours(24);
/// A request waits so long for another with its key, and is told to come back then.
const WAITS: Duration = Duration::from_secs(10);
/// The most characters of a key.
pub const LONGEST_KEY: usize = 255;
/// What is past is removed so often, and so many rows at once.
const PRUNED: Duration = Duration::from_secs(600);
const BATCH: u64 = 1_000;

/// The key of a request, with whose it is and what is asked.
#[derive(Debug)]
pub struct Key {
    user_id: i64,
    token_id: Option<i64>,
    text: String,
    /// The SHA-256 of method, path, query string and body.
    fingerprint: String,
}

/// An answer as it is kept.
#[derive(Debug)]
pub struct Kept {
    pub status: u16,
    pub location: Option<String>,
    pub etag: Option<String>,
    pub body: String,
}

impl Key {
    /// Reads the header of a request. The parts are what makes two requests the same.
    ///
    /// # Errors
    /// 422 when it is not 1 to 255 visible ASCII characters.
    pub fn read(header: &[u8], caller: &Principal, parts: &[&[u8]]) -> Result<Key> {
        let fits = (1..=LONGEST_KEY).contains(&header.len()) && header.iter().all(u8::is_ascii_graphic);
        let text = std::str::from_utf8(header).ok().filter(|_| fits);
        let text = text.ok_or_else(|| Error::invalid(IDEMPOTENCY_KEY, "must be 1 to 255 visible ASCII characters"))?;
        let mut hash = Sha256::new();
        for part in parts {
            // With its length, so that nothing moves from one part to the next.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let fingerprint = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let user_id = caller.user_id.unwrap_or_default();
        Ok(Key { user_id, token_id: caller.token_id, text: text.to_string(), fingerprint })
    }

    /// What its answer is sealed for.
    fn purpose(&self) -> String {
        format!("idempotency:{}:{}", self.user_id, self.text)
    }

    /// The answer to the same request, if it was carried out.
    ///
    /// # Errors
    /// 422 when the key stands for another request; [`Error::Conflict`] when the answer held a secret and can no longer
    /// be read, or another token asks for it.
    pub async fn find(&self, context: &Context<'_>) -> Result<Option<Kept>> {
        let columns = "\"fingerprint\", \"token_id\", \"status\", \"location\", \"etag\", \"body\", \"sealed\"";
        let mut sql = Sql::new(
            context.state().db.dialect(),
            format!("SELECT {columns} FROM \"idempotency_keys\" WHERE \"user_id\" = "),
        );
        sql.bind(self.user_id).push(" AND \"key\" = ").bind(self.text.clone());
        sql.push(" AND \"created_at\" > ").bind(context.now() - KEPT);
        let Some(row) = sql.one(context.db()).await? else { return Ok(None) };
        if row.try_get::<String>("", "fingerprint")? != self.fingerprint {
            return Err(Error::invalid(IDEMPOTENCY_KEY, "was used for another request"));
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
        let status = u16::try_from(row.try_get::<i32>("", "status")?).map_err(Error::internal)?;
        Ok(Some(Kept { status, location: row.try_get("", "location")?, etag: row.try_get("", "etag")?, body }))
    }

    /// Takes the key in the context's transaction, waiting for another request that has it; answers what that one did,
    /// or `None` when this one is to be carried out.
    ///
    /// # Errors
    /// [`Error::InProgress`] when the other one takes too long; those of [`Key::find`].
    pub async fn claim(&self, context: &Context<'_>) -> Result<Option<Kept>> {
        let mut sql = Sql::new(
            context.state().db.dialect(),
            "INSERT INTO \"idempotency_keys\" (\"user_id\", \"token_id\", \"key\", \"fingerprint\", \"status\", \
             \"body\", \"sealed\", \"created_at\") VALUES (",
        );
        sql.bind(self.user_id).push(", ").bind(self.token_id).push(", ").bind(self.text.clone()).push(", ");
        sql.bind(self.fingerprint.clone()).push(", 0, '', ").bind(false).push(", ").bind(context.now());
        // What is past and not yet pruned makes room.
        sql.push(
            ") ON CONFLICT (\"user_id\", \"key\") DO UPDATE SET \"token_id\" = excluded.\"token_id\", \
             \"fingerprint\" = excluded.\"fingerprint\", \"created_at\" = excluded.\"created_at\", \"location\" = NULL, \
             \"etag\" = NULL WHERE \"idempotency_keys\".\"created_at\" <= ",
        );
        sql.bind(context.now() - KEPT).push(" RETURNING \"id\"");
        let taken = tokio::time::timeout(WAITS, sql.one(context.db())).await.map_err(|_| Error::InProgress)??;
        if taken.is_some() {
            return Ok(None);
        }
        match self.find(context).await? {
            Some(kept) => Ok(Some(kept)),
            // It ran out in between.
            None => Err(Error::InProgress),
        }
    }

    /// Keeps the answer, in the transaction of the claim. One that shows a secret is sealed.
    pub async fn keep(&self, context: &Context<'_>, answer: &Kept, secret: bool) -> Result<()> {
        let key = context.state().config.secret_key.as_deref().unwrap_or_default();
        let body = match secret {
            true => seal::seal(key, &self.purpose(), &answer.body)?,
            false => answer.body.clone(),
        };
        let mut sql = Sql::new(context.state().db.dialect(), "UPDATE \"idempotency_keys\" SET \"status\" = ");
        sql.bind(i32::from(answer.status)).push(", \"location\" = ").bind(answer.location.clone());
        sql.push(", \"etag\" = ").bind(answer.etag.clone()).push(", \"body\" = ").bind(body);
        sql.push(", \"sealed\" = ").bind(secret).push(" WHERE \"user_id\" = ").bind(self.user_id);
        sql.push(" AND \"key\" = ").bind(self.text.clone());
        sql.run(context.db()).await.map(drop)
    }
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
        if let Err(error) = prune(&state).await {
            tracing::warn!(%error, "the keys of past requests were not removed");
        }
        tokio::time::sleep(PRUNED).await;
    }
}
