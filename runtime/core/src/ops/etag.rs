//! Entity tags of records and pages, and preconditions (RFC 9110, section 13).
//!
//! The tag of a record is a hash of the response to a plain `GET`. With `include` or `fields`, a second hash of that
//! response follows after a dot. A cache distinguishes the two by the whole tag; a write compares only the first hash,
//! so that `If-Match` works with the tag of any representation. A compressed response appends `-gzip`. An attachment
//! holds a link that is signed for an hour from each response on; its second hash changes every second.

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::header;

/// Hexadecimal digits of a hash: 128 bits, so that collisions are negligible.
const TAG_HEX_DIGITS: usize = 32;

/// End of the tag of a compressed response.
const GZIP_SUFFIX: &str = "-gzip\"";

/// The tag of a record, from the JSON of a plain `GET`: `"5f2d…"`, with its quotes.
pub fn tag(record: &[u8]) -> String {
    format!("\"{}\"", hash(record))
}

/// The tag of another representation of the record.
pub fn tag_of_representation(record: &[u8], representation: &[u8]) -> String {
    format!("\"{}.{}\"", hash(record), hash(representation))
}

/// The tag of the same response when it is compressed: a strong tag identifies bytes (RFC 9110, section 8.8.3.3).
pub fn with_gzip_suffix(tag: &str) -> String {
    format!("{}{GZIP_SUFFIX}", tag.strip_suffix('"').unwrap_or(tag))
}

fn hash(bytes: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha256::digest(bytes);
    let digits = digest.iter().flat_map(|byte| [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    digits.take(TAG_HEX_DIGITS).map(char::from).collect()
}

/// The value of `If-Match` or `If-None-Match`.
#[derive(Debug, PartialEq, Eq)]
enum Tags {
    /// `*`: any existing record.
    Any,
    /// True if each tag is weak (`W/`), and the tag with its quotes, without `-gzip`.
    List(Vec<(bool, String)>),
}

/// Conditions that the record must meet before the request is executed.
#[derive(Debug, Default)]
pub struct Preconditions {
    if_match: Option<Tags>,
    if_none_match: Option<Tags>,
}

impl Preconditions {
    /// Parses the two headers. Several lines of one header must be joined by commas.
    ///
    /// # Errors
    /// [`Error::Malformed`] if one is neither `*` nor a list of entity tags.
    pub fn read(if_match: Option<&str>, if_none_match: Option<&str>) -> Result<Preconditions> {
        let read = |name: &str, text: Option<&str>| match text {
            None => Ok(None),
            Some(text) => match Tags::read(text) {
                Some(tags) => Ok(Some(tags)),
                None => Err(Error::Malformed(format!(
                    "The header {name} must be `*` or a list of entity tags in double quotes."
                ))),
            },
        };
        Ok(Preconditions {
            if_match: read(header::IF_MATCH, if_match)?,
            if_none_match: read(header::IF_NONE_MATCH, if_none_match)?,
        })
    }

    /// True if the request has no precondition.
    pub fn is_empty(&self) -> bool {
        self.if_match.is_none() && self.if_none_match.is_none()
    }

    /// Checks that the record with this tag may be written.
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`] if its version does not match.
    pub fn check(&self, tag: &str) -> Result<()> {
        let matches = self.if_match.as_ref().is_none_or(|tags| tags.has_version(tag));
        let differs = self.if_none_match.as_ref().is_none_or(|tags| !tags.has_version(tag));
        if matches && differs { Ok(()) } else { Err(Error::PreconditionFailed) }
    }

    /// True if `If-None-Match` contains this tag. `If-Match` does not apply to list pages.
    pub fn matches_any(&self, tag: &str) -> bool {
        self.if_none_match.as_ref().is_some_and(|tags| tags.contains(tag))
    }

    /// True if the client already has this response: 304.
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`] if `If-Match` names another version.
    pub fn not_modified(&self, tag: &str) -> Result<bool> {
        if self.if_match.as_ref().is_some_and(|tags| !tags.has_version(tag)) {
            return Err(Error::PreconditionFailed);
        }
        Ok(self.matches_any(tag))
    }
}

impl Tags {
    fn read(text: &str) -> Option<Tags> {
        if text.trim() == "*" {
            return Some(Tags::Any);
        }
        let (mut rest, mut tags) = (text.trim(), Vec::new());
        while !rest.is_empty() {
            // A list may contain empty elements (RFC 9110, section 5.6.1).
            if let Some(after_comma) = rest.strip_prefix(',') {
                rest = after_comma.trim_start();
                continue;
            }
            let strong = rest.strip_prefix("W/").unwrap_or(rest);
            let end = strong.strip_prefix('"')?.find('"')? + 2;
            let tag = &strong[..end];
            let plain = tag.strip_suffix(GZIP_SUFFIX).map_or_else(|| tag.to_string(), |hash| format!("{hash}\""));
            tags.push((strong.len() < rest.len(), plain));
            rest = strong[end..].trim_start();
            if !rest.is_empty() && !rest.starts_with(',') {
                return None;
            }
        }
        (!tags.is_empty()).then_some(Tags::List(tags))
    }

    /// Weak comparison: ignores `W/`.
    fn contains(&self, tag: &str) -> bool {
        match self {
            Tags::Any => true,
            Tags::List(tags) => tags.iter().any(|(_, listed)| listed == tag),
        }
    }

    /// Strong comparison of the record's hash alone.
    fn has_version(&self, tag: &str) -> bool {
        match self {
            Tags::Any => true,
            Tags::List(tags) => tags.iter().any(|(weak, listed)| !weak && version(listed) == version(tag)),
        }
    }
}

/// The part of a tag that identifies the record.
fn version(tag: &str) -> &str {
    let inner = tag.trim_matches('"');
    inner.split_once('.').map_or(inner, |(version, _)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precondition_header_is_a_tag_list_or_an_asterisk() {
        assert_eq!(Tags::read(" * "), Some(Tags::Any));
        let tags = vec![(false, "\"a\"".to_string()), (true, "\"b,c\"".to_string())];
        assert_eq!(Tags::read(", \"a\" ,, W/\"b,c\","), Some(Tags::List(tags)));
        for bad in ["", ",", "a", "\"a", "\"a\" \"b\"", "*, \"a\"", "w/\"a\"", "W/ \"a\"", "'a'"] {
            assert_eq!(Tags::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn write_compares_record_hash_strongly_and_read_compares_whole_tag_weakly() {
        let (plain, included) =
            (tag(b"{\"id\":1}"), tag_of_representation(b"{\"id\":1}", b"{\"id\":1,\"owner\":null}"));
        let writes = |header: &str| Preconditions::read(Some(header), None).unwrap().check(&plain).is_ok();
        assert!(
            writes(&with_gzip_suffix(&plain))
                && writes(&with_gzip_suffix(&included))
                && !writes(&format!("W/{}", with_gzip_suffix(&plain)))
        );
        assert!(writes(&plain) && writes(&included) && writes("*") && writes(&format!("\"x\", {plain}")));
        assert!(!writes(&format!("W/{plain}")) && !writes(&tag(b"{\"id\":2}")) && !writes("\"\""));
        let is_unchanged = |header: &str, tag: &str| {
            Preconditions::read(None, Some(header)).unwrap().not_modified(tag).expect("there is no If-Match")
        };
        assert!(
            is_unchanged(&plain, &plain) && is_unchanged(&format!("W/{plain}"), &plain) && is_unchanged("*", &included)
        );
        assert!(
            is_unchanged(&with_gzip_suffix(&plain), &plain)
                && is_unchanged(&with_gzip_suffix(&included), &included)
                && !is_unchanged(&with_gzip_suffix(&included), &plain)
        );
        assert!(!is_unchanged(&plain, &included) && !is_unchanged(&included, &plain));
        assert!(Preconditions::read(None, Some("*")).unwrap().check(&plain).is_err(), "the record exists");
    }
}
