//! URLs of the panel: percent-encoding, query strings, and the check against open redirects.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use charter_core::query::Pair;

/// Characters that need no escape in a path segment or a query parameter.
const UNESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',').remove(b'[').remove(b']');

/// Percent-encodes a path segment or a query parameter.
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, UNESCAPED).to_string()
}

/// A path with query parameters.
pub(super) fn with_query(path: &str, pairs: &[Pair]) -> String {
    let encoded: Vec<String> =
        pairs.iter().map(|pair| format!("{}={}", encode(&pair.name), encode(&pair.value))).collect();
    if encoded.is_empty() { path.to_string() } else { format!("{path}?{}", encoded.join("&")) }
}

/// A path with the local page to return to.
pub(super) fn with_back(path: &str, back: &str) -> String {
    format!("{path}{}_back={}", if path.contains('?') { '&' } else { '?' }, encode(back))
}

/// Returns true if browsers resolve a redirect target to this server.
pub(super) fn is_local_path(to: &str) -> bool {
    to.starts_with('/') && !to.starts_with("//") && !to.contains('\\') && !to.chars().any(char::is_control)
}
