//! Records that a caller reads and cannot change, known before the write: frozen ones, and those that the rule `access.write`
//! keeps from it.

use std::collections::{HashMap, HashSet};

use super::input::changeset::Changes;
use super::input::checks::frozen_by;
use super::row_access::holds_rehearsed;
use super::visibility::{changeable, present};
use super::{Context, records};
use crate::catalog::Entry;
use crate::error::Result;
use crate::expression;
use crate::meta::FieldMeta;

/// Why a record does not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// The condition of `frozen`, which holds.
    Frozen(&'static str),
    /// The rule `access.write` does not hold for the caller.
    Rule,
}

/// The protected ones of these records. A resource without `frozen` and `access.write` costs no query, any other at most two.
///
/// # Errors
/// When the database fails.
pub async fn protections(context: &Context<'_>, entry: &Entry, ids: &[i64]) -> Result<HashMap<i64, Protection>> {
    let mut protections = HashMap::new();
    if ids.is_empty() {
        return Ok(protections);
    }
    if entry.meta.frozen.is_some() {
        for row in records::load_many(context, entry, ids, &present(entry)).await? {
            if let Some(condition) = frozen_by(context, entry.meta, &row).await? {
                protections.insert(row.try_get("", "id")?, Protection::Frozen(condition));
            }
        }
    }
    // The server tests the rule first.
    if let Some(changeable) = changeable_ids(context, entry, ids).await? {
        let kept = ids.iter().filter(|id| !changeable.contains(id));
        protections.extend(kept.map(|id| (*id, Protection::Rule)));
    }
    Ok(protections)
}

/// Those of these records that the rule `access.write` lets the caller change; `None` for all.
///
/// # Errors
/// When the database fails.
pub async fn changeable_ids(context: &Context<'_>, entry: &Entry, ids: &[i64]) -> Result<Option<HashSet<i64>>> {
    let Some(rule) = changeable(context, entry) else { return Ok(None) };
    let rows = records::load_many(context, entry, ids, &rule).await?;
    Ok(Some(rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?))
}

/// False if the caller may create no record that refers to this one, because the rule `access.write` depends on that reference
/// alone, as `invoice.status = draft` does, and does not hold.
///
/// # Errors
/// When the database fails.
pub async fn may_refer(context: &Context<'_>, entry: &Entry, reference: &FieldMeta, id: i64) -> Result<bool> {
    let Some(rule) = entry.meta.write_rule.filter(|_| !context.caller().is_admin) else { return Ok(true) };
    let find = |name: &str| Some(context.catalog().linked(name).meta);
    let depends_on_it_alone = expression::condition_over(rule, entry.meta, &find)
        .is_ok_and(|node| node.fields().iter().all(|name| *name == reference.name));
    if !depends_on_it_alone {
        return Ok(true);
    }
    let mut changes = Changes::new(entry.meta, None);
    changes.set(reference.name, id.into());
    holds_rehearsed(context, entry, rule, &changes).await
}
