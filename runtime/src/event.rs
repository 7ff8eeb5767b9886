//! Events into the outbox: in the transaction of the change that causes them, so that neither is without the other.

use crate::catalog::Entry;
use crate::context::Context;
use crate::crud::wrap;
use crate::db::Sql;
use crate::error::Result;
use crate::meta::TimestampForm;
use crate::record::{write_text, write_timestamp};

/// Writes `<name>.<what>` with the record in the API's own shape, when the resource declares events.
///
/// The body is serialised here and never again, so that every delivery sends and signs the same bytes.
pub async fn emit(context: &Context<'_>, entry: &Entry, what: &str, record: &[u8]) -> Result<()> {
    if !entry.meta.events {
        return Ok(());
    }
    let name = format!("{}.{what}", entry.meta.name);
    let mut body = Vec::with_capacity(record.len() + 128);
    body.extend_from_slice(b"{\"event\":");
    write_text(&mut body, &name);
    body.extend_from_slice(b",\"timestamp\":\"");
    write_timestamp(&mut body, context.now(), TimestampForm::Millis);
    body.extend_from_slice(b"\",\"data\":");
    body.extend_from_slice(&wrap(entry.meta.name, record));
    body.push(b'}');
    let mut sql =
        Sql::new(context.state().db.dialect(), "INSERT INTO \"events\" (\"name\", \"body\", \"created_at\") VALUES (");
    sql.bind(name)
        .push(", ")
        .bind(String::from_utf8_lossy(&body).into_owned())
        .push(", ")
        .bind(context.now())
        .push(")");
    sql.run(context.db()).await?;
    Ok(())
}
