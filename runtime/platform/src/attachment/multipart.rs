//! Streaming reader of `multipart/form-data`: the file goes to disk, the fields to memory.

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

use super::Upload;
use super::part_header::Disposition;
use super::spool::Spool;
use super::{Storage, file_name};
use charter_core::error::{Error, FieldErrors, Result};

/// Maximum size of a field, above the longest text that any field accepts.
const MAX_FIELD_BYTES: usize = 16 << 10;
/// Maximum number of parts, and of bytes in all fields together.
const MAX_PARTS: usize = 64;
const MAX_TOTAL_FIELD_BYTES: u64 = 1 << 20;
/// Maximum size of the headers of one part. The last chunk may exceed it.
const MAX_HEADER_BYTES: usize = 64 << 10;
/// Bytes passed to the parser at a time, which copies them.
const CHUNK_BYTES: usize = 32 << 10;
/// Maximum duration of an upload.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(3600);

/// The form that an upload expects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    /// The singular name under which fields may be nested.
    pub name: &'static str,
    /// Maximum size of the file.
    pub max_file_bytes: u64,
}

/// Fields and file of an upload.
#[derive(Debug, Default)]
pub(crate) struct UploadForm {
    pub fields: Vec<(String, String)>,
    pub file: Option<ReceivedFile>,
    /// Errors in the parts themselves.
    pub errors: FieldErrors,
}

/// A file that was received completely.
#[derive(Debug)]
pub(crate) struct ReceivedFile {
    pub name: String,
    pub spool: Spool,
    /// SHA-256 of the bytes, if requested.
    pub digest: Option<Vec<u8>>,
}

/// Reads a body to its end. Parts may come in any order, named `name` or, for an attachment, `attachment[name]`. The digest of the file is
/// computed only on request, because it costs time.
///
/// # Errors
/// [`Error::UnsupportedMediaType`] for another media type; [`Error::FileTooLarge`] as soon as the file exceeds its
/// limit; [`Error::FieldsTooLarge`] likewise; [`Error::RequestTimeout`] if no bytes arrive for `idle_timeout`; [`Error::Malformed`] if the body ends early.
pub(crate) async fn read(
    storage: &Storage,
    upload: Upload<'_>,
    expected: Expected,
    idle_timeout: Duration,
    digest: bool,
) -> Result<UploadForm> {
    let boundary = multer::parse_boundary(&upload.content_type).map_err(|error| match error {
        multer::Error::NoBoundary => Error::Malformed("The Content-Type has no boundary parameter.".into()),
        _ => Error::UnsupportedMediaType("Send the body as `multipart/form-data`."),
    })?;
    if upload.length.is_some_and(|length| length > expected.max_file_bytes + MAX_TOTAL_FIELD_BYTES) {
        return Err(Error::FileTooLarge(expected.max_file_bytes));
    }
    let budget = Arc::new(AtomicUsize::new(0));
    let paced = PacedBody {
        body: upload.body,
        rest: Bytes::new(),
        budget: budget.clone(),
        rested: true,
        permit: BufferPermit::None,
        permits: storage.buffer_permits(),
    };
    let mut parts = Parts {
        multipart: Multipart::new(paced, boundary),
        budget,
        max_file_bytes: expected.max_file_bytes,
        idle_timeout,
        deadline: Instant::now() + UPLOAD_TIMEOUT,
        field_bytes: 0,
    };
    let mut form = UploadForm::default();
    let mut count = 0;
    while let Some(mut part) = parts.next().await? {
        count += 1;
        if count > MAX_PARTS {
            return Err(Error::Malformed(format!("The form has more than {MAX_PARTS} parts.")));
        }
        let header = |name: &str| part.headers().get(name).map_or(&[][..], |value| value.as_bytes());
        refuse_encoded(header("content-transfer-encoding"))?;
        let header = header("content-disposition");
        let Disposition { name, file_name } = Disposition::read(header);
        let name = name.unwrap_or_default();
        let nested = name.strip_prefix(expected.name).and_then(|name| name.strip_prefix('[')?.strip_suffix(']'));
        let name = nested.unwrap_or(&name).to_string();
        if name == "file" {
            let given = file_name.unwrap_or_default();
            let file = parts.file(storage, &mut part, &given, digest).await?;
            match (&form.file, file) {
                (Some(_), _) => form.errors.add("file", "is given more than once"),
                (None, file) => form.file = file,
            }
        } else {
            let text = parts.text(&mut part).await?;
            match text.map(String::from_utf8) {
                Some(Ok(text)) => form.fields.push((name, text)),
                Some(Err(_)) => form.errors.add(name, "must be UTF-8"),
                None => form.errors.add(name, format!("must have at most {MAX_FIELD_BYTES} bytes")),
            }
        }
    }
    Ok(form)
}

/// The parts of a body and the limits that they share.
struct Parts<'u> {
    multipart: Multipart<'u>,
    /// Bytes that may be read before the next part, or the next chunk of a part, is returned.
    budget: Arc<AtomicUsize>,
    max_file_bytes: u64,
    idle_timeout: Duration,
    deadline: Instant,
    /// Bytes of all fields so far.
    field_bytes: u64,
}

impl<'u> Parts<'u> {
    async fn next(&mut self) -> Result<Option<Field<'u>>> {
        self.budget.store(MAX_HEADER_BYTES, Ordering::Relaxed);
        let deadline = self.deadline.min(Instant::now() + self.idle_timeout);
        timeout_at(deadline, self.multipart.next_field()).await.map_err(|_| Error::RequestTimeout)?.map_err(malformed)
    }

    async fn chunk(&mut self, part: &mut Field<'u>) -> Result<Option<Bytes>> {
        self.budget.store(MAX_HEADER_BYTES, Ordering::Relaxed);
        let deadline = self.deadline.min(Instant::now() + self.idle_timeout);
        timeout_at(deadline, part.chunk()).await.map_err(|_| Error::RequestTimeout)?.map_err(malformed)
    }

    /// Receives the file; `None` if the browser sent an empty part because no file was selected.
    async fn file(
        &mut self,
        storage: &Storage,
        part: &mut Field<'u>,
        given: &str,
        digest: bool,
    ) -> Result<Option<ReceivedFile>> {
        let mut digest = digest.then(Sha256::new);
        let mut spool = storage.receive().await?;
        while let Some(bytes) = self.chunk(part).await? {
            if spool.size() + bytes.len() as u64 > self.max_file_bytes {
                return Err(Error::FileTooLarge(self.max_file_bytes));
            }
            if let Some(digest) = &mut digest {
                digest.update(&bytes);
            }
            spool.write(bytes).await?;
        }
        let unchosen = given.is_empty() && spool.size() == 0;
        let name = file_name::clean(given);
        let digest = digest.map(|digest| digest.finalize().to_vec());
        Ok((!unchosen).then_some(ReceivedFile { name, spool, digest }))
    }

    /// Reads a field; `None` if it exceeds [`MAX_FIELD_BYTES`].
    async fn text(&mut self, part: &mut Field<'u>) -> Result<Option<Vec<u8>>> {
        let mut text = Vec::new();
        let mut fits = true;
        while let Some(bytes) = self.chunk(part).await? {
            self.field_bytes += bytes.len() as u64;
            if self.field_bytes > MAX_TOTAL_FIELD_BYTES {
                return Err(Error::FieldsTooLarge(MAX_TOTAL_FIELD_BYTES));
            }
            fits &= text.len() + bytes.len() <= MAX_FIELD_BYTES;
            if fits {
                text.extend_from_slice(&bytes);
            }
        }
        Ok(fits.then_some(text))
    }
}

/// Body that passes one small chunk at a time: the parser buffers everything that is available, and searches for the
/// end of a part's headers without a limit.
struct PacedBody<'u> {
    body: BoxStream<'u, std::io::Result<Bytes>>,
    /// Received bytes that were not passed on yet.
    rest: Bytes,
    budget: Arc<AtomicUsize>,
    rested: bool,
    permit: BufferPermit,
    permits: Arc<Semaphore>,
}

/// Permit to hold received bytes that are not written yet, which bounds the memory of all uploads together. An upload
/// that waits for its client holds none.
enum BufferPermit {
    None,
    Waiting(BoxFuture<'static, Result<OwnedSemaphorePermit, AcquireError>>),
    Taken(#[expect(dead_code, reason = "it is held, not read")] OwnedSemaphorePermit),
}

impl PacedBody<'_> {
    fn poll_permit(&mut self, context: &mut task::Context<'_>) -> Poll<std::io::Result<()>> {
        if let BufferPermit::None = self.permit {
            self.permit = BufferPermit::Waiting(Box::pin(self.permits.clone().acquire_owned()));
        }
        if let BufferPermit::Waiting(waiting) = &mut self.permit {
            let permit = task::ready!(waiting.as_mut().poll(context)).map_err(std::io::Error::other)?;
            self.permit = BufferPermit::Taken(permit);
        }
        Poll::Ready(Ok(()))
    }
}

impl Stream for PacedBody<'_> {
    type Item = std::io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Option<Self::Item>> {
        if !self.rested {
            self.rested = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.rest.is_empty() {
            // The previous bytes are written. Release the permit to let others go first.
            if let BufferPermit::Taken(_) = self.permit {
                self.permit = BufferPermit::None;
            }
            if let Err(error) = task::ready!(self.poll_permit(context)) {
                return Poll::Ready(Some(Err(error)));
            }
            match self.body.as_mut().poll_next(context) {
                Poll::Ready(Some(Ok(bytes))) => self.rest = bytes,
                other => {
                    self.permit = BufferPermit::None;
                    return other;
                }
            }
        }
        self.rested = false;
        let length = self.rest.len().min(CHUNK_BYTES);
        let chunk = self.rest.split_to(length);
        let budget = self.budget.load(Ordering::Relaxed);
        if length > budget {
            return Poll::Ready(Some(Err(std::io::Error::other("the headers of a part are too long"))));
        }
        self.budget.store(budget - length, Ordering::Relaxed);
        Poll::Ready(Some(Ok(chunk)))
    }
}

/// Refuses a part whose bytes are base64 or quoted-printable, which would be stored as they arrive. RFC 7578, section
/// 4.7, no longer allows that header; some clients send it with the value `binary`.
fn refuse_encoded(transfer_encoding: &[u8]) -> Result<()> {
    let is_plain =
        ["", "binary", "7bit", "8bit"].iter().any(|plain| transfer_encoding.eq_ignore_ascii_case(plain.as_bytes()));
    if is_plain {
        Ok(())
    } else {
        Err(Error::UnsupportedMediaType("Send the parts of the form without Content-Transfer-Encoding."))
    }
}

fn malformed(error: multer::Error) -> Error {
    Error::Malformed(format!("The form is malformed: {error}."))
}
