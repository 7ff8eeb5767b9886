//! `Content-Disposition` of a part of a form: its parameters by grammar (RFC 6266, RFC 7578), as clients write them.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use encoding_rs::{Encoding, WINDOWS_1252};

/// The parameters that a form uses.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Disposition {
    pub(super) name: Option<String>,
    /// `filename*` if it can be read, else `filename*0`, `filename*1*` and so on joined (RFC 2231, section 3), else
    /// `filename`.
    pub(super) file_name: Option<String>,
}

impl Disposition {
    /// Reads `form-data; name="file"; filename="a.txt"`. Parameter names have any case, and the first of a repeated
    /// name counts.
    pub(super) fn read(header: &[u8]) -> Disposition {
        let header = text(header);
        // The disposition type has no quotes.
        let mut rest = header.split_once(';').map_or("", |(_, rest)| rest);
        let (mut name, mut plain, mut extended) = (None, None, None);
        let mut sections = Vec::new();
        while let Some((key, value, further)) = parameter(rest) {
            rest = further;
            match key.to_ascii_lowercase().as_str() {
                "name" => name = name.or(Some(decode_words(&value))),
                "filename" => plain = plain.or(Some(decode_words(&value))),
                "filename*" => extended = extended.or_else(|| decode_extended(&value)),
                key => sections.extend(Section::read(key, value)),
            }
        }
        Disposition { name, file_name: extended.or_else(|| join(sections)).or(plain) }
    }
}

/// A part of a long file name (RFC 2231, section 3), which libraries of mail write.
struct Section {
    number: usize,
    is_encoded: bool,
    value: String,
}

impl Section {
    /// Reads `filename*0`, or `filename*0*` if the value is percent-encoded.
    fn read(key: &str, value: String) -> Option<Section> {
        let number = key.strip_prefix("filename*")?;
        let (number, is_encoded) = number.strip_suffix('*').map_or((number, false), |number| (number, true));
        Some(Section { number: number.parse().ok()?, is_encoded, value })
    }
}

/// Joins sections that are numbered from 0 without a gap. The first one names the encoding, if it is encoded itself.
fn join(mut sections: Vec<Section>) -> Option<String> {
    sections.sort_by_key(|section| section.number);
    let mut charset = "utf-8".to_owned();
    let mut bytes = Vec::new();
    for (number, section) in sections.iter().enumerate() {
        if section.number != number {
            return None;
        }
        let mut value = section.value.as_str();
        if section.is_encoded && number == 0 {
            let (name, rest) = value.split_once('\'')?;
            (charset, value) = (name.to_owned(), rest.split_once('\'')?.1);
        }
        if section.is_encoded {
            bytes.extend(percent_decode(value)?);
        } else {
            bytes.extend_from_slice(value.as_bytes());
        }
    }
    if sections.is_empty() { None } else { decode(&charset, &bytes) }
}

/// UTF-8, or else the encoding of browsers for Western languages, which can read any byte.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| WINDOWS_1252.decode_without_bom_handling(bytes).0, Cow::Borrowed)
}

/// The name and the value of the first parameter, and the text after it.
fn parameter(text: &str) -> Option<(&str, String, &str)> {
    let text = text.trim_start_matches(|c: char| c == ';' || c.is_ascii_whitespace());
    let end = text.find(['=', ';'])?;
    let (key, rest) = text.split_at(end);
    let Some(rest) = rest.strip_prefix('=') else { return Some((key.trim(), String::new(), rest)) };
    let rest = rest.trim_start();
    if let Some(quoted) = rest.strip_prefix('"') {
        let (value, rest) = unquote(quoted);
        return Some((key.trim(), value, rest));
    }
    // A token. Clients that do not quote leave spaces in it too.
    let (value, rest) = rest.split_at(rest.find(';').unwrap_or(rest.len()));
    Some((key.trim(), value.trim().to_string(), rest))
}

/// The value of a quoted string, whose opening quote is read, and the text after it. A backslash escapes a quote and a
/// backslash; before anything else it is the separator of a Windows path, which some clients send without escaping it.
/// Browsers write a quote and line breaks as `%22`, `%0D` and `%0A` (HTML, "multipart/form-data encoding algorithm").
fn unquote(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut rest = text;
    loop {
        let mut chars = rest.chars();
        let Some(c) = chars.next() else { return (value, "") };
        let after = chars.as_str();
        rest = match c {
            '"' => return (value, after),
            '\\' if after.starts_with(['"', '\\']) => {
                value.extend(chars.next());
                chars.as_str()
            }
            '%' if after.starts_with("22") => {
                value.push('"');
                &after[2..]
            }
            '%' if after.get(..2).is_some_and(|code| ["0a", "0d"].contains(&code.to_ascii_lowercase().as_str())) => {
                value.push(' ');
                &after[2..]
            }
            c => {
                value.push(c);
                after
            }
        };
    }
}

/// An extended value (RFC 8187): `UTF-8'en'%C3%A9.txt`. Any encoding of the web is read.
fn decode_extended(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_, encoded) = rest.split_once('\'')?;
    decode(charset, &percent_decode(encoded)?)
}

fn percent_decode(encoded: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                bytes.push(hex_byte(*high, *low)?);
                after
            }
            (b'%', _) => return None,
            (byte, after) => {
                bytes.push(*byte);
                after
            }
        };
    }
    Some(bytes)
}

fn hex_byte(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

fn decode(charset: &str, bytes: &[u8]) -> Option<String> {
    let encoding = Encoding::for_label(charset.trim().as_bytes())?;
    encoding.decode_without_bom_handling_and_without_replacement(bytes).map(Cow::into_owned)
}

/// Decodes the encoded words of a text (RFC 2047), which .NET writes into `filename`. White space between two of them
/// is no part of the text (section 6.2). A word that cannot be decoded stays.
fn decode_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut was_word = false;
    while let Some(start) = rest.find("=?") {
        let (before, word) = rest.split_at(start);
        let Some((decoded, after)) = encoded_word(word) else {
            out.push_str(before);
            out.push_str("=?");
            rest = &word[2..];
            was_word = false;
            continue;
        };
        if !(was_word && before.chars().all(char::is_whitespace)) {
            out.push_str(before);
        }
        out.push_str(&decoded);
        rest = after;
        was_word = true;
    }
    out.push_str(rest);
    out
}

/// Decodes `=?charset*language?encoding?text?=` at the beginning of a text and returns the text after it.
fn encoded_word(text: &str) -> Option<(String, &str)> {
    let (charset, rest) = text.strip_prefix("=?")?.split_once('?')?;
    let (encoding, rest) = rest.split_once('?')?;
    let (encoded, after) = rest.split_once("?=")?;
    // The language is of RFC 2231, section 5.
    let charset = charset.split('*').next().unwrap_or_default();
    let bytes = if encoding.eq_ignore_ascii_case("b") {
        STANDARD.decode(encoded).or_else(|_| STANDARD_NO_PAD.decode(encoded)).ok()?
    } else if encoding.eq_ignore_ascii_case("q") {
        quoted_printable(encoded)?
    } else {
        return None;
    };
    Some((decode(charset, &bytes)?, after))
}

/// Bytes of the Q encoding (RFC 2047, section 4.2).
fn quoted_printable(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (b'=', [high, low, after @ ..]) => {
                bytes.push(hex_byte(*high, *low)?);
                after
            }
            (b'=', _) => return None,
            (b'_', after) => {
                bytes.push(b' ');
                after
            }
            (byte, after) => {
                bytes.push(*byte);
                after
            }
        };
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_name(header: &str) -> Option<String> {
        Disposition::read(header.as_bytes()).file_name
    }

    #[test]
    fn parameters_are_read_by_grammar() {
        for (header, name, file_name) in [
            ("form-data; name=\"file\"; filename=\"a.txt\"", Some("file"), Some("a.txt")),
            ("form-data; NAME=\"file\"; FileName=\"a.txt\"", Some("file"), Some("a.txt")),
            ("form-data;filename = a b.txt ;name=file", Some("file"), Some("a b.txt")),
            ("form-data; x=\"; name=evil\"; name=\"a;b\"; filename=\";\"", Some("a;b"), Some(";")),
            ("form-data; filename=\"name=x; name=y\"; name=\"file\"", Some("file"), Some("name=x; name=y")),
            ("form-data; name=\"a\"; name=\"b\"", Some("a"), None),
            ("form-data; name=\"a\\\"b\\\\c\"", Some("a\"b\\c"), None),
            ("form-data; filename=\"C:\\Temp\\a.txt\"", None, Some("C:\\Temp\\a.txt")),
            ("form-data; filename=\"say %22hi%22 100%.txt\"", None, Some("say \"hi\" 100%.txt")),
            ("form-data; filename=\"unterminated", None, Some("unterminated")),
            ("form-data; name", None, None),
            ("form-data; flag; name=\"file\"", Some("file"), None),
            ("form-data; name=; filename=\"\"", Some(""), Some("")),
            ("form-data", None, None),
            ("", None, None),
        ] {
            let read = Disposition::read(header.as_bytes());
            assert_eq!((read.name.as_deref(), read.file_name.as_deref()), (name, file_name), "{header}");
        }
    }

    #[test]
    fn extended_file_name_wins_if_it_can_be_read() {
        for (header, expected) in [
            ("form-data; filename*=UTF-8''na%C3%AFve%20%22x%22.txt", "naïve \"x\".txt"),
            ("form-data; FILENAME*=utf-8'en'%e2%82%ac.txt; filename=\"a.txt\"", "€.txt"),
            ("form-data; filename*=iso-8859-1''caf%E9.txt", "café.txt"),
            ("form-data; filename*=\"UTF-8''a%20b.txt\"", "a b.txt"),
            ("form-data; filename=\"a.txt\"; filename*=UTF-8''%E9", "a.txt"),
            ("form-data; filename=\"a.txt\"; filename*=UTF-8''%4", "a.txt"),
            ("form-data; filename=\"a.txt\"; filename*=nonsense''b", "a.txt"),
            ("form-data; filename=\"a.txt\"; filename*=b", "a.txt"),
        ] {
            assert_eq!(file_name(header).as_deref(), Some(expected), "{header}");
        }
    }

    #[test]
    fn sections_of_a_long_file_name_are_joined() {
        for (header, expected) in [
            ("form-data; filename*0=\"long \"; filename*1=\"name.txt\"", Some("long name.txt")),
            ("form-data; filename*1*=%20x.txt; filename*0*=UTF-8'fr'caf%C3; filename*2=%20", None),
            ("form-data; FILENAME*1*=%A9.txt; filename*0*=UTF-8'fr'caf%C3", Some("café.txt")),
            ("form-data; filename*0*=iso-8859-1''caf%E9; filename*1=\" 1.txt\"", Some("café 1.txt")),
            ("form-data; filename=a.txt; filename*0=b; filename*2=c", Some("a.txt")),
            ("form-data; filename=a.txt; filename*1=c", Some("a.txt")),
            ("form-data; filename*0=b; filename*=UTF-8''a.txt", Some("a.txt")),
            ("form-data; filename*0=b; filename*0=c", None),
            ("form-data; filename*0*=b", None),
            ("form-data; filename*x=b", None),
        ] {
            assert_eq!(file_name(header).as_deref(), expected, "{header}");
        }
    }

    #[test]
    fn encoded_words_are_decoded() {
        for (value, expected) in [
            ("=?utf-8?B?R3LDtsOfZS5wZGY=?=", "Größe.pdf"),
            ("=?UTF-8?b?R3LDtsOfZS5wZGY?=", "Größe.pdf"),
            ("=?iso-8859-1?Q?caf=E9_1.txt?=", "café 1.txt"),
            ("=?utf-8*de?q?=C3=A4?= =?utf-8?q?=C3=B6?= =?utf-8?q?x?=.txt", "äöx.txt"),
            ("a =?utf-8?q?b?= c", "a b c"),
            ("=?utf-8?B?***?=", "=?utf-8?B?***?="),
            ("=?utf-8?X?abc?=", "=?utf-8?X?abc?="),
            ("=?utf-8?q?=C3?=", "=?utf-8?q?=C3?="),
            ("why=?.txt", "why=?.txt"),
        ] {
            assert_eq!(file_name(&format!("form-data; filename=\"{value}\"")).as_deref(), Some(expected), "{value}");
        }
    }

    #[test]
    fn bytes_outside_utf_8_are_read_as_a_western_encoding() {
        let read = Disposition::read(b"form-data; name=\"file\"; filename=\"caf\xe9.txt\"");
        assert_eq!(read.file_name.as_deref(), Some("café.txt"));
    }
}
