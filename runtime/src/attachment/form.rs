//! A multipart body as it arrives: the file to disk, the fields, each short, to memory.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{self, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, Stream};
use multer::{Field, Multipart};
use sha2::{Digest, Sha256};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::spool::Spool;
use super::{MOST_BYTES, Storage, file_name};
use crate::error::{Error, FieldErrors, Result};
use crate::ops::Upload;

/// A field has at most so many bytes: more than the longest text that any of them may hold.
const MOST_TEXT: usize = 16 << 10;
/// So many parts, and so many bytes beside the file, are read at most.
const MOST_PARTS: usize = 64;
const MOST_BESIDE: u64 = 1 << 20;
/// So much is read at most for the headers of one part. The last piece may bring more than they need.
const MOST_HEADERS: usize = 64 << 10;
/// The reader of parts is given so much at a time, which it copies.
const PIECE: usize = 32 << 10;
/// A body is read for so long at most.
const LONGEST: Duration = Duration::from_secs(3600);

/// What an upload brought.
#[derive(Debug, Default)]
pub struct Form {
    pub fields: Vec<(String, String)>,
    pub file: Option<Received>,
    /// What was wrong with the parts themselves.
    pub errors: FieldErrors,
}

/// A file that has arrived whole.
#[derive(Debug)]
pub struct Received {
    pub name: String,
    pub spool: Spool,
    /// The SHA-256 of its bytes, when it was asked for.
    pub digest: Option<Vec<u8>>,
}

/// Reads a body to its end. Parts may come in any order, under their names or as `attachment[name]`. The digest of the
/// file costs time, and is made for those who need it.
///
/// # Errors
/// [`Error::UnsupportedMediaType`] when it is no form; [`Error::PayloadTooLarge`] as soon as the file is over its limit;
/// [`Error::Malformed`] when the body breaks off, or brings nothing for as long as `patience`.
pub async fn read(storage: &Storage, upload: Upload<'_>, patience: Duration, digest: bool) -> Result<Form> {
    let boundary = multer::parse_boundary(&upload.content_type).map_err(|error| match error {
        multer::Error::NoBoundary => Error::Malformed("The Content-Type names no boundary.".into()),
        _ => Error::UnsupportedMediaType("Send the body as `multipart/form-data`."),
    })?;
    if upload.length.is_some_and(|length| length > MOST_BYTES + MOST_BESIDE) {
        return Err(Error::PayloadTooLarge(MOST_BYTES as usize));
    }
    let room = Arc::new(AtomicUsize::new(0));
    let paced = Paced {
        body: upload.body,
        rest: Bytes::new(),
        room: room.clone(),
        rested: true,
        turn: Turn::None,
        turns: storage.turns(),
    };
    let mut parts = Parts {
        multipart: Multipart::new(paced, boundary),
        room,
        patience,
        until: Instant::now() + LONGEST,
        beside: 0,
    };
    let mut form = Form::default();
    let mut count = 0;
    while let Some(mut part) = parts.next().await? {
        count += 1;
        if count > MOST_PARTS {
            return Err(Error::Malformed(format!("The form has more than {MOST_PARTS} parts.")));
        }
        let name = part.name().unwrap_or_default();
        let name = name.strip_prefix("attachment[").and_then(|name| name.strip_suffix(']')).unwrap_or(name).to_string();
        if name == "file" {
            let file = parts.file(storage, &mut part, digest).await?;
            match (&form.file, file) {
                (Some(_), _) => form.errors.add("file", "is given more than once"),
                (None, file) => form.file = file,
            }
        } else {
            let text = parts.text(&mut part).await?;
            match text.map(String::from_utf8) {
                Some(Ok(text)) => form.fields.push((name, text)),
                Some(Err(_)) => form.errors.add(name, "must be UTF-8"),
                None => form.errors.add(name, format!("must have at most {MOST_TEXT} bytes")),
            }
        }
    }
    Ok(form)
}

/// The parts of a body, and what is left of the limits that they share.
struct Parts<'u> {
    multipart: Multipart<'u>,
    /// How many bytes may be read before the next part, or the next piece of one, is handed out.
    room: Arc<AtomicUsize>,
    patience: Duration,
    until: Instant,
    /// Bytes read beside the file.
    beside: u64,
}

impl<'u> Parts<'u> {
    async fn next(&mut self) -> Result<Option<Field<'u>>> {
        self.room.store(MOST_HEADERS, Ordering::Relaxed);
        let until = self.until.min(Instant::now() + self.patience);
        timeout_at(until, self.multipart.next_field()).await.map_err(|_| stopped())?.map_err(malformed)
    }

    async fn piece(&mut self, part: &mut Field<'u>) -> Result<Option<Bytes>> {
        self.room.store(MOST_HEADERS, Ordering::Relaxed);
        let until = self.until.min(Instant::now() + self.patience);
        timeout_at(until, part.chunk()).await.map_err(|_| stopped())?.map_err(malformed)
    }

    /// Receives the file; `None` for what a browser sends when no file was chosen.
    async fn file(&mut self, storage: &Storage, part: &mut Field<'u>, digest: bool) -> Result<Option<Received>> {
        let given = part.file_name().map(str::to_string);
        let mut digest = digest.then(Sha256::new);
        let mut spool = storage.receive().await?;
        while let Some(bytes) = self.piece(part).await? {
            if spool.size() + bytes.len() as u64 > MOST_BYTES {
                return Err(Error::PayloadTooLarge(MOST_BYTES as usize));
            }
            if let Some(digest) = &mut digest {
                digest.update(&bytes);
            }
            spool.write(bytes).await?;
        }
        let unchosen = given.as_deref().unwrap_or_default().is_empty() && spool.size() == 0;
        let name = file_name::clean(given.as_deref().unwrap_or_default());
        let digest = digest.map(|digest| digest.finalize().to_vec());
        Ok((!unchosen).then_some(Received { name, spool, digest }))
    }

    /// Reads a field; `None` when it is longer than any may be.
    async fn text(&mut self, part: &mut Field<'u>) -> Result<Option<Vec<u8>>> {
        let mut text = Vec::new();
        let mut fits = true;
        while let Some(bytes) = self.piece(part).await? {
            self.beside += bytes.len() as u64;
            if self.beside > MOST_BESIDE {
                return Err(Error::PayloadTooLarge(MOST_BESIDE as usize));
            }
            fits &= text.len() + bytes.len() <= MOST_TEXT;
            if fits {
                text.extend_from_slice(&bytes);
            }
        }
        Ok(fits.then_some(text))
    }
}

/// The body, one piece at a time: the reader of parts takes all that is there and keeps it, so it is given no more than
/// it can use. And no more than there is room for: it would look for the end of a part's headers for ever.
struct Paced<'u> {
    body: BoxStream<'u, std::io::Result<Bytes>>,
    /// What has arrived and was not given yet.
    rest: Bytes,
    room: Arc<AtomicUsize>,
    rested: bool,
    turn: Turn,
    turns: Arc<Semaphore>,
}

/// Who has taken bytes from its connection and not yet written them has a turn. There are few, and who waits for its
/// client has none: what many uploads hold at once is what their connections hold.
enum Turn {
    None,
    Waiting(BoxFuture<'static, Result<OwnedSemaphorePermit, AcquireError>>),
    Taken(#[expect(dead_code, reason = "it is held, not read")] OwnedSemaphorePermit),
}

impl Paced<'_> {
    fn poll_turn(&mut self, context: &mut task::Context<'_>) -> Poll<std::io::Result<()>> {
        if let Turn::None = self.turn {
            self.turn = Turn::Waiting(Box::pin(self.turns.clone().acquire_owned()));
        }
        if let Turn::Waiting(waiting) = &mut self.turn {
            let permit = task::ready!(waiting.as_mut().poll(context)).map_err(std::io::Error::other)?;
            self.turn = Turn::Taken(permit);
        }
        Poll::Ready(Ok(()))
    }
}

impl Stream for Paced<'_> {
    type Item = std::io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Option<Self::Item>> {
        if !self.rested {
            self.rested = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.rest.is_empty() {
            // What was given before has been written. Others come first.
            if let Turn::Taken(_) = self.turn {
                self.turn = Turn::None;
            }
            if let Err(error) = task::ready!(self.poll_turn(context)) {
                return Poll::Ready(Some(Err(error)));
            }
            match self.body.as_mut().poll_next(context) {
                Poll::Ready(Some(Ok(bytes))) => self.rest = bytes,
                other => {
                    self.turn = Turn::None;
                    return other;
                }
            }
        }
        self.rested = false;
        let length = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(length);
        let room = self.room.load(Ordering::Relaxed);
        if length > room {
            return Poll::Ready(Some(Err(std::io::Error::other("the headers of a part are too long"))));
        }
        self.room.store(room - length, Ordering::Relaxed);
        Poll::Ready(Some(Ok(piece)))
    }
}

fn malformed(error: multer::Error) -> Error {
    Error::Malformed(format!("The form cannot be read: {error}."))
}

fn stopped() -> Error {
    Error::Malformed("The body stopped arriving.".into())
}
