//! Versions of a record: its entity tag, and the conditions that a request sets on it (RFC 9110, section 13).
//!
//! The tag of a record is a hash of what a plain `GET` answers. With `include` or `fields` a second hash follows behind a
//! point, of that very answer: a cache tells the two apart, and a write compares the first part alone, so that whoever
//! has read a record in any form can say "if it is still the same". What is answered in fewer bytes has the tag of the plain
//! answer and a mark behind it, which is one more form of it. Links to files are signed for an hour from each answer on: of
//! an attachment, which holds them, they are such a form, whose hash lasts for a second.

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::header;

/// The hexadecimal digits of a hash: 128 bits, too many for two versions to meet by chance.
const TAG_HEX_DIGITS: usize = 32;

/// What stands at the end of the tag of a compressed answer.
const GZIP_SUFFIX: &str = "-gzip\"";

/// The tag of a record, from what a plain `GET` answers: `"5f2d…"`, with its quotes.
pub fn tag(record: &[u8]) -> String {
    format!("\"{}\"", hash(record))
}

/// The tag of the same record in another form.
pub fn tag_of_form(record: &[u8], form: &[u8]) -> String {
    format!("\"{}.{}\"", hash(record), hash(form))
}

/// The tag of the same answer when it is compressed: a strong tag stands for bytes (RFC 9110, section 8.8.3.3).
pub fn with_gzip_suffix(tag: &str) -> String {
    format!("{}{GZIP_SUFFIX}", tag.strip_suffix('"').unwrap_or(tag))
}

fn hash(bytes: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha256::digest(bytes);
    let digits = digest.iter().flat_map(|byte| [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    digits.take(TAG_HEX_DIGITS).map(char::from).collect()
}

/// The tags that a header lists.
#[derive(Debug, PartialEq, Eq)]
enum Tags {
    /// `*`: whatever is there.
    Any,
    /// With the quotes, without the mark of compressed answers, and without `W/`, which the flag stands for.
    These(Vec<(bool, String)>),
}

/// What must hold of a record for a request to be carried out.
#[derive(Debug, Default)]
pub struct Preconditions {
    if_match: Option<Tags>,
    if_none_match: Option<Tags>,
}

impl Preconditions {
    /// Reads the two headers; several lines of one are joined by commas.
    ///
    /// # Errors
    /// [`Error::Malformed`] when one is neither `*` nor a list of entity tags.
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

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.if_match.is_none() && self.if_none_match.is_none()
    }

    /// Whether the record may be written whose tag this is.
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`] when it is another version than the one meant.
    pub fn check(&self, tag: &str) -> Result<()> {
        let meant = self.if_match.as_ref().is_none_or(|tags| tags.has_version(tag));
        let other = self.if_none_match.as_ref().is_none_or(|tags| !tags.has_version(tag));
        if meant && other { Ok(()) } else { Err(Error::PreconditionFailed) }
    }

    /// Whether the client that reads has the answer of this tag already. `If-Match` says nothing of a page: it is no version
    /// that anybody writes.
    pub fn matches_any(&self, tag: &str) -> bool {
        self.if_none_match.as_ref().is_some_and(|tags| tags.has(tag))
    }

    /// Whether the client that reads has this very answer already.
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`] when it wants to read another version alone.
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
            // A list may hold empty elements (RFC 9110, section 5.6.1).
            if let Some(behind) = rest.strip_prefix(',') {
                rest = behind.trim_start();
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
        (!tags.is_empty()).then_some(Tags::These(tags))
    }

    /// Compares weakly: `W/` does not count.
    fn has(&self, tag: &str) -> bool {
        match self {
            Tags::Any => true,
            Tags::These(tags) => tags.iter().any(|(_, known)| known == tag),
        }
    }

    /// Compares strongly, and the version of the record alone.
    fn has_version(&self, tag: &str) -> bool {
        match self {
            Tags::Any => true,
            Tags::These(tags) => tags.iter().any(|(weak, known)| !weak && version(known) == version(tag)),
        }
    }
}

/// The part of a tag that stands for the record.
fn version(tag: &str) -> &str {
    let inner = tag.trim_matches('"');
    inner.split_once('.').map_or(inner, |(version, _)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_lists_tags_or_anything() {
        assert_eq!(Tags::read(" * "), Some(Tags::Any));
        let tags = vec![(false, "\"a\"".to_string()), (true, "\"b,c\"".to_string())];
        assert_eq!(Tags::read(", \"a\" ,, W/\"b,c\","), Some(Tags::These(tags)));
        for bad in ["", ",", "a", "\"a", "\"a\" \"b\"", "*, \"a\"", "w/\"a\"", "W/ \"a\"", "'a'"] {
            assert_eq!(Tags::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_write_compares_the_version_strongly_and_a_read_the_answer_weakly() {
        let (plain, form) = (tag(b"{\"id\":1}"), tag_of_form(b"{\"id\":1}", b"{\"id\":1,\"owner\":null}"));
        let writes = |header: &str| Preconditions::read(Some(header), None).unwrap().check(&plain).is_ok();
        assert!(
            writes(&with_gzip_suffix(&plain))
                && writes(&with_gzip_suffix(&form))
                && !writes(&format!("W/{}", with_gzip_suffix(&plain)))
        );
        assert!(writes(&plain) && writes(&form) && writes("*") && writes(&format!("\"x\", {plain}")));
        assert!(!writes(&format!("W/{plain}")) && !writes(&tag(b"{\"id\":2}")) && !writes("\"\""));
        let has = |header: &str, tag: &str| {
            Preconditions::read(None, Some(header)).unwrap().not_modified(tag).expect("nothing else is asked")
        };
        assert!(has(&plain, &plain) && has(&format!("W/{plain}"), &plain) && has("*", &form));
        assert!(
            has(&with_gzip_suffix(&plain), &plain)
                && has(&with_gzip_suffix(&form), &form)
                && !has(&with_gzip_suffix(&form), &plain)
        );
        assert!(!has(&plain, &form) && !has(&form, &plain));
        assert!(Preconditions::read(None, Some("*")).unwrap().check(&plain).is_err(), "it is there");
    }
}
