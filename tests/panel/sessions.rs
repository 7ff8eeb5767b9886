//! Lifetime of a session: rotation of its secret, lost responses, and cached rights.

use charter_runtime::auth::TokenCache;
use std::time::Duration;

use charter_runtime::db::Sql;
use serde_json::json;

use super::{CookieClient, signed_in};
use crate::support::{Server, on_both};

on_both!(
    a_revoked_administrator_cannot_grant_rights_on_another_node,
    a_session_secret_is_rotated_every_hour_and_expires_without_use,
    a_lost_response_does_not_end_a_session,
    concurrent_requests_rotate_a_session_secret_once,
);

/// A node may have cached outdated rights of a session. Writes are authorized without the cache.
async fn a_revoked_administrator_cannot_grant_rights_on_another_node(server: Server) {
    let (admin, other) = (server.admin(), server.second_node().await);
    let body = json!({ "name": "Second", "email": "second@example.com", "is_admin": true });
    let id = admin.post("/users", body).await.created("user")["id"].clone();
    let path = format!("/users/{id}");
    let mut panel = signed_in(&other, &json!({ "id": id })).await;
    let (rights, role) = (json!({ "is_admin": true }), json!({ "name": "Theirs" }));
    for (method, what, body) in [
        ("PUT", path.as_str(), Some(rights.to_string())),
        ("PATCH", path.as_str(), Some(rights.to_string())),
        ("POST", "/roles", Some(role.to_string())),
        ("DELETE", "/webhooks/1", None),
    ] {
        admin.put(&path, json!({ "is_admin": true })).await.record("user");
        other.state.extension::<TokenCache>().expect("a token cache").clear();
        // The session is cached with administrator rights.
        panel.get("/users").await.status(200);
        admin.put(&path, json!({ "is_admin": false })).await.record("user");
        let answer = panel.call(method, what, body).await;
        assert!([403, 404].contains(&answer.status), "{method} {what}: {}", answer.text);
        let is_admin = admin.get(&path).await.record("user")["is_admin"].clone();
        assert_eq!(is_admin, false, "{method} {what}");
    }
}

/// Waits until the use of a secret is stored, which happens after the response.
async fn noted(server: &Server) {
    let noted = async {
        let sql = "SELECT 'used' AS text FROM user_sessions WHERE last_used_at > rotated_at";
        while server.texts(sql).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), noted).await.expect("its use is noted");
}

async fn a_session_secret_is_rotated_every_hour_and_expires_without_use(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/products").await.status(200);
    let (first, token) = (panel.cookie.clone(), panel.token().await);
    let hour = Duration::from_secs(3601);
    server.state.clock.advance(hour);
    server.state.extension::<TokenCache>().expect("a token cache").clear();
    panel.get("/nothing").await.status(404);
    assert_ne!(panel.cookie, first, "the new secret is sent even with a 404");
    let open = [("name", "From before"), ("_token", token.as_str())];
    panel.post("/product_groups", &open).await.status(303);
    let mut late = CookieClient::new(&server.url());
    late.cookie = first;
    late.get("/products").await.status(200);
    noted(&server).await;
    server.state.clock.advance(Duration::from_secs(61));
    late.get("/products").await.status(303);
    panel.get("/products").await.status(200);
    server.state.clock.advance(hour * 13);
    server.state.extension::<TokenCache>().expect("a token cache").clear();
    panel.get("/products").await.status(303);
}

async fn a_lost_response_does_not_end_a_session(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/products").await.status(200);
    let first = panel.cookie.clone();
    server.state.clock.advance(Duration::from_secs(3601));
    server.state.extension::<TokenCache>().expect("a token cache").clear();
    panel.get("/products").await.status(200);
    let lost = panel.cookie.clone();
    assert_ne!(lost, first);
    // The browser never received the new secret and sends the old one.
    panel.cookie = first.clone();
    server.state.clock.advance(Duration::from_secs(600));
    panel.get("/products").await.status(200);
    assert!(panel.cookie != first && panel.cookie != lost, "the response contains a new secret");
    let (second, mut late) = (panel.cookie.clone(), CookieClient::new(&server.url()));
    panel.get("/products").await.status(200);
    assert_eq!(panel.cookie, second);
    noted(&server).await;
    for old in [lost, first] {
        server.state.clock.advance(Duration::from_secs(61));
        late.cookie = old;
        late.get("/products").await.status(303);
    }
}

async fn concurrent_requests_rotate_a_session_secret_once(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/products").await.status(200);
    let mut second = CookieClient::new(&server.url());
    second.cookie = panel.cookie.clone();
    server.state.clock.advance(Duration::from_secs(3601));
    server.state.extension::<TokenCache>().expect("a token cache").clear();
    // Both requests read the session before one of them rotates the secret.
    let held = server.state.db.begin().await.expect("a transaction begins");
    let sql = "UPDATE user_sessions SET user_id = user_id";
    Sql::new(server.state.db.dialect(), sql).run(&held).await.expect("the session is locked");
    let before = panel.cookie.clone();
    let let_go = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(held);
    };
    let later = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        second.get("/products").await
    };
    let (one, two, ()) = tokio::join!(panel.get("/products"), later, let_go);
    one.status(200);
    two.status(200);
    assert!(panel.cookie != before && second.cookie == before, "only the first request rotates the secret");
    // The response with the new secret was lost.
    panel.cookie = before.clone();
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.state.clock.advance(Duration::from_secs(120));
    server.state.extension::<TokenCache>().expect("a token cache").clear();
    panel.get("/products").await.status(200);
    assert_ne!(panel.cookie, before, "the response contains a new secret");
}
