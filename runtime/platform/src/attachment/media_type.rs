//! Media types: detected from the bytes of a file, and which of them browsers may display.

/// Type of unrecognized content.
const UNKNOWN: &str = "application/octet-stream";
const TEXT: &str = "text/plain";
/// Type of a ZIP archive, as which libraries write Office documents.
pub(super) const ARCHIVE: &str = "application/zip";

/// Image types with thumbnails.
pub(super) const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Detects the type from the beginning of a file (`is_all`: from the whole file). Text without a signature is
/// `text/plain`.
pub(super) fn detect(head: &[u8], is_all: bool) -> &'static str {
    match infer::get(head) {
        Some(found) => found.mime_type(),
        None if is_text(head, is_all) => TEXT,
        None => UNKNOWN,
    }
}

/// Reports whether browsers may display the type inline: types that cannot run a script.
pub(super) fn is_displayable(media_type: &str) -> bool {
    media_type == TEXT || IMAGES.contains(&media_type)
}

/// Value of `Content-Type`. Text is declared as UTF-8, which [`detect`] has checked.
pub(super) fn header(media_type: &str) -> String {
    if media_type == TEXT { format!("{TEXT}; charset=utf-8") } else { media_type.into() }
}

/// UTF-8 without control characters. If more bytes follow, the last character may be incomplete.
fn is_text(head: &[u8], is_all: bool) -> bool {
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if !is_all && error.error_len().is_none() => {
            match head.get(..error.valid_up_to()).map(std::str::from_utf8) {
                Some(Ok(text)) => text,
                _ => return false,
            }
        }
        Err(_) => return false,
    };
    !valid.is_empty() && !valid.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_is_detected_from_the_bytes() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], "image/png"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
            (b"GIF89a\x01\0\x01\0", "image/gif"),
            (b"RIFF\x10\0\0\0WEBPVP8L", "image/webp"),
            (b"%PDF-1.7\n", "application/pdf"),
            (b"PK\x03\x04\x14\0", "application/zip"),
            (b"<!DOCTYPE html><html>", "text/html"),
            ("name,Größe\n".as_bytes(), "text/plain"),
            (b"{\"a\": 1}", "text/plain"),
            (b"\0\x01\x02\x03", "application/octet-stream"),
            (b"", "application/octet-stream"),
            (b"caf\xe9 au lait", "application/octet-stream"),
        ] {
            assert_eq!(detect(bytes, true), expected, "{}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(detect(&"ü".as_bytes()[..1], false), "application/octet-stream");
        assert_eq!(detect(&"aü".as_bytes()[..2], false), "text/plain");
        assert_eq!(detect(&"aü".as_bytes()[..2], true), "application/octet-stream", "nothing was cut");
    }

    #[test]
    fn types_that_can_run_scripts_are_not_displayed() {
        for safe in ["image/png", "image/jpeg", "image/gif", "image/webp", "text/plain"] {
            assert!(is_displayable(safe), "{safe}");
        }
        for other in ["text/html", "text/xml", "image/svg+xml", "application/pdf", UNKNOWN] {
            assert!(!is_displayable(other), "{other}");
        }
    }
}
