//! Request headers that apply to all operations: conditions, format, idempotency key and trace; responses to writes.

use salvo::Request;
use salvo::http::header::HOST;
use salvo::http::{HeaderValue, StatusCode, Version};

use super::{Response, ServerState};
use charter_core::error::{Error, Result};
use charter_core::header;
use charter_core::ops::idempotency::{Execution, Key};
use charter_core::ops::{Format, Preconditions, StoredResponse};
use charter_core::principal::Principal;
use charter_core::trace::{TRACEPARENT, Trace};

/// The id of the request.
pub(crate) fn request_id(request: &Request) -> Option<String> {
    text(request, header::REQUEST_ID)
}

/// The value of a header, if it is text.
pub(crate) fn text(request: &Request, name: &str) -> Option<String> {
    request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_string)
}

/// The trace of the request, if its `traceparent` is well-formed.
pub(crate) fn trace(request: &Request) -> Option<Trace> {
    Trace::read(request.headers().get_all(TRACEPARENT).iter().map(HeaderValue::as_bytes))
}

/// Requires exactly one `Host` in HTTP/1.1 (RFC 9112, section 3.2), so that proxies and this server agree on the host.
///
/// # Errors
/// 400.
pub(crate) fn require_host(request: &Request) -> Result<()> {
    if request.version() == Version::HTTP_11 && request.headers().get_all(HOST).iter().count() != 1 {
        return Err(Error::Malformed("An HTTP/1.1 request must have exactly one `Host` header.".into()));
    }
    Ok(())
}

/// Requires the only spelling of a path: without empty segments but the last one, and without percent-encoded characters that
/// need no encoding (RFC 3986, sections 2.3 and 6.2.2.2). `//api/v1` and `/%61pi/v1` would be other spellings of `/api/v1`,
/// which rules of proxies do not know.
///
/// # Errors
/// 404.
pub(crate) fn require_plain_path(request: &Request) -> Result<()> {
    let path = request.uri().path();
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let decoded = |part: &str| u8::from_str_radix(part.get(..2)?, 16).ok();
    let is_plain =
        !path.contains("//") && !path.split('%').skip(1).any(|part| decoded(part).is_some_and(is_unreserved));
    if is_plain { Ok(()) } else { Err(Error::NotFound) }
}

/// Adds the headers of all responses.
pub(super) fn add_to_all(state: &ServerState, request: &Request, response: Response) -> Response {
    let mut response = response.with(header::TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if state.base_url().starts_with("https://") {
        response =
            response.with(header::TRANSPORT_SECURITY, HeaderValue::from_static(header::TRANSPORT_SECURITY_VALUE));
    }
    // HTTP/2 has no such header (RFC 9113, section 8.2.2).
    let closes = state.is_stopping() || response.status() == StatusCode::REQUEST_TIMEOUT;
    match closes && request.version() <= Version::HTTP_11 {
        true => response.with(header::CONNECTION, HeaderValue::from_static("close")),
        false => response,
    }
}

/// The export format in `Accept`, if any.
///
/// # Errors
/// 400 over HTTP/1.0, where a complete response cannot be distinguished from a truncated one.
pub(crate) fn format(request: &Request) -> Result<Option<Format>> {
    let lines: Vec<&str> =
        request.headers().get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok()).collect();
    let format = Format::negotiate(&lines.join(","));
    if format.is_some() && request.version() < Version::HTTP_11 {
        return Err(Error::Malformed("An export needs HTTP/1.1 or later.".into()));
    }
    Ok(format)
}

/// `If-Match` and `If-None-Match`.
pub(crate) fn conditions(request: &Request) -> Result<Preconditions> {
    let lines = |name: &str| -> Option<String> {
        // A value that is not text is not a tag either.
        let lines: Vec<&str> = request.headers().get_all(name).iter().map(|v| v.to_str().unwrap_or("?")).collect();
        (!lines.is_empty()).then(|| lines.join(", "))
    };
    Preconditions::read(lines(header::IF_MATCH).as_deref(), lines(header::IF_NONE_MATCH).as_deref())
}

/// The `Idempotency-Key` with the fingerprint of the request, to which the caller adds the body; `None` without the header.
pub(crate) fn key(request: &Request, caller: &Principal) -> Result<Option<Key>> {
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

/// The response to a write.
pub(crate) fn write_response(reply: StoredResponse) -> Result<Response> {
    let status = StatusCode::from_u16(reply.status).map_err(Error::internal)?;
    let mut response = match reply.body.is_empty() {
        true => Response::empty(status),
        false => Response::json(status, reply.body),
    };
    for (name, value) in [(header::LOCATION, reply.location), (header::ETAG, reply.etag)] {
        if let Some(value) = value {
            response = response.with_text(name, &value);
        }
    }
    Ok(response)
}

/// The stored response of an earlier request with the same key.
pub(crate) fn replayed(reply: StoredResponse) -> Result<Response> {
    Ok(write_response(reply)?.with_text(header::REPLAYED, "true"))
}

/// The response of this request, or the stored one of an earlier request.
pub(crate) fn execution_response(once: Execution) -> Result<Response> {
    match once {
        Execution::Fresh(reply) => write_response(reply),
        Execution::Replayed(reply) => replayed(reply),
    }
}

/// True if the client accepts gzip (RFC 9110, section 12.5.3): by its name, or else by `*`, each without the weight 0.
pub(crate) fn accepts_gzip(request: &Request) -> bool {
    let lines = request.headers().get_all("accept-encoding").iter().filter_map(|line| line.to_str().ok());
    let codings: Vec<(String, f32)> = lines.flat_map(header::weighted).collect();
    let find = |wanted: &str| codings.iter().find(|(name, _)| name == wanted).map(|(_, weight)| *weight > 0.0);
    find("gzip").or_else(|| find("*")).unwrap_or(false)
}
