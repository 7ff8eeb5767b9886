//! Fast path of PostgreSQL: a create or update in two statements. The first evaluates the candidate record and its
//! checks, the second stores it with its event and its audit entry.
//!
//! The slow path runs instead if the resource has hooks or embedded records, if the table has triggers or rules of its
//! own, or if any check fails. It also finds the error message of every failed check.

use std::sync::Arc;

use super::atomic_store::{RowVersion, Target};
use super::result::WriteResult;
use super::update::{Cause, UPDATE};
use super::{atomic_store, candidate, create, update};
use crate::catalog::Entry;
use crate::custom_field::{Definition, Definitions};
use crate::db::Dialect;
use crate::error::Result;
use crate::ops::Context;
use crate::ops::input::body::Body;
use crate::ops::input::changeset::Changes;
use crate::ops::input::checks::reject_changes_of_frozen;
use crate::ops::{field_access, input, records, row_access, visibility};
use crate::query::Condition;
use crate::rollups;
use sea_orm::QueryResult;

/// The definitions that validate custom fields, if the write needs any.
pub type CustomFieldDefinitions = Option<Arc<Definitions>>;

fn list(definitions: &CustomFieldDefinitions) -> &[Definition] {
    definitions.as_ref().map(|definitions| definitions.list.as_slice()).unwrap_or_default()
}

/// Creates a record as [`create::create`] does. `None` if the slow path must run.
pub async fn create_record(
    context: &Context<'_>,
    entry: &Entry,
    body: &Body<'_>,
    under: Option<i64>,
) -> Result<Option<WriteResult>> {
    // A number of a sequence is assigned after all checks.
    let is_numbered = entry.meta.fields.iter().any(|field| !field.sequence.is_empty());
    if is_numbered || !is_plain(context, entry).await? {
        return Ok(None);
    }
    let definitions = load_definitions(context, entry, entry.meta.custom_fields).await?;
    let mut changes = create::read(context, entry, body, under, list(&definitions)).await?;
    input::complete(entry, context, list(&definitions), &mut changes)?;
    create::check_record_alone(context, &mut changes).await?;
    let mut columns = entry.meta.fields.iter().filter(|field| field.is_column() && field.name != "id");
    if !changes.errors.is_empty() || !columns.all(|field| changes.get(field.name).is_some()) {
        return Ok(None);
    }
    let Some((id, record)) = candidate::evaluate(context, entry, &changes, &definitions, None).await? else {
        return Ok(None);
    };
    let cause = Cause { action: "create", event: "created" };
    if !atomic_store::store(context, entry, &changes, Target::New(id), cause, &record).await? {
        return Ok(None);
    }
    Ok(Some(WriteResult { created: Some(id), ..WriteResult::of(entry, &record, &changes) }))
}

/// Loads a record for which `condition` holds, with its row version if [`update_record`] can use it.
pub async fn find(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    condition: &Condition,
) -> Result<Option<Arc<QueryResult>>> {
    if !is_eligible(entry) || !is_plain(context, entry).await? {
        return records::load(context, entry, id, condition, false).await;
    }
    records::load_versioned(context, entry, id, condition).await
}

/// True if visibility depends on the record alone: other rows could change after they were read.
fn is_eligible(entry: &Entry) -> bool {
    entry.required_parents.is_none() && !entry.behavior.is_scoped && (entry.parents.is_empty() || !entry.is_restricted)
}

/// Updates a record that [`find`] loaded, as [`update::update`] does. `None` if the slow path must run, or after
/// `MAX_ATTEMPTS` concurrent changes.
pub async fn update_record(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    within: &Condition,
    found: Arc<QueryResult>,
    body: &Body<'_>,
) -> Result<Option<WriteResult>> {
    if !is_eligible(entry) || !is_plain(context, entry).await? {
        return Ok(None);
    }
    let mut first = Some(found);
    for _ in 0..MAX_ATTEMPTS {
        let found = match first.take() {
            Some(found) => Some(found),
            None => find(context, entry, id, &visibility::visible(context, entry).and(within.clone())).await?,
        };
        let Some(found) = found else { return Ok(None) };
        match update_found_record(context, entry, id, found, body).await? {
            Attempt::Done(result) => return Ok(Some(*result)),
            Attempt::SlowPath => return Ok(None),
            Attempt::Conflict => {}
        }
    }
    Ok(None)
}

/// Attempts with a record that other transactions keep changing, before the slow path locks it.
const MAX_ATTEMPTS: usize = 3;

/// Result of one attempt.
enum Attempt {
    Done(Box<WriteResult>),
    /// The row has another version by now.
    Conflict,
    SlowPath,
}

async fn update_found_record(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    found: Arc<QueryResult>,
    body: &Body<'_>,
) -> Result<Attempt> {
    // The row was loaded without its version, because its table had a foreign trigger at that time.
    let (Ok(xmin), Ok(ctid)) = (found.try_get("", "xmin"), found.try_get("", "ctid")) else {
        return Ok(Attempt::SlowPath);
    };
    let row_version = RowVersion { id, xmin, ctid };
    let definitions = load_definitions(context, entry, update::gives_custom_fields(entry, body)).await?;
    let mut changes = Changes::new(entry.meta, Some(found));
    input::read(context.catalog(), entry, body, list(&definitions), &mut changes)?;
    field_access::keep_unread(context, entry, &mut changes);
    update::drop_unchanged(&mut changes)?;
    field_access::check_writes(context, &mut changes, Some(id)).await?;
    update::reject_immutable_changes(&mut changes);
    reject_changes_of_frozen(context, &changes).await?;
    create::check_record_alone(context, &mut changes).await?;
    if !changes.errors.is_empty() {
        return Ok(Attempt::SlowPath);
    }
    if changes.is_empty() {
        // The row was loaded before the body was read. The slow path compares the body with the current row and locks
        // it.
        return Ok(Attempt::SlowPath);
    }
    changes.set("updated_at", context.now().into());
    let Some((_, record)) = candidate::evaluate(context, entry, &changes, &definitions, Some(&row_version)).await?
    else {
        return Ok(Attempt::SlowPath);
    };
    if !atomic_store::store(context, entry, &changes, Target::Existing(&row_version), UPDATE, &record).await? {
        return Ok(Attempt::Conflict);
    }
    Ok(Attempt::Done(Box::new(WriteResult::of(entry, &record, &changes))))
}

/// True if the metadata alone determines what is stored and shown: no hooks, no embedded or computed fields, no
/// triggers or rules of the database.
async fn is_plain(context: &Context<'_>, entry: &Entry) -> Result<bool> {
    let hooks = &context.route(entry).hooks;
    let has_no_hooks = hooks.guard.is_none()
        && hooks.check.is_none()
        && hooks.before_save.is_none()
        && hooks.after_save.is_none()
        && hooks.after_commit.is_none();
    let has_columns_only =
        entry.single.embedded.is_empty() && entry.single.computed.is_empty() && !entry.meta.singleton;
    let is_plain = has_no_hooks
        && !row_access::has_rules(entry)
        && has_columns_only
        && !rollups::is_shown_by(context.catalog(), entry)
        && !field_access::hides_any(context, entry)
        && context.state().db.dialect() == Dialect::Postgres;
    Ok(is_plain && !context.state().database_side_effects.has_triggers_or_rules(context, entry.meta.table).await?)
}

async fn load_definitions(context: &Context<'_>, entry: &Entry, needed: bool) -> Result<CustomFieldDefinitions> {
    match needed {
        true => context.state().custom_fields.get(context.read_connection(), entry.meta.plural).await.map(Some),
        false => Ok(None),
    }
}
