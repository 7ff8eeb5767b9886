//! Diff of a change for the audit log: changed fields with old and new values, as the API shows them.

use sea_orm::{QueryResult, Value};
use serde_json::Map;

use crate::error::{Error, Result};
use crate::meta::{Access, FieldMeta, Kind, ResourceMeta};
use crate::ops::input::embedded::{EmbeddedSet, links};
use crate::ops::{Changes, stored};
use crate::record::{write_single_value, write_text};

/// Placeholder for the values of secret fields.
const REDACTED: &str = "[secret]";
/// Placeholder for the values of a person who was erased.
pub const ERASED: &str = "[erased]";

/// Writes `{"base_currency":{"old":"GBP","new":"EUR"}}`. The old value of a new record is null. Values of secret fields
/// are redacted, internal columns are omitted, and of custom fields only the changed ones are written.
pub fn write_diff(out: &mut Vec<u8>, changes: &Changes) -> Result<()> {
    out.push(b'{');
    let mut first = true;
    for (field, new) in
        changes.iter().filter(|(field, _)| is_audited(field) || (changes.before.is_some() && is_deletion_mark(field)))
    {
        let old = match &changes.before {
            Some(row) => stored(row, field)?,
            None => None,
        };
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        let (old, new) = match field.kind {
            Kind::CustomFields => changed_custom_fields(old.as_ref(), new),
            _ => (old, new.clone()),
        };
        write_text(out, field.name);
        out.extend_from_slice(b":{\"old\":");
        match changes.conceals(field.name) {
            true => write_text(out, ERASED),
            false => write_side(out, field, old.as_ref()),
        }
        out.extend_from_slice(b",\"new\":");
        write_side(out, field, Some(&new));
        out.push(b'}');
    }
    for set in changes.embedded.iter().filter(|set| !set.is_unchanged()) {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        match set.is_links() {
            true => write_links(out, set)?,
            false => write_embedded(out, set)?,
        }
    }
    out.push(b'}');
    Ok(())
}

/// Writes `"guests":{"old":[{"id":1,"member_id":2}],"new":[{"id":1,"member_id":3},{"member_id":2}]}`: all embedded
/// records of a field before and after the change. A new one has no id yet.
fn write_embedded(out: &mut Vec<u8>, set: &EmbeddedSet) -> Result<()> {
    write_text(out, set.field().name);
    out.extend_from_slice(b":{\"old\":[");
    for (index, (id, row)) in set.before().into_iter().enumerate() {
        let after = set.after().find(|(after, _)| *after == Some(id)).map(|(_, changes)| changes);
        let is_erased = |field: &FieldMeta| after.is_some_and(|changes| changes.conceals(field.name));
        write_row(out, set, index, Some(id), is_erased, |field| stored(row, field))?;
    }
    out.extend_from_slice(b"],\"new\":[");
    for (index, (id, changes)) in set.after().enumerate() {
        write_row(out, set, index, id, |_| false, |field| changes.current(field.name))?;
    }
    out.extend_from_slice(b"]}");
    Ok(())
}

/// Writes `"tag_ids":{"old":[3],"new":[3,7]}`.
fn write_links(out: &mut Vec<u8>, set: &EmbeddedSet) -> Result<()> {
    let (old, new) = links::before_and_after(set)?;
    write_text(out, set.field().name);
    for (key, ids) in [(&b":{\"old\":"[..], old), (&b",\"new\":"[..], new)] {
        out.extend_from_slice(key);
        serde_json::to_writer(&mut *out, &ids).map_err(Error::internal)?;
    }
    out.push(b'}');
    Ok(())
}

fn write_row(
    out: &mut Vec<u8>,
    set: &EmbeddedSet,
    index: usize,
    id: Option<i64>,
    is_erased: impl Fn(&FieldMeta) -> bool,
    value: impl Fn(&FieldMeta) -> Result<Option<Value>>,
) -> Result<()> {
    out.extend_from_slice(if index > 0 { b",{" } else { b"{" });
    if let Some(id) = id {
        out.extend_from_slice(format!("\"id\":{id},").as_bytes());
    }
    let audited =
        |field: &&FieldMeta| is_audited(field) && field.is_column() && field.name != "id" && field.name != set.by();
    for (index, field) in set.fields().iter().filter(audited).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_text(out, field.name);
        out.push(b':');
        match is_erased(field) {
            true => write_text(out, ERASED),
            false => write_side(out, field, value(field)?.as_ref()),
        }
    }
    // The record has no audited field.
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.push(b'}');
    Ok(())
}

/// Writes `{"base_currency":{"old":"EUR","new":null}}` for a deleted record, with all of its values.
pub(super) fn write_deletion_diff(out: &mut Vec<u8>, meta: &ResourceMeta, row: &QueryResult) -> Result<()> {
    out.push(b'{');
    let mut first = true;
    for field in meta.fields.iter().filter(|field| is_audited(field) && field.name != "id") {
        let Some(old) = stored(row, field)? else { continue };
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        write_text(out, field.name);
        out.extend_from_slice(b":{\"old\":");
        write_side(out, field, Some(&old));
        out.extend_from_slice(b",\"new\":null}");
    }
    out.push(b'}');
    Ok(())
}

/// Omits internal columns, and `updated_at`, which every change sets.
fn is_audited(field: &FieldMeta) -> bool {
    field.access != Access::Internal && !matches!(field.name, "created_at" | "updated_at")
}

/// The only internal column in the audit log: it shows that a record was restored.
fn is_deletion_mark(field: &FieldMeta) -> bool {
    field.access == Access::Internal && field.name == "deleted_at"
}

fn write_side(out: &mut Vec<u8>, field: &FieldMeta, value: Option<&Value>) {
    match value {
        Some(value) if field.access == Access::Secret && *value != value.as_null() => write_text(out, REDACTED),
        Some(value) => write_single_value(out, field, value),
        None => out.extend_from_slice(b"null"),
    }
}

/// The custom fields that differ between both sides.
fn changed_custom_fields(old: Option<&Value>, new: &Value) -> (Option<Value>, Value) {
    let map = |value: Option<&Value>| match value {
        Some(Value::Json(Some(json))) => json.as_object().cloned().unwrap_or_default(),
        _ => Map::new(),
    };
    let (before, after) = (map(old), map(Some(new)));
    let without = |side: &Map<String, serde_json::Value>, other: &Map<String, serde_json::Value>| {
        let kept = side.iter().filter(|(name, value)| other.get(*name) != Some(value));
        Value::Json(Some(Box::new(kept.map(|(name, value)| (name.clone(), value.clone())).collect())))
    };
    (old.map(|_| without(&before, &after)), without(&after, &before))
}
