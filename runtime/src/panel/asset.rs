//! The panel's own files: a style sheet, a script, an icon. Their addresses change with their bytes, so browsers keep them.

use std::borrow::Cow;
use std::sync::OnceLock;

use salvo::Request;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::header;
use crate::server::Answer;

struct File {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

const FILES: &[File] = &[
    File { name: "panel.css", kind: "text/css; charset=utf-8", text: include_str!("asset/panel.css") },
    File { name: "panel.js", kind: "text/javascript; charset=utf-8", text: include_str!("asset/panel.js") },
    File { name: "icon.svg", kind: "image/svg+xml", text: include_str!("asset/icon.svg") },
];

/// The address of a file.
pub fn address(name: &str) -> String {
    static VERSION: OnceLock<String> = OnceLock::new();
    let version = VERSION.get_or_init(|| {
        let digest = FILES.iter().fold(Sha256::new(), |digest, file| digest.chain_update(file.text)).finalize();
        digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    });
    format!("/panel/assets/{name}?{version}")
}

/// Answers one of them.
///
/// # Errors
/// [`Error::NotFound`], [`Error::MethodNotAllowed`].
pub fn answer(request: &Request, name: &str) -> Result<Answer> {
    if !matches!(request.method().as_str(), "GET" | "HEAD") {
        return Err(Error::MethodNotAllowed(vec!["GET"]));
    }
    let file = FILES.iter().find(|file| file.name == name).ok_or(Error::NotFound)?;
    let kept = if cfg!(debug_assertions) { "no-cache" } else { "public, max-age=31536000, immutable" };
    Ok(Answer::bytes(file.kind, text(file).into_owned().into_bytes())
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
