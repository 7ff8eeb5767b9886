//! Request bodies: content type, maximum length, and refusal before the body arrives.

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Answer, Server, on_both};

on_both!(
    body_with_another_content_type_is_415,
    body_is_json_with_a_json_content_type_or_none,
    body_may_begin_with_a_byte_order_mark,
    body_over_the_limit_is_413,
    request_with_invalid_headers_is_refused_before_its_body,
    include_in_a_body_has_the_shape_of_a_response,
    action_without_input_refuses_fields,
);

async fn body_with_another_content_type_is_415(server: Server) {
    let admin = server.admin();
    for kind in [
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/json5",
        "application/merge-patch+json",
        "application/json-patch+json",
        "garbage",
        "application/json; charset=latin1",
    ] {
        let answer = admin.send_bytes(Method::POST, "/products", Some(kind), r#"{"name":"x"}"#).await;
        answer.refused(415, "unsupported_media_type");
    }
    let told = |answer: &Answer| answer.refused(415, "unsupported_media_type")["message"].to_string();
    let form = Some("application/x-www-form-urlencoded");
    let answer = admin.send_bytes(Method::POST, "/products", form, r#"{"name":"x"}"#).await;
    assert!(told(&answer).contains("The body is JSON"), "{}", answer.text);
    let latin = Some("application/json; charset=latin1");
    let answer = admin.send_bytes(Method::POST, "/products", latin, r#"{"name":"x"}"#).await;
    assert!(told(&answer).contains("UTF-8"), "{}", answer.text);
    // A compressed body is rejected as well.
    let answer = admin.with("content-encoding", "gzip").post("/products", json!({ "name": "x" })).await;
    assert!(told(&answer).contains("Content-Encoding"), "{}", answer.text);
    assert_eq!(admin.get("/products").await.ok()["meta"]["total"], 0);
}

async fn body_may_begin_with_a_byte_order_mark(server: Server) {
    let admin = server.admin();
    let form = Some("application/x-www-form-urlencoded");
    let send = async |path: &str, kind, body: &[u8]| admin.send_bytes(Method::POST, path, kind, body.to_vec()).await;
    for (kind, body) in [
        (None, "\u{feff}{\"name\":\"x\"}"),
        (Some("application/json"), "\u{feff} {\"name\":\"x\"}"),
        (form, "\u{feff}name=x"),
    ] {
        assert_eq!(send("/products", kind, body.as_bytes()).await.created("product")["name"], "x", "{body:?}");
    }
    let bulk = "\u{feff}{\"operations\":[{\"method\":\"create\",\"product\":{\"name\":\"x\"}}]}";
    send("/products/bulk", None, bulk.as_bytes()).await.status(200);
    // A form that is JSON is still refused, and one mark is read, not two.
    send("/products", form, "\u{feff}{}".as_bytes()).await.refused(415, "unsupported_media_type");
    send("/products", None, "\u{feff}\u{feff}{}".as_bytes()).await.refused(400, "malformed_request");
    for utf_16 in [&b"\xff\xfe{\0}\0"[..], b"\xfe\xff\0{\0}"] {
        let answer = send("/products", Some("application/json"), utf_16).await;
        let problem = answer.refused(415, "unsupported_media_type")["message"].to_string();
        assert!(problem.contains("UTF-8"), "{problem}");
    }
}

async fn body_is_json_with_a_json_content_type_or_none(server: Server) {
    let admin = server.admin();
    for kind in [
        Some("application/json"),
        Some("application/json; charset=utf-8"),
        Some("APPLICATION/JSON"),
        Some("application/json; charset=UTF-8"),
        Some("application/json; charset=UTF8"),
        Some("application/json; charset=\"utf8\""),
        Some("application/json; charset=us-ascii"),
        Some("application/vnd.api+json"),
        None,
    ] {
        let answer = admin.send_bytes(Method::POST, "/products", kind, r#"{"name":"x"}"#).await;
        answer.created("product");
    }
}

async fn body_over_the_limit_is_413(server: Server) {
    let small = server.configured(|config| config.body_limit = 2048).await;
    let admin = small.admin();
    let body = |length: usize| {
        let frame = r#"{"name":"x","description":""}"#;
        format!(r#"{{"name":"x","description":"{}"}}"#, "d".repeat(length - frame.len()))
    };
    assert_eq!(body(2048).len(), 2048);
    admin.post_text("/products", body(2048)).await.created("product");
    let answer = admin.post_text("/products", body(2049)).await;
    assert!(answer.refused(413, "payload_too_large")["message"].as_str().is_some_and(|m| m.contains("2048")));
    let answer = admin.send_bytes(Method::PUT, "/products/1", Some("application/json"), body(100_000)).await;
    answer.refused(413, "payload_too_large");
    assert_eq!(admin.get("/products").await.ok()["meta"]["total"], 1);
}

async fn request_with_invalid_headers_is_refused_before_its_body(server: Server) {
    let token = server.token(&["*"]).await;
    for (kind, length, status) in [("application/json", 50_000_000, 413), ("text/plain", 10, 415)] {
        let mut stream = TcpStream::connect(server.address).await.expect("the server listens");
        let head = format!(
            "POST /api/v1/products HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {token}\r\nContent-Type: {kind}\r\n\
             Content-Length: {length}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("the server answers");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
}

async fn include_in_a_body_has_the_shape_of_a_response(server: Server) {
    let admin = server.admin();
    let group = admin.post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    let product = json!({ "name": "Lamp", "product_group_id": group["id"] });
    let path = format!("/products/{}", admin.post("/products", product).await.created("product")["id"]);
    for value in [json!(1), json!("Lights"), json!([group.clone()])] {
        for name in ["product_group", "productGroup"] {
            let problem = admin.put(&path, json!({ name: value })).await.invalid(name);
            assert_eq!(problem, "is not a field of product; did you mean `product_group_id`?", "{name}: {value}");
        }
    }
    for (name, value, hint) in [
        ("custom_field_values", json!({ "colour": "red" }), "; did you mean `custom_fields`?"),
        ("stock_levels", json!([1, 2]), ""),
    ] {
        assert_eq!(
            admin.put(&path, json!({ name: value })).await.invalid(name),
            format!("is not a field of product{hint}")
        );
    }
    let includes = "productGroup,taxClass,stockLevels,accessories,customFieldValues";
    let shown = admin.get(&format!("{path}?include={includes}")).await.record("product");
    assert_eq!((&shown["product_group"]["name"], &shown["tax_class"]), (&json!("Lights"), &json!(null)));
    admin.put(&path, shown).await.ok();
}

async fn action_without_input_refuses_fields(server: Server) {
    let admin = server.admin();
    let user = admin.post("/users", json!({ "name": "Ada", "email": "ada@example.com" })).await.created("user");
    let path = format!("/users/{}/invite", user["id"]);
    let problem = admin.post(&path, json!({ "email": "eve@example.com" })).await.invalid("email");
    assert_eq!(problem, "is not a field of the action invite");
    admin.send_bytes(Method::POST, &path, None, "").await.ok();
    let activity = admin.post("/activities", json!({ "subject": "Call back" })).await.created("activity");
    let path = format!("/activities/{}/complete", activity["id"]);
    assert_eq!(
        admin.post(&path, json!({ "completed": false })).await.invalid("completed"),
        "is not a field of the action complete"
    );
    assert_eq!(admin.post(&path, json!({})).await.record("activity")["completed"], true);
}
