//! Export: a whole list as a streamed response, `GET /<path>` with `Accept: text/csv` or `application/x-ndjson`.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use sea_orm::QueryResult;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::Revalidate;
use super::csv::{Csv, CsvForm};
use super::include;
use super::select::{self, ListQuery};
use crate::custom_field;
use crate::db::{Connection, Row, RowSink, Sql};
use crate::error::{Error, FieldErrors, Result};
use crate::header::weighted;
use crate::meta::IncludeMeta;
use crate::ops::audit::{NO_RECORD, record_event_alone};
use crate::ops::{Context, State};
use crate::principal::Principal;
use crate::query::Request;
use crate::record::{Shape, write_record};

/// Interval at which the caller's access is checked again during an export.
const ACCESS_CHECK_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum wait for the first block before the response begins. An earlier error still has its own status.
const FIRST_BLOCK_WAIT: Duration = Duration::from_secs(6);
/// Rows of the first block, and target size in bytes of the following ones: blocks adapt to the length of the records.
const FIRST_BLOCK_ROWS: usize = 64;
const BLOCK_BYTES: usize = 64 << 10;
/// Maximum rows of a block.
const MAX_BLOCK_ROWS: usize = 500;

/// A client has this time to take a response, and more for one with many bytes.
const MIN_SEND_TIME: Duration = Duration::from_secs(60);
const MIN_BYTES_PER_SECOND: usize = 32 << 10;

/// A client that takes nothing for this time loses its export when another one is refused.
const STALL_TIME: Duration = Duration::from_secs(5);

/// Time that a client has to read this many bytes.
pub fn send_timeout(bytes: usize) -> Duration {
    MIN_SEND_TIME + Duration::from_secs((bytes / MIN_BYTES_PER_SECOND) as u64)
}

/// Error for the parameter `csv` of another request.
pub const NOT_CSV: &str = "can only be used with `Accept: text/csv`";

/// Format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Csv,
    /// NDJSON: one JSON object per line.
    Lines,
}

/// A streamed export.
pub struct Exported {
    /// The suggested file name.
    pub file_name: String,
    /// Ends with an error, which closes the connection, if the export is incomplete.
    pub body: ByteStream,
}

type ByteStream = BoxStream<'static, std::io::Result<Bytes>>;

/// A message from the writer to the response body.
enum Message {
    Bytes(Bytes),
    Failed(Error),
    End,
}

impl Format {
    pub const ALL: [Format; 2] = [Format::Csv, Format::Lines];

    /// The media type in `Accept`.
    pub fn media_type(self) -> &'static str {
        match self {
            Format::Csv => "text/csv",
            Format::Lines => "application/x-ndjson",
        }
    }

    /// The `Content-Type` of the response (RFC 4180, section 3).
    pub fn content_type(self) -> String {
        match self {
            Format::Csv => format!("{}; charset=utf-8; header=present", self.media_type()),
            Format::Lines => self.media_type().to_owned(),
        }
    }

    /// `csv` or `ndjson`.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Lines => "ndjson",
        }
    }

    /// Content negotiation (RFC 9110, section 12.5.1): `None` for JSON, also if the client accepts anything or prefers
    /// neither.
    pub fn negotiate(accept: &str) -> Option<Format> {
        let (mut json, mut best): (f32, Option<(f32, Format)>) = (0.0, None);
        for (media_type, quality) in weighted(accept) {
            let format = match media_type.as_str() {
                "application/ndjson" => Format::Lines,
                "application/json" | "application/*" | "*/*" => {
                    json = json.max(quality);
                    continue;
                }
                _ => match Format::ALL.into_iter().find(|format| format.media_type() == media_type) {
                    Some(format) => format,
                    None => continue,
                },
            };
            if quality > best.map_or(0.0, |(quality, _)| quality) {
                best = Some((quality, format));
            }
        }
        best.filter(|(quality, _)| *quality > json).map(|(_, format)| format)
    }

    /// Refuses query parameters of pages, and includes in CSV.
    ///
    /// # Errors
    /// 422 under each parameter.
    pub fn check(self, request: &Request) -> Result<()> {
        let mut errors = FieldErrors::default();
        let pages = [("page", &request.page), ("per_page", &request.per_page), ("cursor", &request.cursor)];
        for (name, _) in pages.iter().filter(|(_, value)| value.is_some()) {
            errors.add(*name, "cannot be used with an export, which contains the whole list");
        }
        if self == Format::Csv && !request.include.is_empty() {
            errors.add("include", "is not supported in CSV; use `application/x-ndjson`");
        }
        match self {
            Format::Csv => {
                errors.collect(CsvForm::of(request))?;
            }
            Format::Lines if request.csv.is_some() => errors.add("csv", NOT_CSV),
            Format::Lines => {}
        }
        errors.into_result()
    }
}

/// Starts an export, with an audit entry of its start and one of its end, or returns an empty body for `HEAD`. `columns` are those of a view, in its order.
///
/// # Errors
/// [`Error::Unavailable`] while the maximum number of exports runs; any error before the first block.
pub async fn export(
    context: &Context<'_>,
    query: ListQuery<'_>,
    (format, form): (Format, CsvForm),
    columns: Option<&[String]>,
    head: bool,
    revalidate: Revalidate,
) -> Result<Exported> {
    let ListQuery { entry, shape, plan, .. } = query;
    let file_name = format!("{}.{}", entry.meta.plural, format.extension());
    if head {
        return Ok(Exported { file_name, body: Box::pin(stream::empty()) });
    }
    let slot = context.state().db.export_slot(context.caller().user_id)?;
    let mut buffer = Vec::new();
    let csv = match format {
        Format::Lines => None,
        Format::Csv => {
            let definitions = match entry.meta.custom_fields {
                true => custom_field::load(context.db(), entry.meta.plural).await?,
                false => Vec::new(),
            };
            let custom: Vec<String> = definitions.into_iter().map(|definition| definition.name).collect();
            let csv = Csv::of(entry, shape, &custom, columns, form);
            csv.write_titles(&mut buffer);
            Some(csv)
        }
    };
    let sql = select::all(context, query).await?;
    let details = [("format", json!(format.extension()))];
    record_event_alone(context, (entry.meta.plural, NO_RECORD), "export_start", &details).await?;
    // A capacity of 1: the writer prepares the next block while one is sent.
    let (sender, mut receiver) = mpsc::channel(1);
    let writer = Writer {
        state: context.state_arc().clone(),
        caller: context.caller().clone(),
        resource: entry.meta.name,
        shape: shape.clone(),
        includes: plan.includes.clone(),
        csv,
        buffer,
        records: 0,
        bytes: 0,
        waited: Duration::ZERO,
        revalidate,
        access_checked_at: context.state().clock.instant(),
        sender,
    };
    let (request_id, address) = (context.request_id().map(str::to_string), context.client_address());
    tokio::spawn(async move {
        writer.run(sql, request_id.as_deref(), address).await;
        drop(slot);
    });
    let wait = FIRST_BLOCK_WAIT.min(context.state().request_timeout / 2);
    let first = match timeout(wait, receiver.recv()).await {
        Ok(Some(Message::Failed(error))) => return Err(error),
        Ok(None) => return Err(Error::internal("the export task ended without a result")),
        Ok(first) => first,
        Err(_) => None,
    };
    Ok(Exported { file_name, body: body(first, receiver) })
}

/// The response body. An interrupted export ends with an error, so that the client does not take it for complete.
fn body(first: Option<Message>, rest: mpsc::Receiver<Message>) -> ByteStream {
    let rest = stream::unfold(rest, async |mut rest| Some((rest.recv().await, rest)));
    let messages = stream::iter(first.map(Some)).chain(rest);
    let bytes = messages.scan(false, |has_failed, message| {
        let next = match message {
            _ if *has_failed => None,
            Some(Message::Bytes(bytes)) => Some(Ok(bytes)),
            Some(Message::End) => None,
            // A closed channel without `End` means that the writer was aborted.
            Some(Message::Failed(_)) | None => {
                *has_failed = true;
                Some(Err(std::io::Error::other("the export was interrupted")))
            }
        };
        std::future::ready(next)
    });
    Box::pin(bytes)
}

/// Writes records and sends them in blocks.
struct Writer {
    state: Arc<State>,
    caller: Principal,
    resource: &'static str,
    shape: Shape,
    includes: Vec<&'static IncludeMeta>,
    csv: Option<Csv>,
    /// Bytes not sent yet.
    buffer: Vec<u8>,
    records: u64,
    bytes: usize,
    /// Total time spent waiting for the client. It is limited like that of any response, because an export holds a
    /// connection and a snapshot of the database.
    waited: Duration,
    revalidate: Revalidate,
    /// Time of the last check of the caller's access.
    access_checked_at: Instant,
    sender: mpsc::Sender<Message>,
}

impl Writer {
    /// Writes and sends all records, then the result.
    async fn run(mut self, sql: Sql, request_id: Option<&str>, address: Option<IpAddr>) {
        let (sender, state) = (self.sender.clone(), self.state.clone());
        let mut result = state.db.export(sql, FIRST_BLOCK_ROWS, &mut self, sender.closed()).await;
        if result.is_ok() {
            result = self.send().await;
        }
        let Writer { resource, records, bytes, .. } = self;
        let details = [("records", json!(records)), ("complete", json!(result.is_ok()))];
        let context = Context::new(&state, &self.caller, state.db.reader());
        let context = context.with_request_id(request_id).with_client_address(address);
        let record = (state.catalog.linked(resource).meta.plural, NO_RECORD);
        // Before the end of the response, so that a complete export has its entry. All records are sent by now.
        if let Err(error) = record_event_alone(&context, record, "export_end", &details).await {
            tracing::error!(request_id, resource, records, %error, "the end of an export could not be audited");
        }
        match result {
            Ok(()) => {
                tracing::info!(request_id, resource, records, bytes, "export finished");
                // The receiver may be closed.
                let _ = timeout(send_timeout(0), self.sender.send(Message::End)).await;
            }
            Err(error) => {
                tracing::warn!(request_id, resource, records, bytes, %error, "export failed");
                // A stalled client must not hold the slot: without a message, the closed channel is the error.
                let _ = self.sender.try_send(Message::Failed(error));
            }
        }
    }

    async fn send(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let block = Bytes::from(std::mem::take(&mut self.buffer));
        let (started_at, remaining) =
            (self.state.clock.instant(), send_timeout(self.bytes).saturating_sub(self.waited));
        let too_slow = || Error::Unavailable("the client is too slow".into());
        // A zero timeout could still succeed if the channel has capacity.
        if remaining.is_zero() {
            return Err(too_slow());
        }
        self.bytes += block.len();
        let is_wanted = async {
            sleep(STALL_TIME).await;
            self.state.db.export_wanted().await;
        };
        let sent = tokio::select! {
            sent = timeout(remaining, self.sender.send(Message::Bytes(block))) => sent,
            () = is_wanted => return Err(too_slow()),
        };
        self.waited += self.state.clock.instant() - started_at;
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Error::Unavailable("the client disconnected".into())),
            Err(_) => Err(too_slow()),
        }
    }

    /// Checks at most once in [`ACCESS_CHECK_INTERVAL`] that the caller still has the access it began with.
    async fn check_access(&mut self) -> Result<()> {
        let now = self.state.clock.instant();
        if now < self.access_checked_at + ACCESS_CHECK_INTERVAL {
            return Ok(());
        }
        self.access_checked_at = now;
        if (self.revalidate)(&self.state, &self.caller).await?.covers(&self.caller) {
            Ok(())
        } else {
            Err(Error::Unavailable("the caller's access was reduced during the export".into()))
        }
    }
}

#[async_trait]
impl RowSink for Writer {
    async fn accept(&mut self, connection: &Connection, rows: Vec<QueryResult>) -> Result<usize> {
        self.check_access().await?;
        let context = Context::new(&self.state, &self.caller, connection);
        let entry = context.catalog().linked(self.resource);
        let rows: Vec<Row<'_>> = rows.iter().map(Row::from).collect();
        let related = include::load(&context, entry, &self.shape, &rows, &self.includes).await?;
        let out = &mut self.buffer;
        for (index, row) in rows.iter().copied().enumerate() {
            match &self.csv {
                Some(csv) => csv.write(out, &self.shape, row, &related, index)?,
                None => {
                    out.push(b'{');
                    write_record(out, &self.shape, row)?;
                    related.write(out, index);
                    out.extend_from_slice(b"}\n");
                }
            }
        }
        self.records += rows.len() as u64;
        let bytes_per_row = (out.len() / rows.len().max(1)).max(1);
        self.send().await?;
        // The rows of a block at most quadruple, because the next records may be longer.
        Ok((BLOCK_BYTES / bytes_per_row).min(rows.len().saturating_mul(4)).clamp(1, MAX_BLOCK_ROWS))
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn export_format_must_be_named_in_accept_and_preferred_to_json() {
        for (accept, expected) in [
            ("text/csv", Some(Format::Csv)),
            ("Text/CSV; charset=utf-8", Some(Format::Csv)),
            ("text/csv, */*;q=0.1", Some(Format::Csv)),
            ("application/x-ndjson", Some(Format::Lines)),
            ("application/ndjson", Some(Format::Lines)),
            ("text/csv;q=0.5, application/x-ndjson;q=0.9", Some(Format::Lines)),
            ("application/json;q=0.2, text/csv;q=0.5", Some(Format::Csv)),
            ("application/json, text/csv", None),
            ("text/csv;q=0.5, */*", None),
            ("text/csv;q=0", None),
            ("*/*", None),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", None),
            ("text/*", None),
            ("", None),
        ] {
            assert_eq!(Format::negotiate(accept), expected, "{accept}");
        }
    }
}
