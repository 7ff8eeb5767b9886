//! `POST /webhooks`: validation of URL and events, and the secret.

use charter_runtime::webhook::SigningSecret;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::webhook;
use crate::support::{Server, is_utc_time, keys, on_both};

on_both!(
    creating_a_webhook_returns_its_secret_once,
    all_errors_of_a_webhook_are_reported_at_once,
    webhook_url_must_be_https_and_public,
    unknown_webhook_event_is_refused_with_a_hint,
    webhook_can_subscribe_to_every_event,
    clients_cannot_set_the_internal_fields_of_a_webhook,
    user_has_at_most_100_webhooks,
);

async fn user_has_at_most_100_webhooks(server: Server) {
    let admin = server.admin();
    let made = |count: usize| {
        let webhook = json!({ "method": "create", "webhook": { "url": "https://example.com/", "events": ["*"] } });
        json!({ "operations": vec![webhook; count] })
    };
    admin.post("/webhooks/bulk", made(101)).await.status(422);
    // Concurrent creations count each other.
    admin.post("/webhooks/bulk", made(95)).await.ok();
    let at_once = (0..10).map(|_| admin.post("/webhooks", json!({ "url": "https://example.com/", "events": ["*"] })));
    let made = join_all(at_once).await.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(made, 5);
    let one_more = json!({ "url": "https://example.com/", "events": ["*"] });
    let problem = admin.post("/webhooks", one_more.clone()).await.invalid("url");
    assert_eq!(problem, "cannot be added: a user has at most 100 webhooks");
    let (_, other) = server.user(&[], &["*"]).await;
    other.post("/webhooks", one_more).await.created("webhook");
}

async fn creating_a_webhook_returns_its_secret_once(server: Server) {
    let admin = server.admin();
    let body = json!({ "url": "https://example.com/hooks", "events": ["user.created", "role.deleted"] });
    let answer = admin.post("/webhooks", json!({ "webhook": body })).await;
    let created = answer.created("webhook");
    let shown = [
        "created_at",
        "disabled_at",
        "disabled_reason",
        "events",
        "failing_since",
        "id",
        "is_active",
        "secret",
        "updated_at",
        "url",
        "when",
    ];
    assert_eq!(keys(&created), shown);
    assert_eq!([&created["url"], &created["events"]], [&body["url"], &body["events"]]);
    assert_eq!([&created["is_active"], &created["failing_since"]], [&json!(true), &Value::Null]);
    assert!(is_utc_time(&created["created_at"]) && created["disabled_at"].is_null());
    assert!(SigningSecret::parse(created["secret"].as_str().unwrap_or_default()).is_some());
    let path = answer.header("location").and_then(|place| place.strip_prefix("/api/v1")).expect("a location");
    let read = admin.get(path).await.record("webhook");
    assert_eq!((keys(&read).contains(&"secret"), &read["url"]), (false, &body["url"]));
    // The response can be sent back.
    let changed = admin.put(path, created.clone()).await.record("webhook");
    assert_eq!((&changed["url"], keys(&changed).contains(&"secret")), (&body["url"], false));
    assert_ne!(webhook(&admin, "https://example.com/", &["*"]).await["secret"], created["secret"]);
}

async fn all_errors_of_a_webhook_are_reported_at_once(server: Server) {
    let admin = server.admin();
    assert_eq!(admin.post("/webhooks", json!({})).await.invalid_fields(), ["events", "url"]);
    let wrong = json!({ "url": "ftp://example.com/", "events": ["nothing.happened"] });
    assert_eq!(admin.post("/webhooks", wrong).await.invalid_fields(), ["events", "url"]);
    let url = "https://example.com/";
    for events in [json!([]), json!("user.created"), json!([1]), json!({}), json!("")] {
        admin.post("/webhooks", json!({ "url": url, "events": events })).await.invalid("events");
    }
    admin.post("/webhooks", json!({ "url": url, "events": ["*"], "colour": "red" })).await.invalid("colour");
}

async fn webhook_url_must_be_https_and_public(server: Server) {
    let admin = server.admin();
    let long = format!("https://example.com/{}", "x".repeat(2048));
    for (url, problem) in [
        ("http://example.com/", "must begin with https://"),
        ("example.com", "must be an absolute URL"),
        ("https://user:pass@example.com/", "must not contain a user name or a password"),
        ("https://127.0.0.1/", "points to an address that is not public"),
        ("https://2130706433/", "points to an address that is not public"),
        ("https://[::ffff:10.0.0.1]/", "points to an address that is not public"),
        ("https://localhost/", "points to an address that is not public"),
        ("https://169.254.169.254/latest/", "points to an address that is not public"),
        ("https://example.com:25/", "uses a port that is reserved for another protocol"),
        (long.as_str(), "2048"),
    ] {
        let told = admin.post("/webhooks", json!({ "url": url, "events": ["*"] })).await.invalid("url");
        assert!(told.contains(problem), "{url}: {told}");
    }
    webhook(&admin, &long[..2048], &["*"]).await;
    webhook(&admin, "https://8.8.8.8:8443/a?b=c", &["*"]).await;
}

async fn unknown_webhook_event_is_refused_with_a_hint(server: Server) {
    let body = json!({ "url": "https://example.com/", "events": ["user.create", "*"] });
    let told = server.admin().post("/webhooks", body).await.invalid("events");
    assert_eq!(told, "refers to an unknown event `user.create`; did you mean `user.created`?");
    for event in ["webhook.test", "user.*", "token.created", ""] {
        let body = json!({ "url": "https://example.com/", "events": [event] });
        server.admin().post("/webhooks", body).await.invalid("events");
    }
}

async fn webhook_can_subscribe_to_every_event(server: Server) {
    let events = server.state.catalog.events();
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    assert!(events.contains(&"settings.updated") && events.contains(&"product.deleted"), "{events:?}");
    let created = webhook(&server.admin(), "https://example.com/", &events).await;
    assert_eq!(created["events"], json!(events));
}

async fn clients_cannot_set_the_internal_fields_of_a_webhook(server: Server) {
    let admin = server.admin();
    for field in ["secret", "previous_secret", "last_failure_at", "user_id"] {
        let body = json!({ "url": "https://example.com/", "events": ["*"], field: "2026-01-01T00:00:00Z" });
        let answer = admin.post("/webhooks", body).await;
        assert_eq!(answer.status, 422, "{field}: {}", answer.text);
        if field == "secret" {
            assert_eq!(answer.invalid("secret"), "cannot be set: the server makes it");
        }
    }
    let body = json!({ "url": "https://example.com/", "events": ["*"], "failing_since": "2026-01-01T00:00:00Z" });
    assert_eq!(admin.post("/webhooks", body).await.created("webhook")["failing_since"], Value::Null);
}
