//! Upload of a new import: `POST /imports`, a form with the file and the resource.

use charter_core::error::{Error, Result};
use charter_core::meta::Operation;
use charter_core::ops::idempotency::{Execution, Key};
use charter_core::ops::{Access, Body, Changes, Context, read_input};
use charter_core::resource::Resource as _;
use serde_json::{Map, Value};

use super::record::Entity;
use super::stored_file::{self, Stored};
use super::{MAX_FILE_BYTES, is_importable};
use crate::attachment::multipart::{self, Expected};
use crate::attachment::upload::add_fingerprint;
use crate::attachment::{Storage, Upload};

const FORM: Expected = Expected { name: "import", max_file_bytes: MAX_FILE_BYTES };

/// Creates an import and returns its reply. A file is accepted whatever its columns are: the mapping can be changed.
///
/// # Errors
/// 403 if the caller may neither create nor change records of the resource; 422 with every problem of the form and of
/// the file.
pub async fn upload(context: &Context<'_>, upload: Upload<'_>, mut key: Option<Key>) -> Result<Execution> {
    let state = context.state();
    let mut form = multipart::read(state.extension::<Storage>()?, upload, FORM, state.request_timeout, true).await?;
    if let Some(key) = &mut key {
        add_fingerprint(key, &form);
        if let Some(reply) = key.find_reply(context).await? {
            return Ok(Execution::Replayed(reply));
        }
    }
    let entry = context.catalog().linked(Entity::meta().name);
    let mut fields = Map::new();
    for (name, text) in std::mem::take(&mut form.fields) {
        // A mapping is JSON in a form.
        let value = match name.as_str() {
            "mapping" => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            _ => Value::String(text),
        };
        fields.insert(name, value);
    }
    let json = Value::Object(fields).to_string();
    let mut changes = Changes::new(entry.meta, None);
    changes.errors = form.errors;
    read_input(context.catalog(), entry, &Body::read(json.as_bytes(), None)?, &mut changes)?;
    check_access(context, &changes)?;
    let Some(file) = form.file else {
        if !changes.errors.contains("file") {
            changes.errors.add("file", "is required");
        }
        return Err(Error::Invalid(changes.errors));
    };
    let digest = file.digest.as_deref().map(hex::encode).unwrap_or_default();
    match stored_file::store(context, entry, changes, (file.name, digest), file.spool, key).await? {
        Stored::Created(result) => Ok(Execution::Fresh(result)),
        Stored::Replayed(reply) => Ok(Execution::Replayed(reply)),
    }
}

/// Checks that the caller may create or change records of the resource. The `check` hook refuses an unknown one.
fn check_access(context: &Context<'_>, changes: &Changes) -> Result<()> {
    let Some(sea_orm::Value::String(Some(plural))) = changes.get("entity_type") else { return Ok(()) };
    let target = context.catalog().by_plural(plural).filter(|entry| is_importable(entry));
    let Some(target) = target else { return Ok(()) };
    let can_change =
        target.meta.operations.contains(&Operation::Update) && Access::write(target, "update").allows(context.caller());
    if can_change { Ok(()) } else { Access::write(target, "create").check(context.caller()) }
}
