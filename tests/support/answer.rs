//! Response of the server, with assertions.

use std::io::Read;

use flate2::read::GzDecoder;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// A response that was read to its end.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    /// Length of the body as transferred, compressed or not.
    pub weight: usize,
    /// The requested URL, for failure messages.
    url: String,
}

/// The text of a body, decompressed if needed.
pub fn plain(headers: &HeaderMap, body: &[u8]) -> String {
    let mut plain = Vec::new();
    let body = match headers.get("content-encoding") {
        // `HEAD` has the headers of a body that is not sent.
        Some(coding) if !body.is_empty() => {
            assert_eq!(coding, "gzip");
            GzDecoder::new(body).read_to_end(&mut plain).expect("a complete body");
            &plain
        }
        _ => body,
    };
    String::from_utf8_lossy(body).into_owned()
}

impl Answer {
    pub async fn read(response: reqwest::Response) -> Answer {
        Answer::try_read(response).await.expect("a whole body")
    }

    /// `None` if the body does not arrive.
    pub async fn try_read(response: reqwest::Response) -> Option<Answer> {
        let (status, headers, url) =
            (response.status().as_u16(), response.headers().clone(), response.url().to_string());
        let body = response.bytes().await.ok()?;
        Some(Answer { status, text: plain(&headers, &body), weight: body.len(), headers, url })
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        match serde_json::from_str(&self.text) {
            Ok(json) => json,
            Err(error) => panic!("{}: not JSON ({error}): {}", self.url, self.text),
        }
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Expects this status.
    #[track_caller]
    pub fn status(&self, expected: u16) -> &Answer {
        assert_eq!(self.status, expected, "{}: {}", self.url, self.text);
        self
    }

    /// Expects 200 and returns the body.
    #[track_caller]
    pub fn ok(&self) -> Value {
        self.status(200).json()
    }

    /// Expects 200 and returns the record under its singular key.
    #[track_caller]
    pub fn record(&self, key: &str) -> Value {
        self.only_member(200, key)
    }

    /// Expects 201 and returns the record under its singular key.
    #[track_caller]
    pub fn created(&self, key: &str) -> Value {
        self.only_member(201, key)
    }

    /// Expects 204 without a body.
    #[track_caller]
    pub fn deleted(&self) {
        assert_eq!(self.status(204).text, "", "{}", self.url);
    }

    /// Expects 200 and returns the records of a list.
    #[track_caller]
    pub fn records(&self, key: &str) -> Vec<Value> {
        self.ok()[key].as_array().unwrap_or_else(|| panic!("{}: no `{key}`: {}", self.url, self.text)).clone()
    }

    /// Expects 200 and returns one field of every record of a list.
    #[track_caller]
    pub fn column(&self, key: &str, field: &str) -> Vec<Value> {
        self.records(key).iter().map(|record| record[field].clone()).collect()
    }

    /// Expects 422 and returns the messages for a field or parameter.
    #[track_caller]
    pub fn invalid(&self, field: &str) -> String {
        let body = self.refused(422, "validation_failed");
        let Some(messages) = body["errors"][field].as_array() else {
            panic!("{}: no problem under `{field}`: {body}", self.url)
        };
        messages.iter().map(|message| message.as_str().expect("a message is text")).collect::<Vec<_>>().join("; ")
    }

    /// Expects 422 and returns the names of the fields or parameters with errors.
    #[track_caller]
    pub fn invalid_fields(&self) -> Vec<String> {
        let body = self.refused(422, "validation_failed");
        body["errors"].as_object().expect("problems by field").keys().cloned().collect()
    }

    /// Expects an error with this status and code in the common error format, and returns the body.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        let body = self.status(status).json();
        assert_eq!(body["code"], code, "{}: {body}", self.url);
        assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{}: {body}", self.url);
        assert_eq!(self.header("content-type"), Some("application/json"), "{}", self.url);
        body
    }

    #[track_caller]
    fn only_member(&self, status: u16, key: &str) -> Value {
        let body = self.status(status).json();
        let keys: Vec<&String> = body.as_object().expect("an object").keys().collect();
        assert_eq!(keys, [key], "{}", self.url);
        body[key].clone()
    }
}
