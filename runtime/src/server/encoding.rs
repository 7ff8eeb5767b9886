//! Answers in fewer bytes for those who ask for it: gzip, under an entity tag of its own.

use futures_util::StreamExt;
use salvo::http::header::{CONTENT_ENCODING, ETAG, IF_NONE_MATCH};
use salvo::http::{HeaderValue, ResBody, StatusCode, StatusError};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, async_trait};
use salvo_compression::{Compression, CompressionLevel};

use crate::ops::coded_tag;

/// In bytes: what is shorter fits into one packet either way.
const WORTH: usize = 1024;

/// Compresses what stands behind it, for requests whose `Accept-Encoding` has gzip. All of that is text; files are behind
/// another path.
#[derive(Debug)]
pub struct Encoding(Compression);

impl Encoding {
    /// The quickest level: it takes from a page nearly as much as the slowest, in a tenth of its time.
    pub fn new() -> Encoding {
        let gzip = Compression::new().disable_all().enable_gzip(CompressionLevel::Fastest);
        Encoding(gzip.min_length(WORTH).content_types(&[]))
    }
}

#[async_trait]
impl Handler for Encoding {
    async fn handle(&self, request: &mut Request, depot: &mut Depot, response: &mut Response, control: &mut FlowCtrl) {
        if is_begun_elsewhere(request) {
            control.call_next(request, depot, response).await;
            return;
        }
        self.0.handle(request, depot, response, control).await;
        tell_tag(request, response);
        if response.headers().contains_key(CONTENT_ENCODING) && response.extensions.get::<Whole>().is_some() {
            in_one(response).await;
        }
    }
}

/// Marks a response whose body is there as a whole, and short enough to be compressed before it is sent.
#[derive(Debug, Clone, Copy)]
pub struct Whole;

impl Whole {
    /// Bytes of a body before it is compressed: a longer one is sent while the rest is compressed.
    pub const MOST: usize = 1 << 20;
}

/// Takes the compressed body as a whole. Sent as a stream it is at least three writes: the head, the data and the last chunk.
async fn in_one(response: &mut Response) {
    let mut stream = response.take_body();
    let mut body = Vec::new();
    while let Some(frame) = stream.next().await {
        // What is compressed in memory does not fail; a body that ended early must not look whole.
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

/// Whether another site has made a browser send it, as that says itself (Fetch Metadata, 2.4). How long a compressed answer
/// is tells whether what the sender put into the address is in the page as well (BREACH): for them it is not compressed.
fn is_begun_elsewhere(request: &Request) -> bool {
    let site = request.headers().get("sec-fetch-site").map(HeaderValue::as_bytes);
    matches!(site, Some(b"cross-site" | b"same-site"))
}

/// The same record in other bytes has another strong tag (RFC 9110, section 8.8.3.3). The middleware would answer a weak one,
/// by which nobody could say `If-Match`.
fn tell_tag(request: &Request, response: &mut Response) {
    let is_coded = response.headers().contains_key(CONTENT_ENCODING);
    let is_same = response.status_code == Some(StatusCode::NOT_MODIFIED);
    let Some(tag) = response.headers().get(ETAG).filter(|_| is_coded || is_same) else { return };
    let Ok(tag) = tag.to_str() else { return };
    let strong = tag.strip_prefix("W/").unwrap_or(tag);
    let coded = coded_tag(strong);
    // Who has the answer already is told the tag under which it is kept.
    let has = |tag: &str| {
        let lines = request.headers().get_all(IF_NONE_MATCH);
        lines.iter().filter_map(|line| line.to_str().ok()).any(|line| line.contains(tag))
    };
    let told = if is_coded || (is_same && has(&coded) && !has(strong)) { &coded } else { strong };
    if let Ok(told) = HeaderValue::from_str(told) {
        response.headers_mut().insert(ETAG, told);
    }
}
