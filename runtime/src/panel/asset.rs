//! Static files of the panel. Their URLs contain a content hash, so that browsers may cache them for a year.

use std::borrow::Cow;
use std::sync::OnceLock;

use salvo::Request;
use salvo::http::StatusCode;
use sha2::{Digest, Sha256};

use crate::server::{Response, headers, require_get};
use charter_core::error::{Error, Result};
use charter_core::header;

struct File {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

const FILES: &[File] = &[
    File { name: "panel.css", kind: "text/css; charset=utf-8", text: include_str!("asset/panel.css") },
    File { name: "panel.js", kind: SCRIPT, text: include_str!("asset/panel.js") },
    File { name: "page.js", kind: SCRIPT, text: include_str!("asset/page.js") },
    File { name: "reference.js", kind: SCRIPT, text: include_str!("asset/reference.js") },
    File { name: "rows.js", kind: SCRIPT, text: include_str!("asset/rows.js") },
    File { name: "conditions.js", kind: SCRIPT, text: include_str!("asset/conditions.js") },
    File { name: "search.js", kind: SCRIPT, text: include_str!("asset/search.js") },
    File { name: "passkey.js", kind: SCRIPT, text: include_str!("asset/passkey.js") },
    File { name: "icon.svg", kind: "image/svg+xml", text: include_str!("asset/icon.svg") },
];

/// The URL of a file.
pub(super) fn url(name: &str) -> String {
    format!("/panel/assets/{name}?{}", version())
}

/// Hash of all files. One version for all, because scripts import each other.
fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| hash(FILES.iter().map(|file| file.text)))
}

fn hash<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    hex::encode(&texts.into_iter().fold(Sha256::new(), |digest, text| digest.chain_update(text)).finalize()[..6])
}

/// Serves a file.
///
/// # Errors
/// [`Error::NotFound`], [`Error::MethodNotAllowed`], and those of the request's preconditions.
pub(super) fn serve(request: &Request, name: &str) -> Result<Response> {
    require_get(request)?;
    let file = FILES.iter().find(|file| file.name == name).ok_or(Error::NotFound)?;
    let cache_control = if cfg!(debug_assertions) { "no-cache" } else { "public, max-age=31536000, immutable" };
    let text = match file.kind {
        // Imported scripts get versioned URLs too.
        SCRIPT => Cow::Owned(text(file).replace(".js';", &format!(".js?{}';", version()))),
        _ => text(file),
    };
    let tag = charter_core::ops::tag(text.as_bytes());
    let answer = match headers::conditions(request)?.not_modified(&tag)? {
        true => Response::empty(StatusCode::NOT_MODIFIED),
        false => Response::bytes(file.kind, text.into_owned().into_bytes()),
    };
    Ok(answer.with_text(header::ETAG, &tag).with_text(header::CACHE_CONTROL, cache_control))
}

/// The text of a file. A debug build reads it from disk, so that an edit needs no rebuild.
fn text(file: &File) -> Cow<'static, str> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/panel/asset/");
    match cfg!(debug_assertions).then(|| std::fs::read_to_string(format!("{path}{}", file.name))) {
        Some(Ok(text)) => Cow::Owned(text),
        _ => Cow::Borrowed(file.text),
    }
}
