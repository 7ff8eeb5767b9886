//! Requests of web pages of other origins, with the setting `cors-origins`.

use std::io::{Read, Write};
use std::net::TcpListener;

use charter_runtime::config::CorsOrigins;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Browser, Client, Server, on_both};

on_both!(
    without_the_setting_no_origin_is_named,
    preflight_request_of_a_listed_origin_is_answered_without_a_token,
    every_answer_names_a_listed_origin,
    other_origins_are_not_named,
    every_origin_may_be_allowed,
    panel_names_no_origin,
);

on_both!(browser: page_of_another_origin_lists_and_creates_if_it_is_listed);

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

/// The origin of an empty page, which a thread serves until the process ends.
fn other_origin() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it listens");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 4096];
            let page = "<!doctype html><title>Page</title>";
            let length = page.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            let _ = stream.read(&mut request).and_then(|_| stream.write_all(format!("{head}{page}").as_bytes()));
        }
    });
    format!("http://{address}")
}

/// Creates a record and lists it from a page. Returns the total, or the error of the browser.
fn create_and_list(browser: &mut Browser, server: &Server, token: &str) -> Value {
    let paths = json!(format!("{}/api/v1/tax_classes", server.url()));
    let headers = json!({ "authorization": format!("Bearer {token}"), "content-type": "application/json" });
    browser.run(&format!(
        "window.result = null;
         (async () => {{
           const body = JSON.stringify({{ name: `Class ${{crypto.randomUUID()}}` }});
           const created = await fetch({paths}, {{ method: 'POST', headers: {headers}, body }});
           if (created.status !== 201) throw new Error(String(created.status));
           const listed = await fetch({paths}, {{ headers: {headers} }});
           return (await listed.json()).meta.total;
         }})().then(total => {{ window.result = total; }}, error => {{ window.result = String(error); }}); 1"
    ));
    browser.until("window.result !== null");
    browser.run("window.result")
}

async fn page_of_another_origin_lists_and_creates_if_it_is_listed(server: Server) {
    let page = other_origin();
    let open = server.configured(|config| config.cors_origins = CorsOrigins::Listed(vec![page.clone()])).await;
    let mut browser = Browser::start(&page);
    browser.open("/");
    // The headers of such an answer are in no description.
    let made = json!({ "name": "Page", "abilities": ["*"] });
    let made = open.admin().undescribed().post("/tokens", made).await.created("token");
    let token = made["value"].as_str().expect("a token is shown once");
    assert_eq!(create_and_list(&mut browser, &open, token), json!(1));
    // The browser sends no request with a token to a server that names no origin.
    let token = server.token(&["*"]).await;
    assert_eq!(create_and_list(&mut browser, &server, &token), json!("TypeError: Failed to fetch"));
    assert_eq!(server.admin().get("/tax_classes").await.ok()["meta"]["total"], 0);
}
