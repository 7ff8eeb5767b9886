//! `Idempotency-Key`: a repeated POST is executed once.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, Server, http, on_both};

on_both!(
    repeated_request_gets_the_same_response_and_runs_once,
    different_request_with_the_same_key_is_refused,
    idempotency_key_belongs_to_one_user,
    refused_request_can_be_retried_with_the_same_key,
    concurrent_duplicates_run_once,
    actions_with_an_idempotency_key_run_once,
    stored_response_outlives_the_record,
    secret_is_replayed_to_its_token_and_stored_encrypted,
    response_is_replayed_to_its_token_alone,
    idempotency_key_is_1_to_255_visible_characters,
    methods_other_than_post_ignore_the_idempotency_key,
    idempotency_key_expires_after_a_day,
    stored_response_is_replayed_by_another_server,
);

fn keyed(client: &Client, key: &str) -> Client {
    client.with("idempotency-key", key)
}

async fn roles(server: &Server) -> Value {
    // Member and Reader are seeded.
    server.admin().get("/roles?q[id_gt]=2").await.ok()["meta"]["total"].clone()
}

async fn repeated_request_gets_the_same_response_and_runs_once(server: Server) {
    let client = keyed(&server.admin(), "one");
    let first = client.post("/roles", json!({ "name": "Office" })).await;
    let again = client.post("/roles", json!({ "name": "Office" })).await;
    assert_eq!(again.created("role"), first.created("role"));
    for name in ["location", "etag", "content-type"] {
        assert_eq!(again.header(name), first.header(name), "{name}");
    }
    assert_eq!([first.header("idempotent-replayed"), again.header("idempotent-replayed")], [None, Some("true")]);
    assert_eq!(roles(&server).await, 1);
    let events = server.event_bodies(0).await;
    assert_eq!(events.iter().filter(|event| event["event"] == "role.created").count(), 1);
    keyed(&server.admin(), "two").post("/roles", json!({ "name": "Other" })).await.created("role");
}

async fn different_request_with_the_same_key_is_refused(server: Server) {
    let client = keyed(&server.admin(), "one");
    client.post("/roles", json!({ "name": "Office" })).await.created("role");
    let problem = client.post("/roles", json!({ "name": "Other" })).await.invalid("Idempotency-Key");
    assert_eq!(problem, "was used for another request");
    client.post("/members", json!({ "name": "Office" })).await.invalid("Idempotency-Key");
    client.post("/roles?x=1", json!({ "name": "Office" })).await.invalid("Idempotency-Key");
    assert_eq!(roles(&server).await, 1);
}

async fn idempotency_key_belongs_to_one_user(server: Server) {
    let (_, other) = server.user(&["users.manage"], &["*"]).await;
    keyed(&server.admin(), "one").post("/roles", json!({ "name": "Office" })).await.created("role");
    let answer = keyed(&other, "one").post("/roles", json!({ "name": "Other" })).await;
    answer.created("role");
    assert_eq!(answer.header("idempotent-replayed"), None);
    let (_, without) = server.user(&[], &["*"]).await;
    keyed(&without, "one").post("/roles", json!({ "name": "Office" })).await.refused(403, "permission_missing");
}

async fn refused_request_can_be_retried_with_the_same_key(server: Server) {
    let client = keyed(&server.admin(), "one");
    client.post("/roles", json!({ "name": "" })).await.invalid("name");
    client.post_text("/roles", "{").await.refused(400, "malformed_request");
    client.post("/roles", json!({ "name": "Office" })).await.created("role");
    assert_eq!(roles(&server).await, 1);
}

async fn concurrent_duplicates_run_once(server: Server) {
    let client = keyed(&server.admin(), "one");
    let post = || client.post("/members", json!({ "name": "Ada" }));
    let answers = futures_util::future::join_all((0..8).map(|_| post())).await;
    let first = answers[0].created("member");
    assert!(answers.iter().all(|answer| answer.created("member") == first));
    let replayed = answers.iter().filter(|answer| answer.header("idempotent-replayed").is_some()).count();
    assert_eq!(replayed, 7);
    assert_eq!(client.get("/members").await.ok()["meta"]["total"], 1);
}

async fn actions_with_an_idempotency_key_run_once(server: Server) {
    let admin = server.admin();
    let view = json!({ "name": "Mine", "entity_type": "products", "columns": ["name"] });
    let view = admin.post("/custom_views", view).await.created("custom_view");
    let path = format!("/custom_views/{}/clone", view["id"]);
    let client = keyed(&admin, "one");
    let copies = [client.post(&path, json!({})).await, client.post(&path, json!({})).await];
    assert_eq!(copies[0].created("custom_view"), copies[1].created("custom_view"));
    assert_eq!(admin.get("/custom_views").await.ok()["meta"]["total"], 2);
}

async fn stored_response_outlives_the_record(server: Server) {
    let admin = server.admin();
    let (user, _) = server.user(&[], &["*"]).await;
    let path = format!("/users/{}", user["id"]);
    let stop = async || keyed(&admin, "one").post(&format!("{path}/deactivate"), json!({})).await;
    let stopped = stop().await.record("user");
    admin.delete(&path).await.deleted();
    assert_eq!(stop().await.record("user"), stopped);
    keyed(&admin, "two").post(&format!("{path}/deactivate"), json!({})).await.refused(404, "not_found");
    // The reply is replayed even if a record in the path was deleted.
    let product = async |name: &str| admin.post("/products", json!({ "name": name })).await.created("product");
    let (lamp, cable) = (product("Lamp").await, product("Cable").await);
    let (lamp, accessory) = (format!("/products/{}", lamp["id"]), json!({ "accessory_product_id": cable["id"] }));
    let add = async |key: &str| keyed(&admin, key).post(&format!("{lamp}/accessories"), accessory.clone()).await;
    let added = add("three").await.created("accessory");
    admin.delete(&lamp).await.deleted();
    assert_eq!(add("three").await.created("accessory"), added);
    add("four").await.refused(404, "not_found");
}

async fn secret_is_replayed_to_its_token_and_stored_encrypted(server: Server) {
    let admin = server.admin();
    let other = server.client(&server.token(&["*"]).await);
    let body = json!({ "name": "CI", "abilities": ["products:read"] });
    let first = keyed(&admin, "one").post("/tokens", body.clone()).await.created("token");
    assert_eq!(keyed(&admin, "one").post("/tokens", body.clone()).await.created("token"), first);
    let value = first["value"].as_str().expect("a secret");
    let stored = server.texts("SELECT \"body\" AS \"text\" FROM \"idempotency_keys\"").await;
    assert!(stored.len() == 1 && !stored[0].contains(value) && !stored[0].contains("CI"), "{stored:?}");
    keyed(&other, "one").post("/tokens", body).await.refused(409, "conflict");
}

async fn response_is_replayed_to_its_token_alone(server: Server) {
    let admin = server.admin();
    let narrow = server.client(&server.token(&["users:write"]).await);
    let body = json!({ "name": "Ada", "email": "ada@example.com" });
    assert_eq!(keyed(&admin, "one").post("/users", body.clone()).await.created("user")["email"], "ada@example.com");
    let refused = keyed(&narrow, "one").post("/users", body).await;
    refused.refused(409, "conflict");
    assert!(!refused.text.contains("ada@example.com"), "{}", refused.text);
    assert_eq!(admin.get("/users?q[email_eq]=ada@example.com").await.records("users").len(), 1);
}

async fn idempotency_key_is_1_to_255_visible_characters(server: Server) {
    let admin = server.admin();
    for bad in ["", " ", "a b", "ä", &"x".repeat(256)] {
        keyed(&admin, bad).post("/roles", json!({ "name": "Office" })).await.invalid("Idempotency-Key");
    }
    for (index, good) in ["!", "~", &"x".repeat(255)].into_iter().enumerate() {
        keyed(&admin, good).post("/roles", json!({ "name": format!("Role {index}") })).await.created("role");
    }
    assert_eq!(roles(&server).await, 3);
    let twice = http().build().expect("a client").post(format!("{}/api/v1/roles", server.url()));
    let twice = twice.bearer_auth(server.token(&["*"]).await).json(&json!({ "name": "Office" }));
    let twice = twice.header("idempotency-key", "one").header("idempotency-key", "two");
    let answer = twice.send().await.expect("an answer");
    assert_eq!(answer.status(), 422);
    assert!(answer.text().await.expect("a text").contains("must be sent once"));
}

async fn methods_other_than_post_ignore_the_idempotency_key(server: Server) {
    let client = keyed(&server.admin(), "one");
    let role = client.post("/roles", json!({ "name": "Office" })).await.created("role");
    let path = format!("/roles/{}", role["id"]);
    for name in ["One", "Two"] {
        let changed = client.put(&path, json!({ "name": name })).await;
        assert_eq!(changed.record("role")["name"], name);
        assert_eq!(changed.header("idempotent-replayed"), None);
    }
    assert_eq!(keyed(&client, "not a key").get(&path).await.record("role")["name"], "Two");
    client.delete(&path).await.deleted();
}

async fn idempotency_key_expires_after_a_day(server: Server) {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let client = keyed(&server.admin(), "one");
    client.post("/members", json!({ "name": "Ada" })).await.created("member");
    server.state.clock.advance(DAY - Duration::from_secs(60));
    assert_eq!(charter_runtime::ops::idempotency::prune(&server.state).await.expect("it prunes"), 0);
    assert!(client.post("/members", json!({ "name": "Ada" })).await.header("idempotent-replayed").is_some());
    server.state.clock.advance(Duration::from_secs(61));
    // Even before it is pruned.
    let again = client.post("/members", json!({ "name": "Grace" })).await;
    again.created("member");
    assert_eq!(again.header("idempotent-replayed"), None);
    server.state.clock.advance(DAY + Duration::from_secs(1));
    assert_eq!(charter_runtime::ops::idempotency::prune(&server.state).await.expect("it prunes"), 1);
}

async fn stored_response_is_replayed_by_another_server(server: Server) {
    let other = server.second_node().await;
    let first = keyed(&server.admin(), "one").post("/members", json!({ "name": "Ada" })).await.created("member");
    let again = keyed(&other.admin(), "one").post("/members", json!({ "name": "Ada" })).await;
    assert_eq!(again.created("member"), first);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let (one, two) = (keyed(&server.admin(), "two"), keyed(&other.admin(), "two"));
    let post = |client: &Client| {
        let client = client.clone();
        async move { client.post("/members", json!({ "name": "Grace" })).await.created("member") }
    };
    let (one, two) = tokio::join!(post(&one), post(&two));
    assert_eq!(one, two);
    other.stop().await;
}
