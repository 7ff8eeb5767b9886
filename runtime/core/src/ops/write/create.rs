//! `POST /<path>`: creates a record.

use sea_orm::{QueryResult, Value};

use super::fast_path;
use super::numbering;
use super::result::WriteResult;
use crate::catalog::{Catalog, Entry};
use crate::custom_field::{self, Definition};
use crate::error::{Error, Result};
use crate::ops::Context;
use crate::ops::action::rule::check_first_state;
use crate::ops::audit;
use crate::ops::hooks::{self, RunningHook};
use crate::ops::input::body::Body;
use crate::ops::input::changeset::Changes;
use crate::ops::input::{embedded, expressions, references, rules};
use crate::ops::outbox;
use crate::ops::transaction::after_commit;
use crate::ops::{field_access, input, records, row_access, show};

/// Creates a record from a body, in the context's transaction, and returns it as `show` does.
///
/// `under` is the id of the parent in the path.
pub async fn create(context: &Context<'_>, entry: &Entry, body: &Body<'_>, under: Option<i64>) -> Result<WriteResult> {
    if let Some(result) = fast_path::create_record(context, entry, body, under).await? {
        return Ok(result);
    }
    let definitions = definitions(context, entry).await?;
    let mut changes = read(context, entry, body, under, &definitions).await?;
    finish(context, entry, "create", &definitions, &mut changes).await
}

/// Reads a body into the changes of a new record.
pub async fn read(
    context: &Context<'_>,
    entry: &Entry,
    body: &Body<'_>,
    under: Option<i64>,
    definitions: &[Definition],
) -> Result<Changes> {
    let mut changes = Changes::new(entry.meta, None);
    if let (Some(parent), Some(id)) = (entry.meta.under, under) {
        changes.set(parent.field, Value::from(id));
    }
    input::read(context.catalog(), entry, body, definitions, &mut changes)?;
    field_access::check_writes(context, &mut changes, None).await?;
    check_first_state(&mut changes);
    if let (Some(parent), Some(id)) = (entry.meta.under, under) {
        let in_path = Value::from(id);
        if changes.get(parent.field).is_some_and(|sent| *sent != in_path) {
            changes.errors.add(parent.field, format!("must be {id}, as in the path"));
        }
        changes.set(parent.field, in_path);
    }
    Ok(changes)
}

/// Creates a record from the values that an action set, as [`create`] does from a body.
pub async fn create_drafted(
    context: &Context<'_>,
    entry: &Entry,
    action: &'static str,
    changes: &mut Changes,
) -> Result<WriteResult> {
    let definitions = definitions(context, entry).await?;
    finish(context, entry, action, &definitions, changes).await
}

/// Reads a body into changes, without custom fields.
pub fn read_input(catalog: &Catalog, entry: &Entry, body: &Body<'_>, changes: &mut Changes) -> Result<()> {
    input::read(catalog, entry, body, &[], changes)
}

/// Applies defaults, checks and stores a new record, and emits its events.
pub(super) async fn finish(
    context: &Context<'_>,
    entry: &Entry,
    action: &'static str,
    definitions: &[Definition],
    changes: &mut Changes,
) -> Result<WriteResult> {
    input::complete(entry, context, definitions, changes)?;
    check(context, entry, None, changes).await?;
    numbering::assign(context, entry, changes).await?;
    let id = records::insert(context, changes).await?;
    // Events and audit entries have the order of the changes: those of the hook's own changes follow.
    audit::record_change(context, entry, action, id, changes).await?;
    embedded::write(context, changes, id).await?;
    // A rule may compare rollups of the embedded records.
    row_access::check_written(context, entry, id, true).await?;
    let mut record = show::single(context, entry, id).await?.ok_or(Error::NotFound)?;
    outbox::emit_all(context, entry, "created", changes, record.json()).await?;
    if after_save(context, entry, id, None).await? {
        record = show::single(context, entry, id).await?.ok_or(Error::NotFound)?;
    }
    after_commit(context, entry, id, None).await?;
    Ok(WriteResult { created: Some(id), ..WriteResult::of(entry, &record, changes) })
}

pub(super) async fn definitions(context: &Context<'_>, entry: &Entry) -> Result<Vec<Definition>> {
    match entry.meta.custom_fields {
        true => custom_field::load(context.db(), entry.meta.plural).await,
        false => Ok(Vec::new()),
    }
}

/// Checks all rules, then runs the hooks. `check` runs with the values that could be read and can add errors.
/// `before_save` runs only if there are no errors.
pub async fn check(context: &Context<'_>, entry: &Entry, id: Option<i64>, changes: &mut Changes) -> Result<()> {
    check_record_alone(context, changes).await?;
    references::check(context, changes, id.as_slice()).await?;
    embedded::check(context, changes, id).await?;
    run_hooks(context, entry, changes).await?;
    std::mem::take(&mut changes.errors).into_result()
}

/// Runs the `check` hook, and `before_save` if there are no errors.
pub(super) async fn run_hooks(context: &Context<'_>, entry: &Entry, changes: &mut Changes) -> Result<()> {
    if let Some(hook) = context.route(entry).hooks.check {
        hooks::save(context, entry, ("check", hook), changes).await?;
    }
    if let (true, Some(hook)) = (changes.errors.is_empty(), context.route(entry).hooks.before_save) {
        hooks::save(context, entry, ("before_save", hook), changes).await?;
    }
    Ok(())
}

/// Sets the defaults that are expressions, and checks the rules of the record alone.
pub async fn check_record_alone(context: &Context<'_>, changes: &mut Changes) -> Result<()> {
    expressions::set_defaults(context, changes).await?;
    check_owner(context, changes);
    rules::check_record(context, changes).await
}

/// Only an administrator may create or change records of another owner. A record of the public has none.
fn check_owner(context: &Context<'_>, changes: &mut Changes) {
    let is_limited = !context.caller().is_admin && !context.caller().is_public;
    let Some(owner) = changes.meta.owner.filter(|_| is_limited) else { return };
    let own = context.caller().user_id.map(Value::from);
    if changes.get(owner).is_some_and(|value| Some(value) != own.as_ref()) {
        changes.errors.add(owner, "must be your own user id: only an administrator can set another owner");
    }
}

/// Runs `after_save` with the stored record and the one before. Returns whether the resource has this hook.
pub async fn after_save(context: &Context<'_>, entry: &Entry, id: i64, before: Option<&QueryResult>) -> Result<bool> {
    let Some(hook) = context.route(entry).hooks.after_save else { return Ok(false) };
    let running = RunningHook::enter(context, entry.meta, "after_save")?;
    let row = records::load(context, entry, id, &crate::query::Condition::always(), false).await?;
    hook(&context.within_hook(&running), &*row.ok_or(Error::NotFound)?, before).await?;
    Ok(true)
}

/// Inserts a row of seed data: checked by the same rules, without an event.
pub async fn insert_seed(context: &Context<'_>, entry: &Entry, body: &Body<'_>, id: Option<Value>) -> Result<()> {
    let mut changes = Changes::new(entry.meta, None);
    input::read(context.catalog(), entry, body, &[], &mut changes)?;
    input::complete(entry, context, &[], &mut changes)?;
    if let Some(id) = id {
        changes.set("id", id);
    }
    check(context, entry, None, &mut changes).await?;
    numbering::assign(context, entry, &mut changes).await?;
    let id = records::insert(context, &changes).await?;
    embedded::write(context, &mut changes, id).await?;
    after_save(context, entry, id, None).await.map(drop)
}
