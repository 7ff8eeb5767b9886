//! `GET /tokens`, and `GET`, `PUT` and `DELETE /tokens/{id}`.

use charter_runtime::auth::TokenCache;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::{created, path, value};
use crate::support::{Server, is_utc_time, on_both};

on_both!(
    user_sees_own_tokens_and_administrator_sees_all,
    token_value_and_digest_are_in_no_later_response,
    revoked_token_is_refused_immediately,
    token_revoked_by_another_process_cannot_grant_access,
    token_revoked_while_the_body_arrives_cannot_grant_access,
    an_expired_token_is_refused,
    token_expiry_uses_the_server_clock,
    shortened_token_expiry_takes_effect_immediately,
    removed_token_abilities_take_effect_immediately,
    user_of_a_token_cannot_change,
    last_use_of_a_token_is_recorded,
    last_use_of_a_token_is_written_at_most_once_a_minute,
);

async fn user_sees_own_tokens_and_administrator_sees_all(server: Server) {
    let (user, client) = server.user(&["users.manage"], &["*"]).await;
    let own = client.get("/tokens").await.records("tokens");
    assert!(own.len() == 1 && own[0]["user_id"] == user["id"], "{own:?}");
    assert_eq!(server.admin().get("/tokens").await.column("tokens", "user_id"), [json!(1), user["id"].clone()]);
    client.get("/tokens/1").await.refused(404, "not_found");
    client.put("/tokens/1", json!({ "name": "x" })).await.refused(404, "not_found");
    client.delete("/tokens/1").await.refused(404, "not_found");
    assert_eq!(client.get("/tokens?q[user_id_eq]=1").await.ok()["meta"]["total"], 0);
}

async fn token_value_and_digest_are_in_no_later_response(server: Server) {
    let admin = server.admin();
    let token = created(&admin, &["*"]).await;
    let secret = value(&token).to_string();
    server.client(&secret).get("/products").await.ok();
    let answers = [
        admin.get(&path(&token)).await,
        admin.get("/tokens").await,
        admin.get("/tokens?fields=id,name,abilities").await,
        admin.put(&path(&token), json!({ "name": "Renamed" })).await,
        admin.patch(&path(&token), json!({})).await,
    ];
    for answer in &answers {
        answer.ok();
        for hidden in [secret.as_str(), &secret[4..], "token_hash", "\"value\""] {
            assert!(!answer.text.contains(hidden), "{hidden}: {}", answer.text);
        }
    }
    for hidden in ["value", "token_hash"] {
        admin.get(&format!("/tokens?fields={hidden}")).await.invalid("fields");
    }
}

async fn revoked_token_is_refused_immediately(server: Server) {
    let admin = server.admin();
    let token = created(&admin, &["*"]).await;
    let client = server.client(value(&token));
    client.get("/products").await.ok();
    admin.delete(&path(&token)).await.deleted();
    let answer = client.get("/products").await;
    answer.refused(401, "invalid_token");
    // A token can revoke itself.
    let token = created(&admin, &["tokens:write"]).await;
    let client = server.client(value(&token));
    client.delete(&path(&token)).await.deleted();
    client.delete(&path(&token)).await.refused(401, "invalid_token");
}

async fn token_expiry_uses_the_server_clock(server: Server) {
    let admin = server.admin();
    let token = created(&admin, &["*"]).await;
    let client = server.client(value(&token));
    let later = chrono::Utc::now() + chrono::TimeDelta::hours(1);
    admin.put(&path(&token), json!({ "expires_at": later.to_rfc3339() })).await.record("token");
    client.get("/products").await.ok();
    server.state.clock.advance(Duration::from_secs(7200));
    server.state.extension::<TokenCache>().expect("a token cache").clear();
    client.get("/products").await.refused(401, "invalid_token");
}

/// Another process may accept a revoked token for up to 30 seconds, but not to grant anything that outlasts it.
async fn token_revoked_by_another_process_cannot_grant_access(server: Server) {
    let (admin, other) = (server.admin(), server.second_node().await);
    let lasting = [
        ("/tokens", json!({ "name": "x", "abilities": ["*"] })),
        ("/users", json!({ "name": "x", "email": "x@example.com", "is_admin": true })),
        ("/roles", json!({ "name": "x", "permissions": [] })),
        ("/webhooks", json!({ "url": "https://receiver.example/", "events": ["*"] })),
        ("/users/1/invite", json!({})),
    ];
    for (place, body) in lasting {
        let token = created(&admin, &["*"]).await;
        let there = other.client(value(&token));
        there.get("/products").await.ok();
        admin.delete(&path(&token)).await.deleted();
        there.get("/products").await.ok();
        there.post(place, body).await.refused(401, "invalid_token");
        there.get("/products").await.refused(401, "invalid_token");
    }
    let body = json!({ "name": "Second", "email": "second@example.com", "is_admin": true });
    let second = admin.post("/users", body).await.created("user");
    let body = json!({ "name": "Second", "user_id": second["id"], "abilities": ["*"] });
    let token = admin.post("/tokens", body).await.created("token");
    let there = other.client(value(&token));
    there.get("/users").await.ok();
    admin.put(&format!("/users/{}", second["id"]), json!({ "is_admin": false })).await.record("user");
    let body = json!({ "name": "Third", "email": "third@example.com", "is_admin": true });
    there.post("/users", body).await.refused(403, "ability_missing");
}

async fn token_revoked_while_the_body_arrives_cannot_grant_access(server: Server) {
    let admin = server.admin();
    let token = created(&admin, &["*"]).await;
    let body = json!({ "name": "Outlasts it", "abilities": ["*"] }).to_string();
    let head = format!(
        "POST /api/v1/tokens HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {}\r\nconnection: close\r\n\
         content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        value(&token),
        body.len()
    );
    let mut stream = BufReader::new(TcpStream::connect(server.address).await.expect("the server listens"));
    stream.write_all(head.as_bytes()).await.expect("the server reads");
    let mut asked = String::new();
    stream.read_line(&mut asked).await.expect("the server asks for the body");
    assert!(asked.starts_with("HTTP/1.1 100"), "{asked}");
    admin.delete(&path(&token)).await.deleted();
    stream.write_all(body.as_bytes()).await.expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.contains("HTTP/1.1 401") && answer.contains("invalid_token"), "{answer}");
}

async fn an_expired_token_is_refused(server: Server) {
    let admin = server.admin();
    let token = created(&admin, &["*"]).await;
    let client = server.client(value(&token));
    client.get("/products").await.ok();
    // A cached token expires at its time.
    let soon = chrono::Utc::now() + chrono::TimeDelta::milliseconds(2500);
    let body = json!({ "expires_at": soon.to_rfc3339() });
    admin.put(&path(&token), body).await.record("token");
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while client.get("/products").await.status == 200 {
        assert!(std::time::Instant::now() < deadline, "the token does not expire");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let early = soon - chrono::Utc::now();
    assert!(
        early < chrono::TimeDelta::seconds(1),
        "it expires {early} early, and expiries have a resolution of a second"
    );
    let answer = client.get("/products").await;
    answer.refused(401, "invalid_token");
    let expected = r#"Bearer realm="charter", error="invalid_token""#;
    assert_eq!(answer.header("www-authenticate"), Some(expected));
    // An expired token can still be renamed.
    let renamed = admin.put(&path(&token), json!({ "name": "Old" })).await.record("token");
    assert_eq!(renamed["name"], "Old");
}

async fn shortened_token_expiry_takes_effect_immediately(server: Server) {
    let admin = server.admin();
    let token = created(&admin, &["*"]).await;
    let client = server.client(value(&token));
    client.get("/products").await.ok();
    server.sql(&format!("UPDATE tokens SET expires_at = '2020-01-01 00:00:00+00:00' WHERE id = {}", token["id"])).await;
    // Any change of a token clears the cache.
    created(&admin, &["*"]).await;
    client.get("/products").await.refused(401, "invalid_token");
}

async fn removed_token_abilities_take_effect_immediately(server: Server) {
    let admin = server.admin();
    let token = created(&admin, &["products:read", "members:read"]).await;
    let client = server.client(value(&token));
    client.get("/members").await.ok();
    admin.put(&path(&token), json!({ "abilities": ["products:read"] })).await.record("token");
    client.get("/members").await.refused(403, "ability_missing");
    client.get("/products").await.ok();
}

async fn user_of_a_token_cannot_change(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let admin = server.admin();
    let token = created(&admin, &["*"]).await;
    let problem = admin.put(&path(&token), json!({ "user_id": user["id"] })).await.invalid("user_id");
    assert_eq!(problem, "cannot be changed");
    assert_eq!(admin.put(&path(&token), json!({ "user_id": 1 })).await.record("token")["user_id"], 1);
}

/// Waits until the server has recorded the last use in the background.
async fn last_use(server: &Server, token: &Value) -> Value {
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        let shown = server.admin().get(&path(token)).await.record("token");
        if !shown["last_used_at"].is_null() {
            return shown["last_used_at"].clone();
        }
        assert!(std::time::Instant::now() < deadline, "the use is not noted");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn last_use_of_a_token_is_recorded(server: Server) {
    let token = created(&server.admin(), &["*"]).await;
    server.client(value(&token)).get("/products").await.ok();
    let used = last_use(&server, &token).await;
    assert!(is_utc_time(&used));
    // A filter by the shown value matches.
    let asked = [("q[last_used_at_eq]", used.as_str().unwrap_or_default()), ("q[id_eq]", &token["id"].to_string())];
    assert_eq!(server.admin().list("/tokens", &asked).await.records("tokens").len(), 1);
}

async fn last_use_of_a_token_is_written_at_most_once_a_minute(server: Server) {
    let admin = server.admin();
    let token = created(&admin, &["*"]).await;
    let client = server.client(value(&token));
    client.get("/products").await.ok();
    last_use(&server, &token).await;
    // A time within the last minute is kept.
    let recent = (chrono::Utc::now() - chrono::TimeDelta::seconds(30)).format("%Y-%m-%d %H:%M:%S+00:00").to_string();
    server.sql(&format!("UPDATE tokens SET last_used_at = '{recent}' WHERE id = {}", token["id"])).await;
    let before = last_use(&server, &token).await;
    server.state.extension::<TokenCache>().expect("a token cache").clear();
    for _ in 0..5 {
        client.get("/products").await.ok();
    }
    assert_eq!(last_use(&server, &token).await, before);
}
