//! Rate limits, health checks, graceful shutdown, several nodes, and an unavailable database.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::support::{Client, Database, Server, on_both, postgres, run};

on_both!(
    requests_of_a_token_are_rate_limited,
    requests_without_a_valid_token_are_rate_limited_by_address,
    concurrent_first_requests_of_a_valid_token_are_not_limited_as_anonymous,
    rate_limited_responses_have_ratelimit_headers,
    health_checks_are_not_rate_limited,
    http_1_1_request_needs_exactly_one_host,
    stopping_server_refuses_new_connections,
    stopping_server_finishes_open_requests,
    path_in_another_spelling_is_404,
    body_that_does_not_arrive_is_408,
    form_that_does_not_arrive_is_408,
    head_that_does_not_arrive_is_408,
    responses_forbid_to_guess_their_type_and_require_https_where_it_is_the_base_url,
    two_nodes_share_a_database,
    revoked_token_is_rejected_immediately_on_the_same_node,
    token_revoked_on_another_node_is_rejected_within_30_seconds,
);

charter_testing::needs_postgres! {
    #[test]
    fn requests_are_503_while_the_database_is_unavailable() {
        run(Database::Postgres, stop_the_database_and_send_requests);
    }
}

async fn requests_of_a_token_are_rate_limited(server: Server) {
    let limited = server.configured(|config| config.rate_limit = 3).await;
    let one = limited.admin();
    one.get("/products").await.ok();
    let two = limited.able(&["products:read"]).await;
    one.get("/products").await.ok();
    let answer = one.get("/products").await;
    answer.refused(429, "rate_limited");
    let seconds: u64 = answer.header("retry-after").and_then(|text| text.parse().ok()).expect("seconds to wait");
    assert!((1..=60).contains(&seconds), "{seconds}");
    // The limit is per token, for all paths.
    one.post("/products", json!({})).await.refused(429, "rate_limited");
    two.get("/products").await.ok();
}

async fn requests_without_a_valid_token_are_rate_limited_by_address(server: Server) {
    let limited = server.configured(|config| config.rate_limit_anonymous = 3).await;
    limited.admin().get("/products").await.ok();
    let unseen = limited.able(&["products:read"]).await;
    limited.anonymous().get("/products").await.refused(401, "unauthenticated");
    limited.client("chr_x").get("/products").await.refused(401, "invalid_token");
    limited.anonymous().get("/nope").await.refused(401, "unauthenticated");
    let answer = limited.client("chr_x").get("/products").await;
    answer.refused(429, "rate_limited");
    assert!(answer.header("retry-after").is_some());
    // Valid tokens from the same address are not limited by that, not even tokens that this process has not cached.
    limited.admin().get("/products").await.ok();
    unseen.get("/products").await.ok();
    limited.client("chr_x").get("/products").await.refused(429, "rate_limited");
}

async fn concurrent_first_requests_of_a_valid_token_are_not_limited_as_anonymous(server: Server) {
    let limited = server.configured(|config| config.rate_limit_anonymous = 2).await;
    let client = limited.admin();
    let answers = futures_util::future::join_all((0..20).map(|_| client.get("/products"))).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    limited.anonymous().get("/products").await.refused(401, "unauthenticated");
}

async fn rate_limited_responses_have_ratelimit_headers(server: Server) {
    let limited = server.configured(|config| (config.rate_limit, config.rate_limit_anonymous) = (3, 2)).await;
    let limits = |answer: &crate::support::Answer| {
        ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"]
            .map(|name| answer.header(name).and_then(|text| text.parse::<u64>().ok()))
    };
    let admin = limited.admin();
    for (path, status, left) in [("/products", 200, 2), ("/products/999", 404, 1), ("/products?page=0", 422, 0)] {
        let answer = admin.get(path).await;
        let [limit, remaining, reset] = limits(answer.status(status));
        assert_eq!([limit, remaining], [Some(3), Some(left)], "{path}");
        assert!(reset.is_some_and(|seconds| (1..=60).contains(&seconds)), "{reset:?}");
    }
    let answer = admin.get("/products").await;
    answer.refused(429, "rate_limited");
    assert_eq!(limits(&answer)[..2], [Some(3), Some(0)]);
    assert_eq!(answer.header("retry-after"), answer.header("ratelimit-reset"));
    let anonymous = limited.anonymous().get("/products").await;
    assert_eq!(limits(&anonymous)[..2], [Some(2), Some(1)]);
    assert_eq!(limits(&server.admin().get("/products").await), [None; 3], "there is no limit");
    assert_eq!(limits(&limited.anonymous().get("~/health/live").await), [None; 3]);
}

/// RFC 9112, section 3.2.
async fn http_1_1_request_needs_exactly_one_host(server: Server) {
    let send = async |path: &str, version: &str, hosts: &str| {
        let mut stream = TcpStream::connect(server.address).await.expect("the server listens");
        let request = format!("GET {path} {version}\r\n{hosts}connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("the server answers");
        answer
    };
    for path in ["/health/live", "/api/v1/products", "/docs", "/nope"] {
        for hosts in ["", "host: test\r\nhost: test\r\n"] {
            let answer = send(path, "HTTP/1.1", hosts).await;
            assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("malformed_request"), "{path}: {answer}");
        }
    }
    for (version, hosts) in [("HTTP/1.1", "host:\r\n"), ("HTTP/1.0", "")] {
        let answer = send("/health/live", version, hosts).await;
        assert!(answer.starts_with(&format!("{version} 200")), "{answer}");
    }
}

async fn stopping_server_refuses_new_connections(server: Server) {
    let other = server.configured(|_| {}).await;
    let address = other.address;
    let mut stream = BufReader::new(TcpStream::connect(address).await.expect("the server listens"));
    let head = format!(
        "POST /api/v1/members HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {}\r\ncontent-length: 2\r\n\
         content-type: application/json\r\nexpect: 100-continue\r\n\r\n",
        other.token(&["*"]).await
    );
    stream.write_all(head.as_bytes()).await.expect("the server reads");
    let mut line = String::new();
    stream.read_line(&mut line).await.expect("the server asks for the body");
    let stopping = tokio::spawn(other.stop());
    let refused = async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(5), refused).await.expect("connections are refused");
    assert!(!stopping.is_finished(), "a request is open");
    stream.write_all(b"{}").await.expect("the server still reads");
    stopping.await.expect("it stops");
}

async fn health_checks_are_not_rate_limited(server: Server) {
    let limited = server.configured(|config| (config.rate_limit, config.rate_limit_anonymous) = (1, 1)).await;
    for _ in 0..5 {
        limited.anonymous().get("~/health/live").await.ok();
        limited.anonymous().get("~/health/ready").await.ok();
    }
}

async fn stopping_server_finishes_open_requests(server: Server) {
    let other = server.configured(|_| {}).await;
    let (address, token, state) = (other.address, other.token(&["*"]).await, other.state.clone());
    let stream = TcpStream::connect(address).await.expect("the server listens");
    let mut stream = BufReader::new(stream);
    let body = json!({ "name": "in time" }).to_string();
    let head = format!(
        "POST /api/v1/members HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\
         content-type: application/json\r\nexpect: 100-continue\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("the server reads");
    let mut line = String::new();
    stream.read_line(&mut line).await.expect("the server asks for the body");
    assert!(line.starts_with("HTTP/1.1 100"), "{line}");
    // The request is open. The shutdown starts first, and waits for it.
    let finish = async {
        while !state.is_stopping() {
            tokio::task::yield_now().await;
        }
        stream.write_all(body.as_bytes()).await.expect("the server still reads");
        loop {
            let mut line = String::new();
            let read = stream.read_line(&mut line).await.expect("the server answers");
            assert!(read > 0, "the connection ends without an answer");
            if line.starts_with("HTTP/1.1 ") {
                let mut rest = String::new();
                stream.read_to_string(&mut rest).await.expect("the server closes the connection");
                return line + &rest.to_ascii_lowercase();
            }
        }
    };
    let ((), answer) = tokio::join!(other.stop(), finish);
    assert!(answer.starts_with("HTTP/1.1 201") && answer.contains("\r\nconnection: close\r\n"), "{answer}");
    let answer = TcpStream::connect(address).await;
    assert!(answer.is_err(), "a stopped server refuses connections");
}

async fn path_in_another_spelling_is_404(server: Server) {
    let admin = server.admin();
    for path in ["//api/v1/products", "/api//v1/products", "/api/v1//products", "/api/v1/products//", "//health/live"] {
        assert_eq!(admin.raw("GET", path.as_bytes()).await, 404, "{path}");
    }
    for path in
        ["/api/v1/%70roducts", "/%61pi/v1/products", "/api/v1/products/%31", "/health%2Dlive", "/%6", "/%68ealth/live"]
    {
        assert_eq!(admin.raw("GET", path.as_bytes()).await, 404, "{path}");
    }
    for path in ["/api/v1/products/", "/health/live/"] {
        assert_eq!(admin.raw("GET", path.as_bytes()).await, 200, "{path}");
    }
}

async fn body_that_does_not_arrive_is_408(server: Server) {
    let hasty = server.configured(|config| config.request_timeout = Duration::from_secs(1)).await;
    let client = hasty.admin().with("content-type", "application/json").with("content-length", "20");
    let mut stream = client.begin_by("POST", "HTTP/1.1", "/products").await;
    stream.write_all(b"{").await.expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("the server closes the connection");
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("request_timeout"), "{answer}");
    assert!(answer.to_ascii_lowercase().contains("\r\nconnection: close\r\n"), "{answer}");
}

async fn head_that_does_not_arrive_is_408(server: Server) {
    let hasty = server.configured(|config| config.request_timeout = Duration::from_secs(1)).await;
    for sent in ["G", "GET /health/live HTTP/1.1\r\nhost: test\r\n", "POST /api/v1/products HTTP/1.1\r\n"] {
        let mut stream = TcpStream::connect(hasty.address).await.expect("the server listens");
        // A byte now and then does not prolong the time.
        for byte in sent.as_bytes() {
            stream.write_all(&[*byte]).await.expect("the server reads");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("the server closes the connection");
        let answer = answer.to_ascii_lowercase();
        assert!(answer.starts_with("http/1.1 408") && answer.contains("\r\nconnection: close\r\n"), "{answer}");
        assert!(answer.contains(r#""code":"request_timeout""#), "{answer}");
    }
    // An idle connection after a request gets no answer that nobody asked for.
    let mut stream = TcpStream::connect(hasty.address).await.expect("the server listens");
    stream.write_all(b"GET /health/live HTTP/1.1\r\nhost: test\r\n\r\n").await.expect("the server reads");
    let mut answer = String::new();
    let closed = tokio::time::timeout(Duration::from_secs(2), stream.read_to_string(&mut answer)).await;
    assert!(closed.is_err(), "the connection stays open: {answer}");
    stream.write_all(b"GET /nope HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").await.expect("the server reads");
    stream.read_to_string(&mut answer).await.expect("the server closes the connection");
    let statuses: Vec<&str> = answer.split("HTTP/1.1 ").skip(1).map(|rest| &rest[..3]).collect();
    assert_eq!(statuses.last(), Some(&"404"), "{answer}");
    assert!(!statuses.contains(&"408"), "{answer}");
}

async fn form_that_does_not_arrive_is_408(server: Server) {
    let hasty = server.configured(|config| config.request_timeout = Duration::from_secs(1)).await;
    let mut panel = crate::panel::signed_in(&hasty, &json!({ "id": 1 })).await;
    let (token, cookie) = (panel.token().await, panel.cookie.clone().expect("a session"));
    let form = "content-type: application/x-www-form-urlencoded";
    for (path, headers) in [
        ("/panel/sign-in", format!("accept: text/html\r\n{form}")),
        ("/products", format!("cookie: {cookie}\r\naccept: text/html\r\n{form}")),
        ("/panel/account", format!("cookie: {cookie}\r\naccept: text/html\r\n{form}")),
        (
            "/panel/api/products",
            format!("cookie: {cookie}\r\nx-panel-token: {token}\r\ncontent-type: application/json"),
        ),
    ] {
        let mut stream = TcpStream::connect(hasty.address).await.expect("the server listens");
        let head = format!("POST {path} HTTP/1.1\r\nhost: test\r\n{headers}\r\ncontent-length: 20\r\n\r\n{{");
        stream.write_all(head.as_bytes()).await.expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("the server closes the connection");
        let answer = answer.to_ascii_lowercase();
        assert!(answer.starts_with("http/1.1 408") && answer.contains("\r\nconnection: close\r\n"), "{path}: {answer}");
    }
}

async fn responses_forbid_to_guess_their_type_and_require_https_where_it_is_the_base_url(server: Server) {
    let secure = server.configured(|config| config.base_url = Some("https://records.example.com".into())).await;
    for path in ["/products", "/products/999", "~/health/live", "~/sign_in"] {
        let (plain, secure) = (server.admin().get(path).await, secure.admin().get(path).await);
        assert_eq!(plain.header("x-content-type-options"), Some("nosniff"), "{path}");
        let header = |answer: &crate::support::Answer| answer.header("strict-transport-security").map(String::from);
        assert_eq!((header(&plain), header(&secure)), (None, Some("max-age=31536000".into())), "{path}");
    }
}

pub async fn two_nodes_share_a_database(server: Server) {
    let second = server.second_node().await;
    let (one, two) = (server.admin(), second.admin());
    let member = one.post("/members", json!({ "name": "x" })).await.created("member");
    let path = format!("/members/{}", member["id"]);
    assert_eq!(two.get(&path).await.record("member"), member);
    two.put(&path, json!({ "name": "y" })).await.record("member");
    assert_eq!(one.get(&path).await.record("member")["name"], "y");
    let writes = (0..10).flat_map(|number| {
        let body = json!({ "name": format!("Group {number}") });
        [(one.clone(), body.clone()), (two.clone(), body)]
    });
    let write =
        |(client, body): (Client, _)| tokio::spawn(async move { client.post("/product_groups", body).await.status });
    let writes: Vec<_> = writes.map(write).collect();
    let mut statuses = Vec::new();
    for write in writes {
        statuses.push(write.await.expect("the server answers"));
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [[201; 10], [422; 10]].concat());
    // A token that one node creates is valid on the other immediately.
    let token = server.token(&["products:read"]).await;
    second.client(&token).get("/products").await.ok();
    second.state.db.close().await;
}

/// A client of `node` whose token was used there and then revoked on `by`, and the token.
async fn revoked(node: &Server, by: &Server) -> (Client, String) {
    let admin = by.admin();
    let token = admin.post("/tokens", json!({ "name": "x", "abilities": ["*"] })).await.created("token");
    let value = token["value"].as_str().expect("a value").to_string();
    let client = node.client(&value);
    client.get("/products").await.ok();
    admin.delete(&format!("/tokens/{}", token["id"])).await.deleted();
    (client, value)
}

async fn revoked_token_is_rejected_immediately_on_the_same_node(server: Server) {
    let second = server.second_node().await;
    let (client, value) = revoked(&second, &second).await;
    client.get("/products").await.refused(401, "invalid_token");
    // The other node has not cached it.
    server.client(&value).get("/products").await.refused(401, "invalid_token");
    second.state.db.close().await;
}

async fn token_revoked_on_another_node_is_rejected_within_30_seconds(server: Server) {
    let second = server.second_node().await;
    let (client, _) = revoked(&server, &second).await;
    server.state.clock.advance(Duration::from_secs(25));
    client.get("/products").await.ok();
    server.state.clock.advance(Duration::from_secs(5));
    client.get("/products").await.refused(401, "invalid_token");
    second.state.db.close().await;
}

async fn stop_the_database_and_send_requests(_: Server) {
    let own = postgres::Postgres::start();
    let server = Server::over(&own.create_database(None)).await;
    let client = server.admin();
    client.get("/products").await.ok();
    client.get("~/health/ready").await.ok();
    drop(own);
    for path in ["~/health/ready", "/products"] {
        let answer = client.get(path).await;
        answer.refused(503, "unavailable");
        assert!(answer.header("retry-after").is_some(), "{path}");
    }
    client.post("/products", json!({ "name": "x" })).await.refused(503, "unavailable");
    client.get("~/health/live").await.ok();
}
