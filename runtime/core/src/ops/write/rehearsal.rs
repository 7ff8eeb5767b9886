//! Rehearsal of writes: validates many records as creates or updates would, with few queries and without storing any.

use std::collections::HashMap;
use std::sync::Arc;

use sea_orm::{QueryResult, Value};
use sha2::{Digest, Sha256};

use super::{create, update};
use crate::catalog::Entry;
use crate::custom_field::Definition;
use crate::error::{Error, FieldErrors, Result};
use crate::meta::DefaultValue;
use crate::ops::Context;
use crate::ops::input::batch_references::{self, Checked, key};
use crate::ops::input::body::Body;
use crate::ops::input::changeset::Changes;
use crate::ops::input::checks::reject_changes_of_frozen;
use crate::ops::input::{self, embedded, unique};
use crate::ops::{field_access, row_access};

/// Key of the errors that concern no single field.
pub const ROW: &str = "row";

/// One record to rehearse.
#[derive(Debug)]
pub struct Rehearsed<'b> {
    /// Its position in the source, which messages name.
    pub number: i64,
    pub body: &'b Body<'b>,
    /// The parent of a new record whose path contains it.
    pub parent: Option<i64>,
    /// Id and row of the record to change; `None` for a new one.
    pub before: Option<(i64, Arc<QueryResult>)>,
    /// Errors that were found before.
    pub errors: FieldErrors,
}

/// The result of a write, as far as it can be known before.
#[derive(Debug)]
pub enum Verdict {
    Create,
    Change(i64),
    Unchanged(i64),
    Refuse(FieldErrors),
}

/// Rehearsal of the writes of one resource, portion by portion.
#[derive(Debug)]
pub struct Rehearsal {
    definitions: Vec<Definition>,
    /// The number of the record that has a unique value, by the hash of the set and its values.
    seen: HashMap<[u8; 16], i64>,
}

impl Rehearsal {
    /// # Errors
    /// When the database fails.
    pub async fn begin(context: &Context<'_>, entry: &Entry) -> Result<Rehearsal> {
        Ok(Rehearsal { definitions: create::definitions(context, entry).await?, seen: HashMap::new() })
    }

    /// Validates a portion of records: rules, rights, row rules, references, unique values, those of earlier records included, and
    /// the hooks `guard`, `check` and `before_save`. Hooks may write: a caller with such a resource rolls back.
    ///
    /// # Errors
    /// An internal error, or an unavailable database.
    pub async fn rehearse(
        &mut self,
        context: &Context<'_>,
        entry: &Entry,
        rows: Vec<Rehearsed<'_>>,
    ) -> Result<Vec<Verdict>> {
        let mut verdicts = Vec::with_capacity(rows.len());
        let mut pending: Vec<Pending> = Vec::new();
        for row in rows {
            let (number, id) = (row.number, row.before.as_ref().map(|(id, _)| *id));
            let position = verdicts.len();
            match self.read(context, entry, row).await? {
                Ok(changes) => {
                    verdicts.push(Verdict::Create);
                    pending.push(Pending { position, number, id, changes });
                }
                Err(verdict) => verdicts.push(verdict),
            }
        }
        let mut checked: Vec<Checked<'_>> =
            pending.iter_mut().map(|row| Checked { id: row.id, changes: &mut row.changes }).collect();
        batch_references::check(context, entry, &mut checked).await?;
        for Pending { position, number, id, mut changes } in pending {
            verdicts[position] = self.finish(context, entry, number, id, &mut changes).await?;
        }
        Ok(verdicts)
    }

    /// Reads a body into changes, or returns the verdict if it needs no further check.
    async fn read(&self, context: &Context<'_>, entry: &Entry, row: Rehearsed<'_>) -> Result<Result<Changes, Verdict>> {
        let Rehearsed { body, parent, before, mut errors, .. } = row;
        let id = before.as_ref().map(|(id, _)| *id);
        let read = match before {
            None => create::read(context, entry, body, parent, &self.definitions).await.and_then(|mut changes| {
                input::complete(entry, context, &self.definitions, &mut changes)?;
                require_caller(context, &mut changes);
                Ok(changes)
            }),
            Some((id, row)) => self.read_update(context, entry, body, id, row).await,
        };
        let mut changes = match read {
            Ok(changes) => changes,
            Err(error) => {
                errors.merge(refusal(error)?);
                return Ok(Err(Verdict::Refuse(errors)));
            }
        };
        changes.errors.merge(errors);
        if let Some(id) = id
            && changes.errors.is_empty()
            && changes.embedded.is_empty()
            && changes.is_empty()
        {
            return Ok(Err(Verdict::Unchanged(id)));
        }
        create::check_record_alone(context, &mut changes).await?;
        Ok(Ok(changes))
    }

    async fn read_update(
        &self,
        context: &Context<'_>,
        entry: &Entry,
        body: &Body<'_>,
        id: i64,
        row: Arc<QueryResult>,
    ) -> Result<Changes> {
        update::guard(context, entry, &row).await?;
        let mut changes = Changes::new(entry.meta, Some(row));
        input::read(context.catalog(), entry, body, &self.definitions, &mut changes)?;
        field_access::keep_unread(context, entry, &mut changes);
        update::drop_unchanged(&mut changes)?;
        field_access::check_writes(context, &mut changes, Some(id)).await?;
        reject_changes_of_frozen(context, &changes).await?;
        update::reject_immutable_changes(&mut changes);
        Ok(changes)
    }

    /// Runs the checks of one record that no batch can do, and returns the verdict.
    async fn finish(
        &mut self,
        context: &Context<'_>,
        entry: &Entry,
        number: i64,
        id: Option<i64>,
        changes: &mut Changes,
    ) -> Result<Verdict> {
        let checks = async {
            embedded::check(context, changes, id).await?;
            create::run_hooks(context, entry, changes).await?;
            // A hook may have set a field to its stored value.
            update::drop_unchanged(changes)?;
            reject_changes_of_frozen(context, changes).await
        };
        if let Err(error) = checks.await {
            changes.errors.merge(refusal(error)?);
        }
        let mut errors = std::mem::take(&mut changes.errors);
        if let (true, Some(id)) = (errors.is_empty() && changes.is_empty(), id) {
            return Ok(Verdict::Unchanged(id));
        }
        if errors.is_empty()
            && let Err(error) = row_access::check_rehearsed(context, entry, changes).await
        {
            errors.merge(refusal(error)?);
        }
        if errors.is_empty() {
            self.check_seen(context, number, changes, &mut errors)?;
        }
        Ok(match (errors.is_empty(), id) {
            (false, _) => Verdict::Refuse(errors),
            (true, Some(id)) => Verdict::Change(id),
            (true, None) => Verdict::Create,
        })
    }

    /// Refuses unique values that an earlier record has.
    fn check_seen(
        &mut self,
        context: &Context<'_>,
        number: i64,
        changes: &Changes,
        errors: &mut FieldErrors,
    ) -> Result<()> {
        let mut hashes = Vec::new();
        for set in unique::touched_sets(changes)? {
            let Some(values) = unique::values(context, changes, set)? else { continue };
            let hash = hash_of(set.fields, &values);
            match (self.seen.get(&hash), set.fields) {
                (Some(earlier), [.., last]) => errors.add(*last, format!("is already that of row {earlier}")),
                _ => hashes.push(hash),
            }
        }
        if errors.is_empty() {
            self.seen.extend(hashes.into_iter().map(|hash| (hash, number)));
        }
        Ok(())
    }
}

/// A record whose checks are not complete.
struct Pending {
    position: usize,
    number: i64,
    id: Option<i64>,
    changes: Changes,
}

/// A command of the operator has no user, who is the default of some fields.
fn require_caller(context: &Context<'_>, changes: &mut Changes) {
    if context.caller().user_id.is_some() {
        return;
    }
    for field in changes.meta.fields.iter().filter(|f| f.default == DefaultValue::Caller && !f.nullable) {
        if changes.get(field.name).is_none() {
            changes.errors.add(field.name, "is required, because the import has no user");
        }
    }
}

/// The first half of the SHA-256 of a set's names and values.
pub fn hash_of(set: &[&str], values: &[Value]) -> [u8; 16] {
    let mut hash = Sha256::new();
    for part in set.iter().map(|name| (*name).to_string()).chain(values.iter().map(key)) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let digest = hash.finalize();
    let mut first = [0; 16];
    first.copy_from_slice(&digest[..16]);
    first
}

/// The messages of an error that refuses one record.
///
/// # Errors
/// An internal error, or an unavailable database: it concerns all records.
pub fn refusal(error: Error) -> Result<FieldErrors> {
    match error {
        Error::Invalid(errors) | Error::FieldsForbidden(errors) => Ok(errors),
        Error::Internal(_) | Error::Unavailable(_) | Error::Overloaded => Err(error),
        other => {
            let mut errors = FieldErrors::default();
            errors.add(ROW, format!("is refused: {}", other.message("-").trim_end_matches('.')));
            Ok(errors)
        }
    }
}
