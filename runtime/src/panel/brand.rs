//! Brand of the application on the pages: its logo, and a style sheet with its color. Both URLs contain a hash.

use maud::{Markup, html};
use salvo::Request;
use sha2::{Digest, Sha256};

use super::layout;
use crate::config::{Brand, Color};
use crate::server::{Response, ServerState, require_get};
use charter_core::error::{Error, Result};
use charter_core::header;

const STYLE: &str = "brand.css";
const LOGO: &str = "logo";

/// The link to the style sheet, if the application has a color.
pub(super) fn style_link(brand: &Brand) -> Markup {
    match brand.color {
        Some(color) => html! { link rel="stylesheet" href=(url(STYLE, style(color).as_bytes())); },
        None => html! {},
    }
}

/// The icon of browser tabs.
pub(super) fn icon_url(brand: &Brand) -> Option<String> {
    brand.logo.as_ref().map(|logo| url(LOGO, &logo.bytes))
}

/// The logo of the application, else that of the panel. The name of the application is next to it.
pub(super) fn mark(state: &ServerState) -> Markup {
    match icon_url(&state.config.brand) {
        Some(url) => html! { img .mark.logo src=(url) alt=""; },
        None => layout::logo(),
    }
}

fn url(name: &str, content: &[u8]) -> String {
    format!("/panel/assets/{name}?{}", hex::encode(&Sha256::digest(content)[..6]))
}

/// The tokens of the accent. The dark theme mixes the color with white, and the soft accents with the ground, which
/// keeps text on them readable.
fn style(color: Color) -> String {
    format!(
        "@layer base {{ :root {{ --accent: light-dark({color}, color-mix(in oklab, {color} 35%, white)); \
         --accent-soft: light-dark(color-mix(in oklab, {color} 8%, white), color-mix(in oklab, {color} 25%, #10131a)); }} }}"
    )
}

/// Returns true if a file belongs to the brand.
pub(super) fn is_file(name: &str) -> bool {
    matches!(name, STYLE | LOGO)
}

/// Serves a file of the brand.
///
/// # Errors
/// [`Error::NotFound`], [`Error::MethodNotAllowed`].
pub(super) fn serve(brand: &Brand, request: &Request, name: &str) -> Result<Response> {
    require_get(request)?;
    let file = match name {
        STYLE => brand.color.map(|color| ("text/css; charset=utf-8", style(color).into_bytes())),
        _ => brand.logo.as_ref().map(|logo| (logo.media_type, logo.bytes.to_vec())),
    };
    let (media_type, bytes) = file.ok_or(Error::NotFound)?;
    // A logo may be an SVG with a script, which must not run when somebody opens its URL.
    Ok(Response::bytes(media_type, bytes)
        .with_text(header::SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; sandbox")
        .with_text(header::CACHE_CONTROL, "public, max-age=31536000, immutable"))
}
