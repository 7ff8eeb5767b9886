//! QR code as inline SVG.

use std::fmt::Write;

use maud::{Markup, html};
use qrcode::{Color, QrCode};

use charter_core::error::{Error, Result};

/// Light modules around the code that readers need (ISO/IEC 18004).
const QUIET_ZONE: usize = 4;

/// Draws a text, black on white in both themes.
///
/// # Errors
/// [`Error::Internal`] if the text is too long.
pub(super) fn render(text: &str, label: &str) -> Result<Markup> {
    let code = QrCode::new(text).map_err(Error::internal)?;
    let width = code.width();
    let mut path = String::new();
    for (index, _) in code.to_colors().iter().enumerate().filter(|(_, color)| **color == Color::Dark) {
        let (x, y) = (index % width + QUIET_ZONE, index / width + QUIET_ZONE);
        write!(path, "M{x} {y}h1v1h-1z").map_err(Error::internal)?;
    }
    let size = width + 2 * QUIET_ZONE;
    Ok(html! {
        svg .qr viewBox={ "0 0 " (size) " " (size) } role="img" aria-label=(label) shape-rendering="crispEdges" {
            rect width=(size) height=(size) fill="#fff" {}
            path d=(path) fill="#000" {}
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qr_code_has_a_quiet_zone_and_escapes_its_label() {
        let drawn = render("otpauth://totp/A:b?secret=C", "\"<b>").unwrap().0;
        assert!(drawn.contains("viewBox=\"0 0 37 37\"") && drawn.contains("M4 4h1v1h-1z"), "{drawn}");
        assert!(drawn.contains("aria-label=\"&quot;&lt;b&gt;\""), "{drawn}");
        assert!(render(&"x".repeat(4_000), "").is_err());
    }
}
