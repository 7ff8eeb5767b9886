//! Download of stored files by signed links, with byte ranges and conditional requests.

use std::ops::Range;
use std::sync::Arc;

use salvo::http::{HeaderValue, Method, StatusCode};
use salvo::{Request, async_trait};

use super::{Handler, Response, headers, require_get};
use crate::server::ServerState;
use charter_core::error::{Error, Result};
use charter_core::header;
use charter_platform::attachment;

/// `GET /files/<uuid>/<part>?expires=...&signature=...`
#[derive(Debug)]
pub(crate) struct Files;

#[async_trait]
impl Handler for Files {
    fn cache_control(&self) -> Option<&'static str> {
        Some("private")
    }

    async fn handle(&self, state: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        require_get(request)?;
        let target = request.uri().path_and_query().map(|target| target.as_str()).unwrap_or_default();
        let file = attachment::find_download(state, target).await?;
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        if headers::conditions(request)?.not_modified(&file.tag)? {
            return with_file_headers(Response::empty(StatusCode::NOT_MODIFIED), &file);
        }
        // A range is useful only to a client that has the rest of the same bytes.
        let is_same = header(header::IF_RANGE).is_none_or(|tag| tag.trim() == file.tag);
        // Ranges apply to GET alone (RFC 9110, section 14.2): HEAD returns the length of the whole file.
        let takes_range = is_same && request.method() == Method::GET;
        let range = match header(header::RANGE).filter(|_| takes_range) {
            Some(text) => parse_range(text, file.size)?,
            None => None,
        };
        let (status, length) = match &range {
            Some(range) => (StatusCode::PARTIAL_CONTENT, range.end - range.start),
            None => (StatusCode::OK, file.size),
        };
        let response = match request.method().as_str() {
            "HEAD" => Response::empty(status),
            _ => Response::stream(status, file.read(state, range.clone()).await?),
        };
        let mut response = response
            .with("content-length", length.into())
            .with(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"))
            .with("content-type", text(&file.content_headers.media_type)?)
            .with(header::DISPOSITION, text(&file.content_headers.disposition)?);
        if let Some(Range { start, end }) = range {
            response = response.with(header::CONTENT_RANGE, text(&format!("bytes {start}-{}/{}", end - 1, file.size))?);
        }
        with_file_headers(response, &file)
    }
}

/// Adds the entity tag, and the headers that keep a browser from running anything in the file.
fn with_file_headers(response: Response, file: &attachment::Download) -> Result<Response> {
    let add = |response: Response, (name, value)| response.with(name, HeaderValue::from_static(value));
    let response = [(header::SECURITY_POLICY, "default-src 'none'; sandbox"), (header::REFERRER_POLICY, "no-referrer")]
        .into_iter()
        .fold(response, add);
    Ok(response.with(header::ETAG, text(&file.tag)?))
}

fn text(value: &str) -> Result<HeaderValue> {
    HeaderValue::from_str(value).map_err(Error::internal)
}

/// Parses `Range` (RFC 9110, section 14). An invalid header, and more than one range, is ignored: the whole file is sent.
///
/// # Errors
/// [`Error::RangeNotSatisfiable`] when the file ends before the range.
fn parse_range(header: &str, size: u64) -> Result<Option<Range<u64>>> {
    let Some((first, last)) = header.trim().strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Ok(None);
    };
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A number that is too large for any file stands for its end.
        digits.then(|| text.parse::<u64>().unwrap_or(u64::MAX))
    };
    let range = match (first.is_empty(), number(first), last.is_empty(), number(last)) {
        (true, _, _, Some(length)) => size.saturating_sub(length)..size,
        (_, Some(first), true, _) => first..size,
        (_, Some(first), _, Some(last)) if first <= last => first..size.min(last.saturating_add(1)),
        _ => return Ok(None),
    };
    if range.start >= range.end { Err(Error::RangeNotSatisfiable(size)) } else { Ok(Some(range)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_header_is_parsed_at_its_edges() {
        for (header, expected) in [
            ("bytes=0-0", Some(0..1)),
            ("bytes=0-", Some(0..10)),
            ("bytes=9-", Some(9..10)),
            ("bytes=2-4", Some(2..5)),
            ("bytes=2-99999999999999999999999", Some(2..10)),
            ("bytes=-3", Some(7..10)),
            ("bytes=-99", Some(0..10)),
            ("bytes=4-2", None),
            ("bytes=0-1,4-5", None),
            ("bytes=a-b", None),
            ("bytes=+1-2", None),
            ("bytes=-", None),
            ("items=0-1", None),
            ("", None),
        ] {
            assert_eq!(parse_range(header, 10).unwrap(), expected, "{header}");
        }
        for header in ["bytes=10-", "bytes=10-12", "bytes=-0"] {
            assert!(matches!(parse_range(header, 10), Err(Error::RangeNotSatisfiable(10))), "{header}");
        }
        assert!(matches!(parse_range("bytes=0-", 0), Err(Error::RangeNotSatisfiable(0))));
    }
}
