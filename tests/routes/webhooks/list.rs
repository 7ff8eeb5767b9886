//! `GET /webhooks`: the caller's own webhooks, with the list conventions.

use serde_json::json;

use super::webhook;
use crate::support::{Server, keys, on_both};

on_both!(
    user_sees_own_webhooks_and_administrator_sees_all,
    webhook_list_follows_the_list_conventions,
    webhooks_have_abilities_of_their_own
);

async fn user_sees_own_webhooks_and_administrator_sees_all(server: Server) {
    let (_, one) = server.user(&[], &["webhooks:read", "webhooks:write"]).await;
    let (_, other) = server.user(&[], &["webhooks:read", "webhooks:write"]).await;
    let theirs = webhook(&one, "https://one.example/", &["*"]).await;
    webhook(&other, "https://other.example/", &["*"]).await;
    assert_eq!(one.get("/webhooks").await.column("webhooks", "url"), ["https://one.example/"]);
    assert_eq!(server.admin().get("/webhooks").await.ok()["meta"]["total"], 2);
    let path = format!("/webhooks/{}", theirs["id"]);
    for part in ["", "/logs"] {
        other.get(&format!("{path}{part}")).await.refused(404, "not_found");
        one.get(&format!("{path}{part}")).await.ok();
        server.admin().get(&format!("{path}{part}")).await.ok();
    }
    other.put(&path, json!({ "is_active": false })).await.refused(404, "not_found");
    other.delete(&path).await.refused(404, "not_found");
    for action in ["test", "recover", "rotate_secret"] {
        other.post(&format!("{path}/{action}"), json!({})).await.refused(404, "not_found");
    }
}

async fn webhook_list_follows_the_list_conventions(server: Server) {
    let admin = server.admin();
    for name in ["b", "a", "c"] {
        webhook(&admin, &format!("https://{name}.example/"), &["*"]).await;
    }
    let listed = admin.get("/webhooks?sort=-url&per_page=2&q[is_active_eq]=true").await;
    assert_eq!(listed.column("webhooks", "url"), ["https://c.example/", "https://b.example/"]);
    assert_eq!(listed.ok()["meta"], json!({ "total": 3, "per_page": 2, "page": 1 }));
    assert!(!listed.text.contains("whsec_"));
    assert_eq!(admin.get("/webhooks?q[url_cont]=A.EX").await.records("webhooks").len(), 1);
    admin.get("/webhooks?q[secret_start]=whsec_").await.invalid("q[secret_start]");
    let view = json!({ "name": "Urls", "entity_type": "webhooks", "columns": ["url"] });
    let view = admin.post("/custom_views", view).await.created("custom_view");
    let viewed = admin.get(&format!("/webhooks?view_id={}", view["id"])).await.records("webhooks");
    assert_eq!(keys(&viewed[0]), ["id", "url"]);
}

async fn webhooks_have_abilities_of_their_own(server: Server) {
    let reader = server.able(&["webhooks:read"]).await;
    reader.get("/webhooks").await.ok();
    let body = json!({ "url": "https://example.com/", "events": ["*"] });
    reader.post("/webhooks", body).await.refused(403, "ability_missing");
    server.able(&["users:read"]).await.get("/webhooks").await.refused(403, "ability_missing");
    server.anonymous().get("/webhooks").await.refused(401, "unauthenticated");
    let hook = webhook(&server.admin(), "https://example.com/", &["*"]).await;
    for action in ["test", "recover", "rotate_secret", "logs/1/resend"] {
        let answer = reader.post(&format!("/webhooks/{}/{action}", hook["id"]), json!({})).await;
        answer.refused(403, "ability_missing");
    }
}
