//! The transport: HTTP statuses, origins, messages of JSON-RPC, limits and metrics.

use charter_runtime::config::CorsOrigins;
use reqwest::Method;
use serde_json::{Value, json};

use super::{call, rpc, send, with_mcp};
use crate::support::{Client, Server, on_both};

on_both!(
    endpoint_is_off_by_default,
    requests_without_a_valid_token_are_401,
    methods_other_than_post_are_405,
    pages_of_unknown_origins_are_refused,
    initialize_agrees_on_a_revision,
    messages_that_are_no_requests_are_400,
    methods_and_parameters_that_are_unknown_are_errors_of_json_rpc,
    notifications_and_responses_are_accepted_without_a_body,
    call_counts_once_against_the_rate_limit_and_in_the_metrics,
    large_message_is_413,
);

async fn post(client: &Client, body: &str) -> (u16, Value) {
    let answer = client.undescribed().post_text("~/mcp", body).await;
    (answer.status, answer.text.parse().unwrap_or_default())
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

async fn endpoint_is_off_by_default(server: Server) {
    let admin = server.admin().undescribed();
    let (mcp, other) = (admin.post_text("~/mcp", PING).await, admin.post_text("~/nothing", PING).await);
    mcp.refused(404, "not_found");
    assert_eq!((mcp.status, mcp.json()), (other.status, other.json()));
    let allowed = |answer: &crate::support::Answer| answer.header("access-control-allow-origin").map(str::to_string);
    let server = server.configured(|config| config.cors_origins = CorsOrigins::Any).await;
    let page = server.admin().undescribed().with("origin", "https://app.example.com");
    assert_eq!(allowed(&page.post_text("~/mcp", PING).await), None);
}

async fn requests_without_a_valid_token_are_401(server: Server) {
    let server = with_mcp(&server).await;
    let missing = server.anonymous().undescribed().post_text("~/mcp", PING).await;
    missing.refused(401, "unauthenticated");
    assert_eq!(missing.header("www-authenticate"), Some(r#"Bearer realm="charter""#));
    let invalid = server.client("chr_x").undescribed().post_text("~/mcp", PING).await;
    invalid.refused(401, "invalid_token");
    assert!(invalid.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer ")));
}

async fn methods_other_than_post_are_405(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin().undescribed();
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        let answer = admin.send(method, "~/mcp", None).await;
        answer.refused(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some("POST"));
    }
    let form = admin.send_bytes(Method::POST, "~/mcp", Some("application/x-www-form-urlencoded"), "a=b").await;
    form.refused(415, "unsupported_media_type");
}

async fn pages_of_unknown_origins_are_refused(server: Server) {
    let page = "https://app.example.com";
    let server = with_mcp(&server).await;
    let from = |origin: &str| server.admin().undescribed().with("origin", origin);
    from(page).post_text("~/mcp", PING).await.refused(403, "permission_missing");
    // A name that leads to the server: both headers have it.
    let rebound = from("http://rebound.example.com").with("host", "rebound.example.com");
    rebound.post_text("~/mcp", PING).await.refused(403, "permission_missing");
    from("null").post_text("~/mcp", PING).await.refused(403, "permission_missing");
    from(&server.url()).post_text("~/mcp", PING).await.status(200);
    let listed = server
        .configured(|config| {
            config.mcp = true;
            config.cors_origins = CorsOrigins::Listed(vec![page.into()]);
        })
        .await;
    let answer = listed.admin().undescribed().with("origin", page).post_text("~/mcp", PING).await;
    assert_eq!(answer.status(200).header("access-control-allow-origin"), Some(page));
    let preflight = listed.anonymous().undescribed().with("origin", page);
    let preflight = preflight.with("access-control-request-method", "POST").send(Method::OPTIONS, "~/mcp", None).await;
    assert_eq!(preflight.header("access-control-allow-origin"), Some(page));
}

async fn initialize_agrees_on_a_revision(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    for (asked, expected) in
        [("2025-06-18", "2025-06-18"), ("2025-03-26", "2025-03-26"), ("2024-11-05", "2025-06-18"), ("x", "2025-06-18")]
    {
        let result = rpc(&admin, "initialize", json!({ "protocolVersion": asked, "capabilities": {} })).await;
        assert_eq!(result["protocolVersion"], expected, "{asked}");
        assert!(result["capabilities"]["tools"].is_object() && result["serverInfo"]["name"] == "charter", "{result}");
    }
    let with = |revision: &str| admin.with("mcp-protocol-version", revision);
    assert_eq!(post(&with("2025-03-26"), PING).await.0, 200);
    assert_eq!(post(&with("2024-11-05"), PING).await.0, 400);
    assert_eq!(send(&admin, "initialize", json!({})).await["error"]["code"], -32602);
}

async fn messages_that_are_no_requests_are_400(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let deep = "[".repeat(100_000);
    for (body, code, id) in [
        ("{", -32700, Value::Null),
        ("", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, Value::Null),
        (r#"{"id":1,"method":"ping"}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":"a"}"#, -32600, json!("a")),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
        (deep.as_str(), -32700, Value::Null),
    ] {
        let (status, answer) = post(&admin, body).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(code)), "{:.80}", body);
        assert_eq!((&answer["id"], &answer["jsonrpc"]), (&id, &json!("2.0")), "{:.80}", body);
    }
    let unknown = admin.with("mcp-protocol-version", "2024-11-05");
    assert_eq!(post(&unknown, PING).await.1["id"], 1);
    assert_eq!(admin.undescribed().post_text("~/mcp", vec![0xff, b'{']).await.status, 400);
}

async fn methods_and_parameters_that_are_unknown_are_errors_of_json_rpc(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    for (method, params, code) in [
        ("resources/list", json!({}), -32601),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({ "name": "delete_product", "arguments": { "id": 1 } }), -32602),
        ("tools/call", json!({ "name": "list_products", "arguments": [] }), -32602),
        ("tools/call", json!({ "name": 7 }), -32602),
        ("tools/call", json!([]), -32602),
        ("tools/list", json!({ "cursor": "nothing" }), -32602),
        ("tools/list", json!({ "cursor": 7 }), -32602),
    ] {
        let answer = send(&admin, method, params.clone()).await;
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
    }
    assert_eq!(rpc(&admin, "ping", json!({})).await, json!({}));
}

async fn notifications_and_responses_are_accepted_without_a_body(server: Server) {
    let server = with_mcp(&server).await;
    for message in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
        let answer = server.admin().undescribed().post_text("~/mcp", message).await;
        assert_eq!((answer.status, answer.text.as_str()), (202, ""), "{message}");
    }
}

async fn call_counts_once_against_the_rate_limit_and_in_the_metrics(server: Server) {
    let server = server
        .configured(|config| {
            config.mcp = true;
            config.rate_limit = 10;
        })
        .await;
    let admin = server.admin();
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "list_products", "arguments": {} },
    });
    let left = async || {
        let answer = admin.undescribed().post("~/mcp", message.clone()).await;
        answer.header("ratelimit-remaining").expect("a limit").parse::<u32>().expect("a number")
    };
    assert_eq!((left().await, left().await), (9, 8));
    let scrape = server.anonymous().undescribed().get("~/health/metrics").await.text;
    let answered: Vec<&str> =
        scrape.lines().filter(|line| line.contains("_count{") && line.contains("http_route=\"/mcp\"")).collect();
    assert!(answered.len() == 1 && answered[0].ends_with(" 2"), "{answered:?}");
    assert!(!scrape.contains("http_route=\"/api/v1/products\""));
    for _ in 0..8 {
        call(&admin, "list_products", json!({})).await;
    }
    admin.undescribed().post("~/mcp", message).await.refused(429, "rate_limited");
}

async fn large_message_is_413(server: Server) {
    let server = with_mcp(&server).await;
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(1 << 20));
    server.admin().undescribed().post_text("~/mcp", body).await.refused(413, "payload_too_large");
}
