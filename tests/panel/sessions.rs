//! How long a session lasts: its secret is changed now and then, and one that never arrived ends nothing.

use std::time::Duration;

use charter_runtime::db::Sql;
use serde_json::json;

use super::{Visitor, visitor};
use crate::support::{Server, on_both};

on_both!(
    who_is_no_administrator_on_another_node_makes_none,
    a_secret_is_changed_every_hour_and_ends_when_it_is_not_used,
    an_answer_that_is_lost_ends_no_session,
    of_two_at_the_hour_the_one_that_changed_nothing_says_nothing,
);

/// What a node remembers of a session may be old. What gives rights is not judged by it, whatever its method is.
async fn who_is_no_administrator_on_another_node_makes_none(server: Server) {
    let (admin, other) = (server.admin(), server.second_node().await);
    let body = json!({ "name": "Second", "email": "second@example.com", "is_admin": true });
    let id = admin.post("/users", body).await.created("user")["id"].clone();
    let path = format!("/users/{id}");
    let mut visitor = visitor(&other, &json!({ "id": id })).await;
    let (rights, role) = (json!({ "is_admin": true }), json!({ "name": "Theirs" }));
    for (method, what, body) in [
        ("PUT", path.as_str(), Some(rights.to_string())),
        ("PATCH", path.as_str(), Some(rights.to_string())),
        ("POST", "/roles", Some(role.to_string())),
        ("DELETE", "/webhooks/1", None),
    ] {
        admin.put(&path, json!({ "is_admin": true })).await.record("user");
        other.state.tokens.clear();
        // It is remembered as an administrator's.
        visitor.get("/users").await.status(200);
        admin.put(&path, json!({ "is_admin": false })).await.record("user");
        let answer = visitor.call(method, what, body).await;
        assert!([403, 404].contains(&answer.status), "{method} {what}: {}", answer.text);
        let is_admin = admin.get(&path).await.record("user")["is_admin"].clone();
        assert_eq!(is_admin, false, "{method} {what}");
    }
}

/// The use of a secret is written beside the request that uses it.
async fn noted(server: &Server) {
    let noted = async {
        let sql = "SELECT 'used' AS text FROM user_sessions WHERE last_used_at > rotated_at";
        while server.texts(sql).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), noted).await.expect("its use is noted");
}

async fn a_secret_is_changed_every_hour_and_ends_when_it_is_not_used(server: Server) {
    let mut visitor = visitor(&server, &json!({ "id": 1 })).await;
    visitor.get("/products").await.status(200);
    let (first, token) = (visitor.cookie.clone(), visitor.token().await);
    let hour = Duration::from_secs(3601);
    server.state.clock.turn(hour);
    server.state.tokens.clear();
    visitor.get("/nothing").await.status(404);
    assert_ne!(visitor.cookie, first, "it was changed, and told with whatever came of the request");
    let open = [("name", "From before"), ("_token", token.as_str())];
    visitor.post("/product_groups", &open).await.status(303);
    let mut late = Visitor::new(&server.url());
    late.cookie = first;
    late.get("/products").await.status(200);
    noted(&server).await;
    server.state.clock.turn(Duration::from_secs(61));
    late.get("/products").await.status(303);
    visitor.get("/products").await.status(200);
    server.state.clock.turn(hour * 13);
    server.state.tokens.clear();
    visitor.get("/products").await.status(303);
}

async fn an_answer_that_is_lost_ends_no_session(server: Server) {
    let mut visitor = visitor(&server, &json!({ "id": 1 })).await;
    visitor.get("/products").await.status(200);
    let first = visitor.cookie.clone();
    server.state.clock.turn(Duration::from_secs(3601));
    server.state.tokens.clear();
    visitor.get("/products").await.status(200);
    let lost = visitor.cookie.clone();
    assert_ne!(lost, first);
    // The browser never saw it, and comes with what it has.
    visitor.cookie = first.clone();
    server.state.clock.turn(Duration::from_secs(600));
    visitor.get("/products").await.status(200);
    assert!(visitor.cookie != first && visitor.cookie != lost, "it is told another");
    let (second, mut late) = (visitor.cookie.clone(), Visitor::new(&server.url()));
    visitor.get("/products").await.status(200);
    assert_eq!(visitor.cookie, second);
    noted(&server).await;
    for old in [lost, first] {
        server.state.clock.turn(Duration::from_secs(61));
        late.cookie = old;
        late.get("/products").await.status(303);
    }
}

async fn of_two_at_the_hour_the_one_that_changed_nothing_says_nothing(server: Server) {
    let mut visitor = visitor(&server, &json!({ "id": 1 })).await;
    visitor.get("/products").await.status(200);
    let mut second = Visitor::new(&server.url());
    second.cookie = visitor.cookie.clone();
    server.state.clock.turn(Duration::from_secs(3601));
    server.state.tokens.clear();
    // Both have read the session before either of them can change it.
    let held = server.state.db.begin().await.expect("a transaction begins");
    let sql = "UPDATE user_sessions SET user_id = user_id";
    Sql::new(server.state.db.dialect(), sql).run(&held).await.expect("the session is locked");
    let before = visitor.cookie.clone();
    let let_go = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(held);
    };
    let later = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        second.get("/products").await
    };
    let (one, two, ()) = tokio::join!(visitor.get("/products"), later, let_go);
    one.status(200);
    two.status(200);
    assert!(visitor.cookie != before && second.cookie == before, "the first changed it");
    // The answer that told the new one was lost.
    visitor.cookie = before.clone();
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.state.clock.turn(Duration::from_secs(120));
    server.state.tokens.clear();
    visitor.get("/products").await.status(200);
    assert_ne!(visitor.cookie, before, "it is told another");
}
