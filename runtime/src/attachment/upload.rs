//! A new attachment: `POST /attachments`.
//!
//! The file is received first, with no transaction open, whoever sends it and however slowly. Then everything is
//! judged. Then the promise to delete the file is written, the file goes into storage, and one transaction makes the
//! attachment and takes the promise back. Wherever that ends, the file has an owner or will be deleted.

use sea_orm::Value;
use serde_json::Map;
use uuid::Uuid;

use super::form::{self, Form, Received};
use super::spool::new_uuid;
use super::storage::Part;
use super::thumbnail::{Looked, MOST_PIXELS, Thumb};
use super::{access, leftover, media_type, record};
use crate::catalog::Entry;
use crate::context::Context;
use crate::error::{Error, FieldErrors, Result};
use crate::idempotency::{Key, Once};
use crate::ops::{Body, BoxFuture, Changes, Transaction, Upload, create_drafted, read_input};
use crate::resource::Resource as _;

/// Creates an attachment, and answers what creating a record does. A second upload with the same key is received whole
/// before anybody can tell that it is the same.
pub fn upload<'a>(context: &'a Context<'a>, upload: Upload<'a>, mut key: Option<Key>) -> BoxFuture<'a, Result<Once>> {
    Box::pin(async move {
        let state = context.state();
        let form = form::read(&state.attachments, upload, state.config.request_timeout, key.is_some()).await?;
        if let Some(key) = &mut key {
            identify(key, &form);
            if let Some(reply) = key.find(context).await? {
                return Ok(Once::Again(reply));
            }
        }
        let entry = context.catalog().linked(record::Entity::meta().name);
        let judged = judge(context, entry, form).await?;
        store(context, entry, judged, key).await
    })
}

/// What makes two uploads the same: names and values, and the file's bytes. The order of the parts and the boundary
/// between them do not count: a client that sends a form again makes another.
fn identify(key: &mut Key, form: &Form) {
    let mut fields: Vec<&(String, String)> = form.fields.iter().collect();
    fields.sort_by_key(|(name, _)| name);
    for (name, value) in fields {
        key.add(name.as_bytes());
        key.add(value.as_bytes());
    }
    if let Some(Received { name, digest: Some(digest), .. }) = &form.file {
        key.add(name.as_bytes());
        key.add(digest);
    }
}

/// An upload in which nothing is wrong.
struct Judged<'c> {
    changes: Changes,
    target: &'c Entry,
    target_id: i64,
    uuid: Uuid,
    file: Received,
    thumb: Option<Thumb>,
}

/// Looks at everything, and tells every problem.
async fn judge<'c>(context: &Context<'c>, entry: &Entry, form: Form) -> Result<Judged<'c>> {
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
    if let Some(Received { name, spool, .. }) = &form.file {
        let found = media_type::detect(spool.head(), spool.head().len() as u64 == spool.size());
        changes.set("uuid", uuid.into());
        changes.set("original_name", name.clone().into());
        changes.set("mime_type", found.into());
        changes.set("file_size", i64::try_from(spool.size()).unwrap_or(i64::MAX).into());
        match context.state().attachments.look(spool, found).await? {
            Looked::Nothing => {}
            Looked::Thumb(made) => {
                changes.set("thumb_type", made.media_type.into());
                thumb = Some(made);
            }
            Looked::TooLarge(width, height) => changes.errors.add(
                "file",
                format!("is an image of {width} × {height} pixels; at most {MOST_PIXELS} in all are taken"),
            ),
        }
    }
    std::mem::take(&mut changes.errors).into_result()?;
    match (target, form.file) {
        (Some((target, target_id)), Some(file)) => Ok(Judged { changes, target, target_id, uuid, file, thumb }),
        _ => Err(Error::internal("an upload without problems lacks a part")),
    }
}

/// What it is to hang on, which the caller must be allowed to write, and see.
async fn target<'c>(context: &Context<'c>, changes: &mut Changes) -> Result<Option<(&'c Entry, i64)>> {
    let known = |errors: &FieldErrors, name: &str| errors.contains(name);
    let mut found = None;
    match changes.get("attachable_type") {
        Some(Value::String(Some(name))) => match access::attachable(context.catalog(), name.trim()) {
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
    access::may(context, target, false)?;
    let Some(id) = id else { return Ok(None) };
    if !access::is_there(context, target, id, false).await? {
        changes
            .errors
            .add("attachable_id", format!("does not refer to an existing {}", target.meta.label.to_lowercase()));
    }
    changes.set("attachable_type", target.meta.type_name.into());
    Ok(Some((target, id)))
}

/// Stores the file, and then the attachment that owns it.
async fn store(context: &Context<'_>, entry: &Entry, judged: Judged<'_>, mut key: Option<Key>) -> Result<Once> {
    let Judged { mut changes, target, target_id, uuid, file, thumb } = judged;
    let state = context.state();
    let dialect = state.db.dialect();
    let promise = state.db.begin().await?;
    leftover::add(&promise, dialect, uuid, state.clock.now() + leftover::KEPT).await?;
    promise.commit().await?;
    let prepared = async {
        state.attachments.keep(&file.spool, uuid).await?;
        if let Some(thumb) = thumb {
            state.attachments.put(Part::Thumb, uuid, thumb.bytes).await?;
        }
        let transaction = Transaction::begin(state).await?;
        let context_in = context.in_transaction(&transaction);
        if let Some(key) = &mut key
            && let Some(reply) = key.claim(&context_in).await?
        {
            // Another with this key was faster. Its file stands, and this one goes.
            return Ok((None, reply));
        }
        if !access::is_there(&context_in, target, target_id, true).await? {
            return Err(Error::invalid(
                "attachable_id",
                format!("does not refer to an existing {}", target.meta.label.to_lowercase()),
            ));
        }
        if !leftover::adopt(context_in.db(), dialect, uuid, state.clock.now()).await? {
            return Err(Error::Unavailable("Storing the file took too long.".into()));
        }
        let created = create_drafted(&context_in, entry, "create", &mut changes).await?;
        let reveals = created.reveals;
        let reply = created.reply(context.catalog(), entry, None);
        if let Some(key) = &key {
            key.keep(&context_in, &reply, reveals).await?;
        }
        Ok((Some(transaction), reply))
    };
    let prepared = prepared.await;
    if let Ok((Some(transaction), reply)) = prepared {
        // Whether a commit that fails was carried out, nobody knows; the promise does, and stands or not.
        transaction.commit(context).await?;
        return Ok(Once::New(reply));
    }
    // Nothing committed is an owner: what is not deleted now is deleted when its time has come.
    if let Err(error) = state.attachments.delete(uuid).await {
        tracing::warn!(%error, "a file without an attachment is deleted later");
    }
    prepared.map(|(_, reply)| Once::Again(reply))
}
