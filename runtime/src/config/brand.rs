//! Brand of an application in the panel and in mails: `panel-name`, `panel-logo` and `panel-color`.

use std::sync::Arc;

use super::Problems;

/// Maximum size of a logo. Every first visit loads it.
const MAX_LOGO_BYTES: usize = 64 * 1024;
/// Least contrast with white. On the tint of a selected row, it leaves 4.5 (WCAG 2.2, criterion 1.4.3).
const MIN_CONTRAST: f64 = 5.5;

const COLOR_EXAMPLE: &str = "must be a color such as #3446c2";

/// Name, logo and color; each has a default.
#[derive(Debug, Clone, Default)]
pub struct Brand {
    pub name: Option<String>,
    pub logo: Option<Logo>,
    pub color: Option<Color>,
}

/// A picture that browsers show.
#[derive(Debug, Clone)]
pub struct Logo {
    pub media_type: &'static str,
    pub bytes: Arc<[u8]>,
}

/// A color that is readable on white, and white on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color(pub [u8; 3]);

impl std::fmt::Display for Color {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Color([red, green, blue]) = self;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// Reads the settings; `value` returns the value of one.
pub(super) fn brand(value: &dyn Fn(&str) -> Option<String>, problems: &mut Problems<'_>) -> Brand {
    let mut checked = |flag: &str, problem: String| problems.add(flag, problem);
    let logo =
        value("panel-logo").and_then(|path| read_logo(&path).map_err(|problem| checked("panel-logo", problem)).ok());
    let color =
        value("panel-color").and_then(|text| read_color(&text).map_err(|problem| checked("panel-color", problem)).ok());
    let name = value("panel-name").map(|name| name.trim().to_string());
    if name.as_ref().is_some_and(|name| name.chars().count() > 60 || name.chars().any(char::is_control)) {
        checked("panel-name", "must be one line of at most 60 characters".into());
    }
    Brand { name, logo, color }
}

fn read_logo(path: &str) -> Result<Logo, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot be read: {path}: {error}"))?;
    if bytes.len() > MAX_LOGO_BYTES {
        return Err(format!("must be at most {MAX_LOGO_BYTES} bytes, and {path} has {}", bytes.len()));
    }
    let text = String::from_utf8_lossy(&bytes);
    let media_type = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ if text.contains("<svg") => "image/svg+xml",
        _ => return Err(format!("must be a picture (SVG, PNG, JPEG or WebP), and {path} is none")),
    };
    Ok(Logo { media_type, bytes: bytes.into() })
}

fn read_color(text: &str) -> Result<Color, String> {
    let digits = text
        .strip_prefix('#')
        .filter(|digits| digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let part = |index: usize| u8::from_str_radix(digits?.get(index..index + 2)?, 16).ok();
    let color = match (part(0), part(2), part(4)) {
        (Some(red), Some(green), Some(blue)) => Color([red, green, blue]),
        _ => return Err(format!("{COLOR_EXAMPLE}, not `{text}`")),
    };
    let contrast = 1.05 / (luminance(color) + 0.05);
    match contrast >= MIN_CONTRAST {
        true => Ok(color),
        false => Err(format!(
            "must be darker: white text on {color} has a contrast of {contrast:.1}, and at least {MIN_CONTRAST} is readable"
        )),
    }
}

/// Relative luminance (WCAG 2.2, definitions).
fn luminance(Color(parts): Color) -> f64 {
    let linear = |part: u8| match f64::from(part) / 255.0 {
        dark if dark <= 0.04045 => dark / 12.92,
        light => ((light + 0.055) / 1.055).powf(2.4),
    };
    let [red, green, blue] = parts.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_color_must_be_readable_with_white_text() {
        assert_eq!(read_color("#3446c2"), Ok(Color([0x34, 0x46, 0xc2])));
        assert!(read_color("#ffd400").unwrap_err().contains("must be darker"));
        for text in ["3446c2", "#3446c", "#3446cz", "red", "#+1+2+3"] {
            assert!(read_color(text).unwrap_err().contains("must be a color"), "{text}");
        }
    }

    #[test]
    fn a_logo_must_be_a_picture() {
        assert!(read_logo("/nowhere/logo.svg").unwrap_err().contains("cannot be read"));
        assert!(
            read_logo(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap_err().contains("must be a picture")
        );
        let icon = concat!(env!("CARGO_MANIFEST_DIR"), "/src/panel/asset/icon.svg");
        assert_eq!(read_logo(icon).expect("a picture").media_type, "image/svg+xml");
    }
}
