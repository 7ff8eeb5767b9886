//! Requests of web pages of other origins, with the setting `cors-origins`.

use charter_runtime::config::CorsOrigins;
use reqwest::Method;
use serde_json::json;

use crate::support::{Answer, Client, Server, on_both};

on_both!(
    without_the_setting_no_origin_is_named,
    preflight_request_of_a_listed_origin_is_answered_without_a_token,
    every_answer_names_a_listed_origin,
    other_origins_are_not_named,
    every_origin_may_be_allowed,
    panel_names_no_origin,
);

const PAGE: &str = "https://app.example.com";

async fn with_page(server: &Server) -> Server {
    server.configured(|config| config.cors_origins = CorsOrigins::Listed(vec![PAGE.into()])).await
}

/// The OpenAPI document leaves out the headers of cross-origin requests, as those of HTTP itself.
fn of_page(client: Client, origin: &str) -> Client {
    client.undescribed().with("origin", origin)
}

fn named(answer: &Answer) -> Option<&str> {
    answer.header("access-control-allow-origin")
}

async fn preflight(client: Client, path: &str, origin: &str) -> Answer {
    of_page(client, origin)
        .with("access-control-request-method", "PATCH")
        .with("access-control-request-headers", "authorization,content-type,if-match,idempotency-key")
        .send(Method::OPTIONS, path, None)
        .await
}

async fn without_the_setting_no_origin_is_named(server: Server) {
    let answer = of_page(server.admin(), PAGE).get("/products").await;
    assert_eq!((answer.status, named(&answer)), (200, None));
    let answer = preflight(server.anonymous(), "/products/1", PAGE).await;
    assert_eq!((answer.status, named(&answer)), (401, None));
}

async fn preflight_request_of_a_listed_origin_is_answered_without_a_token(server: Server) {
    let server = with_page(&server).await;
    // A path without a route too: the page learns of the 404 from the request itself.
    for path in ["/products/1", "/nothing"] {
        let answer = preflight(server.anonymous(), path, PAGE).await;
        assert!(matches!(answer.status, 200 | 204), "{path}: {}", answer.status);
        assert_eq!(named(&answer), Some(PAGE));
        let allowed = |name: &str| answer.header(name).unwrap_or_default().to_ascii_lowercase();
        for method in ["get", "post", "put", "patch", "delete"] {
            assert!(allowed("access-control-allow-methods").contains(method), "{method}");
        }
        for header in ["authorization", "content-type", "if-match", "idempotency-key"] {
            assert!(allowed("access-control-allow-headers").contains(header), "{header}");
        }
        assert_eq!(answer.header("access-control-max-age"), Some("7200"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
    }
}

async fn every_answer_names_a_listed_origin(server: Server) {
    let server = with_page(&server).await;
    let admin = of_page(server.admin(), PAGE);
    let missing = of_page(server.anonymous(), PAGE);
    for (answer, status) in [
        (admin.get("/products").await, 200),
        (admin.post("/product_groups", json!({ "name": "Lights" })).await, 201),
        (admin.post("/product_groups", json!({})).await, 422),
        (admin.get("/products/999").await, 404),
        (admin.get("/nothing").await, 404),
        (missing.get("/products").await, 401),
    ] {
        assert_eq!((answer.status, named(&answer)), (status, Some(PAGE)));
        // Scripts may read every header, such as `ETag` and `RateLimit`.
        assert_eq!(answer.header("access-control-expose-headers"), Some("*"));
        let varies =
            answer.headers.get_all("vary").iter().any(|value| value.as_bytes().eq_ignore_ascii_case(b"origin"));
        assert!(varies, "a cache must not give the answer to another page: {:?}", answer.headers);
    }
}

async fn other_origins_are_not_named(server: Server) {
    let server = with_page(&server).await;
    for origin in ["https://evil.example", "https://app.example.com.evil.example", "http://app.example.com", "null"] {
        let answer = of_page(server.admin(), origin).get("/products").await;
        assert_eq!((answer.status, named(&answer)), (200, None), "{origin}");
        assert_eq!(named(&preflight(server.anonymous(), "/products", origin).await), None, "{origin}");
    }
}

async fn every_origin_may_be_allowed(server: Server) {
    let server = server.configured(|config| config.cors_origins = CorsOrigins::Any).await;
    let answer = of_page(server.admin(), "https://any.example").get("/products").await;
    assert_eq!((answer.status, named(&answer)), (200, Some("*")));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
}

async fn panel_names_no_origin(server: Server) {
    let server = server.configured(|config| config.cors_origins = CorsOrigins::Any).await;
    for path in ["~/panel/sign-in", "~/health/ready"] {
        let answer = of_page(server.anonymous(), PAGE).with("accept", "text/html").get(path).await;
        assert_eq!((answer.status, named(&answer)), (200, None), "{path}");
    }
}
