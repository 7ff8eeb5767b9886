//! One request to the panel: what is asked, who asks, and what that user may.

use std::sync::Arc;

use futures_util::StreamExt;
use percent_encoding::percent_decode_str;
use salvo::Request;
use salvo::http::header::CONTENT_TYPE;
use salvo::http::{StatusCode, Version};
use serde_json::Value;

use super::api::{self, Api, Reply};
use super::locale::Locale;
use super::memory::Remembered;
use super::said::Said;
use super::token::Token;
use super::{Panel, cookie, words};
use crate::auth::SignedIn;
use crate::catalog::Entry;
use crate::context::State;
use crate::error::{Error, Result};
use crate::header;
use crate::meta::{FieldMeta, Operation};
use crate::query::{Pair, decode};
use crate::server::{Answer, headers, read_body};
use crate::trace::TRACEPARENT;

/// What a form may hold, in bytes.
const LONGEST_FORM: usize = 4 << 20;

/// At most so many fields in a form.
const MOST_FIELDS: usize = 10_000;

/// What a request asks for, whoever sends it.
#[derive(Debug, Default)]
pub struct Asked {
    pub path: String,
    pub segments: Vec<String>,
    pub query: String,
    /// The secret of a session, valid or not.
    pub session: Option<String>,
    pub theme: Option<&'static str>,
    /// What was done before, which the page says.
    pub says: Option<Said>,
    /// As [`wants_page`] says.
    pub is_page: bool,
    pub request_id: Option<String>,
    /// The `traceparent` of the request, which what is asked of the API has too.
    pub traceparent: Option<String>,
}

/// A request of a user who is signed in.
pub struct Visit<'v> {
    pub state: &'v Arc<State>,
    pub asked: Asked,
    pub user: Arc<SignedIn>,
    pub locale: Arc<Locale>,
    /// What forms send back, so that no other site can send them.
    pub token: Token,
    api: &'v Api,
    pub remembered: &'v Remembered,
}

/// The parts of a path, decoded: however it is spelled, the same page has the same.
///
/// # Errors
/// [`Error::NotFound`] when one is not text.
pub fn segments(path: &str) -> Result<Vec<String>> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts.map(|part| Ok(percent_decode_str(part).decode_utf8().map_err(|_| Error::NotFound)?.into_owned())).collect()
}

/// Whether a page is wanted, and not what a script asks for.
pub fn wants_page(request: &Request) -> bool {
    let accepts = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepts.is_some_and(|accepts| accepts.contains("text/html"))
}

impl Asked {
    /// # Errors
    /// [`Error::NotFound`] when the path is not text.
    pub fn of(state: &State, request: &Request) -> Result<Asked> {
        let path = request.uri().path().to_string();
        Ok(Asked {
            segments: segments(&path)?,
            query: request.uri().query().unwrap_or_default().to_string(),
            session: cookie::sent_session(state, request.headers()),
            theme: cookie::sent_theme(request.headers()),
            says: Said::sent(request.headers()),
            is_page: wants_page(request),
            request_id: headers::request_id(request),
            traceparent: headers::trace(request).and_then(|_| headers::text(request, TRACEPARENT)),
            path,
        })
    }

    /// The path with its query string.
    pub fn address(&self) -> String {
        if self.query.is_empty() { self.path.clone() } else { format!("{}?{}", self.path, self.query) }
    }

    /// The decoded parameters.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn pairs(&self) -> Result<Vec<Pair>> {
        decode(&self.query)
    }
}

impl<'v> Visit<'v> {
    pub async fn new(panel: &'v Panel, state: &'v Arc<State>, asked: Asked, user: Arc<SignedIn>) -> Result<Visit<'v>> {
        let token = Token::of(state, &user.mark())?;
        let locale = panel.locales.current(state).await?;
        Ok(Visit { state, asked, user, locale, token, api: &panel.api, remembered: &panel.remembered })
    }

    /// Whether the user may read a resource's records, as far as permissions say.
    pub fn may_read(&self, entry: &Entry) -> bool {
        entry.meta.read_permission.is_none_or(|permission| self.user.principal.need_permission(permission).is_ok())
    }

    /// Whether the user may do this with a resource's records, as far as permissions say.
    pub fn may(&self, entry: &Entry, operation: Operation) -> bool {
        let served =
            entry.meta.operations.contains(&operation) && !(entry.meta.singleton && operation == Operation::Create);
        let permitted = match operation {
            Operation::List | Operation::Show => self.may_read(entry),
            _ => self.may_write(entry),
        };
        served && permitted
    }

    pub fn may_write(&self, entry: &Entry) -> bool {
        let permission = entry.meta.write_permission;
        self.may_read(entry)
            && permission.is_none_or(|permission| self.user.principal.need_permission(permission).is_ok())
    }

    /// Whether the user may change this very record, where that is not for permissions to say: a saved view is its owner's,
    /// and administrators are changed by administrators.
    pub fn may_change(&self, entry: &Entry, record: &Value) -> bool {
        let caller = &self.user.principal;
        caller.is_admin
            || match entry.meta.name {
                "custom_view" => record["user_id"].as_i64() == caller.user_id && record["visibility"] != "system",
                "user" => record["is_admin"] != true,
                _ => true,
            }
    }

    /// Whether the user may set this field, where that is not for permissions to say: administrators are made by
    /// administrators.
    pub fn may_set(&self, entry: &Entry, field: &FieldMeta) -> bool {
        self.user.principal.is_admin || (entry.meta.name, field.name) != ("user", "is_admin")
    }

    /// GET from the API.
    pub async fn get(&self, path: &str) -> Result<Reply> {
        self.send("GET", path, &[], None).await
    }

    /// The JSON that GET answers.
    ///
    /// # Errors
    /// What was refused.
    pub async fn read(&self, path: &str) -> Result<Value> {
        self.get(path).await?.json()
    }

    /// Sends JSON to the API.
    pub async fn send(&self, method: &str, path: &str, with: &[(&str, &str)], body: Option<&Value>) -> Result<Reply> {
        let mut headers = with.to_vec();
        headers.extend(self.asked.request_id.as_deref().map(|id| (header::REQUEST_ID, id)));
        headers.extend(self.asked.traceparent.as_deref().map(|parent| (TRACEPARENT, parent)));
        if body.is_some() {
            headers.push(("content-type", "application/json"));
        }
        let body = body.map(api::json).unwrap_or_default();
        // It is read to its end here, whatever the browser speaks.
        let response = self.api.send(&self.user.principal, method, path, &headers, body, Version::HTTP_11).await?;
        Reply::read(response).await
    }

    /// Hands a request of the panel's script on to the API, with its body as it arrives, and the answer back.
    pub async fn forward(&self, request: &mut Request, rest: &[&str]) -> Result<Answer> {
        let encode = |part: &&str| words::escape(part);
        let mut path = format!("/{}", rest.iter().map(encode).collect::<Vec<_>>().join("/"));
        if let Some(query) = request.uri().query() {
            path = format!("{path}?{query}");
        }
        let passed = ["accept", "content-type", "content-length", header::IF_MATCH, header::IDEMPOTENCY_KEY];
        let value = |name: &'static str| {
            let value = request.headers().get(name)?.to_str().ok()?;
            Some((name, value.to_string()))
        };
        let mut sent: Vec<(&str, String)> = passed.into_iter().filter_map(value).collect();
        sent.extend(self.asked.request_id.clone().map(|id| (header::REQUEST_ID, id)));
        sent.extend(self.asked.traceparent.clone().map(|parent| (TRACEPARENT, parent)));
        let sent: Vec<(&str, &str)> = sent.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (method, version, body) = (request.method().to_string(), request.version(), request.take_body());
        let mut response = self.api.send(&self.user.principal, &method, &path, &sent, body, version).await?;
        let status = response.status_code.unwrap_or(StatusCode::OK);
        let stream = response.take_body().filter_map(async |frame| match frame {
            Ok(frame) => frame.into_data().ok().map(Ok),
            Err(error) => Some(Err(error)),
        });
        let mut answer = Answer::stream(status, Box::pin(stream));
        for name in ["content-type", header::DISPOSITION, header::ETAG, header::LOCATION, header::RETRY_AFTER] {
            if let Some(value) = response.headers().get(name) {
                answer = answer.with(name, value.clone());
            }
        }
        Ok(answer)
    }

    /// The fields of a form that was sent.
    ///
    /// # Errors
    /// [`Error::Malformed`] and its kin when it is none.
    pub async fn form(&self, request: &mut Request) -> Result<Vec<Pair>> {
        read_form(request).await
    }

    /// Refuses what another site made the browser send: it comes with the cookie, but not with the token that is only
    /// in our own pages.
    ///
    /// # Errors
    /// [`Error::Conflict`].
    pub fn need_same_origin(&self, request: &Request) -> Result<()> {
        same_site(self.state, request)?;
        let sent = request.headers().get("x-panel-token").and_then(|token| token.to_str().ok());
        match sent {
            Some(token) if self.token.is(token) => Ok(()),
            Some(_) => Err(stale()),
            // A form has it in a field: `need_token` looks there.
            None => match self.asked.segments.first().map(String::as_str) {
                Some(super::ROOT) if self.asked.segments.get(1).is_some_and(|part| part == "api") => Err(stale()),
                _ => Ok(()),
            },
        }
    }

    /// The same for a form.
    ///
    /// # Errors
    /// [`Error::Conflict`].
    pub fn need_token(&self, form: &[Pair]) -> Result<()> {
        if field(form, "_token").is_some_and(|token| self.token.is(token)) { Ok(()) } else { Err(stale()) }
    }
}

fn stale() -> Error {
    Error::Conflict("The page is from another session: load it again.".into())
}

/// What a form sends in a field; of several the first.
pub fn field<'f>(form: &'f [Pair], name: &str) -> Option<&'f str> {
    form.iter().find(|pair| pair.name == name).map(|pair| pair.value.as_str())
}

/// The page to which a form leads back: one of ours.
pub fn sent_back(form: &[Pair]) -> Option<&str> {
    field(form, "_back").filter(|back| is_ours(back))
}

/// The header that holds the API to the version which the page of a form has shown, where it knows one.
pub fn if_match(form: &[Pair]) -> Vec<(&'static str, &str)> {
    let version = field(form, "_version").filter(|version| !version.is_empty());
    version.map(|version| (header::IF_MATCH, version)).into_iter().collect()
}

/// Reads a form of somebody who is signed in.
pub async fn read_form(request: &mut Request) -> Result<Vec<Pair>> {
    read_form_within(LONGEST_FORM, request).await
}

/// Reads a form of at most so many bytes.
pub async fn read_form_within(most: usize, request: &mut Request) -> Result<Vec<Pair>> {
    let bytes = match request.content_type() {
        Some(kind) if kind.essence_str() == "application/x-www-form-urlencoded" => {
            request.headers_mut().remove(CONTENT_TYPE);
            read_body(request, most).await?
        }
        None if request.body().is_none() => Default::default(),
        _ => return Err(Error::UnsupportedMediaType("Send the form as `application/x-www-form-urlencoded`.")),
    };
    let pairs = decode(std::str::from_utf8(&bytes).map_err(|_| Error::Malformed("The form is not UTF-8.".into()))?)?;
    if pairs.len() > MOST_FIELDS {
        return Err(Error::Malformed(format!("The form has more than {MOST_FIELDS} fields.")));
    }
    Ok(pairs)
}

/// Whether an address leads to a page of ours, as browsers read it.
pub fn is_ours(to: &str) -> bool {
    to.starts_with('/') && !to.starts_with("//") && !to.contains('\\') && !to.chars().any(char::is_control)
}

/// Refuses what the browser says another site has begun (Fetch Metadata, 2.4), or whose origin is another.
///
/// # Errors
/// [`Error::Conflict`].
pub fn same_site(state: &State, request: &Request) -> Result<()> {
    let text = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let from_here = match (text("sec-fetch-site"), text("origin")) {
        (Some(site), _) => site == "same-origin" || site == "none",
        (None, Some(origin)) => {
            let host = text("host").unwrap_or_default();
            let origin = origin.split_once("://").map_or(origin, |(_, host)| host);
            origin == host || state.base_url().ends_with(&format!("://{origin}"))
        }
        // No browser of these years sends a form without either.
        (None, None) => true,
    };
    if from_here { Ok(()) } else { Err(Error::Conflict("Another site has sent this form.".into())) }
}
