//! gzip compression of responses, with an entity tag for each encoding.

use futures_util::StreamExt;
use salvo::http::header::{CONTENT_ENCODING, ETAG, IF_NONE_MATCH};
use salvo::http::{HeaderValue, ResBody, StatusCode, StatusError};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, async_trait};
use salvo_compression::{Compression as Gzip, CompressionLevel};

use charter_core::ops::with_gzip_suffix;

/// Smallest body that is compressed, in bytes. A smaller one fits into one packet either way.
const MIN_BYTES: usize = 1024;

/// Middleware that compresses the responses of its routes, if `Accept-Encoding` has gzip. All of them are text; files have
/// routes of their own.
#[derive(Debug)]
pub(crate) struct Compression(Gzip);

impl Compression {
    /// The fastest level shrinks a page nearly as much as the slowest, in a tenth of its time.
    pub(crate) fn new() -> Compression {
        let gzip = Gzip::new().disable_all().enable_gzip(CompressionLevel::Fastest);
        Compression(gzip.min_length(MIN_BYTES).content_types(&[]))
    }
}

#[async_trait]
impl Handler for Compression {
    async fn handle(&self, request: &mut Request, depot: &mut Depot, response: &mut Response, control: &mut FlowCtrl) {
        if is_from_another_origin(request) {
            control.call_next(request, depot, response).await;
            return;
        }
        self.0.handle(request, depot, response, control).await;
        set_entity_tag(request, response);
        if response.headers().contains_key(CONTENT_ENCODING) && response.extensions.get::<CompleteBody>().is_some() {
            collect_body(response).await;
        }
    }
}

/// Marks a response whose body is complete and short enough to be compressed before it is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompleteBody;

impl CompleteBody {
    /// Longest body in bytes before compression. A longer one is sent while the rest is compressed.
    pub(super) const MAX_BYTES: usize = 1 << 20;
}

/// Replaces the stream of a compressed body by its bytes. A stream takes at least three writes: head, data and last chunk.
async fn collect_body(response: &mut Response) {
    let mut stream = response.take_body();
    let mut body = Vec::new();
    while let Some(frame) = stream.next().await {
        // Compression in memory does not fail; if it did, a truncated body must not look complete.
        let Ok(frame) = frame else {
            response.body(ResBody::Error(StatusError::internal_server_error()));
            return;
        };
        if let Ok(data) = frame.into_data() {
            body.extend_from_slice(&data);
        }
    }
    response.body(ResBody::Once(body.into()));
}

/// True if the browser reports that another site caused the request (Fetch Metadata, section 2.4). The length of a
/// compressed response would reveal whether a text in the URL is also in the page (BREACH), so that these are not compressed.
fn is_from_another_origin(request: &Request) -> bool {
    let site = request.headers().get("sec-fetch-site").map(HeaderValue::as_bytes);
    matches!(site, Some(b"cross-site" | b"same-site"))
}

/// Each encoding of a record has a strong tag of its own (RFC 9110, section 8.8.3.3). The middleware would send a weak one, which
/// `If-Match` does not accept.
fn set_entity_tag(request: &Request, response: &mut Response) {
    let is_encoded = response.headers().contains_key(CONTENT_ENCODING);
    let is_unchanged = response.status_code == Some(StatusCode::NOT_MODIFIED);
    let Some(tag) = response.headers().get(ETAG).filter(|_| is_encoded || is_unchanged) else { return };
    let Ok(tag) = tag.to_str() else { return };
    let identity_tag = tag.strip_prefix("W/").unwrap_or(tag);
    let gzip_tag = with_gzip_suffix(identity_tag);
    // A 304 repeats the tag under which the client cached the response.
    let is_sent = |tag: &str| {
        let lines = request.headers().get_all(IF_NONE_MATCH);
        lines.iter().filter_map(|line| line.to_str().ok()).any(|line| line.contains(tag))
    };
    let is_gzip = is_encoded || (is_unchanged && is_sent(&gzip_tag) && !is_sent(identity_tag));
    if let Ok(tag) = HeaderValue::from_str(if is_gzip { &gzip_tag } else { identity_tag }) {
        response.headers_mut().insert(ETAG, tag);
    }
}
