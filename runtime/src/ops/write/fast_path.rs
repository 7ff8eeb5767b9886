//! A plain create or update on PostgreSQL in two statements: the first reads the record as it will be and checks it, the
//! second stores it with its event and its audit entry.
//!
//! Where anything else has a say (a behaviour, embedded records, a trigger of somebody else's), or anything is wrong, the
//! way of one step after the other is taken from its beginning: it finds the words for every problem.

use std::sync::Arc;

use super::atomic_store::{RowVersion, Target};
use super::result::WriteResult;
use super::update::{Cause, UPDATE};
use super::{atomic_store, candidate, create, update};
use crate::catalog::Entry;
use crate::context::Context;
use crate::custom_field::{Definition, Definitions};
use crate::db::Dialect;
use crate::error::Result;
use crate::ops::input::body::Body;
use crate::ops::input::changeset::Changes;
use crate::ops::{input, records, visibility};
use crate::query::Condition;
use sea_orm::QueryResult;

/// The definitions of custom fields that a write is judged by, if it has any.
pub type CustomFieldDefinitions = Option<Arc<Definitions>>;

fn list(judges: &CustomFieldDefinitions) -> &[Definition] {
    judges.as_ref().map(|known| known.list.as_slice()).unwrap_or_default()
}

/// Creates a record as [`create::create`] does; `None` where it takes more.
pub async fn create_record(
    context: &Context<'_>,
    entry: &Entry,
    body: &Body<'_>,
    under: Option<i64>,
) -> Result<Option<WriteResult>> {
    if !is_plain(context, entry).await? {
        return Ok(None);
    }
    let custom_field_definitions = judges(context, entry, entry.meta.custom_fields).await?;
    let mut changes = create::read(context, entry, body, under, list(&custom_field_definitions))?;
    input::complete(entry, context, list(&custom_field_definitions), &mut changes)?;
    create::check_without_database(context, &mut changes)?;
    let mut columns = entry.meta.fields.iter().filter(|field| field.is_column() && field.name != "id");
    if !changes.errors.is_empty() || !columns.all(|field| changes.get(field.name).is_some()) {
        return Ok(None);
    }
    let Some((id, record)) = candidate::evaluate(context, entry, &changes, &custom_field_definitions, None).await?
    else {
        return Ok(None);
    };
    let cause = Cause { action: "create", event: "created" };
    if !atomic_store::store(context, entry, &changes, Target::New(id), cause, &record).await? {
        return Ok(None);
    }
    Ok(Some(WriteResult { created: Some(id), ..WriteResult::of(entry, &record, &changes) }))
}

/// A record, if `condition` holds for it; with what [`change`] goes by, where that will do.
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

/// Whether only the record itself says who may see it: what other rows say of it could be another by now.
fn is_eligible(entry: &Entry) -> bool {
    entry.required_parents.is_none()
        && entry.route.hooks.scope.is_none()
        && (entry.parents.is_empty() || !entry.is_restricted)
}

/// Changes a record that was found by [`find`] as [`update::update`] does; `None` where it takes more, and where the record
/// is another each time that it is found.
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
            Attempt::Done(outcome) => return Ok(Some(*outcome)),
            Attempt::TakesMore => return Ok(None),
            Attempt::Another => {}
        }
    }
    Ok(None)
}

/// So often a record that somebody else changed meanwhile is found anew before it is locked.
const MAX_ATTEMPTS: usize = 3;

/// What came of a change to a row that was found.
enum Attempt {
    Done(Box<WriteResult>),
    /// The row is another by now.
    Another,
    TakesMore,
}

async fn update_found_record(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    found: Arc<QueryResult>,
    body: &Body<'_>,
) -> Result<Attempt> {
    // A row that was found while its table had a foreign trigger was read without its version.
    let (Ok(version), Ok(at)) = (found.try_get("", "xmin"), found.try_get("", "ctid")) else {
        return Ok(Attempt::TakesMore);
    };
    let seen = RowVersion { id, version, at };
    let judges = judges(context, entry, update::gives_custom_fields(entry, body)).await?;
    let mut changes = Changes::new(entry.meta, Some(found));
    input::read(context.catalog(), entry, body, list(&judges), &mut changes)?;
    update::drop_unchanged(&mut changes)?;
    update::refuse_fixed(&mut changes);
    create::check_without_database(context, &mut changes)?;
    if !changes.errors.is_empty() {
        return Ok(Attempt::TakesMore);
    }
    if changes.is_empty() {
        // The row was found before the body was read: the other way compares the body with the row of now, and locks it.
        return Ok(Attempt::TakesMore);
    }
    changes.set("updated_at", context.now().into());
    let Some((_, record)) = candidate::evaluate(context, entry, &changes, &judges, Some(&seen)).await? else {
        return Ok(Attempt::TakesMore);
    };
    if !atomic_store::store(context, entry, &changes, Target::Found(&seen), UPDATE, &record).await? {
        return Ok(Attempt::Another);
    }
    Ok(Attempt::Done(Box::new(WriteResult::of(entry, &record, &changes))))
}

/// Whether nothing but what the metadata says decides what is stored and shown of a record.
async fn is_plain(context: &Context<'_>, entry: &Entry) -> Result<bool> {
    let hooks = &entry.route.hooks;
    let silent = hooks.guard.is_none()
        && hooks.check.is_none()
        && hooks.before_save.is_none()
        && hooks.after_save.is_none()
        && hooks.after_commit.is_none();
    let columns = entry.single.embedded.is_empty() && entry.single.computed.is_empty() && !entry.meta.singleton;
    let known = silent && columns && context.state().db.dialect() == Dialect::Postgres;
    Ok(known && !context.state().foreign_triggers.has_triggers_or_rules(context, entry.meta.table).await?)
}

async fn judges(context: &Context<'_>, entry: &Entry, needed: bool) -> Result<CustomFieldDefinitions> {
    match needed {
        true => context.state().custom_fields.get(context.read_connection(), entry.meta.plural).await.map(Some),
        false => Ok(None),
    }
}
