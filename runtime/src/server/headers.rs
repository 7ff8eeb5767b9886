//! What the headers of a request ask beside its operation, and how an answer that was kept goes out again.

use salvo::Request;
use salvo::http::header::HOST;
use salvo::http::{HeaderValue, StatusCode, Version};

use super::Answer;
use crate::auth::Principal;
use crate::error::{Error, Result};
use crate::header;
use crate::idempotency::{Key, Once};
use crate::ops::{Format, Preconditions, StoredResponse};
use crate::trace::{TRACEPARENT, Trace};

/// The id of the request, which its answer and its log line carry too.
pub fn request_id(request: &Request) -> Option<String> {
    text(request, header::REQUEST_ID)
}

/// A header that is text.
pub fn text(request: &Request, name: &str) -> Option<String> {
    request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_string)
}

/// The trace that the request belongs to, if its `traceparent` is well-formed.
pub fn trace(request: &Request) -> Option<Trace> {
    Trace::read(request.headers().get_all(TRACEPARENT).iter().map(HeaderValue::as_bytes))
}

/// Whether a request of HTTP/1.1 says once for which host it is (RFC 9112, section 3.2): two that read it on its way could each
/// take it for another's.
///
/// # Errors
/// 400.
pub fn need_host(request: &Request) -> Result<()> {
    if request.version() == Version::HTTP_11 && request.headers().get_all(HOST).iter().count() != 1 {
        return Err(Error::Malformed("A request of HTTP/1.1 has one `Host`.".into()));
    }
    Ok(())
}

/// `Accept`, where it asks for all of a list.
///
/// # Errors
/// 400 to a client, or a proxy, that speaks HTTP/1.0: there an answer ends as one that breaks off does.
pub fn format(request: &Request) -> Result<Option<Format>> {
    let lines: Vec<&str> =
        request.headers().get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok()).collect();
    let format = Format::asked(&lines.join(","));
    if format.is_some() && request.version() < Version::HTTP_11 {
        return Err(Error::Malformed("All of a list is answered by HTTP/1.1 and later alone.".into()));
    }
    Ok(format)
}

/// `If-Match` and `If-None-Match`.
pub fn conditions(request: &Request) -> Result<Preconditions> {
    let lines = |name: &str| -> Option<String> {
        // What is no text is no tag either.
        let lines: Vec<&str> = request.headers().get_all(name).iter().map(|v| v.to_str().unwrap_or("?")).collect();
        (!lines.is_empty()).then(|| lines.join(", "))
    };
    Preconditions::read(lines(header::IF_MATCH).as_deref(), lines(header::IF_NONE_MATCH).as_deref())
}

/// `Idempotency-Key`, with what makes this request the same as another, its body left out; `None` when there is none.
pub fn key(request: &Request, caller: &Principal) -> Result<Option<Key>> {
    let mut keys = request.headers().get_all(header::IDEMPOTENCY_KEY).iter();
    let Some(text) = keys.next() else { return Ok(None) };
    if keys.next().is_some() {
        return Err(Error::invalid(header::IDEMPOTENCY_KEY, "must be sent once"));
    }
    let mut key = Key::read(text.as_bytes(), caller)?;
    let uri = request.uri();
    for part in [request.method().as_str(), uri.path().trim_end_matches('/'), uri.query().unwrap_or_default()] {
        key.add(part.as_bytes());
    }
    Ok(Some(key))
}

/// What a write answers.
pub fn answer(reply: StoredResponse) -> Result<Answer> {
    let status = StatusCode::from_u16(reply.status).map_err(Error::internal)?;
    let mut answer = match reply.body.is_empty() {
        true => Answer::empty(status),
        false => Answer::json(status, reply.body),
    };
    for (name, value) in [(header::LOCATION, reply.location), (header::ETAG, reply.etag)] {
        if let Some(value) = value {
            answer = answer.with_text(name, &value);
        }
    }
    Ok(answer)
}

/// The answer of an earlier request with the same key.
pub fn replayed(reply: StoredResponse) -> Result<Answer> {
    Ok(answer(reply)?.with_text(header::REPLAYED, "true"))
}

/// The answer of this request, or of an earlier one.
pub fn once(once: Once) -> Result<Answer> {
    match once {
        Once::New(reply) => answer(reply),
        Once::Again(reply) => replayed(reply),
    }
}
