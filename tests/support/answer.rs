//! An answer of the server, and what a test expects of it.

use std::io::Read;

use flate2::read::GzDecoder;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// An answer that was read to its end.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    /// Bytes of the body as it came over the network.
    pub weight: usize,
    /// What was asked for, to tell failures apart.
    url: String,
}

/// The text of a body, which may be compressed.
pub fn plain(headers: &HeaderMap, body: &[u8]) -> String {
    let mut plain = Vec::new();
    let body = match headers.get("content-encoding") {
        // `HEAD` is told of a body that does not come.
        Some(coding) if !body.is_empty() => {
            assert_eq!(coding, "gzip");
            GzDecoder::new(body).read_to_end(&mut plain).expect("all of it is there");
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

    /// Nothing when the body does not arrive.
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

    /// Expects 200, and answers the body.
    #[track_caller]
    pub fn ok(&self) -> Value {
        self.status(200).json()
    }

    /// Expects 200, and answers the record under its singular key.
    #[track_caller]
    pub fn record(&self, key: &str) -> Value {
        self.under(200, key)
    }

    /// Expects 201, and answers the record under its singular key.
    #[track_caller]
    pub fn created(&self, key: &str) -> Value {
        self.under(201, key)
    }

    /// Expects 204 without a body.
    #[track_caller]
    pub fn deleted(&self) {
        assert_eq!(self.status(204).text, "", "{}", self.url);
    }

    /// Expects 200, and answers the records of a list.
    #[track_caller]
    pub fn records(&self, key: &str) -> Vec<Value> {
        self.ok()[key].as_array().unwrap_or_else(|| panic!("{}: no `{key}`: {}", self.url, self.text)).clone()
    }

    /// Expects 200, and answers one field of every record of a list.
    #[track_caller]
    pub fn column(&self, key: &str, field: &str) -> Vec<Value> {
        self.records(key).iter().map(|record| record[field].clone()).collect()
    }

    /// Expects 422, and answers the messages under a field or parameter.
    #[track_caller]
    pub fn invalid(&self, field: &str) -> String {
        let body = self.refused(422, "validation_failed");
        let Some(messages) = body["errors"][field].as_array() else {
            panic!("{}: no problem under `{field}`: {body}", self.url)
        };
        messages.iter().map(|message| message.as_str().expect("a message is text")).collect::<Vec<_>>().join("; ")
    }

    /// Expects 422, and answers the names of the fields or parameters with problems.
    #[track_caller]
    pub fn invalid_fields(&self) -> Vec<String> {
        let body = self.refused(422, "validation_failed");
        body["errors"].as_object().expect("problems by field").keys().cloned().collect()
    }

    /// Expects an error of this status and code in the form of every error, and answers its body.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        let body = self.status(status).json();
        assert_eq!(body["code"], code, "{}: {body}", self.url);
        assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{}: {body}", self.url);
        assert_eq!(self.header("content-type"), Some("application/json"), "{}", self.url);
        body
    }

    #[track_caller]
    fn under(&self, status: u16, key: &str) -> Value {
        let body = self.status(status).json();
        let keys: Vec<&String> = body.as_object().expect("an object").keys().collect();
        assert_eq!(keys, [key], "{}", self.url);
        body[key].clone()
    }
}
