//! Transactional outbox: events are inserted in the transaction of the change that causes them.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::catalog::Entry;
use crate::db::{Operand, Sql};
use crate::error::Result;
use crate::meta::TimestampForm;
use crate::ops::Context;
use crate::ops::audit::write_diff;
use crate::ops::{Audience, Changes, audience, wrap};
use crate::record::{write_text, write_timestamp};

/// Maximum size of an event body.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// Emits the event `<name>.<what>` of a change, and those that its hooks have added.
pub async fn emit_all(
    context: &Context<'_>,
    entry: &Entry,
    what: &'static str,
    changes: &Changes,
    record: &[u8],
) -> Result<()> {
    if !entry.meta.events {
        return Ok(());
    }
    let data = data(entry, changes, record)?;
    let audience = audience(context, entry, |field| changes.current(field.name)).await?;
    emit(context, entry, what, &data, audience).await?;
    for (index, other) in changes.emitted.iter().enumerate() {
        if *other == what || changes.emitted[..index].contains(other) {
            continue;
        }
        emit(context, entry, other, &data, audience).await?;
    }
    Ok(())
}

/// Data of a change: the record under its singular name, or for a singleton the diff, `{"changes": {"base_currency":
/// {"old": "GBP", "new": "EUR"}}}`.
pub fn data(entry: &Entry, changes: &Changes, record: &[u8]) -> Result<Vec<u8>> {
    if !entry.meta.singleton {
        return Ok(wrap(entry.meta.name, record));
    }
    let mut diff = Vec::with_capacity(256);
    write_diff(&mut diff, changes)?;
    Ok(wrap("changes", &diff))
}

/// Inserts the event `<name>.<what>` of a resource that declares events; `data` is a JSON object.
pub async fn emit(context: &Context<'_>, entry: &Entry, what: &str, data: &[u8], audience: Audience) -> Result<()> {
    let mut sql = Sql::new(context.state().db.dialect(), "");
    let name = name(entry, what);
    let body = Operand::Bound(body(&name, context.now(), data).into());
    let owner = Operand::Bound(audience.stored().into());
    let trace = Operand::Bound(trace_text(context).into());
    write_insert(&mut sql, name, [body, owner, Operand::Bound(context.now().into()), trace]);
    sql.run(context.db()).await?;
    context.db().notify_commit();
    Ok(())
}

/// Name of an event, such as `product.updated`.
pub fn name(entry: &Entry, what: &str) -> String {
    format!("{}.{what}", entry.meta.name)
}

/// Trace of the request that causes an event, for the column `trace`.
pub fn trace_text(context: &Context<'_>) -> Option<String> {
    context.trace().map(|trace| trace.to_string())
}

/// Writes `INSERT INTO "events" (...) SELECT ...`, which a `FROM` clause may follow, with operands for body, owner,
/// time and trace.
///
/// The body is serialized once, which makes every delivery send and sign the same bytes. Without an active webhook, the
/// event is marked as fanned out.
pub fn write_insert(sql: &mut Sql, name: String, values: [Operand<'_>; 4]) {
    let [body, owner, at, trace] = values;
    let columns = "\"name\", \"body\", \"owner_id\", \"created_at\", \"trace\", \"fanned_out_at\"";
    sql.push("INSERT INTO \"events\" (").push(columns).push(") SELECT ");
    sql.bind(name)
        .push(", ")
        .operand(body)
        .push(", ")
        .operand(owner)
        .push(", ")
        .operand(at.clone())
        .push(", ")
        .operand(trace);
    sql.push(", CASE WHEN NOT EXISTS (SELECT 1 FROM \"webhooks\" WHERE \"is_active\") THEN ").operand(at).push(" END");
}

/// Body of an event; `data` is a JSON object.
///
/// If the body exceeds 256 KiB, the data is reduced to the `id` of each record and `"truncated": true` is added.
pub fn body(name: &str, at: DateTime<Utc>, data: &[u8]) -> String {
    let whole = write(name, at, data, b"");
    let bytes =
        if whole.len() <= MAX_BODY_BYTES { whole } else { write(name, at, &only_ids(data), b",\"truncated\":true") };
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn write(name: &str, at: DateTime<Utc>, data: &[u8], more: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(data.len() + 128);
    body.extend_from_slice(b"{\"event\":");
    write_text(&mut body, name);
    body.extend_from_slice(b",\"timestamp\":\"");
    write_timestamp(&mut body, at, TimestampForm::Millis);
    body.extend_from_slice(b"\",\"data\":");
    body.extend_from_slice(data);
    body.extend_from_slice(more);
    body.push(b'}');
    body
}

/// Reduces `{"note":{"id":1,"text":"..."}}` to `{"note":{"id":1}}`.
fn only_ids(data: &[u8]) -> Vec<u8> {
    let whole: Map<String, Value> = serde_json::from_slice(data).unwrap_or_default();
    let left = |record: &Value| record.get("id").map(|id| ("id".to_string(), id.clone())).into_iter().collect();
    let short: Map<String, Value> =
        whole.iter().map(|(key, record)| (key.clone(), Value::Object(left(record)))).collect();
    Value::Object(short).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Body without data, to compute the overhead.
    const AROUND: usize = r#"{"event":"note.created","timestamp":"2026-03-21T10:05:09.070Z","data":}"#.len();

    fn body_with(text: usize) -> String {
        let data = format!(r#"{{"note":{{"id":7,"user_id":3,"text":"{}"}}}}"#, "x".repeat(text));
        body("note.created", "2026-03-21T10:05:09.070Z".parse().unwrap(), data.as_bytes())
    }

    #[test]
    fn body_above_256_kib_is_reduced_to_ids() {
        let fits = MAX_BODY_BYTES - AROUND - r#"{"note":{"id":7,"user_id":3,"text":""}}"#.len();
        assert_eq!(body_with(fits).len(), 256 * 1024);
        let expected = r#"{"event":"note.created","timestamp":"2026-03-21T10:05:09.070Z","data":{"note":{"id":7}},"truncated":true}"#;
        assert_eq!(body_with(fits + 1), expected);
    }
}
