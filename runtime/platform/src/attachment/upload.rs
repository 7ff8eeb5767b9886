//! Upload of a new attachment: `POST /attachments`.
//!
//! The file is received without an open transaction, however slow the client is, and then validated. Then a deletion of
//! the file is scheduled, the file is stored, and one transaction creates the attachment and cancels the deletion.
//! After a failure at any step, the file either has an attachment or will be deleted.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use sea_orm::Value;
use serde_json::Map;
use uuid::Uuid;

use super::multipart::{self, Expected, ReceivedFile, UploadForm};
use super::spool::new_uuid;
use super::storage::{ObjectKind, Storage};
use super::thumbnail::{ImageInspection, MAX_PIXELS, Thumb};
use super::{MAX_FILE_BYTES, access, pending_deletion, quota, record};
use charter_core::catalog::Entry;
use charter_core::error::{Error, FieldErrors, Result};
use charter_core::ops::Context;
use charter_core::ops::idempotency::{Execution, Key};
use charter_core::ops::{Body, Changes, Transaction, attachable, create_drafted, read_input, row_access};
use charter_core::resource::Resource as _;

/// The form of an upload.
const FORM: Expected = Expected { name: "attachment", max_file_bytes: MAX_FILE_BYTES };

/// The streamed body of an upload.
pub struct Upload<'a> {
    /// The header `Content-Type`, empty if there is none.
    pub content_type: String,
    /// The header `Content-Length`.
    pub length: Option<u64>,
    pub body: BoxStream<'a, std::io::Result<Bytes>>,
}

/// Creates an attachment and returns its reply. A repeated upload with the same idempotency key is received completely
/// before it can be recognized.
pub async fn upload(context: &Context<'_>, upload: Upload<'_>, mut key: Option<Key>) -> Result<Execution> {
    let state = context.state();
    let storage = state.extension::<Storage>()?;
    let form = multipart::read(storage, upload, FORM, state.request_timeout, key.is_some()).await?;
    if let Some(key) = &mut key {
        add_fingerprint(key, &form);
        if let Some(reply) = key.find_reply(context).await? {
            return Ok(Execution::Replayed(reply));
        }
    }
    let entry = context.catalog().linked(record::Entity::meta().name);
    let valid = validate(context, entry, form).await?;
    store(context, entry, valid, key).await
}

/// Adds names, values and file content to the fingerprint of the request. The order of parts and the boundary are left
/// out, because a client that resends a form may change them.
pub(crate) fn add_fingerprint(key: &mut Key, form: &UploadForm) {
    let mut fields: Vec<&(String, String)> = form.fields.iter().collect();
    fields.sort_by_key(|(name, _)| name);
    for (name, value) in fields {
        key.add(name.as_bytes());
        key.add(value.as_bytes());
    }
    if let Some(ReceivedFile { name, digest: Some(digest), .. }) = &form.file {
        key.add(name.as_bytes());
        key.add(digest);
    }
}

/// A validated upload.
struct ValidUpload<'c> {
    changes: Changes,
    target: &'c Entry,
    target_id: i64,
    uuid: Uuid,
    file: ReceivedFile,
    thumb: Option<Thumb>,
}

/// Validates the form and reports all problems at once.
async fn validate<'c>(context: &Context<'c>, entry: &Entry, form: UploadForm) -> Result<ValidUpload<'c>> {
    let mut fields = Map::new();
    for (name, text) in form.fields {
        fields.insert(name, text.into());
    }
    let json = serde_json::Value::Object(fields).to_string();
    let mut changes = Changes::new(entry.meta, None);
    changes.errors = form.errors;
    read_input(context.catalog(), entry, &Body::read(json.as_bytes(), None)?, &mut changes)?;
    let target = target(context, &mut changes).await?;
    if form.file.is_none() && !changes.errors.contains("file") {
        changes.errors.add("file", "is required");
    }
    let uuid = new_uuid()?;
    let mut thumb = None;
    if let Some(ReceivedFile { name, spool, .. }) = &form.file {
        let found = context.state().extension::<Storage>()?.media_type(spool).await?;
        changes.set("uuid", uuid.into());
        changes.set("original_name", name.clone().into());
        changes.set("mime_type", found.into());
        changes.set("file_size", i64::try_from(spool.size()).unwrap_or(i64::MAX).into());
        match context.state().extension::<Storage>()?.inspect_image(spool, found).await? {
            ImageInspection::NotAnImage => {}
            ImageInspection::Thumbnail(made) => {
                changes.set("thumb_type", made.media_type.into());
                thumb = Some(made);
            }
            ImageInspection::TooLarge(width, height) => changes
                .errors
                .add("file", format!("is an image of {width} × {height} pixels; at most {MAX_PIXELS} pixels")),
        }
    }
    std::mem::take(&mut changes.errors).into_result()?;
    if let Some(ReceivedFile { spool, .. }) = &form.file {
        // Before the file is stored, which may cost money.
        quota::check(context, spool.size()).await?;
    }
    match (target, form.file) {
        (Some((target, target_id)), Some(file)) => Ok(ValidUpload { changes, target, target_id, uuid, file, thumb }),
        _ => Err(Error::internal("a validated upload lacks its record or its file")),
    }
}

/// The record to attach to, which the caller must see and be allowed to write.
async fn target<'c>(context: &Context<'c>, changes: &mut Changes) -> Result<Option<(&'c Entry, i64)>> {
    let known = |errors: &FieldErrors, name: &str| errors.contains(name);
    let mut found = None;
    match changes.get("attachable_type") {
        Some(Value::String(Some(name))) => match attachable(context.catalog(), name.trim()) {
            Some(target) => found = Some(target),
            None => {
                let names = context.catalog().attachables().map(|e| e.meta.type_name).collect::<Vec<_>>().join(", ");
                changes.errors.add("attachable_type", format!("must be one of {names}"));
            }
        },
        _ if known(&changes.errors, "attachable_type") => {}
        _ => changes.errors.add("attachable_type", "is required"),
    }
    let id = match changes.get("attachable_id") {
        Some(Value::BigInt(Some(id))) => Some(*id),
        _ if known(&changes.errors, "attachable_id") => None,
        _ => {
            changes.errors.add("attachable_id", "is required");
            None
        }
    };
    let Some(target) = found else { return Ok(None) };
    access::check_permission(context, target, "create")?;
    let Some(id) = id else { return Ok(None) };
    if !access::target_exists(context, target, id, false).await? {
        changes
            .errors
            .add("attachable_id", format!("does not refer to an existing {}", target.meta.label.to_lowercase()));
    }
    changes.set("attachable_type", target.meta.type_name.into());
    Ok(Some((target, id)))
}

/// Stores the file, then creates the attachment.
async fn store(
    context: &Context<'_>,
    entry: &Entry,
    valid: ValidUpload<'_>,
    mut key: Option<Key>,
) -> Result<Execution> {
    let ValidUpload { mut changes, target, target_id, uuid, file, thumb } = valid;
    let (state, size) = (context.state(), file.spool.size());
    let dialect = state.db.dialect();
    let transaction = state.db.begin().await?;
    pending_deletion::schedule(&transaction, dialect, uuid, state.clock.now() + pending_deletion::DELETE_AFTER).await?;
    transaction.commit().await?;
    let prepared = async {
        state.extension::<Storage>()?.store(&file.spool, uuid).await?;
        if let Some(thumb) = thumb {
            state.extension::<Storage>()?.put(ObjectKind::Thumb, uuid, thumb.bytes).await?;
        }
        let transaction = Transaction::begin(state).await?;
        let context_in = context.in_transaction(&transaction);
        if let Some(key) = &mut key
            && let Some(reply) = key.claim(&context_in).await?
        {
            // A concurrent request with the same key was faster. Its file stays and this one is deleted.
            return Ok((None, reply));
        }
        quota::check_exactly(&context_in, size).await?;
        if !access::target_exists(&context_in, target, target_id, true).await? {
            return Err(Error::invalid(
                "attachable_id",
                format!("does not refer to an existing {}", target.meta.label.to_lowercase()),
            ));
        }
        row_access::check_changeable(&context_in, target, target_id).await?;
        if !pending_deletion::cancel(context_in.db(), dialect, uuid, state.clock.now()).await? {
            return Err(Error::Unavailable("Storing the file took too long.".into()));
        }
        let created = create_drafted(&context_in, entry, "create", &mut changes).await?;
        let reveals = created.reveals;
        let reply = created.reply(context.catalog(), entry, None);
        if let Some(key) = &key {
            key.store_reply(&context_in, &reply, reveals).await?;
        }
        Ok((Some(transaction), reply))
    };
    let prepared = prepared.await;
    if let Ok((Some(transaction), reply)) = prepared {
        // If the commit fails with an unknown result, the scheduled deletion has the same fate as the attachment.
        transaction.commit(context).await?;
        return Ok(Execution::Fresh(reply));
    }
    // No attachment was committed. A file that cannot be deleted now is deleted when its deletion is due.
    if let Err(error) = state.extension::<Storage>()?.delete(uuid).await {
        tracing::warn!(%error, "a file without an attachment could not be deleted; retrying later");
    }
    prepared.map(|(_, reply)| Execution::Replayed(reply))
}
