//! Complete response of a handler: status, headers and body.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use salvo::http::{HeaderValue, StatusCode};

use super::compression::CompleteBody;
use charter_core::error::{Error, Result};
use charter_core::header;

/// The media type of nearly every response.
pub const JSON: &str = "application/json";

/// The response of a [`Handler`](super::Handler).
pub struct Response {
    status: StatusCode,
    headers: Vec<(&'static str, HeaderValue)>,
    body: Body,
}

enum Body {
    Bytes(Bytes),
    /// Shared bytes that the process never frees, however many clients are sent them.
    Static(Bytes),
    /// Produced while it is sent.
    Stream(BoxStream<'static, std::io::Result<Bytes>>),
}

/// The status of an error as a type of HTTP.
pub fn status_of(error: &Error) -> StatusCode {
    StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

impl Response {
    pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Response {
        let headers = vec![("content-type", HeaderValue::from_static(JSON))];
        Response { status, headers, body: Body::Bytes(body.into()) }
    }

    /// A body of any media type, with status 200.
    pub fn bytes(media_type: &'static str, body: impl Into<Bytes>) -> Response {
        let headers = vec![("content-type", HeaderValue::from_static(media_type))];
        Response { status: StatusCode::OK, headers, body: Body::Bytes(body.into()) }
    }

    /// [`Response::bytes`] with shared bytes that are never freed; they do not count as unsent.
    pub fn from_static_bytes(media_type: &'static str, body: Bytes) -> Response {
        Response { body: Body::Static(body), ..Response::bytes(media_type, Bytes::new()) }
    }

    pub fn html(status: StatusCode, body: Vec<u8>) -> Response {
        Response { status, ..Response::bytes("text/html; charset=utf-8", body) }
    }

    pub fn empty(status: StatusCode) -> Response {
        Response { status, headers: Vec::new(), body: Body::Bytes(Bytes::new()) }
    }

    pub fn stream(status: StatusCode, body: BoxStream<'static, std::io::Result<Bytes>>) -> Response {
        Response { status, headers: Vec::new(), body: Body::Stream(body) }
    }

    pub fn with(mut self, name: &'static str, value: HeaderValue) -> Response {
        self.headers.push((name, value));
        self
    }

    /// The response to an error, with the headers that its code requires.
    pub fn error(error: &Error, request_id: &str) -> Response {
        let body = error.body(request_id).to_string().into_bytes();
        let response = Response::json(status_of(error), body);
        let value = match error {
            Error::Unauthenticated => r#"Bearer realm="charter""#.to_string(),
            Error::InvalidToken => r#"Bearer realm="charter", error="invalid_token""#.to_string(),
            Error::AbilityMissing(ability) | Error::RoleAbilityMissing(ability) => {
                format!(r#"Bearer realm="charter", error="insufficient_scope", scope="{ability}""#)
            }
            Error::MethodNotAllowed(methods) => methods.join(", "),
            Error::RangeNotSatisfiable(size) => format!("bytes */{size}"),
            Error::RateLimited(seconds) => seconds.to_string(),
            Error::InProgress | Error::Overloaded => "1".to_string(),
            Error::Unavailable(_) => "5".to_string(),
            _ => return response,
        };
        match header::for_error_code(error.code()) {
            Some(name) => response.with_text(name, &value),
            None => response,
        }
    }

    /// Adds a text header. A text that no header can hold is left out.
    pub fn with_text(self, name: &'static str, text: &str) -> Response {
        match HeaderValue::from_str(text) {
            Ok(value) => self.with(name, value),
            Err(_) => self,
        }
    }

    /// The bytes of the body; empty for a stream.
    pub fn body(&self) -> &[u8] {
        match &self.body {
            Body::Bytes(bytes) | Body::Static(bytes) => bytes,
            Body::Stream(_) => &[],
        }
    }

    /// Counts the bytes of the body as unsent, by `reserve`.
    ///
    /// # Errors
    /// Those of `reserve`.
    pub fn budgeted(self, reserve: impl FnOnce(Bytes) -> Result<Bytes>) -> Result<Response> {
        let body = match self.body {
            Body::Bytes(bytes) => Body::Bytes(reserve(bytes)?),
            other => other,
        };
        Ok(Response { body, ..self })
    }

    /// A header that was added.
    pub fn header(&self, name: &str) -> Option<&HeaderValue> {
        self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Writes it into the response of salvo.
    pub fn write(self, response: &mut salvo::Response) {
        response.status_code(self.status);
        for (name, value) in self.headers {
            match name {
                // The one header that may be repeated.
                "set-cookie" => drop(response.headers_mut().append(name, value)),
                _ => drop(response.headers_mut().insert(name, value)),
            }
        }
        match self.body {
            Body::Bytes(bytes) if bytes.is_empty() => {}
            // Writing fails only when the response has a body already.
            Body::Bytes(bytes) | Body::Static(bytes) => {
                if bytes.len() <= CompleteBody::MAX_BYTES {
                    response.extensions.insert(CompleteBody);
                }
                drop(response.write_body(bytes));
            }
            Body::Stream(stream) => response.stream(stream),
        }
    }
}
