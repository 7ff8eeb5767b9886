//! Events into the outbox: in the transaction of the change that causes them, so that neither is without the other.

use crate::audit::write_difference;
use crate::catalog::Entry;
use crate::context::Context;
use crate::crud::{Changes, wrap};
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::meta::TimestampForm;
use crate::record::{write_text, write_timestamp};

/// Emits a change as `<name>.<what>`, and as what a behaviour added. The data is the record under its singular key; of a
/// singleton, whose record says little, it is `{"changes": {"base_currency": {"old": "GBP", "new": "EUR"}}}`.
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
    let data = if entry.meta.singleton {
        let mut difference = Vec::with_capacity(256);
        write_difference(&mut difference, changes)?;
        wrap("changes", &difference)
    } else {
        wrap(entry.meta.name, record)
    };
    emit(context, entry, what, &data).await?;
    for (index, other) in changes.emitted.iter().enumerate() {
        if *other == what || changes.emitted[..index].contains(other) {
            continue;
        }
        if !entry.meta.actions.iter().any(|action| action.event == Some(other)) {
            return Err(Error::internal(format!("no action of {} declares the event `{other}`", entry.meta.name)));
        }
        emit(context, entry, other, &data).await?;
    }
    Ok(())
}

/// Writes `<name>.<what>` with its data, a JSON object, when the resource declares events.
///
/// The body is serialised here and never again, so that every delivery sends and signs the same bytes.
pub async fn emit(context: &Context<'_>, entry: &Entry, what: &str, data: &[u8]) -> Result<()> {
    if !entry.meta.events {
        return Ok(());
    }
    let name = format!("{}.{what}", entry.meta.name);
    let mut body = Vec::with_capacity(data.len() + 128);
    body.extend_from_slice(b"{\"event\":");
    write_text(&mut body, &name);
    body.extend_from_slice(b",\"timestamp\":\"");
    write_timestamp(&mut body, context.now(), TimestampForm::Millis);
    body.extend_from_slice(b"\",\"data\":");
    body.extend_from_slice(data);
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
