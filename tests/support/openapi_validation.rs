//! Validates every response in the tests against the OpenAPI document: status, headers and body.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use reqwest::Method;
use serde_json::Value;

use super::Answer;
use super::schema::{problems, resolve};

/// Responses by status.
type Answers = BTreeMap<u16, Described>;

/// One described response.
struct Described {
    /// Its headers, in lower case.
    headers: Vec<String>,
    /// The JSON schema of its body, if it has one.
    schema: Option<Value>,
}

struct Description {
    document: Value,
    paths: Vec<Path>,
    /// Errors of every path below `/api/v1` for an unknown method, which the document describes in prose.
    errors: Answers,
}

/// A path by its segments, with the responses of each method.
struct Path {
    parts: Vec<String>,
    answers: BTreeMap<String, Answers>,
}

/// Headers of HTTP itself that any response can have, and the content type, which the document has as a key.
const HTTP_HEADERS: [&str; 5] = ["content-encoding", "content-length", "content-type", "date", "transfer-encoding"];

/// The documentation page and its files, which are not part of the API.
const PAGES: &str = "/docs";

/// The document of the repository. `openapi::snapshot` compares it with the server's.
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
    let error = |status: u16| described(&description["components"]["responses"][format!("Error{status}")]);
    let paths = entries(&description["paths"]).map(path).collect();
    let errors = [401, 403, 405, 429].map(|status| (status, error(status))).into();
    Description { paths, errors, document: description }
}

impl Path {
    /// The number of literal segments that match. `None` if this is another path.
    fn matching_segments(&self, parts: &[&str]) -> Option<usize> {
        let same = |(known, given): (&String, &&str)| match known.starts_with('{') {
            true => Some(0),
            false => (known == given).then_some(1),
        };
        (self.parts.len() == parts.len()).then(|| self.parts.iter().zip(parts).map(same).sum::<Option<usize>>())?
    }
}

/// True for paths of a test's own resources, which the document does not contain.
fn is_test_resource(parts: &[&str]) -> bool {
    let resource = parts.get(3);
    resource.is_some_and(|name| !description().paths.iter().any(|path| path.parts.get(3).is_some_and(|n| n == name)))
}

/// Panics if the document does not describe this response. Skipped while the document is being updated.
#[track_caller]
pub fn check(method: &Method, path: &str, answer: &Answer) {
    let status = answer.status;
    if std::env::var_os("UPDATE").is_some() {
        return;
    }
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    let parts: Vec<&str> = path.split('/').collect();
    let known =
        description().paths.iter().filter_map(|described| Some((described.matching_segments(&parts)?, described)));
    let Some((_, described)) = known.max_by_key(|(words, _)| *words) else {
        let refused = path.starts_with(PAGES) || matches!(status, 401 | 403 | 404 | 429) || is_test_resource(&parts);
        assert!(refused, "{method} {path} answers {status}, and docs/openapi.json has no such path");
        return;
    };
    let (method, is_head) = if method == Method::HEAD { ("GET", true) } else { (method.as_str(), false) };
    let answers = match described.answers.get(method) {
        Some(answers) => answers,
        None => &description().errors,
    };
    let named = answers.get(&status).or_else(|| description().errors.get(&status).filter(|_| status == 405));
    let named =
        named.unwrap_or_else(|| panic!("{method} {path} answers {status}, which docs/openapi.json does not describe"));
    for name in answer.headers.keys().map(|name| name.as_str()).filter(|name| !HTTP_HEADERS.contains(name)) {
        let is_described = named.headers.iter().any(|known| known == name);
        assert!(
            is_described,
            "{method} {path} answers {status} with `{name}`, which docs/openapi.json does not describe"
        );
    }
    if !is_head && answer.header("content-type") == Some("application/json") {
        let schema = named.schema.as_ref();
        let schema =
            schema.unwrap_or_else(|| panic!("{method} {path}: docs/openapi.json knows of no body with {status}"));
        let problems_found = problems(&description().document, schema, &answer.json(), "");
        assert!(
            problems_found.is_empty(),
            "{method} {path} answers {status} with what docs/openapi.json does not describe: {problems_found:#?}"
        );
    }
}
