//! What the headers of a request ask beside its operation, and how an answer that was kept goes out again.

use salvo::Request;
use salvo::http::StatusCode;

use super::Answer;
use crate::auth::Principal;
use crate::crud::Conditions;
use crate::error::{Error, Result};
use crate::header;
use crate::idempotency::{Kept, Key};

/// The id of the request, which its answer and its log line carry too.
pub fn request_id(request: &Request) -> Option<String> {
    request.headers().get(header::REQUEST_ID).and_then(|id| id.to_str().ok()).map(str::to_string)
}

/// `If-Match` and `If-None-Match`.
pub fn conditions(request: &Request) -> Result<Conditions> {
    let lines = |name: &str| -> Option<String> {
        // What is no text is no tag either.
        let lines: Vec<&str> = request.headers().get_all(name).iter().map(|v| v.to_str().unwrap_or("?")).collect();
        (!lines.is_empty()).then(|| lines.join(", "))
    };
    Conditions::read(lines(header::IF_MATCH).as_deref(), lines(header::IF_NONE_MATCH).as_deref())
}

/// `Idempotency-Key`, with what makes this request the same as another.
pub fn key(request: &Request, caller: &Principal, body: &[u8]) -> Result<Key> {
    let text = request.headers().get(header::IDEMPOTENCY_KEY).map(|value| value.as_bytes()).unwrap_or_default();
    let uri = request.uri();
    let parts = [request.method().as_str(), uri.path().trim_end_matches('/'), uri.query().unwrap_or_default()];
    let [method, path, query] = parts.map(str::as_bytes);
    Key::read(text, caller, &[method, path, query, body])
}

/// The answer of an earlier request with the same key.
pub fn replayed(kept: Kept) -> Result<Answer> {
    let status = StatusCode::from_u16(kept.status).map_err(Error::internal)?;
    let mut answer = match kept.body.is_empty() {
        true => Answer::empty(status),
        false => Answer::json(status, kept.body.into_bytes()),
    };
    for (name, value) in [(header::LOCATION, kept.location), (header::ETAG, kept.etag)] {
        if let Some(value) = value {
            answer = answer.with_text(name, &value);
        }
    }
    Ok(answer.with_text(header::REPLAYED, "true"))
}

/// An answer as it is kept to be given again.
pub fn kept(answer: &Answer) -> Kept {
    let text = |name| answer.header(name).and_then(|value| value.to_str().ok()).map(str::to_string);
    Kept {
        status: answer.status().as_u16(),
        location: text(header::LOCATION),
        etag: text(header::ETAG),
        body: String::from_utf8_lossy(answer.body()).into_owned(),
    }
}
