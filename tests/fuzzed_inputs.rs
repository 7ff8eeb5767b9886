//! Unusual queries, bodies and ids on every route: no input causes a server error.

use std::collections::HashSet;
use std::mem::discriminant;

use charter_runtime::meta::Kind;
use reqwest::Method;
use serde_json::Value;

use crate::support::{Specimens, lists, on_both};

on_both!(
    no_query_string_causes_a_server_error,
    no_predicate_on_any_field_causes_a_server_error,
    no_body_causes_a_server_error,
    no_field_value_causes_a_server_error,
    no_id_causes_a_server_error,
);

/// Values that caused errors in other servers.
const VALUES: [&str; 44] = [
    "",
    " ",
    "0",
    "-1",
    "1",
    "1.5",
    "1e400",
    "-1e400",
    "1e-400",
    "NaN",
    "Infinity",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "99999999999999999999999999999999999999",
    "0x10",
    "true",
    "null",
    "undefined",
    "[]",
    "{}",
    "%00",
    "a%00b",
    "%F0%9D%84%9E",
    "%C3%84",
    "%E2%80%AE",
    "%EF%BF%BF",
    "'",
    "''",
    "%22",
    "%5C",
    "%25",
    "_",
    ";",
    "--",
    "/*",
    "$1",
    "?",
    ",",
    ",,",
    "1,2,x",
    "2026-01-01",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:60Z",
];

/// JSON values of every kind, and some that are invalid for every field.
const JSON: [&str; 38] = [
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1.5",
    "1e400",
    "-1e400",
    "1e-400",
    "123456789012345678901234567890",
    "9223372036854775807",
    "2147483648",
    "0.000000001",
    "\"\"",
    "\" \"",
    "\"x\"",
    "\"1\"",
    "\"-1\"",
    "\"1e400\"",
    "\"true\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\ud834\\udd1e\"",
    "\"2026-01-01\"",
    "\"2026-01-01T00:00:00Z\"",
    "\"0001-01-01T00:00:00-23:59\"",
    "\"9999-12-31T23:59:59-23:59\"",
    "[]",
    "[null]",
    "[1]",
    "[-1]",
    "[\"x\"]",
    "[\"\\u0000\"]",
    "[[]]",
    "[{}]",
    "{}",
    "{\"a\":null}",
    "{\"\\u0000\":1}",
];

/// The routes of a method, with ids of existing records.
fn paths(specimens: &Specimens, methods: &[&str]) -> Vec<(Method, String)> {
    let routes = charter_runtime::ops::routes(&specimens.state);
    let routes = routes.into_iter().filter(|route| methods.contains(&route.method));
    let path = |path: &str| path.trim_start_matches("/api/v1").replace("{id}", "1");
    routes.map(|route| (route.method.parse().expect("a method"), path(&route.path))).collect()
}

async fn no_query_string_causes_a_server_error(specimens: Specimens) {
    let client = specimens.admin();
    let parameters = [
        "page",
        "per_page",
        "sort",
        "include",
        "include[]",
        "fields",
        "view_id",
        "q[id_eq]",
        "q[id_in]",
        "q[id_in][]",
        "q[cf.x_eq]",
        "from",
        "at",
        "group",
        "sum",
        "max[]",
    ];
    let odd = [
        "q",
        "q[",
        "q[]",
        "q[]=1",
        "q[[]]=1",
        "q[a]b=1",
        "q[id_eq]=1&q[id_eq]=2",
        "&&&",
        "===",
        "?",
        "%",
        "%zz=1",
        "%ff",
        "=%fe",
        "q[id_eq",
        "q]id_eq[=1",
        "sort=-",
        "sort=--id",
        "sort=id&sort=",
        "fields=",
        "fields=,",
        "fields=id,id,id",
        "include=,,,",
        "page=1&page=x",
        "q[%00]=1",
        "q[id_or_id_or__eq]=1",
        "q[id.id.id_eq]=1",
        "q[.]=1",
        "q[cf.]=1",
        "q[cf._eq]=1",
        "q[id_not_not_eq]=1",
        "group=.&sum=.&min=,,&avg=cf.",
        "group=created_at.month.month,.month,created_at.",
    ];
    for (_, path) in paths(&specimens, &["GET"]) {
        for query in odd {
            let status = client.raw("GET", format!("/api/v1{path}?{query}").as_bytes()).await;
            assert!(status < 500, "{path}?{query}: {status}");
        }
        for (index, value) in VALUES.iter().enumerate() {
            // Three parameters of each path have the value, on each path other ones.
            for parameter in parameters.iter().cycle().skip(index + path.len()).take(3) {
                let answer = client.get(&format!("{path}?{parameter}={value}")).await;
                assert!(answer.status < 500, "{path}?{parameter}={value}: {}", answer.text);
            }
        }
    }
}

/// A value that a field of this kind can have.
fn fitting(kind: Kind) -> &'static str {
    match kind {
        Kind::Boolean => "true",
        Kind::Date => "2026-01-01",
        Kind::Time => "14:30:00",
        Kind::Timestamp { .. } => "2026-01-01T00:00:00Z",
        Kind::String { .. } | Kind::Text | Kind::Derived { .. } | Kind::Computed { .. } => "x'%25_",
        Kind::Enum { values } => values[0],
        _ => "1",
    }
}

async fn no_predicate_on_any_field_causes_a_server_error(specimens: Specimens) {
    let client = specimens.admin();
    let (mut answered, mut refused) = (0, 0);
    let mut refused_by = HashSet::new();
    for (list, resource) in lists(&specimens).await {
        let entry = specimens.state.catalog.get(resource).expect("it is linked");
        for field in entry.meta.fields {
            for predicate in charter_runtime::query::Predicate::names() {
                // The kind decides on invalid values, not the field's name.
                let is_new = refused_by.insert((discriminant(&field.kind), predicate));
                let odd: &[&str] = if is_new { &["%00", "1e400,x"] } else { &[] };
                for value in odd.iter().copied().chain([fitting(field.kind)]) {
                    let path = format!("{list}?q[{}_{predicate}]={value}", field.name);
                    let answer = client.get(&path).await;
                    assert!([200, 422].contains(&answer.status), "{path}: {}", answer.text);
                    if answer.status == 200 { answered += 1 } else { refused += 1 }
                }
            }
            for sign in ["", "-"] {
                client.get(&format!("{list}?sort={sign}{}", field.name)).await.ok();
            }
        }
    }
    assert!(answered > 800 && refused > 800, "{answered} answered, {refused} refused");
}

async fn no_body_causes_a_server_error(specimens: Specimens) {
    let client = specimens.admin();
    let bodies: Vec<Vec<u8>> = [
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "{}",
        "[]",
        "null",
        "0",
        "\"\"",
        "{\"\":1}",
        "{\"a\":1,\"a\":2}",
        "{\"id\":1}",
        "{{}}",
        "{\"a\"}",
        "\u{feff}{}",
        "{\"__proto__\":{}}",
        "{\"name\":{\"$ne\":1}}",
        "{\"a\":\"\\x\"}",
        "{\"a\":tru}",
        "{\"a\":1e}",
        "{\"a\":-}",
        "{\"a\":.5}",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .chain([
        b"\xff\xfe".to_vec(),
        b"{\"a\":\"\xc3\"}".to_vec(),
        vec![0; 100],
        vec![b'['; 50_000],
        b"{\"a\":".repeat(10_000),
    ])
    .collect();
    for (method, path) in paths(&specimens, &["POST", "PUT", "PATCH"]) {
        for (index, body) in bodies.iter().enumerate() {
            let kinds: &[Option<&str>] =
                if index > 2 { &[None] } else { &[None, Some("nonsense"), Some("application/json")] };
            for kind in kinds.iter().copied() {
                let answer = client.send_bytes(method.clone(), &path, kind, body.clone()).await;
                let start = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
                assert!(answer.status < 500, "{method} {path} {start:?}: {}", answer.text);
            }
        }
    }
}

async fn no_field_value_causes_a_server_error(specimens: Specimens) {
    let client = specimens.admin();
    for entry in specimens.state.catalog.entries() {
        for (method, path) in paths(&specimens, &["POST", "PUT"]) {
            let ours =
                path.strip_prefix(&format!("/{}", entry.meta.path)).is_some_and(|rest| rest.is_empty() || rest == "/1");
            // The administrator's own token and user stay as they are.
            let own = ["users", "tokens"].contains(&entry.meta.path) && method == Method::PUT;
            if !ours || own {
                continue;
            }
            let mut bodies = Vec::new();
            for value in JSON {
                let all = entry.meta.fields.iter().map(|field| format!(r#""{}":{value}"#, field.name));
                bodies.push(format!("{{{}}}", all.collect::<Vec<_>>().join(",")));
            }
            for field in entry.meta.fields {
                let alone =
                    ["1", "\"x\"", "\"1e-8\"", "\"\\ud834\\udd1e\"", "\"9999-12-31T23:59:59-23:59\"", "[]", "{}"];
                bodies.extend(alone.map(|value| format!(r#"{{"name":"x","{}":{value}}}"#, field.name)));
            }
            for body in bodies {
                let answer = client.send_bytes(method.clone(), &path, None, body.clone()).await;
                assert!(answer.status < 500, "{method} {path} {body}: {}", answer.text);
            }
        }
    }
    assert_eq!(client.get("/users/1").await.record("user")["is_admin"], Value::Bool(true));
}

async fn no_id_causes_a_server_error(specimens: Specimens) {
    let client = specimens.admin();
    let ids = [
        "0",
        "-1",
        "-0",
        "+1",
        "01",
        "1.0",
        "1e3",
        "9223372036854775807",
        "9223372036854775808",
        "x",
        "%00",
        "%20",
        "%2F",
        "%ff",
        "%F0%9D%84%9E",
        "..",
        "'",
        "1;",
        "1%00",
        "null",
        "{id}",
    ];
    for (method, path) in paths(&specimens, &["GET", "PUT", "DELETE", "POST"]) {
        if !path.contains("/1") {
            continue;
        }
        for id in ids {
            let target = format!("/api/v1{}", path.replacen("/1", &format!("/{id}"), 1));
            let status = client.raw(method.as_str(), target.as_bytes()).await;
            assert!(status < 500, "{method} {target}: {status}");
        }
    }
}
