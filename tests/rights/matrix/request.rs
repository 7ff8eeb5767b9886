//! A request of the matrix, sent in the same words to both worlds.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::callers::Caller;
use super::exceptions::{has_tag_of_tables, is_compared};

/// An id that no record has.
pub const ABSENT: i64 = 987_654_321;

/// Attempts at a request that the server is too busy for.
const MAX_ATTEMPTS: usize = 2_000;

/// Headers that tell nothing of records, or count the requests.
const IGNORED: &[&str] = &[
    "date",
    "x-request-id",
    "traceparent",
    "server-timing",
    "set-cookie",
    "content-security-policy",
    "connection",
    "ratelimit-remaining",
    "ratelimit-reset",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    Api,
    Panel,
}

#[derive(Debug, Clone)]
pub struct Request {
    /// The kind of door, such as `list: filter`.
    pub door: &'static str,
    /// The resource that it is about; empty if it is about several.
    pub resource: &'static str,
    pub via: Via,
    pub method: Method,
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Option<Value>,
    /// False if the answer may tell the worlds apart, for a reason of `exceptions`.
    pub is_compared: bool,
    /// True if the entity tag is not compared, for a reason of `exceptions`.
    pub ignores_tag: bool,
    /// True for one request of each route, which is sent even by callers who may do nothing.
    pub is_basic: bool,
    /// The record that the request names, for the comparison with a record that does not exist.
    pub names: Option<(&'static str, i64)>,
}

impl Request {
    pub fn get(door: &'static str, path: impl Into<String>) -> Request {
        Request::new(door, Method::GET, path)
    }

    pub fn new(door: &'static str, method: Method, path: impl Into<String>) -> Request {
        Request {
            door,
            resource: "",
            via: Via::Api,
            method,
            path: path.into(),
            headers: Vec::new(),
            body: None,
            is_compared: is_compared(door),
            ignores_tag: has_tag_of_tables(door),
            is_basic: false,
            names: None,
        }
    }

    pub fn panel(door: &'static str, path: impl Into<String>) -> Request {
        Request { via: Via::Panel, ..Request::get(door, path) }
    }

    pub fn with(mut self, header: &'static str, value: &str) -> Request {
        self.headers.push((header, value.into()));
        self
    }

    pub fn body(self, body: Value) -> Request {
        Request { body: Some(body), ..self }
    }

    pub fn basic(self) -> Request {
        Request { is_basic: true, ..self }
    }

    pub fn compared(self, is_compared: bool) -> Request {
        Request { is_compared: self.is_compared && is_compared, ..self }
    }

    pub fn naming(self, resource: &'static str, id: i64) -> Request {
        Request { names: Some((resource, id)), ..self }
    }

    /// The same request for a record that does not exist.
    pub fn of_absent(&self, id: i64) -> Request {
        let (old, new) = (id.to_string(), ABSENT.to_string());
        let swap = |text: &str| replace_number(text, &old, &new);
        let body = self.body.as_ref().map(|body| swap(&body.to_string()).parse().expect("JSON"));
        Request { path: swap(&self.path), body, ..self.clone() }
    }

    /// All that the request says, in which markers are the caller's own.
    pub fn text(&self) -> String {
        format!("{} {}", self.path, self.body.as_ref().map(Value::to_string).unwrap_or_default())
    }

    /// Sends it, and returns the whole answer as text: `None` if the caller has no session.
    pub async fn send(&self, caller: &Caller) -> Option<String> {
        match self.via {
            Via::Api => {
                let mut client = caller.client.clone();
                for (name, value) in &self.headers {
                    client = client.with(name, value);
                }
                // A user has a few exports at the same time; a read can meet a connection that has just been closed.
                let mut attempts = 0;
                let answer = loop {
                    attempts += 1;
                    assert!(attempts < MAX_ATTEMPTS, "{} is unavailable", self.path);
                    let answer = match self.method {
                        Method::GET | Method::HEAD => client.attempt(self.method.clone(), &self.path, None).await,
                        _ => Some(client.send(self.method.clone(), &self.path, self.body.clone()).await),
                    };
                    if let Some(answer) = answer.filter(|answer| answer.status != 503) {
                        break answer;
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                };
                Some(written(answer.status, &answer.headers, &answer.text))
            }
            Via::Panel => {
                let mut panel = caller.panel.as_ref()?.with("accept", Some("text/html"));
                panel.cookie = caller.panel.as_ref()?.cookie.clone();
                let page = match &self.body {
                    None => loop {
                        let page = panel.get(&self.path).await;
                        if page.status != 503 {
                            break page;
                        }
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    },
                    Some(form) => {
                        let form = form.as_object().expect("a form").iter();
                        let form: Vec<(&str, &str)> =
                            form.map(|(name, value)| (name.as_str(), value.as_str().expect("a text"))).collect();
                        panel.submit(&self.path, &form).await
                    }
                };
                Some(written(page.status, &page.headers, &page.text))
            }
        }
    }
}

fn written(status: u16, headers: &HeaderMap, body: &str) -> String {
    let mut lines: Vec<String> = headers
        .iter()
        .filter(|(name, _)| !IGNORED.contains(&name.as_str()))
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    lines.sort();
    format!("{status}\n{}\n\n{body}", lines.join("\n"))
}

/// Replaces a number that is no part of a longer one.
pub fn replace_number(text: &str, old: &str, new: &str) -> String {
    let (mut replaced, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(old) {
        let is_digit = |character: Option<char>| character.is_some_and(|character| character.is_ascii_alphanumeric());
        let after = &rest[at + old.len()..];
        let is_decimal = after.starts_with('.') && is_digit(after.chars().nth(1));
        let is_part = is_decimal || is_digit(rest[..at].chars().next_back()) || is_digit(after.chars().next());
        replaced.push_str(&rest[..at]);
        replaced.push_str(if is_part { old } else { new });
        rest = &rest[at + old.len()..];
    }
    replaced + rest
}
