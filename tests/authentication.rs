//! Authentication by token: accepted headers and rejected credentials.

use serde_json::json;

use crate::support::{Server, on_both};

on_both!(
    bearer_token_authenticates,
    x_auth_token_authenticates,
    missing_credentials_get_401_with_a_challenge,
    bad_token_gets_401_invalid_token,
    missing_ability_gets_403_and_is_named,
    health_needs_no_token,
    responses_never_contain_secrets,
    failed_token_lookup_does_not_count_as_a_guess,
);

/// A database error, or a client that disconnects during the lookup, does not count.
async fn failed_token_lookup_does_not_count_as_a_guess(server: Server) {
    let limited = server.second_node_with(|config| config.rate_limit_anonymous = 3).await;
    let client = limited.client(&server.token(&["*"]).await);
    server.sql("ALTER TABLE tokens RENAME TO away").await;
    for _ in 0..5 {
        assert_eq!(client.get("/products").await.status, 500);
    }
    server.sql("ALTER TABLE away RENAME TO tokens").await;
    client.get("/products").await.ok();
    // Invalid tokens stay counted.
    for _ in 0..3 {
        limited.client("chr_x").get("/products").await.refused(401, "invalid_token");
    }
    limited.client("chr_x").get("/products").await.refused(429, "rate_limited");
}

async fn bearer_token_authenticates(server: Server) {
    let token = server.admin().post("/tokens", json!({ "name": "x", "abilities": ["*"] })).await.created("token");
    let value = token["value"].as_str().expect("a value");
    for header in [format!("Bearer {value}"), format!("bearer {value}"), format!("BEARER   {value} ")] {
        server.anonymous().with("authorization", &header).get("/products").await.ok();
    }
}

async fn x_auth_token_authenticates(server: Server) {
    let token = server.admin().post("/tokens", json!({ "name": "x", "abilities": ["*"] })).await.created("token");
    let value = token["value"].as_str().expect("a value");
    server.anonymous().with("X-AUTH-TOKEN", value).get("/products").await.ok();
    server.anonymous().with("x-auth-token", "chr_x").get("/products").await.refused(401, "invalid_token");
    // `Authorization` takes precedence.
    server.client("chr_x").with("x-auth-token", value).get("/products").await.refused(401, "invalid_token");
    server.client(value).with("x-auth-token", "chr_x").get("/products").await.ok();
    // Other schemes and an empty header are ignored.
    for other in ["Basic dXNlcjpwYXNz", ""] {
        let client = server.anonymous().with("authorization", other);
        client.with("x-auth-token", value).get("/products").await.ok();
    }
    server.anonymous().with("x-auth-token", " ").get("/products").await.refused(401, "unauthenticated");
}

async fn missing_credentials_get_401_with_a_challenge(server: Server) {
    let basic = server.anonymous().with("authorization", "Basic dXNlcjpwYXNz");
    for client in [server.anonymous(), basic] {
        let answer = client.get("/products").await;
        answer.refused(401, "unauthenticated");
        assert_eq!(answer.header("www-authenticate"), Some(r#"Bearer realm="charter""#));
    }
    // Tokens in the query string or in a cookie are ignored.
    server.anonymous().get("/products?token=x&access_token=y").await.refused(401, "unauthenticated");
    server.anonymous().with("cookie", "token=x").get("/products").await.refused(401, "unauthenticated");
}

async fn bad_token_gets_401_invalid_token(server: Server) {
    let well_formed = "chr_00000000000000000000000000000000000000";
    let bad = [
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Bearer chr_",
        "Bearer chr_é",
        &format!("Bearer {well_formed}"),
        "Bearer a b",
    ];
    for header in bad {
        let answer = server.anonymous().with("authorization", header).get("/products").await;
        answer.refused(401, "invalid_token");
        let expected = r#"Bearer realm="charter", error="invalid_token""#;
        assert_eq!(answer.header("www-authenticate"), Some(expected), "{header}");
    }
    let long = format!("Bearer chr_{}", "x".repeat(10_000));
    server.anonymous().with("authorization", &long).get("/products").await.refused(401, "invalid_token");
}

async fn missing_ability_gets_403_and_is_named(server: Server) {
    let reader = server.able(&["products:read"]).await;
    let answer = reader.post("/products", json!({ "name": "x" })).await;
    answer.refused(403, "ability_missing");
    let expected = r#"Bearer realm="charter", error="insufficient_scope", scope="products:write""#;
    assert_eq!(answer.header("www-authenticate"), Some(expected));
}

async fn health_needs_no_token(server: Server) {
    for path in ["~/health/live", "~/health/ready"] {
        let answer = server.anonymous().get(path).await;
        answer.ok();
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

async fn responses_never_contain_secrets(server: Server) {
    let admin = server.admin();
    let token = admin.post("/tokens", json!({ "name": "x", "abilities": ["*"] })).await.created("token");
    let secret = token["value"].as_str().expect("a value");
    server.client(secret).post("/members", json!({ "name": "x" })).await.created("member");
    for route in charter_runtime::ops::routes(&server.state).iter().filter(|route| route.method == "GET") {
        let path = route.path.replace("{id}", &token["id"].to_string());
        let answer = admin.get(path.strip_prefix("/api/v1").expect("a path of the API")).await;
        assert!(!answer.text.contains(&secret[4..]) && !answer.text.contains("token_hash"), "{path}: {}", answer.text);
    }
}
