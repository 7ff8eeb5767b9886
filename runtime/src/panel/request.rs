//! A request to the panel: the parsed path, cookies and headers, the signed-in user, and that user's permissions.

use std::net::IpAddr;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use salvo::Request;
use salvo::http::header::CONTENT_TYPE;
use salvo::http::{StatusCode, Version};
use serde_json::Value;

use super::cache::PageCache;
use super::format::locale::Locale;
use super::session::cookie;
use super::session::csrf::CsrfToken;
use super::session::flash::Flash;
use super::target::Target;
use super::{Panel, url};
use crate::language::text;
use crate::server::ServerState;
use crate::server::{ApiCaller, ApiClient, ApiResponse, Response, api_client, client_address, headers, read_body};
use charter_core::ability::READ;
use charter_core::catalog::Entry;
use charter_core::error::{Error, Result};
use charter_core::header;
use charter_core::meta::{FieldMeta, Operation};
use charter_core::ops::{Access, Context, RouteOperation};
use charter_core::principal::Principal;
use charter_core::query::{Pair, decode};
use charter_core::trace::TRACEPARENT;
use charter_platform::auth::SignedIn;
use charter_platform::auth::preference::Preferences;

/// Limit of a form of a signed-in user, in bytes. A form has old and new texts, each of up to three bytes per byte.
const MAX_FORM_BYTES: usize = 8 << 20;

const MAX_FORM_FIELDS: usize = 10_000;

/// A parsed request, before its session is looked up.
#[derive(Debug, Default)]
pub(super) struct RawRequest {
    pub path: String,
    pub segments: Vec<String>,
    pub query: String,
    /// The secret in the session cookie, valid or not.
    pub session_secret: Option<String>,
    pub theme: Option<&'static str>,
    /// Message that the page shows once, set by the request before.
    pub flash: Option<Flash>,
    /// Sealed offer to undo the request before.
    pub undo: Option<String>,
    /// The preferences of the session's user; none without a session.
    pub preferences: Preferences,
    /// See [`accepts_html`].
    pub wants_html: bool,
    pub request_id: Option<String>,
    pub client_address: Option<IpAddr>,
    pub user_agent: Option<String>,
    /// The `traceparent` header, passed on to the API.
    pub traceparent: Option<String>,
}

/// A request of a signed-in user.
pub(super) struct PanelRequest<'r> {
    pub state: &'r Arc<ServerState>,
    pub raw: RawRequest,
    pub user: Arc<SignedIn>,
    pub locale: Arc<Locale>,
    pub csrf_token: CsrfToken,
    api: &'r ApiClient,
    pub cache: &'r PageCache,
}

/// The percent-decoded segments of a path, without empty ones.
///
/// # Errors
/// [`Error::NotFound`] if a segment is not UTF-8.
pub(super) fn path_segments(path: &str) -> Result<Vec<String>> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts.map(|part| Ok(percent_decode_str(part).decode_utf8().map_err(|_| Error::NotFound)?.into_owned())).collect()
}

/// Returns true if the client accepts HTML, as browsers do for a page. The panel's scripts do not.
pub(super) fn accepts_html(request: &Request) -> bool {
    let accepts = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepts.is_some_and(|accepts| accepts.contains("text/html"))
}

impl RawRequest {
    /// # Errors
    /// [`Error::NotFound`] if a path segment is not UTF-8.
    pub(super) fn parse(state: &ServerState, request: &Request) -> Result<RawRequest> {
        let path = request.uri().path().to_string();
        let (flash, undo) = Flash::from_cookie(request.headers()).unzip();
        Ok(RawRequest {
            segments: path_segments(&path)?,
            query: request.uri().query().unwrap_or_default().to_string(),
            session_secret: cookie::read_session(state, request.headers()),
            theme: cookie::read_theme(request.headers()),
            flash,
            undo: undo.flatten(),
            preferences: Preferences::default(),
            wants_html: accepts_html(request),
            request_id: headers::request_id(request),
            client_address: Some(client_address(request, &state.config.trusted_proxies)),
            user_agent: headers::text(request, "user-agent"),
            traceparent: headers::trace(request).and_then(|_| headers::text(request, TRACEPARENT)),
            path,
        })
    }

    /// The context of an operation outside of the API, such as a sign-in.
    pub(super) fn context<'a>(&'a self, state: &'a Arc<ServerState>, caller: &'a Principal) -> Context<'a> {
        let context = Context::new(state, caller, state.db.reader());
        context.with_request_id(self.request_id.as_deref()).with_client_address(self.client_address)
    }

    /// The path with its query string.
    pub(super) fn path_and_query(&self) -> String {
        if self.query.is_empty() { self.path.clone() } else { format!("{}?{}", self.path, self.query) }
    }

    /// The decoded query parameters.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub(super) fn query_pairs(&self) -> Result<Vec<Pair>> {
        decode(&self.query)
    }
}

impl<'r> PanelRequest<'r> {
    pub(super) async fn new(
        panel: &'r Panel,
        state: &'r Arc<ServerState>,
        raw: RawRequest,
        user: Arc<SignedIn>,
    ) -> Result<PanelRequest<'r>> {
        let csrf_token = CsrfToken::for_session(state, &user.session_key())?;
        let locale = Locale::of_user(&panel.locales.get(state).await?, &raw.preferences);
        Ok(PanelRequest { state, raw, user, locale, csrf_token, api: &panel.api, cache: &panel.cache })
    }

    /// Returns true if the user may read a resource.
    pub(super) fn may_read(&self, entry: &Entry) -> bool {
        self.may_do(entry, READ)
    }

    /// Returns true if the resource has this operation and the user may use it. A page for a write shows the record.
    pub(super) fn may(&self, entry: &Entry, operation: Operation) -> bool {
        let served =
            entry.meta.operations.contains(&operation) && !(entry.meta.singleton && operation == Operation::Create);
        let verb = RouteOperation::Operation(operation).verb();
        served && self.may_read(entry) && self.may_do(entry, verb)
    }

    /// Returns true if the user may do this: `read`, an operation such as `restore`, or the name of an action.
    pub(super) fn may_do(&self, entry: &Entry, verb: &'static str) -> bool {
        Access::of(&self.state.catalog, entry, verb).allows(&self.user.principal)
    }

    /// Returns true if the rules beyond permissions let the user change this record: a saved view is changed by its
    /// owner, a system view and an administrator by administrators.
    pub(super) fn may_change_record(&self, entry: &Entry, record: &Value) -> bool {
        let caller = &self.user.principal;
        caller.is_admin
            || match entry.meta.name {
                "custom_view" => record["user_id"].as_i64() == caller.user_id && record["visibility"] != "system",
                "user" => record["is_admin"] != true,
                _ => true,
            }
    }

    /// Returns true if the user may read and set this field. Only administrators set `is_admin`.
    pub(super) fn may_set_field(&self, entry: &Entry, field: &FieldMeta) -> bool {
        let caller = &self.user.principal;
        caller.is_admin
            || self.may_read_field(entry, field)
                && caller.has_right(field.write)
                && (entry.meta.name, field.name) != ("user", "is_admin")
    }

    /// Returns true if the user may read this field.
    pub(super) fn may_read_field(&self, entry: &Entry, field: &FieldMeta) -> bool {
        entry.may_read_field(field, &self.user.principal)
    }

    /// The list of the target's collection that the user came from, with its conditions, order and page.
    pub(super) fn list_before(&self, target: &Target<'_>) -> Option<String> {
        let pairs = self.raw.query_pairs().ok()?;
        return_path(&pairs).filter(|back| target.is_own_list(back)).map(String::from)
    }

    /// The context of an operation of the user outside of the API, such as a change of password.
    pub(super) fn context(&self) -> Context<'_> {
        self.raw.context(self.state, &self.user.principal)
    }

    fn caller(&self) -> ApiCaller<'_> {
        ApiCaller {
            principal: &self.user.principal,
            client_address: self.raw.client_address,
            client: None,
            receiving: None,
            dry_run: false,
        }
    }

    /// The headers by which the log and deliveries name the browser's request.
    fn trace_headers(&self) -> Vec<(&'static str, &str)> {
        let request_id = self.raw.request_id.as_deref().map(|id| (header::REQUEST_ID, id));
        let parent = self.raw.traceparent.as_deref().map(|parent| (TRACEPARENT, parent));
        request_id.into_iter().chain(parent).collect()
    }

    /// Sends GET to the API.
    pub(super) async fn get(&self, path: &str) -> Result<ApiResponse> {
        self.send("GET", path, &[], None).await
    }

    /// Sends GET to the API and parses the JSON body.
    ///
    /// # Errors
    /// The API's error.
    pub(super) async fn get_json(&self, path: &str) -> Result<Value> {
        self.get(path).await?.json()
    }

    /// Sends a request to the API, with a JSON body if there is one.
    pub(super) async fn send(
        &self,
        method: &str,
        path: &str,
        more_headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<ApiResponse> {
        let mut headers = more_headers.to_vec();
        headers.extend(self.trace_headers());
        if body.is_some() {
            headers.push(("content-type", "application/json"));
        }
        let body = body.map(api_client::json).unwrap_or_default();
        // The response is buffered here, with any HTTP version of the browser.
        let response = self.api.send(self.caller(), method, path, &headers, body, Version::HTTP_11).await?;
        ApiResponse::read(response).await
    }

    /// Sends the body of a form with a file to a path of the API, as it arrives.
    ///
    /// # Errors
    /// When the body of the response cannot be read.
    pub(super) async fn upload_to_api(&self, request: &mut Request, path: &str) -> Result<ApiResponse> {
        ApiResponse::read(self.stream_to_api(request, path).await?).await
    }

    /// Forwards a request of the panel's scripts to the API. Both bodies are streamed.
    pub(super) async fn forward_to_api(&self, request: &mut Request, segments: &[&str]) -> Result<Response> {
        let encode = |part: &&str| url::encode(part);
        let mut path = format!("/{}", segments.iter().map(encode).collect::<Vec<_>>().join("/"));
        if let Some(query) = request.uri().query() {
            path = format!("{path}?{query}");
        }
        let mut response = self.stream_to_api(request, &path).await?;
        let status = response.status_code.unwrap_or(StatusCode::OK);
        let mut answer = Response::stream(status, Box::pin(api_client::body_stream(&mut response)));
        for name in ["content-type", header::DISPOSITION, header::ETAG, header::LOCATION, header::RETRY_AFTER] {
            if let Some(value) = response.headers().get(name) {
                answer = answer.with(name, value.clone());
            }
        }
        Ok(answer)
    }

    /// Begins an export of the API, whose response is streamed in a way that the browser's HTTP version allows.
    ///
    /// # Errors
    /// The API's error.
    pub(super) async fn export(&self, request: &Request, path: &str, media_type: &str) -> Result<salvo::Response> {
        let mut headers = vec![("accept", media_type)];
        headers.extend(self.trace_headers());
        let response = self
            .api
            .send(self.caller(), request.method().as_str(), path, &headers, Default::default(), request.version())
            .await?;
        match response.status_code.is_none_or(|status| status.is_success()) {
            true => Ok(response),
            false => Err(ApiResponse::read(response).await?.error()),
        }
    }

    /// Sends a request with its streamed body to the API.
    async fn stream_to_api(&self, request: &mut Request, path: &str) -> Result<salvo::Response> {
        let passed = ["accept", "content-type", "content-length", header::IF_MATCH, header::IDEMPOTENCY_KEY];
        let value = |name: &'static str| {
            let value = request.headers().get(name)?.to_str().ok()?;
            Some((name, value.to_string()))
        };
        let sent: Vec<(&str, String)> = passed.into_iter().filter_map(value).collect();
        let mut sent: Vec<(&str, &str)> = sent.iter().map(|(name, value)| (*name, value.as_str())).collect();
        sent.extend(self.trace_headers());
        let (method, version, body) = (request.method().to_string(), request.version(), request.take_body());
        let caller = ApiCaller { receiving: request.extensions().get().cloned(), ..self.caller() };
        self.api.send(caller, &method, path, &sent, body, version).await
    }

    /// Rejects a write that another site triggered, and a request to `/panel/api` without a valid CSRF token. The token
    /// of a form is in its body: [`PanelRequest::require_csrf_token`].
    ///
    /// # Errors
    /// [`Error::Conflict`].
    pub(super) fn require_same_origin(&self, request: &Request) -> Result<()> {
        require_same_site(self.state, request)?;
        let sent = request.headers().get("x-panel-token").and_then(|token| token.to_str().ok());
        match sent {
            Some(token) if self.csrf_token.matches(token) => Ok(()),
            Some(_) => Err(stale_token()),
            None => match self.raw.segments.first().map(String::as_str) {
                Some(super::ROOT) if self.raw.segments.get(1).is_some_and(|part| part == "api") => Err(stale_token()),
                _ => Ok(()),
            },
        }
    }

    /// Rejects a form without a valid CSRF token.
    ///
    /// # Errors
    /// [`Error::Conflict`].
    pub(super) fn require_csrf_token(&self, form: &[Pair]) -> Result<()> {
        let is_valid = form_value(form, "_token").is_some_and(|token| self.csrf_token.matches(token));
        if is_valid { Ok(()) } else { Err(stale_token()) }
    }
}

fn stale_token() -> Error {
    Error::Conflict(text!("This page belongs to another session. Reload it and try again."))
}

/// The value of a form field; the first one if the field is repeated.
pub(super) fn form_value<'f>(form: &'f [Pair], name: &str) -> Option<&'f str> {
    form.iter().find(|pair| pair.name == name).map(|pair| pair.value.as_str())
}

/// The local page to return to after a form is saved or canceled: its `_back` field.
pub(super) fn return_path(form: &[Pair]) -> Option<&str> {
    form_value(form, "_back").filter(|back| url::is_local_path(back))
}

/// The `If-Match` header with the record version that the form was rendered from, if it has one.
pub(super) fn if_match(form: &[Pair]) -> Vec<(&'static str, &str)> {
    let version = form_value(form, "_version").filter(|version| !version.is_empty());
    version.map(|version| (header::IF_MATCH, version)).into_iter().collect()
}

/// Reads the form of a signed-in user.
pub(super) async fn read_form(request: &mut Request) -> Result<Vec<Pair>> {
    read_form_limited(MAX_FORM_BYTES, request).await
}

/// Reads a URL-encoded form of at most `max_bytes`.
pub(super) async fn read_form_limited(max_bytes: usize, request: &mut Request) -> Result<Vec<Pair>> {
    let bytes = match request.content_type() {
        Some(kind) if kind.essence_str() == "application/x-www-form-urlencoded" => {
            request.headers_mut().remove(CONTENT_TYPE);
            read_body(request, max_bytes).await?
        }
        None if request.body().is_none() => Default::default(),
        _ => return Err(Error::UnsupportedMediaType("Send the form as `application/x-www-form-urlencoded`.")),
    };
    let pairs = decode(std::str::from_utf8(&bytes).map_err(|_| Error::Malformed("The form is not UTF-8.".into()))?)?;
    if pairs.len() > MAX_FORM_FIELDS {
        return Err(Error::Malformed(format!("The form has more than {MAX_FORM_FIELDS} fields.")));
    }
    Ok(pairs)
}

/// Rejects a request that another site triggered: by `Sec-Fetch-Site` (Fetch Metadata, section 2.4), else by `Origin`.
///
/// # Errors
/// [`Error::Conflict`].
pub(super) fn require_same_site(state: &ServerState, request: &Request) -> Result<()> {
    let text = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let is_same_site = match (text("sec-fetch-site"), text("origin")) {
        (Some(site), _) => site == "same-origin" || site == "none",
        (None, Some(origin)) => {
            let host = text("host").unwrap_or_default();
            let origin = origin.split_once("://").map_or(origin, |(_, host)| host);
            origin == host || state.base_url().ends_with(&format!("://{origin}"))
        }
        // Current browsers send at least one of the two with a form.
        (None, None) => true,
    };
    if is_same_site { Ok(()) } else { Err(Error::Conflict(text!("This form was sent by another site."))) }
}
