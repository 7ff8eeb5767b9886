//! Stored files, to whoever has a link: whole or in part, and never as a page of this server's.

use std::ops::Range;
use std::sync::Arc;

use salvo::http::{HeaderValue, Method, StatusCode};
use salvo::{Request, async_trait};

use super::{Answer, Answers, headers, only_get};
use crate::attachment;
use crate::context::State;
use crate::error::{Error, Result};
use crate::header;

/// `GET /files/<uuid>/<part>?expires=...&signature=...`
#[derive(Debug)]
pub struct Files;

#[async_trait]
impl Answers for Files {
    fn may_keep(&self) -> Option<&'static str> {
        Some("private")
    }

    async fn answer(&self, state: &Arc<State>, request: &mut Request) -> Result<Answer> {
        only_get(request)?;
        let target = request.uri().path_and_query().map(|target| target.as_str()).unwrap_or_default();
        let file = attachment::find_download(state, target).await?;
        let sent = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        if headers::conditions(request)?.not_modified(&file.tag)? {
            return surround(Answer::empty(StatusCode::NOT_MODIFIED), &file);
        }
        // A part is of use only to who has the rest of these very bytes.
        let same = sent(header::IF_RANGE).is_none_or(|tag| tag.trim() == file.tag);
        // A range is asked of GET alone (RFC 9110, section 14.2): who asks for the head learns how long the file is.
        let whole = !same || request.method() != Method::GET;
        let range = match sent(header::RANGE).filter(|_| !whole) {
            Some(text) => range(text, file.size)?,
            None => None,
        };
        let (status, length) = match &range {
            Some(range) => (StatusCode::PARTIAL_CONTENT, range.end - range.start),
            None => (StatusCode::OK, file.size),
        };
        let mut answer = match request.method().as_str() {
            "HEAD" => Answer::empty(status),
            _ => Answer::stream(status, file.read(state, range.clone()).await?),
        };
        answer =
            answer.with("content-length", length.into()).with(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        answer = answer.with("content-type", text(&file.content_headers.media_type)?);
        answer = answer.with(header::DISPOSITION, text(&file.content_headers.disposition)?);
        if let Some(Range { start, end }) = range {
            answer = answer.with(header::CONTENT_RANGE, text(&format!("bytes {start}-{}/{}", end - 1, file.size))?);
        }
        surround(answer, &file)
    }
}

/// What every answer with a file says: which it is, and that nothing in it is to be run.
fn surround(answer: Answer, file: &attachment::Download) -> Result<Answer> {
    let said = |answer: Answer, (name, value)| answer.with(name, HeaderValue::from_static(value));
    let answer = [
        (header::SECURITY_POLICY, "default-src 'none'; sandbox"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::TYPE_OPTIONS, "nosniff"),
    ]
    .into_iter()
    .fold(answer, said);
    Ok(answer.with(header::ETAG, text(&file.tag)?))
}

fn text(value: &str) -> Result<HeaderValue> {
    HeaderValue::from_str(value).map_err(Error::internal)
}

/// The bytes that are asked for (RFC 9110, section 14). What cannot be read, and more than one range, is ignored: the
/// whole file answers it.
///
/// # Errors
/// [`Error::RangeNotSatisfiable`] when the file ends before it.
fn range(header: &str, size: u64) -> Result<Option<Range<u64>>> {
    let Some((first, last)) = header.trim().strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Ok(None);
    };
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // What is beyond any file is as good as its end.
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
    fn a_range_is_read_at_its_edges() {
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
            assert_eq!(range(header, 10).unwrap(), expected, "{header}");
        }
        for header in ["bytes=10-", "bytes=10-12", "bytes=-0"] {
            assert!(matches!(range(header, 10), Err(Error::RangeNotSatisfiable(10))), "{header}");
        }
        assert!(matches!(range("bytes=0-", 0), Err(Error::RangeNotSatisfiable(0))));
    }
}
