//! Events into the outbox: in the transaction of the change that causes them, so that neither is without the other.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::audit::write_difference;
use crate::catalog::Entry;
use crate::context::Context;
use crate::db::{Operand, Sql};
use crate::error::Result;
use crate::meta::TimestampForm;
use crate::ops::{Audience, Changes, audience, wrap};
use crate::record::{write_text, write_timestamp};

/// The most bytes that a body has.
const MOST_BYTES: usize = 256 * 1024;

/// Emits a change as `<name>.<what>`, and as what a behaviour added.
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

/// The data of a change: the record under its singular key; of a singleton, whose record says little,
/// `{"changes": {"base_currency": {"old": "GBP", "new": "EUR"}}}`.
pub fn data(entry: &Entry, changes: &Changes, record: &[u8]) -> Result<Vec<u8>> {
    if !entry.meta.singleton {
        return Ok(wrap(entry.meta.name, record));
    }
    let mut difference = Vec::with_capacity(256);
    write_difference(&mut difference, changes)?;
    Ok(wrap("changes", &difference))
}

/// Writes `<name>.<what>` with its data, a JSON object, of a resource that declares events.
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

/// `product.updated`
pub fn name(entry: &Entry, what: &str) -> String {
    format!("{}.{what}", entry.meta.name)
}

/// The trace of the request that causes an event, as the column `trace` has it.
pub fn trace_text(context: &Context<'_>) -> Option<String> {
    context.trace().map(|trace| trace.to_string())
}

/// Writes `INSERT INTO "events" (...) SELECT ...`, behind which a `FROM` may follow; with the body, the owner, the time and
/// the trace.
///
/// The body is serialised once and never again, so that every delivery sends and signs the same bytes. Where no webhook is
/// active there is nobody to tell, and the event does not wait to be fanned out.
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

/// The body of an event, with its data as a JSON object.
///
/// Of data that would make it longer than 256 KiB only the `id` of each record is left, and `"truncated": true` stands beside
/// it: who is told fetches the rest.
pub fn body(name: &str, at: DateTime<Utc>, data: &[u8]) -> String {
    let whole = write(name, at, data, b"");
    let bytes = if whole.len() <= MOST_BYTES { whole } else { write(name, at, &ids(data), b",\"truncated\":true") };
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

/// `{"note":{"id":1,"text":"..."}}` as `{"note":{"id":1}}`.
fn ids(data: &[u8]) -> Vec<u8> {
    let whole: Map<String, Value> = serde_json::from_slice(data).unwrap_or_default();
    let left = |record: &Value| record.get("id").map(|id| ("id".to_string(), id.clone())).into_iter().collect();
    let short: Map<String, Value> =
        whole.iter().map(|(key, record)| (key.clone(), Value::Object(left(record)))).collect();
    Value::Object(short).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes around the data of this event.
    const AROUND: usize = r#"{"event":"note.created","timestamp":"2026-03-21T10:05:09.070Z","data":}"#.len();

    fn body_with(text: usize) -> String {
        let data = format!(r#"{{"note":{{"id":7,"user_id":3,"text":"{}"}}}}"#, "x".repeat(text));
        body("note.created", "2026-03-21T10:05:09.070Z".parse().unwrap(), data.as_bytes())
    }

    #[test]
    fn a_body_of_256_kib_is_sent_whole_and_a_longer_one_without_its_data() {
        let fits = MOST_BYTES - AROUND - r#"{"note":{"id":7,"user_id":3,"text":""}}"#.len();
        assert_eq!(body_with(fits).len(), 256 * 1024);
        let expected = r#"{"event":"note.created","timestamp":"2026-03-21T10:05:09.070Z","data":{"note":{"id":7}},"truncated":true}"#;
        assert_eq!(body_with(fits + 1), expected);
    }
}
