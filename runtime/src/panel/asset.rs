//! The panel's own files: a style sheet, scripts, an icon. Their addresses change with their bytes, so browsers keep them.

use std::borrow::Cow;
use std::sync::OnceLock;

use salvo::Request;
use salvo::http::StatusCode;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::header;
use crate::server::{Answer, headers, only_get};

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
    File { name: "icon.svg", kind: "image/svg+xml", text: include_str!("asset/icon.svg") },
];

/// The address of a file.
pub fn address(name: &str) -> String {
    format!("/panel/assets/{name}?{}", of_all())
}

/// What stands behind every address: it changes with any of the files, since scripts ask for each other.
fn of_all() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| version(FILES.iter().map(|file| file.text)))
}

fn version<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    hex::encode(&texts.into_iter().fold(Sha256::new(), |digest, text| digest.chain_update(text)).finalize()[..6])
}

/// Answers one of them.
///
/// # Errors
/// [`Error::NotFound`], [`Error::MethodNotAllowed`], and what conditions of the request come to.
pub fn answer(request: &Request, name: &str) -> Result<Answer> {
    only_get(request)?;
    let file = FILES.iter().find(|file| file.name == name).ok_or(Error::NotFound)?;
    let kept = if cfg!(debug_assertions) { "no-cache" } else { "public, max-age=31536000, immutable" };
    let text = match file.kind {
        // What a script imports is kept by browsers too.
        SCRIPT => Cow::Owned(text(file).replace(".js';", &format!(".js?{}';", of_all()))),
        _ => text(file),
    };
    let tag = crate::ops::tag(text.as_bytes());
    let answer = match headers::conditions(request)?.not_modified(&tag)? {
        true => Answer::empty(StatusCode::NOT_MODIFIED),
        false => Answer::bytes(file.kind, text.into_owned().into_bytes()),
    };
    Ok(answer
        .with_text(header::ETAG, &tag)
        .with_text(header::CACHE_CONTROL, kept)
        .with_text(header::TYPE_OPTIONS, "nosniff"))
}

/// In a debug build the file as it is now, so that who writes on it sees it at once.
fn text(file: &File) -> Cow<'static, str> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/panel/asset/");
    match cfg!(debug_assertions).then(|| std::fs::read_to_string(format!("{path}{}", file.name))) {
        Some(Ok(text)) => Cow::Owned(text),
        _ => Cow::Borrowed(file.text),
    }
}
