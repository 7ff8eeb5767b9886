//! A whole list in one answer, however long it is: `GET /<path>` with `Accept: text/csv` or `application/x-ndjson`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use sea_orm::QueryResult;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::csv::Csv;
use super::include;
use super::select::{self, Reading};
use crate::auth::{Principal, still};
use crate::context::{Context, State};
use crate::custom_field;
use crate::db::{Connection, Row, RowSink, Sql};
use crate::error::{Error, FieldErrors, Result};
use crate::meta::IncludeMeta;
use crate::query::Request;
use crate::record::{Shape, write_record};
use crate::server::time_for;

/// Whoever exports is looked for so often: what was revoked meanwhile gives no more records.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);
/// The answer begins with the first block, so that what fails at once has its status, and a database that is away. It does not
/// wait longer.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(6);
/// The first block has so many records, and so many bytes are what a block should have. So a long record makes no large
/// one, and short ones are not sent one by one.
const FIRST_BLOCK_ROWS: usize = 64;
const BLOCK_BYTES: usize = 64 << 10;
/// At most so many records are in a block.
const MAX_BLOCK_ROWS: usize = 500;

/// What a list is answered as, all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Csv,
    /// A JSON object on each line.
    Lines,
}

/// An answer that is written while it is sent.
pub struct Exported {
    /// The name that the file should have.
    pub file_name: String,
    /// It ends with an error when not all of it could be written, which breaks the connection off.
    pub body: ByteStream,
}

type ByteStream = BoxStream<'static, std::io::Result<Bytes>>;

/// A piece of the way from the database to the client.
enum Piece {
    Bytes(Bytes),
    Failed(Error),
    End,
}

impl Format {
    pub const ALL: [Format; 2] = [Format::Csv, Format::Lines];

    /// By which it is asked for.
    pub fn media_type(self) -> &'static str {
        match self {
            Format::Csv => "text/csv",
            Format::Lines => "application/x-ndjson",
        }
    }

    /// As the answer says it (RFC 4180, section 3).
    pub fn content_type(self) -> String {
        match self {
            Format::Csv => format!("{}; charset=utf-8; header=present", self.media_type()),
            Format::Lines => self.media_type().to_owned(),
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Lines => "ndjson",
        }
    }

    /// What `Accept` asks for (RFC 9110, section 12.5.1): `None` for JSON, which is also for who takes anything, and who
    /// takes both alike.
    pub fn asked(accept: &str) -> Option<Format> {
        let (mut json, mut best): (f32, Option<(f32, Format)>) = (0.0, None);
        for range in accept.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
            let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
            let quality = quality.and_then(|q| q.trim().parse().ok()).unwrap_or(1.0);
            let format = match kind.as_str() {
                "application/ndjson" => Format::Lines,
                "application/json" | "application/*" | "*/*" => {
                    json = json.max(quality);
                    continue;
                }
                _ => match Format::ALL.into_iter().find(|format| format.media_type() == kind) {
                    Some(format) => format,
                    None => continue,
                },
            };
            if quality > best.map_or(0.0, |(known, _)| known) {
                best = Some((quality, format));
            }
        }
        best.filter(|(quality, _)| *quality > json).map(|(_, format)| format)
    }

    /// Refuses what has no meaning where there are no pages, and what a line of CSV has no place for.
    ///
    /// # Errors
    /// 422 under each parameter.
    pub fn check(self, request: &Request) -> Result<()> {
        let mut errors = FieldErrors::default();
        let pages = [("page", &request.page), ("per_page", &request.per_page), ("cursor", &request.cursor)];
        for (name, _) in pages.iter().filter(|(_, given)| given.is_some()) {
            errors.add(*name, "cannot be given: an export is all of the list");
        }
        if self == Format::Csv && !request.include.is_empty() {
            errors.add("include", "has no place in CSV; `application/x-ndjson` has");
        }
        errors.into_result()
    }
}

/// Begins an export, unless only the head of its answer is wanted. `columns` are those of a view, in its order.
///
/// # Errors
/// [`Error::Unavailable`] while as many exports run as may; when the database fails at once.
pub async fn export(
    context: &Context<'_>,
    reading: Reading<'_>,
    format: Format,
    columns: Option<&[String]>,
    head: bool,
) -> Result<Exported> {
    let Reading { entry, shape, plan, .. } = reading;
    let file_name = format!("{}.{}", entry.meta.plural, format.extension());
    if head {
        return Ok(Exported { file_name, body: Box::pin(stream::empty()) });
    }
    let slot = context.state().db.export_slot()?;
    let mut written = Vec::new();
    let csv = match format {
        Format::Lines => None,
        Format::Csv => {
            let custom = match entry.meta.custom_fields {
                true => custom_field::load(context.db(), entry.meta.plural).await?,
                false => Vec::new(),
            };
            let custom: Vec<String> = custom.into_iter().map(|definition| definition.name).collect();
            let csv = Csv::of(entry, shape, &custom, columns);
            csv.write_titles(&mut written);
            Some(csv)
        }
    };
    let sql = select::all(context, reading).await?;
    // One block on its way, while the next one is written.
    let (sender, mut receiver) = mpsc::channel(1);
    let writer = Writer {
        state: context.state_arc().clone(),
        caller: context.caller().clone(),
        resource: entry.meta.name,
        shape: shape.clone(),
        includes: plan.includes.clone(),
        csv,
        written,
        records: 0,
        bytes: 0,
        waited: Duration::ZERO,
        looked: context.state().clock.instant(),
        sender,
    };
    let request_id = context.request_id().unwrap_or("-").to_string();
    tokio::spawn(async move {
        writer.run(sql, &request_id).await;
        drop(slot);
    });
    let patience = CLIENT_TIMEOUT.min(context.state().config.request_timeout / 2);
    let first = match timeout(patience, receiver.recv()).await {
        Ok(Some(Piece::Failed(error))) => return Err(error),
        Ok(None) => return Err(Error::internal("an export ended without a word")),
        Ok(first) => first,
        Err(_) => None,
    };
    Ok(Exported { file_name, body: body(first, receiver) })
}

/// The bytes of the pieces until the last one; what broke off ends in an error, so that no client takes it for all.
fn body(first: Option<Piece>, rest: mpsc::Receiver<Piece>) -> ByteStream {
    let rest = stream::unfold(rest, async |mut rest| Some((rest.recv().await, rest)));
    let pieces = stream::iter(first.map(Some)).chain(rest);
    let bytes = pieces.scan(false, |over, piece| {
        let next = match piece {
            _ if *over => None,
            Some(Piece::Bytes(bytes)) => Some(Ok(bytes)),
            Some(Piece::End) => None,
            // Without a word the writer is gone: a fault, and no end either.
            Some(Piece::Failed(_)) | None => {
                *over = true;
                Some(Err(std::io::Error::other("the export broke off")))
            }
        };
        std::future::ready(next)
    });
    Box::pin(bytes)
}

/// Writes records, and sends them a block at a time.
struct Writer {
    state: Arc<State>,
    caller: Principal,
    resource: &'static str,
    shape: Shape,
    includes: Vec<&'static IncludeMeta>,
    csv: Option<Csv>,
    /// What is not sent yet.
    written: Vec<u8>,
    records: u64,
    bytes: usize,
    /// How long it waited for its client, which has no more time than for any answer: an export holds a connection, and a
    /// moment of the database.
    waited: Duration,
    /// When it was looked whether its caller still may have the records.
    looked: Instant,
    sender: mpsc::Sender<Piece>,
}

impl Writer {
    /// Writes and sends all of it, and last of all how it ended.
    async fn run(mut self, sql: Sql, request_id: &str) {
        let (sender, state) = (self.sender.clone(), self.state.clone());
        let mut result = state.db.export(sql, FIRST_BLOCK_ROWS, &mut self, sender.closed()).await;
        if result.is_ok() {
            result = self.send().await;
        }
        let Writer { resource, records, bytes, .. } = self;
        let last = match result {
            Ok(()) => {
                tracing::info!(%request_id, resource, records, bytes, "exported");
                Piece::End
            }
            Err(error) => {
                tracing::warn!(%request_id, resource, records, bytes, %error, "an export broke off");
                Piece::Failed(error)
            }
        };
        // Nobody may wait for it.
        let _ = timeout(time_for(0), self.sender.send(last)).await;
    }

    async fn send(&mut self) -> Result<()> {
        if self.written.is_empty() {
            return Ok(());
        }
        let piece = Bytes::from(std::mem::take(&mut self.written));
        let (begun, left) = (self.state.clock.instant(), time_for(self.bytes).saturating_sub(self.waited));
        let slow = || Error::Unavailable("the client is too slow".into());
        // There may be room at once by now, of which a time of nothing would not tell.
        if left.is_zero() {
            return Err(slow());
        }
        self.bytes += piece.len();
        let sent = timeout(left, self.sender.send(Piece::Bytes(piece))).await;
        self.waited += self.state.clock.instant() - begun;
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Error::Unavailable("the client has gone".into())),
            Err(_) => Err(slow()),
        }
    }

    /// Whether the caller still may have what it began to read.
    async fn look(&mut self) -> Result<()> {
        let now = self.state.clock.instant();
        if now < self.looked + PROGRESS_INTERVAL {
            return Ok(());
        }
        self.looked = now;
        if still(&self.state, &self.caller).await?.may_as_much_as(&self.caller) {
            Ok(())
        } else {
            Err(Error::Unavailable("the caller may do less than before".into()))
        }
    }
}

#[async_trait]
impl RowSink for Writer {
    async fn accept(&mut self, connection: &Connection, rows: Vec<QueryResult>) -> Result<usize> {
        self.look().await?;
        let context = Context::new(&self.state, &self.caller, connection);
        let entry = context.catalog().linked(self.resource);
        let rows: Vec<Row<'_>> = rows.iter().map(Row::from).collect();
        let related = include::load(&context, entry, &self.shape, &rows, &self.includes).await?;
        let out = &mut self.written;
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
        let each = (out.len() / rows.len().max(1)).max(1);
        self.send().await?;
        // Records grow: never many times as many as the last block was measured by.
        Ok((BLOCK_BYTES / each).min(rows.len().saturating_mul(4)).clamp(1, MAX_BLOCK_ROWS))
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn an_export_is_what_is_asked_for_by_name_and_preferred() {
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
            assert_eq!(Format::asked(accept), expected, "{accept}");
        }
    }
}
