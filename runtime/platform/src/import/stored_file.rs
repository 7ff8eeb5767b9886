//! The file of an import: inspected, stored, and fetched again for a worker.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use bytes::Bytes;
use charter_core::catalog::Entry;
use charter_core::error::{Error, Result};
use charter_core::ops::idempotency::Key;
use charter_core::ops::write::update::update;
use charter_core::ops::{Body, Changes, Context, Preconditions, State, StoredResponse, Transaction, create_drafted};
use charter_core::query::Condition;
use charter_core::resource::Resource as _;
use futures_util::StreamExt;
use sea_orm::EntityTrait;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::MAX_FILE_BYTES;
use super::reader::{self, Format};
use super::record::{Entity, Mapping};
use crate::attachment::spool::{Spool, new_uuid};
use crate::attachment::{ObjectKind, Storage, pending_deletion, quota};

/// Bytes of a local file that are read at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// The result of [`store`].
pub(super) enum Stored {
    Created(StoredResponse),
    /// The reply to an earlier request with the same idempotency key.
    Replayed(StoredResponse),
}

/// An import from a file of this machine.
#[derive(Debug, Default)]
pub struct NewImport {
    /// The plural name of the resource.
    pub entity_type: String,
    pub match_by: Option<String>,
    /// Fields by column, in addition to the mapping by name.
    pub map: Vec<(String, String)>,
}

/// Inspects a received file, stores it and creates its import.
///
/// # Errors
/// 422 under `file` if it cannot be read, or has more bytes than the user may store.
pub(super) async fn store(
    context: &Context<'_>,
    entry: &Entry,
    mut changes: Changes,
    (name, digest): (String, String),
    spool: Spool,
    mut key: Option<Key>,
) -> Result<Stored> {
    let path = spool.path().to_path_buf();
    match spool.spawn_blocking(move || Ok(inspect(&path))).await? {
        Ok((format, columns, rows)) => {
            changes.set("format", format.name().into());
            changes.set("columns", json!(columns).into());
            changes.set("row_count", rows.into());
        }
        Err(problem) => changes.errors.add("file", problem),
    }
    std::mem::take(&mut changes.errors).into_result()?;
    let (state, size, uuid) = (context.state(), spool.size(), new_uuid()?);
    quota::check(context, size).await?;
    changes.set("user_id", context.caller().user_id.into());
    changes.set("file_name", name.into());
    changes.set("file_size", i64::try_from(size).unwrap_or(i64::MAX).into());
    changes.set("file", uuid.into());
    changes.set("digest", digest.into());
    let dialect = state.db.dialect();
    let transaction = state.db.begin().await?;
    pending_deletion::schedule(&transaction, dialect, uuid, state.clock.now() + pending_deletion::DELETE_AFTER).await?;
    transaction.commit().await?;
    let prepared = async {
        state.extension::<Storage>()?.store(&spool, uuid).await?;
        let transaction = Transaction::begin(state).await?;
        let within = context.in_transaction(&transaction);
        if let Some(key) = &mut key
            && let Some(reply) = key.claim(&within).await?
        {
            return Ok((None, reply));
        }
        quota::check_exactly(&within, size).await?;
        if !pending_deletion::cancel(within.db(), dialect, uuid, state.clock.now()).await? {
            return Err(Error::Unavailable("Storing the file took too long.".into()));
        }
        let created = create_drafted(&within, entry, "create", &mut changes).await?;
        let reply = created.reply(context.catalog(), entry, None);
        if let Some(key) = &key {
            key.store_reply(&within, &reply, false).await?;
        }
        Ok((Some(transaction), reply))
    };
    match prepared.await {
        Ok((Some(transaction), reply)) => {
            transaction.commit(context).await?;
            Ok(Stored::Created(reply))
        }
        other => {
            // Nothing was committed. A file that cannot be deleted now is deleted when its deletion is due.
            if let Err(error) = state.extension::<Storage>()?.delete(uuid).await {
                tracing::warn!(%error, "a file without an import could not be deleted; retrying later");
            }
            other.map(|(_, reply)| Stored::Replayed(reply))
        }
    }
}

/// Reads a file once from its beginning to its end: format, columns and number of rows.
fn inspect(path: &Path) -> Result<(Format, Vec<String>, i64), String> {
    let format = Format::detect(path)?;
    let mut rows = 0_i64;
    let columns = reader::read(path, format, &mut |_| {
        rows += 1;
        ControlFlow::Continue(())
    })?;
    Ok((format, columns, rows))
}

/// Copies a stored file to the local disk.
///
/// # Errors
/// When storage is unavailable.
pub(super) async fn fetch(state: &State, uuid: Uuid) -> Result<Spool> {
    let storage = state.extension::<Storage>()?;
    let mut spool = storage.receive().await?;
    let stream = storage.read(ObjectKind::File, uuid, None).await;
    let mut stream = stream.map_err(|error| match error {
        Error::NotFound => Error::Conflict("The file of the import is not in storage any more.".into()),
        error => error,
    })?;
    while let Some(bytes) = stream.next().await {
        let bytes = bytes.map_err(|error| Error::Unavailable(format!("The file could not be read: {error}.")))?;
        spool.write(bytes).await?;
    }
    Ok(spool)
}

/// Creates an import from a file of this machine, and returns its id.
///
/// # Errors
/// Those of an upload; an internal error if the file cannot be opened.
pub async fn import_file(context: &Context<'_>, path: &Path, new: NewImport) -> Result<i64> {
    let named = |error: std::io::Error| Error::internal(format!("{}: {error}", path.display()));
    let mut file = std::fs::File::open(path).map_err(named)?;
    if file.metadata().map_err(named)?.len() > MAX_FILE_BYTES {
        return Err(Error::FileTooLarge(MAX_FILE_BYTES));
    }
    let mut spool = context.state().extension::<Storage>()?.receive().await?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let length = file.read(&mut buffer).map_err(named)?;
        if length == 0 {
            break;
        }
        digest.update(&buffer[..length]);
        spool.write(Bytes::copy_from_slice(&buffer[..length])).await?;
    }
    let entry = context.catalog().linked(Entity::meta().name);
    let mut changes = Changes::new(entry.meta, None);
    changes.set("entity_type", new.entity_type.into());
    let name = path.file_name().unwrap_or_default().to_string_lossy().chars().take(255).collect();
    let file = (name, hex::encode(digest.finalize()));
    let (Stored::Created(reply) | Stored::Replayed(reply)) = store(context, entry, changes, file, spool, None).await?;
    let id = reply.location.as_deref().and_then(|path| path.rsplit('/').next()?.parse().ok());
    let id = id.ok_or_else(|| Error::internal("the new import has no id"))?;
    if !new.map.is_empty() || new.match_by.is_some() {
        change_plan(context, entry, id, new.map, new.match_by).await?;
    }
    Ok(id)
}

/// Changes the mapping of some columns, and the key.
async fn change_plan(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    map: Vec<(String, String)>,
    match_by: Option<String>,
) -> Result<()> {
    let import = Entity::find_by_id(id).one(context.db()).await?.ok_or(Error::NotFound)?;
    let mut mapping: Mapping = import.mapping.as_object().cloned().unwrap_or_default();
    for (column, field) in map {
        // The field leaves the column that has its name.
        mapping
            .values_mut()
            .filter(|known| known.as_str() == Some(field.as_str()))
            .for_each(|known| *known = Value::Null);
        mapping.insert(column, if field.is_empty() { Value::Null } else { field.into() });
    }
    let mut body = json!({ "mapping": mapping });
    if let Some(match_by) = match_by {
        body["match_by"] = match_by.into();
    }
    let bytes = body.to_string();
    let transaction = Transaction::begin(context.state()).await?;
    let within = context.in_transaction(&transaction);
    let body = Body::read(bytes.as_bytes(), None)?;
    update(&within, entry, id, Condition::always(), &Preconditions::default(), &body, None).await?;
    transaction.commit(context).await
}
