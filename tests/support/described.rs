//! Every answer that a test is given, held against the description of the API: its status and each of its headers.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// The headers of each answer, in lower case, by its status.
type Answers = BTreeMap<u16, Vec<String>>;

struct Description {
    paths: Vec<Path>,
    /// What every path below `/api/v1` answers to a method that it does not have, which the description says in words.
    refusals: Answers,
}

/// A path by its parts, with its answers by method.
struct Path {
    parts: Vec<String>,
    answers: BTreeMap<String, Answers>,
}

/// What carries any answer of HTTP, compressed or not, and the type of the body, which the description has as the key of its
/// content.
const PLUMBING: [&str; 6] = ["content-encoding", "content-length", "content-type", "date", "transfer-encoding", "vary"];

/// The page for people, and what it loads: no part of the API.
const PAGES: &str = "/docs";

/// That of the repository, which `openapi::snapshot` holds against the server.
fn description() -> &'static Description {
    static DESCRIPTION: OnceLock<Description> = OnceLock::new();
    DESCRIPTION.get_or_init(|| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.json");
        let text = std::fs::read_to_string(path).expect("the description is there");
        read(&serde_json::from_str(&text).expect("it is JSON"))
    })
}

fn read(description: &Value) -> Description {
    let headers = |answer: &Value| -> Vec<String> {
        let answer = match answer["$ref"].as_str() {
            Some(reference) => description.pointer(&reference[1..]).expect("it leads somewhere"),
            None => answer,
        };
        let headers = answer["headers"].as_object().into_iter().flatten();
        headers.map(|(name, _)| name.to_ascii_lowercase()).collect()
    };
    let entries = |value: &Value| value.as_object().expect("an object").clone().into_iter();
    let answers = |operation: &Value| -> Answers {
        let answers = entries(&operation["responses"]);
        answers.map(|(status, answer)| (status.parse().expect("a status"), headers(&answer))).collect()
    };
    let path = |(path, methods): (String, Value)| Path {
        parts: path.split('/').map(String::from).collect(),
        answers: entries(&methods).map(|(name, operation)| (name.to_ascii_uppercase(), answers(&operation))).collect(),
    };
    let refusal = |status: u16| headers(&description["components"]["responses"][format!("Error{status}")]);
    Description {
        paths: entries(&description["paths"]).map(path).collect(),
        refusals: [401, 403, 405, 429].map(|status| (status, refusal(status))).into(),
    }
}

impl Path {
    /// How many parts of a path are said word for word, when it is this one.
    fn fits(&self, parts: &[&str]) -> Option<usize> {
        let same = |(known, given): (&String, &&str)| match known.starts_with('{') {
            true => Some(0),
            false => (known == given).then_some(1),
        };
        (self.parts.len() == parts.len()).then(|| self.parts.iter().zip(parts).map(same).sum::<Option<usize>>())?
    }
}

/// Whether a path leads to a resource that the records service does not have: one of a test's own.
fn is_of_test(parts: &[&str]) -> bool {
    let resource = parts.get(3);
    resource.is_some_and(|name| !description().paths.iter().any(|path| path.parts.get(3).is_some_and(|n| n == name)))
}

/// Panics when the description does not know of this answer, unless it is being written anew.
#[track_caller]
pub fn check(method: &Method, path: &str, status: u16, headers: &HeaderMap) {
    if std::env::var_os("UPDATE").is_some() {
        return;
    }
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    let parts: Vec<&str> = path.split('/').collect();
    let known = description().paths.iter().filter_map(|described| Some((described.fits(&parts)?, described)));
    let Some((_, described)) = known.max_by_key(|(words, _)| *words) else {
        let refused = path.starts_with(PAGES) || matches!(status, 401 | 403 | 404 | 429) || is_of_test(&parts);
        assert!(refused, "{method} {path} answers {status}, and docs/openapi.json has no such path");
        return;
    };
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    let answers = match described.answers.get(method) {
        Some(answers) => answers,
        None => &description().refusals,
    };
    let named = answers.get(&status).or_else(|| description().refusals.get(&status).filter(|_| status == 405));
    let named =
        named.unwrap_or_else(|| panic!("{method} {path} answers {status}, which docs/openapi.json does not say"));
    for name in headers.keys().map(|name| name.as_str()).filter(|name| !PLUMBING.contains(name)) {
        let found = named.iter().any(|known| known == name);
        assert!(found, "{method} {path} answers {status} with `{name}`, which docs/openapi.json does not say");
    }
}
