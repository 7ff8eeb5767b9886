//! Error responses: format, status, code, and no internal details.

use reqwest::Method;
use serde_json::json;

use crate::support::{Server, keys, on_both};

on_both!(
    every_error_has_a_message_and_a_code,
    a_validation_error_maps_each_invalid_field_to_messages,
    every_path_of_the_api_is_401_without_credentials_also_an_unknown_one,
    unknown_path_is_404,
    wrong_method_is_405_with_allow,
    checks_run_in_the_order_401_403_404_422,
    malformed_body_is_400,
    empty_body_is_an_object_without_fields,
    body_has_at_most_1000_fields,
    last_of_duplicate_json_keys_wins,
    text_that_the_database_cannot_store_is_refused,
    deeply_nested_json_is_refused,
    trailing_slash_is_ignored,
    head_returns_the_headers_of_get_without_a_body,
    internal_error_reveals_only_a_request_id,
    responses_are_json_with_a_request_id,
);

#[test]
fn every_error_code_is_documented_once_with_its_status() {
    let codes = charter_runtime::error::CODES;
    for (index, (code, status, meaning)) in codes.iter().enumerate() {
        assert!(code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{code}");
        assert!((400..600).contains(status), "{code}: {status}");
        assert!(meaning.ends_with('.'), "{code}: {meaning}");
        assert!(codes[..index].iter().all(|(other, ..)| other != code), "{code} is there twice");
    }
}

#[test]
fn every_error_has_a_documented_code_and_every_code_an_error() {
    use charter_runtime::error::{CODES, Error, FieldErrors};
    let errors = [
        Error::Malformed("m".into()),
        Error::Unauthenticated,
        Error::InvalidToken,
        Error::AbilityMissing("a".into()),
        Error::RoleAbilityMissing("a".into()),
        Error::RequestTimeout,
        Error::PermissionMissing("p".into()),
        Error::FieldsForbidden(Default::default()),
        Error::AdministratorsOnly,
        Error::Forbidden("why".into()),
        Error::UserDeactivated,
        Error::NotFound,
        Error::MethodNotAllowed(vec!["GET"]),
        Error::Conflict("c".into()),
        Error::Frozen("f".into()),
        Error::TransitionRefused { message: "m".into(), state: "open".into() },
        Error::ActionRefused("m".into()),
        Error::UniqueViolation("roles_name_key".into()),
        Error::InProgress,
        Error::PreconditionFailed,
        Error::PayloadTooLarge(1),
        Error::FileTooLarge(1),
        Error::FieldsTooLarge(1),
        Error::UnsupportedMediaType("Send it as JSON."),
        Error::LinkInvalid,
        Error::LinkExpired,
        Error::RangeNotSatisfiable(10),
        Error::Invalid(FieldErrors::default()),
        Error::RateLimited(1),
        Error::Overloaded,
        Error::Unavailable("u".into()),
        Error::Internal("i".into()),
    ];
    let mut seen = Vec::new();
    for error in errors {
        let row = CODES.iter().find(|(code, ..)| *code == error.code());
        let (code, status, _) = row.unwrap_or_else(|| panic!("`{}` is not in the table", error.code()));
        assert_eq!(error.status(), *status, "{code}");
        let body = error.body("the-request");
        assert_eq!(body["code"], *code);
        assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{code}");
        seen.push(*code);
    }
    let mut table: Vec<&str> = CODES.iter().map(|(code, ..)| *code).collect();
    seen.sort_unstable();
    seen.dedup();
    table.sort_unstable();
    assert_eq!(seen, table);
}

async fn every_error_has_a_message_and_a_code(server: Server) {
    let admin = server.admin();
    let answers = [
        (admin.post_text("/products", "{").await, 400),
        (server.anonymous().get("/products").await, 401),
        (server.able(&["members:read"]).await.get("/products").await, 403),
        (admin.get("/products/1").await, 404),
        (admin.delete("/products").await, 405),
        (admin.delete("/users/1").await, 409),
        (admin.send_bytes(Method::POST, "/products", Some("text/plain"), "x").await, 415),
        (admin.post("/products", json!({})).await, 422),
        (admin.get("~/nowhere").await, 404),
    ];
    for (answer, status) in answers {
        let body = answer.status(status).json();
        let expected: &[&str] = if status == 422 { &["code", "errors", "message"] } else { &["code", "message"] };
        assert_eq!(keys(&body), expected, "{status}");
        assert!(body["message"].is_string() && body["code"].is_string(), "{body}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

async fn a_validation_error_maps_each_invalid_field_to_messages(server: Server) {
    let body = server.admin().post("/products", json!({ "sku": 1 })).await.refused(422, "validation_failed");
    assert_eq!(body["errors"], json!({ "name": ["is required"], "sku": ["must be a string"] }));
}

async fn every_path_of_the_api_is_401_without_credentials_also_an_unknown_one(server: Server) {
    let anonymous = server.anonymous();
    for path in
        ["/products", "/products/1", "/nope", "/", "", "/products/1/nope", "/exchange_rates/convert", "/settings"]
    {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let answer = anonymous.send(method, path, None).await;
            answer.refused(401, "unauthenticated");
            assert_eq!(answer.header("www-authenticate"), Some(r#"Bearer realm="charter""#), "{path}");
        }
    }
    // Before the body or the query string is read.
    anonymous.post_text("/products", "{").await.refused(401, "unauthenticated");
    anonymous.get("/products?q[name_eq]=%").await.refused(401, "unauthenticated");
}

async fn unknown_path_is_404(server: Server) {
    let admin = server.admin();
    for path in [
        "/nope",
        "/",
        "",
        "/product",
        "/Products",
        "/products/1/nope",
        "/products/1/2",
        "/users/1/activate",
        "/exchange_rates/x/convert",
    ] {
        admin.get(path).await.refused(404, "not_found");
    }
    for path in ["~/", "~/nope", "~/api", "~/api/v2/products", "~/health", "~/health/nope"] {
        admin.get(path).await.refused(404, "not_found");
    }
    // Paths that only share a prefix with the API are 404 without a token.
    for path in ["~/api/v12/products", "~/api/v1x", "~/api/v2"] {
        server.anonymous().get(path).await.refused(404, "not_found");
    }
    for target in [
        "/api/v1/%ff",
        "/api/v1/products/%ff",
        "/api/v1/products/%00",
        "//",
        "/api/v1//products",
        "/api/v1/../v1/products",
        "*",
    ] {
        let status = admin.raw("GET", target.as_bytes()).await;
        assert!(status < 500, "{target}: {status}");
    }
}

async fn wrong_method_is_405_with_allow(server: Server) {
    let admin = server.admin();
    for (method, path, allow) in [
        (Method::PUT, "/products", "GET, HEAD, POST"),
        (Method::DELETE, "/products", "GET, HEAD, POST"),
        (Method::POST, "/products/1", "GET, HEAD, PUT, PATCH, DELETE"),
        (Method::POST, "/currencies", "GET, HEAD"),
        (Method::OPTIONS, "/products", "GET, HEAD, POST"),
        (Method::GET, "/users/1/deactivate", "POST"),
        (Method::DELETE, "/exchange_rates/convert", "GET, HEAD"),
    ] {
        let answer = admin.send(method, path, None).await;
        answer.refused(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some(allow), "{path}");
    }
    for method in ["TRACE", "PROPFIND", "get", "X"] {
        let status = admin.raw(method, b"/api/v1/products").await;
        assert!((400..500).contains(&status), "{method}: {status}");
    }
    // Checked before the ability, and after the credentials.
    server.able(&["members:read"]).await.delete("/products").await.refused(405, "method_not_allowed");
}

async fn checks_run_in_the_order_401_403_404_422(server: Server) {
    let bad = || json!({ "nope": 1 });
    server.anonymous().put("/products/999", bad()).await.refused(401, "unauthenticated");
    server.able(&["members:write"]).await.put("/products/999", bad()).await.refused(403, "ability_missing");
    let admin = server.admin();
    admin.put("/products/999", bad()).await.refused(404, "not_found");
    admin.post("/products", json!({ "name": "x" })).await.created("product");
    admin.put("/products/1", bad()).await.refused(422, "validation_failed");
    admin.get("/products/999?include=nope").await.refused(404, "not_found");
    admin.get("/products/1?include=nope").await.refused(422, "validation_failed");
}

async fn malformed_body_is_400(server: Server) {
    let admin = server.admin();
    let malformed: [&[u8]; 20] = [
        b"{",
        b"}",
        b"{\"name\":}",
        b"{\"name\":\"x\",}",
        b"{name:\"x\"}",
        b"{'name':'x'}",
        b"[]",
        b"[{\"name\":\"x\"}]",
        b"\"name\"",
        b"1",
        b"null",
        b"true",
        b"{\"name\":\"x\"}{}",
        b"{\"name\":\"x\"} x",
        b"{\"name\":\"\xff\"}",
        b"\xef\xbb\xbf\xef\xbb\xbf{\"name\":\"x\"}",
        b"{\"name\":\"a\nb\"}",
        b"{\"name\":01}",
        b"{\"name\":NaN}",
        b"name=x",
    ];
    for body in malformed {
        let answer = admin.post_text("/products", body).await;
        assert_eq!(answer.status, 400, "{:?}: {}", String::from_utf8_lossy(body), answer.text);
        answer.refused(400, "malformed_request");
    }
    assert_eq!(admin.get("/products").await.ok()["meta"]["total"], 0);
}

async fn empty_body_is_an_object_without_fields(server: Server) {
    let admin = server.admin();
    for body in ["", " ", "\r\n\t", "{}"] {
        let answer = admin.post_text("/products", body).await;
        assert_eq!(answer.invalid_fields(), ["name"], "{body:?}");
    }
}

async fn body_has_at_most_1000_fields(server: Server) {
    let admin = server.admin();
    let body = |count: usize| {
        let fields: Vec<String> = (0..count).map(|n| format!("\"x{n}\":1")).collect();
        format!("{{{}}}", fields.join(","))
    };
    // Each unknown field, and the missing name.
    assert_eq!(admin.post_text("/products", body(1000)).await.invalid_fields().len(), 1001);
    admin.post_text("/products", body(1001)).await.refused(400, "malformed_request");
    let custom = admin.post_text("/products", format!(r#"{{"name":"x","custom_fields":{}}}"#, body(1001))).await;
    assert_eq!(custom.invalid("custom_fields"), "must have at most 1000 fields");
    // A repeated key replaces the previous one.
    let again = format!("{{{}\"name\":\"Lamp\"}}", "\"name\":\"x\",".repeat(1001));
    assert_eq!(admin.post_text("/products", again).await.created("product")["name"], "Lamp");
}

async fn last_of_duplicate_json_keys_wins(server: Server) {
    let admin = server.admin();
    let body = r#"{"name":"first","name":"last","sku":1,"sku":"s"}"#;
    let product = admin.post_text("/products", body).await.created("product");
    assert_eq!([&product["name"], &product["sku"]], ["last", "s"]);
}

async fn text_that_the_database_cannot_store_is_refused(server: Server) {
    let admin = server.admin();
    for text in [r#""a\u0000b""#, r#""\ud800""#, r#""\udc00x""#, r#""\ud800\u0041""#] {
        for field in ["name", "description", "sku"] {
            let body = format!(r#"{{"name":"x","{field}":{text}}}"#);
            let answer = admin.post_text("/products", body).await;
            assert_eq!(answer.invalid_fields(), [field], "{text}");
        }
        let tags = admin.post_text("/products", format!(r#"{{"name":"x","tag_list":["a",{text}]}}"#)).await;
        assert_eq!(tags.invalid_fields(), ["tag_list"], "{text}");
        // A key that is not valid text is invalid JSON, or an unknown field.
        let key = admin.post_text("/products", format!(r#"{{"name":"x",{text}:1}}"#)).await;
        assert!([400, 422].contains(&key.status), "{}", key.text);
        let filters = format!(r#"[{{"field":"name","predicate":"eq","value":{text}}}]"#);
        let view = format!(r#"{{"name":"v","entity_type":"products","columns":["name"],"filters":{filters}}}"#);
        assert_eq!(admin.post_text("/custom_views", view).await.invalid_fields(), ["filters"], "{text}");
    }
    // An escaped surrogate pair is a valid character.
    let product = admin.post_text("/products", r#"{"name":"\ud834\udd1e"}"#).await.created("product");
    assert_eq!(product["name"], "𝄞");
}

async fn deeply_nested_json_is_refused(server: Server) {
    let admin = server.admin();
    for depth in [200, 100_000] {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            for (path, body) in [
                ("/products", format!(r#"{{"name":"x","tag_list":{deep}}}"#)),
                ("/products", format!(r#"{{"name":"x","custom_fields":{deep}}}"#)),
                ("/products", format!(r#"{{"name":{deep}}}"#)),
                ("/products", deep.clone()),
                (
                    "/custom_views",
                    format!(r#"{{"name":"x","entity_type":"products","columns":["name"],"filters":[{deep}]}}"#),
                ),
            ] {
                let answer = admin.post_text(path, body).await;
                assert!([400, 422].contains(&answer.status), "{}", answer.text);
            }
        }
    }
}

async fn trailing_slash_is_ignored(server: Server) {
    let admin = server.admin();
    let product = admin.post("/products/", json!({ "name": "x" })).await.created("product");
    assert_eq!(admin.get("/products/").await.records("products").len(), 1);
    assert_eq!(admin.get("/products/1/").await.record("product"), product);
    admin.get("/products/?q[name_eq]=x").await.ok();
    admin.put("/products/1/", json!({ "name": "y" })).await.record("product");
    admin.get("/exchange_rates/convert/").await.refused(422, "validation_failed");
    admin.get("/settings/").await.record("settings");
    admin.delete("/products/1/").await.deleted();
    server.anonymous().get("~/health/live/").await.status(200);
}

async fn head_returns_the_headers_of_get_without_a_body(server: Server) {
    let admin = server.admin();
    admin.post("/products", json!({ "name": "x" })).await.created("product");
    for path in ["/products", "/products/1", "/settings"] {
        let head = admin.send(Method::HEAD, path, None).await;
        assert_eq!(head.status(200).text, "");
        assert_eq!(head.header("content-type"), Some("application/json"));
    }
    assert_eq!(admin.send(Method::HEAD, "/products/2", None).await.status(404).text, "");
    assert_eq!(server.anonymous().send(Method::HEAD, "/products", None).await.status(401).text, "");
    admin.send(Method::HEAD, "/users/1/deactivate", None).await.status(405);
}

async fn internal_error_reveals_only_a_request_id(server: Server) {
    server.sql("ALTER TABLE members RENAME TO elsewhere").await;
    let answer = server.admin().get("/members").await;
    let body = answer.refused(500, "internal_error");
    assert_eq!(keys(&body), ["code", "message"]);
    let message = body["message"].as_str().unwrap_or_default();
    let id = answer.header("x-request-id").expect("every response has the id of its request");
    assert!(message.contains(id), "{message} of {id}");
    for hidden in ["members", "elsewhere", "SELECT", "relation", "table"] {
        assert!(!answer.text.contains(hidden), "{}", answer.text);
    }
}

async fn responses_are_json_with_a_request_id(server: Server) {
    let admin = server.admin();
    let one = admin.get("/products").await;
    let two = admin.get("/products/1").await;
    for answer in [&one, &two] {
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
    assert_ne!(one.header("x-request-id").expect("an id"), two.header("x-request-id").expect("an id"));
}
