//! Request bodies: JSON, forms and uploads, with their limits and media types.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use salvo::Request;
use salvo::http::{Mime, ReqBody};
use salvo::hyper::body::{Body, Bytes};
use tokio::time::timeout;

use super::{Permit, urlencoded_body};
use charter_core::error::{Error, Result};
use charter_platform::attachment::Upload;

/// Bytes and time of an unread body that are waited for before the response is sent.
const DRAIN_LIMIT: (usize, Duration) = (16 << 20, Duration::from_secs(5));
/// The same for an upload, which is expected to be long.
const DRAIN_LIMIT_OF_UPLOAD: (usize, Duration) = (64 << 20, Duration::from_secs(30));
/// Draining ends when the client sends nothing for this time: it reads the response, if anything.
const DRAIN_IDLE: Duration = Duration::from_secs(2);

/// True while a request waits for its body. A request that runs out of time then is 408 instead of 503. The panel shares
/// it with the request that it forwards to the API.
#[derive(Debug, Clone, Default)]
pub(crate) struct Receiving(Arc<AtomicBool>);

impl Receiving {
    pub(super) fn is_waiting(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set_waiting(&self, is_waiting: bool) {
        self.0.store(is_waiting, Ordering::Relaxed);
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The byte order marks of UTF-16, no bytes of UTF-8. That of UTF-32 begins with one of them, or with zeros.
const UTF_16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

const NOT_UTF_8: &str = "Send the body in UTF-8.";
const UNSUPPORTED: &str = "Send the body as `application/json` or `application/x-www-form-urlencoded`.";
const NOT_A_FORM: &str =
    "The body is JSON, but its `Content-Type` says that it is a form. Send it as `application/json`.";

/// Reads and discards the rest of the body. If the connection closed before, it would be reset and the response lost.
pub(super) async fn drain(request: &mut Request, is_upload: bool) {
    // A client that waits for `100 Continue` has not sent its body.
    if request.body().is_end_stream() || request.headers().contains_key("expect") {
        return;
    }
    let (mut left, time) = if is_upload { DRAIN_LIMIT_OF_UPLOAD } else { DRAIN_LIMIT };
    let rest = async {
        while let Ok(Some(Ok(frame))) = timeout(DRAIN_IDLE, request.body_mut().next()).await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                break;
            }
        }
    };
    let _ = timeout(time, rest).await;
}

/// Reads the bytes of a body, up to `limit`.
async fn collect(body: &mut ReqBody, limit: usize) -> Result<Bytes> {
    let (mut single, mut joined) = (Bytes::new(), Vec::new());
    while let Some(frame) = body.next().await {
        let frame = frame.map_err(|_| Error::Malformed("The body could not be read.".into()))?;
        let Ok(data) = frame.into_data() else { continue };
        if single.len() + joined.len() + data.len() > limit {
            return Err(Error::PayloadTooLarge(limit));
        }
        // Most bodies arrive as one frame, which need not be copied.
        if single.is_empty() && joined.is_empty() {
            single = data;
        } else {
            joined.extend_from_slice(&std::mem::take(&mut single));
            joined.extend_from_slice(&data);
        }
    }
    Ok(if joined.is_empty() { single } else { joined.into() })
}

/// The body of an upload, read as it arrives. The request gives its permit back: receiving takes long and costs little.
pub fn begin_upload(request: &mut Request) -> Upload<'_> {
    if let Some(permit) = request.extensions().get::<Permit>() {
        permit.release();
    }
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    // A compressed body is not the form that its type announces.
    let content_type = header("content-type").filter(|_| !is_encoded(request)).unwrap_or_default().to_string();
    let length = header("content-length").and_then(|length| length.parse().ok());
    let body = request.body_mut().filter_map(async |frame| match frame {
        Ok(frame) => frame.into_data().ok().map(Ok),
        Err(error) => Some(Err(std::io::Error::other(error))),
    });
    Upload { content_type, length, body: Box::pin(body) }
}

/// Reads a JSON body, or a form as JSON. The request gives its permit back while the body arrives.
///
/// # Errors
/// [`Error::PayloadTooLarge`] above `limit` bytes, [`Error::UnsupportedMediaType`] for other types, [`Error::Malformed`] when the
/// body breaks off, and [`Error::Overloaded`] when the permit cannot be acquired again.
pub async fn read_body(request: &mut Request, limit: usize) -> Result<Bytes> {
    let media_type = media_type(request).and_then(|media_type| match media_type {
        Some(mime) if !is_json(&mime) && !is_form(&mime) => Err(UNSUPPORTED),
        media_type => Ok(media_type),
    });
    // Problems of the head are answered before the client sends the rest.
    let length = request.headers().get("content-length").and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if let (Err(problem), Some(1..)) = (&media_type, length) {
        return Err(Error::UnsupportedMediaType(problem));
    }
    if length.is_some_and(|length| length > limit) {
        return Err(Error::PayloadTooLarge(limit));
    }
    let permit = request.extensions().get::<Permit>().cloned();
    let receiving = request.extensions().get::<Receiving>().cloned().unwrap_or_default();
    let bytes = {
        let mut body = pin!(collect(request.body_mut(), limit));
        match body.as_mut().now_or_never() {
            // Most bodies arrive together with their head.
            Some(bytes) => bytes?,
            None => {
                permit.iter().for_each(Permit::release);
                receiving.set_waiting(true);
                let bytes = body.await?;
                receiving.set_waiting(false);
                if let Some(permit) = permit {
                    permit.acquire().await?;
                }
                bytes
            }
        }
    };
    // Windows programs write a byte order mark, which a parser may ignore (RFC 8259, section 8.1).
    let bytes = if bytes.starts_with(BYTE_ORDER_MARK) { bytes.slice(BYTE_ORDER_MARK.len()..) } else { bytes };
    match media_type {
        _ if bytes.is_empty() => Ok(bytes),
        _ if UTF_16_MARKS.iter().any(|mark| bytes.starts_with(mark)) => Err(Error::UnsupportedMediaType(NOT_UTF_8)),
        Err(problem) => Err(Error::UnsupportedMediaType(problem)),
        // Some tools send JSON with the type of a form by default. No form of this API begins with a brace.
        Ok(Some(mime)) if is_form(&mime) && bytes.starts_with(b"{") => Err(Error::UnsupportedMediaType(NOT_A_FORM)),
        Ok(Some(mime)) if is_form(&mime) => urlencoded_body::to_json(&bytes).map(Bytes::from),
        Ok(_) => Ok(bytes),
    }
}

/// True if it is JSON. Patches (RFC 6902, RFC 7396) are not: a null means something else there.
fn is_json(mime: &Mime) -> bool {
    ["application/json", "application/vnd.api+json"].contains(&mime.essence_str())
}

fn is_form(mime: &Mime) -> bool {
    mime.essence_str() == "application/x-www-form-urlencoded"
}

/// True if the body has a `Content-Encoding`, none of which is supported.
fn is_encoded(request: &Request) -> bool {
    let encoding = request.headers().get("content-encoding").map(|value| value.to_str().unwrap_or("?").trim());
    encoding.is_some_and(|encoding| !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity"))
}

/// The media type that the request declares, if any.
///
/// # Errors
/// Why the body cannot be read: it is compressed, in another charset than UTF-8, or of no valid type.
fn media_type(request: &Request) -> Result<Option<Mime>, &'static str> {
    let header = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap_or_default().trim());
    if is_encoded(request) {
        return Err("Send the body without a `Content-Encoding`.");
    }
    let Some(declared) = header("content-type").filter(|text| !text.is_empty()) else { return Ok(None) };
    let mime: Mime = declared.parse().map_err(|_| UNSUPPORTED)?;
    let is_utf8 = mime.get_param("charset").is_none_or(|charset| {
        // `utf8` is not registered, but common.
        ["utf-8", "utf8", "us-ascii"].iter().any(|known| charset.as_str().eq_ignore_ascii_case(known))
    });
    if is_utf8 { Ok(Some(mime)) } else { Err(NOT_UTF_8) }
}
