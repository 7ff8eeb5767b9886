//! Names of uploaded files: sanitized, and encoded for the header `Content-Disposition`.

use std::fmt::Write;

use charter_model::invisible::{is_bidi_control, is_separator};
use unicode_normalization::UnicodeNormalization;

/// Maximum length of a name.
const MAX_CHARACTERS: usize = 255;

/// The last path segment of the client's file name, without control characters and bidirectional marks, truncated such
/// that its extension stays. Its form is NFC, because macOS sends decomposed letters, which no search for the composed
/// ones would find.
pub fn clean(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.chars().filter(|c| !is_harmful(*c)).nfc().collect();
    let name = kept.trim();
    if name.chars().all(|c| c == '.' || is_zero_width(c) || c.is_whitespace()) {
        return "file".into();
    }
    let length = name.chars().count();
    if length <= MAX_CHARACTERS {
        return name.into();
    }
    // An extension longer than 16 bytes is none.
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let ending = if ending.is_empty() || ending.len() > 16 { String::new() } else { format!(".{ending}") };
    let stem: String = name.chars().take(MAX_CHARACTERS - ending.chars().count()).collect();
    format!("{stem}{ending}")
}

/// File extensions of each image type, the preferred one first.
const IMAGES: [(&str, &[&str]); 4] =
    [("image/jpeg", &["jpg", "jpeg"]), ("image/png", &["png"]), ("image/gif", &["gif"]), ("image/webp", &["webp"])];

/// Name of an image that was converted from another: it gets the extension of its own type.
pub(super) fn of_image(original: &str, media_type: &str) -> String {
    let endings =
        |wanted: &str| IMAGES.iter().find(|(known, _)| *known == wanted).map_or(&[][..], |(_, endings)| endings);
    let (stem, ending) = original.rsplit_once('.').unwrap_or((original, ""));
    let is_one_of = |endings: &[&str]| endings.iter().any(|known| known.eq_ignore_ascii_case(ending));
    let own = endings(media_type);
    if is_one_of(own) {
        return original.into();
    }
    // Text after a dot is part of the name unless it is an image extension.
    let stem = if IMAGES.iter().any(|(_, endings)| is_one_of(endings)) { stem } else { original };
    own.first().map_or_else(|| stem.into(), |ending| format!("{stem}.{ending}"))
}

/// Reports characters that do nothing in a name or change the order in which it is displayed. Joiners stay: a Persian
/// or Hindi word and an emoji are others without them.
fn is_harmful(c: char) -> bool {
    // Deprecated format characters and the byte order mark.
    let is_useless = matches!(c, '\u{206a}'..='\u{206f}' | '\u{feff}');
    c.is_control() || is_bidi_control(c) || is_separator(c) || is_useless
}

/// Reports characters without a width. A name of them alone is no name.
fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}')
}

/// `inline; filename="a.png"; filename*=UTF-8''a.png` (RFC 6266, RFC 8187). `filename` is for old clients, with `_` for
/// everything outside ASCII.
pub fn disposition(kind: &str, name: &str) -> String {
    let mut text = format!("{kind}; filename=\"");
    for c in name.chars() {
        match c {
            '"' | '\\' | '%' => text.push('_'),
            ' '..='~' => text.push(c),
            _ => text.push('_'),
        }
    }
    text.push_str("\"; filename*=UTF-8''");
    for byte in name.bytes() {
        // `attr-char` (RFC 8187, section 3.2.1).
        if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_and_invisible_characters_are_removed() {
        for (given, expected) in [
            ("a.png", "a.png"),
            ("/etc/passwd", "passwd"),
            ("C:\\Users\\Ada\\report.pdf", "report.pdf"),
            ("../../x", "x"),
            ("a\r\nb\0c\u{7f}.txt", "abc.txt"),
            ("photo\u{202e}gpj.exe", "photogpj.exe"),
            ("a\u{61c}\u{200e}\u{200f}\u{2066}\u{2069}\u{feff}\u{2028}b.txt", "ab.txt"),
            ("می\u{200c}خواهم.pdf", "می\u{200c}خواهم.pdf"),
            ("क्\u{200d}ष.pdf", "क्\u{200d}ष.pdf"),
            ("👩\u{200d}🚀 ❤\u{fe0f}.png", "👩\u{200d}🚀 ❤\u{fe0f}.png"),
            ("Cafe\u{301}.txt", "Café.txt"),
            ("\u{200d}.\u{200b}", "file"),
            (" Überblick 1.pdf ", "Überblick 1.pdf"),
            ("", "file"),
            ("..", "file"),
            ("dir/", "file"),
        ] {
            assert_eq!(clean(given), expected, "{given:?}");
        }
    }

    #[test]
    fn converted_image_gets_the_extension_of_its_type() {
        for (original, media_type, expected) in [
            ("x.png", "image/jpeg", "x.jpg"),
            ("x.JPEG", "image/jpeg", "x.JPEG"),
            ("x.WebP", "image/png", "x.png"),
            ("scan 2026.11.25", "image/jpeg", "scan 2026.11.25.jpg"),
            ("photo", "image/jpeg", "photo.jpg"),
        ] {
            assert_eq!(of_image(original, media_type), expected);
        }
    }

    #[test]
    fn long_name_is_truncated_before_its_extension() {
        assert_eq!(clean(&"é".repeat(255)).chars().count(), 255);
        let cut = clean(&format!("{}.tar.gz", "é".repeat(300)));
        assert_eq!(cut.chars().count(), 255);
        assert!(cut.ends_with("é.gz"), "{cut}");
        assert_eq!(clean(&format!("a.{}", "x".repeat(300))).chars().count(), 255);
    }

    #[test]
    fn content_disposition_is_ascii_and_has_the_full_name() {
        assert_eq!(disposition("inline", "a.png"), "inline; filename=\"a.png\"; filename*=UTF-8''a.png");
        let text = disposition("attachment", "na\"ïve 100%\\.txt");
        assert_eq!(text, "attachment; filename=\"na__ve 100__.txt\"; filename*=UTF-8''na%22%C3%AFve%20100%25%5C.txt");
        assert!(disposition("inline", "日本\n").is_ascii());
    }
}
