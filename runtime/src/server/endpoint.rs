//! What surrounds every operation: its log line, its time limit, and the answer to whatever goes wrong in it.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{FutureExt, StreamExt};
use salvo::http::{HeaderValue, Mime, ReqBody, StatusCode};
use salvo::hyper::body::{Body, Bytes};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, async_trait};
use tracing::Instrument;

use super::{Answer, Turn, Usage, form, headers};
use crate::context::State;
use crate::error::{Error, Result};
use crate::header;
use crate::metrics::{self, Refused};
use crate::ops::Upload;

/// So many bytes, and so long, of a body that nobody reads are waited for: of an upload more, since it was meant to be
/// long.
const MOST_UNREAD: (usize, Duration) = (16 << 20, Duration::from_secs(5));
const MOST_UNREAD_OF_UPLOAD: (usize, Duration) = (64 << 20, Duration::from_secs(30));

/// A body of which nothing comes for so long is not waited for: who has stopped sending reads the answer, if anything.
const MOST_SILENCE: Duration = Duration::from_secs(2);

/// What stands behind a path.
#[async_trait]
pub trait Answers: Send + Sync + 'static {
    async fn answer(&self, state: &Arc<State>, request: &mut Request) -> Result<Answer>;

    /// Whether it may take longer than other requests.
    fn is_unhurried(&self, _: &State, _: &Request) -> bool {
        false
    }

    /// A path as the log has it, where a part of it is a secret.
    fn logged<'p>(&self, path: &'p str) -> &'p str {
        path
    }

    /// The route of a request as metrics and the log have it, where that is not the template that the router matched.
    fn route(&self, _: &Request) -> Option<&'static str> {
        None
    }

    /// Who may keep its answers, where they do not say it themselves (RFC 9111, section 5.2.2).
    fn may_keep(&self) -> Option<&'static str> {
        None
    }

    /// Whether it waits for its turn while others are worked on. What says how the server is must not.
    fn takes_turns(&self) -> bool {
        true
    }
}

/// Marks a request that the server makes of itself, as the panel does.
#[derive(Debug, Clone, Copy)]
pub struct Inner;

/// A salvo handler for anything that answers.
#[derive(Debug)]
pub struct Endpoint<A> {
    state: Arc<State>,
    inner: A,
}

impl<A: Answers> Endpoint<A> {
    pub fn new(state: Arc<State>, inner: A) -> Endpoint<A> {
        Endpoint { state, inner }
    }
}

#[async_trait]
impl<A: Answers> Handler for Endpoint<A> {
    async fn handle(&self, request: &mut Request, _: &mut Depot, response: &mut Response, control: &mut FlowCtrl) {
        let begun = Instant::now();
        let request_id = headers::request_id(request).unwrap_or_else(|| "-".into());
        let route = self.inner.route(request).map_or_else(|| metrics::route(request.matched_path()), str::to_string);
        let trace_id = headers::trace(request).map(|trace| trace.id());
        // A request that the panel makes of the API in this process is part of one that is counted already.
        let is_inner = request.extensions().get::<Inner>().is_some();
        let counted = (!is_inner).then(|| self.state.metrics.http.begin(request.method().as_str()));
        let unhurried = self.inner.is_unhurried(&self.state, request);
        let limit = if unhurried { Duration::MAX } else { self.state.config.request_timeout };
        let turn = Turn::at(&self.state.concurrency_limiter, !request.method().is_safe());
        let work = async {
            headers::need_host(request)?;
            if self.inner.takes_turns() {
                turn.begin().await?;
                request.extensions_mut().insert(turn.clone());
            }
            self.inner.answer(&self.state, request).await
        };
        // What is told on the way belongs to this request.
        let work = work.instrument(tracing::warn_span!("request", %request_id, route, trace_id));
        let answered = AssertUnwindSafe(work).catch_unwind();
        let result = match tokio::time::timeout(limit, answered).await {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => Err(Error::internal(format!("panic: {}", reason(&*panic)))),
            Err(_) => Err(Error::too_long()),
        };
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => {
                if let Error::Internal(cause) = &error {
                    tracing::error!(%request_id, trace_id, cause = cause.to_string(), "a request failed");
                }
                Answer::error(&error, &request_id)
            }
        };
        turn.end();
        let (pending, connection) = (&self.state.response_budget, control.conn());
        let is_done = !request.method().is_safe() && answer.status().is_success();
        let held = answer.held(|bytes| match is_done {
            true => Ok(pending.hold_in_any_case(bytes, connection)),
            false => pending.hold(bytes, connection),
        });
        let answer = held.unwrap_or_else(|error| Answer::error(&error, &request_id));
        let answer = match request.extensions().get::<Usage>() {
            Some(usage) => usage.tell(answer),
            None => answer,
        };
        let answer = match self.inner.may_keep() {
            Some(who) => answer.with(header::CACHE_CONTROL, HeaderValue::from_static(who)),
            None => answer,
        };
        drain(request, if unhurried { MOST_UNREAD_OF_UPLOAD } else { MOST_UNREAD }).await;
        // The path, and not the query string: a filter's value may be personal.
        tracing::info!(
            %request_id,
            trace_id,
            method = %request.method(),
            path = self.inner.logged(request.uri().path()),
            status = answer.status().as_u16(),
            micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
            "answered"
        );
        if answer.status() == StatusCode::TOO_MANY_REQUESTS && counted.is_some() {
            self.state.metrics.admission.refuse(Refused::RateLimited);
        }
        if let Some(counted) = counted {
            counted.end(&route, answer.status().as_u16());
        }
        answer.write(response);
    }
}

fn reason(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Reads what nobody has read of the body: a connection that closed before would be reset, and the answer lost with it.
async fn drain(request: &mut Request, (most, time): (usize, Duration)) {
    // Who waits to be asked for the body has not sent it.
    if request.body().is_end_stream() || request.headers().contains_key("expect") {
        return;
    }
    let mut left = most;
    let rest = async {
        while let Ok(Some(Ok(frame))) = tokio::time::timeout(MOST_SILENCE, request.body_mut().next()).await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(time, rest).await;
}

/// Refuses what is neither `GET` nor `HEAD`, where a path has nothing else.
///
/// # Errors
/// [`Error::MethodNotAllowed`].
pub fn only_get(request: &Request) -> Result<()> {
    match request.method().as_str() {
        "GET" | "HEAD" => Ok(()),
        _ => Err(Error::method_not_allowed(["GET"])),
    }
}

/// The bytes of a body; what is over the limit stays unread.
async fn collect(body: &mut ReqBody, limit: usize) -> Result<Bytes> {
    let (mut one, mut several) = (Bytes::new(), Vec::new());
    while let Some(frame) = body.next().await {
        let frame = frame.map_err(|_| Error::Malformed("The body could not be read.".into()))?;
        let Ok(data) = frame.into_data() else { continue };
        if one.len() + several.len() + data.len() > limit {
            return Err(Error::PayloadTooLarge(limit));
        }
        // Most bodies are one piece, which need not be copied.
        if one.is_empty() && several.is_empty() {
            one = data;
        } else {
            several.extend_from_slice(&std::mem::take(&mut one));
            several.extend_from_slice(&data);
        }
    }
    Ok(if several.is_empty() { one } else { several.into() })
}

/// Lets others have the turn of a request that waits for another server.
///
/// # Errors
/// [`Error::Overloaded`] when too many do.
pub fn step_aside(request: &Request) -> Result<()> {
    request.extensions().get::<Turn>().map_or(Ok(()), Turn::step_aside)
}

/// The body of an upload, to be read as it arrives.
pub fn begin_upload(request: &mut Request) -> Upload<'_> {
    // Receiving it takes long, and is little work.
    if let Some(turn) = request.extensions().get::<Turn>() {
        turn.end();
    }
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    // What is compressed is not the form that it is said to be.
    let content_type = header("content-type").filter(|_| !is_coded(request)).unwrap_or_default().to_string();
    let length = header("content-length").and_then(|length| length.parse().ok());
    let body = request.body_mut().filter_map(async |frame| match frame {
        Ok(frame) => frame.into_data().ok().map(Ok),
        Err(error) => Some(Err(std::io::Error::other(error))),
    });
    Upload { content_type, length, body: Box::pin(body) }
}

/// The bytes of a JSON body, or of the JSON that a form means. It is somebody else's turn while they arrive.
///
/// # Errors
/// [`Error::Overloaded`] when the turn does not come again, [`Error::UnsupportedMediaType`] when it is something else, [`Error::PayloadTooLarge`] above `limit`
/// bytes, [`Error::Malformed`] when it breaks off.
pub async fn read_body(request: &mut Request, limit: usize) -> Result<Bytes> {
    let said = media_type(request).and_then(|said| match said {
        Some(mime) if !is_json(&mime) && !is_form(&mime) => Err(UNSUPPORTED),
        said => Ok(said),
    });
    // What its head tells is answered before a client is asked for the rest.
    let length = request.headers().get("content-length").and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if let (Err(told), Some(1..)) = (&said, length) {
        return Err(Error::UnsupportedMediaType(told));
    }
    if length.is_some_and(|length| length > limit) {
        return Err(Error::PayloadTooLarge(limit));
    }
    let turn = request.extensions().get::<Turn>().cloned();
    let bytes = {
        let mut collecting = pin!(collect(request.body_mut(), limit));
        match (collecting.as_mut().now_or_never(), turn) {
            // Most bodies are there with their head.
            (Some(bytes), _) => bytes?,
            (None, Some(turn)) => {
                turn.end();
                let bytes = collecting.await?;
                turn.begin().await?;
                bytes
            }
            (None, None) => collecting.await?,
        }
    };
    match said {
        _ if bytes.is_empty() => Ok(bytes),
        Err(told) => Err(Error::UnsupportedMediaType(told)),
        // Some tools call everything a form until they are told; no form of ours begins like that.
        Ok(Some(mime)) if is_form(&mime) && bytes.starts_with(b"{") => Err(Error::UnsupportedMediaType(NO_FORM)),
        Ok(Some(mime)) if is_form(&mime) => form::to_json(&bytes).map(Bytes::from),
        Ok(_) => Ok(bytes),
    }
}

fn is_json(mime: &Mime) -> bool {
    // Neither a patch of RFC 6902 nor one of RFC 7396, which mean something else by a null.
    ["application/json", "application/vnd.api+json"].contains(&mime.essence_str())
}

fn is_form(mime: &Mime) -> bool {
    mime.essence_str() == "application/x-www-form-urlencoded"
}

const UNSUPPORTED: &str = "Send the body as `application/json` or `application/x-www-form-urlencoded`.";
const NO_FORM: &str = "The body is JSON, and its `Content-Type` says that it is a form: send it as `application/json`.";

/// Whether a body is compressed, or coded in another way that is not read here.
fn is_coded(request: &Request) -> bool {
    let coding = request.headers().get("content-encoding").map(|value| value.to_str().unwrap_or("?").trim());
    coding.is_some_and(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"))
}

/// What a body is said to be, if anything.
///
/// # Errors
/// Why that cannot be read here: it is compressed, in another encoding than UTF-8, or of a type that is none.
fn media_type(request: &Request) -> Result<Option<Mime>, &'static str> {
    let header = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap_or_default().trim());
    if is_coded(request) {
        return Err("Send the body as it is, without a `Content-Encoding`.");
    }
    let Some(said) = header("content-type").filter(|said| !said.is_empty()) else { return Ok(None) };
    let mime: Mime = said.parse().map_err(|_| UNSUPPORTED)?;
    let readable = mime.get_param("charset").is_none_or(|charset| {
        // `utf8` is no registered name, and what many say.
        ["utf-8", "utf8", "us-ascii"].iter().any(|known| charset.as_str().eq_ignore_ascii_case(known))
    });
    if readable { Ok(Some(mime)) } else { Err("Send the body in UTF-8.") }
}
