//! A finished answer: status, headers, body.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use salvo::Response;
use salvo::http::{HeaderValue, StatusCode};

use super::encoding::Whole;
use crate::error::{Error, Result};
use crate::header;

/// The media type of nearly every answer.
pub const JSON: &str = "application/json";

/// What an endpoint answers.
pub struct Answer {
    status: StatusCode,
    headers: Vec<(&'static str, HeaderValue)>,
    body: Body,
}

enum Body {
    Bytes(Bytes),
    /// What the process keeps in any case, however many are sent it.
    Lasting(Bytes),
    /// Read as it is sent.
    Stream(BoxStream<'static, std::io::Result<Bytes>>),
}

impl Answer {
    pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Answer {
        let headers = vec![("content-type", HeaderValue::from_static(JSON))];
        Answer { status, headers, body: Body::Bytes(body.into()) }
    }

    /// An answer of another media type than JSON.
    pub fn bytes(kind: &'static str, body: impl Into<Bytes>) -> Answer {
        let headers = vec![("content-type", HeaderValue::from_static(kind))];
        Answer { status: StatusCode::OK, headers, body: Body::Bytes(body.into()) }
    }

    /// The same, of bytes that are never dropped.
    pub fn lasting(kind: &'static str, body: Bytes) -> Answer {
        Answer { body: Body::Lasting(body), ..Answer::bytes(kind, Bytes::new()) }
    }

    /// A page for people.
    pub fn page(status: StatusCode, body: Vec<u8>) -> Answer {
        Answer { status, ..Answer::bytes("text/html; charset=utf-8", body) }
    }

    pub fn empty(status: StatusCode) -> Answer {
        Answer { status, headers: Vec::new(), body: Body::Bytes(Bytes::new()) }
    }

    pub fn stream(status: StatusCode, body: BoxStream<'static, std::io::Result<Bytes>>) -> Answer {
        Answer { status, headers: Vec::new(), body: Body::Stream(body) }
    }

    pub fn with(mut self, name: &'static str, value: HeaderValue) -> Answer {
        self.headers.push((name, value));
        self
    }

    /// The answer to an error, with the headers that its status asks for.
    pub fn error(error: &Error, request_id: &str) -> Answer {
        let body = error.body(request_id).to_string().into_bytes();
        let answer = Answer::json(error.status(), body);
        let said = match error {
            Error::Unauthenticated => r#"Bearer realm="charter""#.to_string(),
            Error::InvalidToken => r#"Bearer realm="charter", error="invalid_token""#.to_string(),
            Error::AbilityMissing(ability) => {
                format!(r#"Bearer realm="charter", error="insufficient_scope", scope="{ability}""#)
            }
            Error::MethodNotAllowed(methods) => methods.join(", "),
            Error::RangeNotSatisfiable(size) => format!("bytes */{size}"),
            Error::RateLimited(seconds) => seconds.to_string(),
            Error::InProgress | Error::Overloaded => "1".to_string(),
            Error::Unavailable(_) => "5".to_string(),
            _ => return answer,
        };
        match header::of_code(error.code()) {
            Some(name) => answer.with_text(name, &said),
            None => answer,
        }
    }

    /// The same with a header of text; one that no header can hold is left out.
    pub fn with_text(self, name: &'static str, text: &str) -> Answer {
        match HeaderValue::from_str(text) {
            Ok(value) => self.with(name, value),
            Err(_) => self,
        }
    }

    /// The bytes of the body; none of one that is streamed.
    pub fn body(&self) -> &[u8] {
        match &self.body {
            Body::Bytes(bytes) | Body::Lasting(bytes) => bytes,
            Body::Stream(_) => &[],
        }
    }

    /// The same, with its bytes as they are kept until they are sent.
    ///
    /// # Errors
    /// Those of `hold`.
    pub fn held(self, hold: impl FnOnce(Bytes) -> Result<Bytes>) -> Result<Answer> {
        let body = match self.body {
            Body::Bytes(bytes) => Body::Bytes(hold(bytes)?),
            other => other,
        };
        Ok(Answer { body, ..self })
    }

    /// A header that was added.
    pub fn header(&self, name: &str) -> Option<&HeaderValue> {
        self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    pub fn write(self, response: &mut Response) {
        response.status_code(self.status);
        for (name, value) in self.headers {
            // The one header that may come twice.
            match name {
                "set-cookie" => drop(response.headers_mut().append(name, value)),
                _ => drop(response.headers_mut().insert(name, value)),
            }
        }
        match self.body {
            Body::Bytes(bytes) if bytes.is_empty() => {}
            // An answer that was just begun takes a whole body.
            Body::Bytes(bytes) | Body::Lasting(bytes) => {
                if bytes.len() <= Whole::MOST {
                    response.extensions.insert(Whole);
                }
                drop(response.write_body(bytes));
            }
            Body::Stream(stream) => response.stream(stream),
        }
    }
}
