//! Every answer that a test is given, held against the description of the API: its status, each of its headers, its body.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use reqwest::Method;
use serde_json::Value;

use super::Answer;
use super::schema::{problems, resolve};

/// Each answer by its status.
type Answers = BTreeMap<u16, Described>;

/// What is said of one answer.
struct Described {
    /// Its headers, in lower case.
    headers: Vec<String>,
    /// The schema of its JSON, where it has any.
    schema: Option<Value>,
}

struct Description {
    whole: Value,
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
const PLUMBING: [&str; 5] = ["content-encoding", "content-length", "content-type", "date", "transfer-encoding"];

/// The page for people, and what it loads: no part of the API.
const PAGES: &str = "/docs";

/// That of the repository, which `openapi::snapshot` holds against the server.
fn description() -> &'static Description {
    static DESCRIPTION: OnceLock<Description> = OnceLock::new();
    DESCRIPTION.get_or_init(|| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.json");
        let text = std::fs::read_to_string(path).expect("the description is there");
        read(serde_json::from_str(&text).expect("it is JSON"))
    })
}

fn read(description: Value) -> Description {
    let described = |answer: &Value| {
        let answer = resolve(&description, answer);
        let headers = answer["headers"].as_object().into_iter().flatten();
        let schema = answer.pointer("/content/application~1json/schema").cloned();
        Described { headers: headers.map(|(name, _)| name.to_ascii_lowercase()).collect(), schema }
    };
    let entries = |value: &Value| value.as_object().expect("an object").clone().into_iter();
    let answers = |operation: &Value| -> Answers {
        let answers = entries(&operation["responses"]);
        answers.map(|(status, answer)| (status.parse().expect("a status"), described(&answer))).collect()
    };
    let path = |(path, methods): (String, Value)| Path {
        parts: path.split('/').map(String::from).collect(),
        answers: entries(&methods).map(|(name, operation)| (name.to_ascii_uppercase(), answers(&operation))).collect(),
    };
    let refusal = |status: u16| described(&description["components"]["responses"][format!("Error{status}")]);
    let paths = entries(&description["paths"]).map(path).collect();
    let refusals = [401, 403, 405, 429].map(|status| (status, refusal(status))).into();
    Description { paths, refusals, whole: description }
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
pub fn check(method: &Method, path: &str, answer: &Answer) {
    let status = answer.status;
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
    let (method, is_told_only) = if method == Method::HEAD { ("GET", true) } else { (method.as_str(), false) };
    let answers = match described.answers.get(method) {
        Some(answers) => answers,
        None => &description().refusals,
    };
    let named = answers.get(&status).or_else(|| description().refusals.get(&status).filter(|_| status == 405));
    let named =
        named.unwrap_or_else(|| panic!("{method} {path} answers {status}, which docs/openapi.json does not say"));
    for name in answer.headers.keys().map(|name| name.as_str()).filter(|name| !PLUMBING.contains(name)) {
        let found = named.headers.iter().any(|known| known == name);
        assert!(found, "{method} {path} answers {status} with `{name}`, which docs/openapi.json does not say");
    }
    if !is_told_only && answer.header("content-type") == Some("application/json") {
        let schema = named.schema.as_ref();
        let schema =
            schema.unwrap_or_else(|| panic!("{method} {path}: docs/openapi.json knows of no body with {status}"));
        let found = problems(&description().whole, schema, &answer.json(), "");
        assert!(
            found.is_empty(),
            "{method} {path} answers {status} with what docs/openapi.json does not say: {found:#?}"
        );
    }
}
