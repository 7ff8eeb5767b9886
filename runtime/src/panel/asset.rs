//! Static files of the panel. Their URLs contain a content hash, so that browsers may cache them for a year.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use salvo::Request;
use salvo::http::StatusCode;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::language::{self, Language, SOURCE, Tables};
use crate::server::{Response, headers, require_get};
use charter_core::error::{Error, Result};
use charter_core::header;

struct File {
    name: &'static str,
    kind: &'static str,
    /// Joined in this order to one response.
    parts: &'static [Part],
}

/// A file of the folder `asset`.
struct Part {
    path: &'static str,
    text: &'static str,
}

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! parts {
    ($($path:literal),+ $(,)?) => { &[$(Part { path: $path, text: include_str!(concat!("asset/", $path)) }),+] };
}

const FILES: &[File] = &[
    File {
        name: "panel.css",
        kind: STYLE,
        parts: parts![
            "style/layers.css",
            "style/base.css",
            "style/layout.css",
            "style/button.css",
            "style/form.css",
            "style/picker.css",
            "style/list.css",
            "style/cell.css",
            "style/page.css",
            "style/dialog.css",
            "style/search.css",
            "style/narrow.css",
            "style/print.css",
            "style/utility.css",
        ],
    },
    File { name: "panel.js", kind: SCRIPT, parts: parts!["panel.js"] },
    File { name: "page.js", kind: SCRIPT, parts: parts!["page.js"] },
    File { name: "reference.js", kind: SCRIPT, parts: parts!["reference.js"] },
    File { name: "create.js", kind: SCRIPT, parts: parts!["create.js"] },
    File { name: "selection.js", kind: SCRIPT, parts: parts!["selection.js"] },
    File { name: "cursor.js", kind: SCRIPT, parts: parts!["cursor.js"] },
    File { name: "peek.js", kind: SCRIPT, parts: parts!["peek.js"] },
    File { name: "rows.js", kind: SCRIPT, parts: parts!["rows.js"] },
    File { name: "cell.js", kind: SCRIPT, parts: parts!["cell.js"] },
    File { name: "conditions.js", kind: SCRIPT, parts: parts!["conditions.js"] },
    File { name: "search.js", kind: SCRIPT, parts: parts!["search.js"] },
    File { name: "passkey.js", kind: SCRIPT, parts: parts!["passkey.js"] },
    File { name: "icon.svg", kind: "image/svg+xml", parts: parts!["icon.svg"] },
];

/// The URL of a file.
pub(super) fn url(name: &str) -> String {
    format!("/panel/assets/{name}?{}", version())
}

/// The URL of the scripts' texts in the current language; `None` for English, which needs none.
pub(super) fn texts_url(languages: &Tables) -> Option<String> {
    let code = language::current_code();
    let language = languages.find(&code).filter(|_| code != SOURCE)?;
    Some(format!("/panel/assets/texts.{code}.js?{}", script_of(&language).1))
}

/// The texts of the scripts as a script, and its hash. A debug build reads the scripts from disk.
fn script_of(language: &Language) -> Cow<'_, (String, String)> {
    let made = || {
        let texts = texts_of(language);
        let hash = hash([version(), &texts]);
        (texts, hash)
    };
    if cfg!(debug_assertions) { Cow::Owned(made()) } else { Cow::Borrowed(language.script.get_or_init(made)) }
}

/// The texts of the scripts as a script, which sets a global variable.
fn texts_of(language: &Language) -> String {
    let scripts: String = FILES.iter().filter(|file| file.kind == SCRIPT).map(|file| text(file)).collect();
    let is_used =
        |(english, _): &(&str, &str)| scripts.contains(&format!("translate('{}'", english.replace('\'', "\\'")));
    let used: BTreeMap<&str, &str> = language.texts().filter(is_used).collect();
    format!("globalThis.panelTexts = {};\n", json!(used))
}

/// Hash of all files. One version for all, because scripts import each other.
fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| hash(FILES.iter().flat_map(|file| file.parts).map(|part| part.text)))
}

fn hash<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    hex::encode(&texts.into_iter().fold(Sha256::new(), |digest, text| digest.chain_update(text)).finalize()[..6])
}

/// Serves a file.
///
/// # Errors
/// [`Error::NotFound`], [`Error::MethodNotAllowed`], and those of the request's preconditions.
pub(super) fn serve(languages: &Tables, request: &Request, name: &str) -> Result<Response> {
    require_get(request)?;
    let language = name.strip_prefix("texts.").and_then(|rest| languages.find(rest.strip_suffix(".js")?));
    let cache_control = if cfg!(debug_assertions) { "no-cache" } else { "public, max-age=31536000, immutable" };
    let (kind, text) = match (language, FILES.iter().find(|file| file.name == name)) {
        (Some(language), _) => (SCRIPT, Cow::Owned(script_of(&language).0.clone())),
        // Imported scripts get versioned URLs too.
        (None, Some(file)) if file.kind == SCRIPT => {
            (SCRIPT, Cow::Owned(text(file).replace(".js';", &format!(".js?{}';", version()))))
        }
        (None, Some(file)) => (file.kind, text(file)),
        (None, None) => return Err(Error::NotFound),
    };
    let tag = charter_core::ops::tag(text.as_bytes());
    let answer = match headers::conditions(request)?.not_modified(&tag)? {
        true => Response::empty(StatusCode::NOT_MODIFIED),
        false => Response::bytes(kind, text.into_owned().into_bytes()),
    };
    Ok(answer.with_text(header::ETAG, &tag).with_text(header::CACHE_CONTROL, cache_control))
}

/// The text of a file. A debug build reads it from disk, so that an edit needs no rebuild.
fn text(file: &File) -> Cow<'static, str> {
    let texts: Vec<Cow<'static, str>> = file.parts.iter().map(part_text).collect();
    match texts.as_slice() {
        [one] => one.clone(),
        several => Cow::Owned(several.join("\n")),
    }
}

fn part_text(part: &Part) -> Cow<'static, str> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/panel/asset/");
    match cfg!(debug_assertions).then(|| std::fs::read_to_string(format!("{folder}{}", part.path))) {
        Some(Ok(text)) => Cow::Owned(text),
        _ => Cow::Borrowed(part.text),
    }
}
