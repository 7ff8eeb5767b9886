//! Audit entries and log lines that say who signed in, changed a right or exported data, and from which address.

use std::time::Duration;

use charter_runtime::auth::password;
use charter_runtime::ops::Context;
use charter_runtime::principal::Principal;
use serde_json::{Value, json};

use super::{CookieClient, PASSWORD, invitation};
use crate::support::{Client, Server, logged, on_both};

on_both!(
    every_event_of_an_account_has_an_audit_entry,
    failed_sign_in_at_an_unknown_address_stores_a_fingerprint_only,
    life_of_a_token_has_audit_entries,
    changes_of_rights_have_audit_entries,
    writes_of_the_panel_have_the_address_of_the_browser,
    start_and_end_of_an_export_have_audit_entries,
    interrupted_export_has_an_audit_entry_that_says_so,
    request_log_names_user_token_and_address,
);

const HOME: &str = "203.0.113.7";
const OFFICE: &str = "198.51.100.1";
const FORWARDED: &str = "x-forwarded-for";

/// A server that believes `X-Forwarded-For` of this machine.
async fn behind_proxy(server: &Server) -> Server {
    server.configured(|config| config.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")]).await
}

/// Entries about a record, oldest first.
async fn entries(client: &Client, entity_type: &str, id: &Value) -> Vec<Value> {
    let path = format!("/audit_entries?q[entity_type_eq]={entity_type}&q[record_id_eq]={id}&sort=id&per_page=100");
    client.get(&path).await.records("audit_entries")
}

fn actions(entries: &[Value]) -> Vec<&str> {
    entries.iter().map(|entry| entry["action"].as_str().expect("a text")).collect()
}

async fn every_event_of_an_account_has_an_audit_entry(server: Server) {
    let server = behind_proxy(&server).await;
    let admin = server.admin().with(FORWARDED, OFFICE);
    let user = json!({ "name": "Ada", "email": "ada@example.com" });
    let user = admin.post("/users", user).await.created("user");
    let id = user["id"].as_i64().expect("an id");
    let link = admin.post(&format!("/users/{id}/invite"), json!({})).await.record("user");
    let link = link["invitation_url"].as_str().and_then(|link| link.strip_prefix(&server.url())).expect("a link");
    let mut panel = CookieClient::new(&server.url()).with(FORWARDED, Some(HOME));
    panel.post(link, &[("password", PASSWORD)]).await.status(303);
    let new = "another long password";
    panel.submit("/panel/password", &[("old", PASSWORD), ("password", new)]).await.status(303);
    panel.post("/panel/sign-in", &[("email", "Ada@example.com"), ("password", PASSWORD)]).await.status(422);
    panel.post("/panel/sign-in", &[("email", "Ada@example.com"), ("password", new)]).await.status(303);
    panel.submit("/panel/sign-out", &[]).await.status(303);
    let operator = Principal::operator();
    let context = Context::new(&server.state, &operator, server.state.db.reader());
    password::set(&context, id, PASSWORD).await.expect("the password is set");

    let entries = entries(&admin, "users", &user["id"]).await;
    let expected = [
        ("create", json!(1), json!(OFFICE)),
        ("invite", json!(1), json!(OFFICE)),
        ("accept_invitation", json!(id), json!(HOME)),
        ("set_password", json!(id), json!(HOME)),
        ("sign_in", json!(id), json!(HOME)),
        ("change_password", json!(id), json!(HOME)),
        ("sign_in", json!(id), json!(HOME)),
        ("sign_in_failed", Value::Null, json!(HOME)),
        ("sign_in", json!(id), json!(HOME)),
        ("sign_out", json!(id), json!(HOME)),
        ("set_password", Value::Null, Value::Null),
    ];
    assert_eq!(actions(&entries), expected.iter().map(|(action, ..)| *action).collect::<Vec<_>>());
    for (entry, (_, user_id, address)) in entries.iter().zip(&expected) {
        assert_eq!([&entry["user_id"], &entry["address"]], [user_id, address], "{entry}");
        assert_eq!(entry["request_id"].is_null(), address.is_null(), "{entry}");
        assert_eq!(entry["token_id"], if address == OFFICE { json!(1) } else { Value::Null }, "{entry}");
    }
    let text = json!(entries).to_string();
    assert!(!text.contains(PASSWORD) && !text.contains(new) && !text.contains("argon2"), "{text}");
}

async fn failed_sign_in_at_an_unknown_address_stores_a_fingerprint_only(server: Server) {
    let mut panel = CookieClient::new(&server.url());
    // People type their password into the wrong field.
    for typed in ["hunter2 hunter2", "Hunter2 hunter2 ", "other", "a\0b"] {
        panel.post("/panel/sign-in", &[("email", typed), ("password", "x")]).await.status(422);
    }
    let entries = entries(&server.admin(), "users", &json!(0)).await;
    assert_eq!(actions(&entries), ["sign_in_failed"; 4]);
    let prints: Vec<&Value> = entries.iter().map(|entry| &entry["changes"]["email_fingerprint"]["new"]).collect();
    assert!(prints[0].as_str().is_some_and(|print| print.len() == 16) && prints[0] == prints[1], "{prints:?}");
    assert!(prints[1] != prints[2] && prints[2] != prints[3], "{prints:?}");
    assert!(!json!(entries).to_string().to_lowercase().contains("hunter2"));
}

async fn life_of_a_token_has_audit_entries(server: Server) {
    let server = behind_proxy(&server).await;
    let admin = server.admin().with(FORWARDED, OFFICE);
    let token = admin.post("/tokens", json!({ "name": "CI", "abilities": ["*"] })).await.created("token");
    let client = server.client(token["value"].as_str().expect("a secret")).with(FORWARDED, HOME);
    for _ in 0..3 {
        client.get("/products").await.ok();
    }
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while entries(&admin, "tokens", &token["id"]).await.len() < 2 {
        assert!(std::time::Instant::now() < deadline, "the first use has no entry");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    admin.delete(&format!("/tokens/{}", token["id"])).await.deleted();
    let entries = entries(&admin, "tokens", &token["id"]).await;
    assert_eq!(actions(&entries), ["create", "first_use", "delete"]);
    let sources: Vec<_> = entries.iter().map(|entry| (&entry["token_id"], entry["address"].as_str())).collect();
    let one = json!(1);
    assert_eq!(sources, [(&one, Some(OFFICE)), (&token["id"], Some(HOME)), (&one, Some(OFFICE))]);
}

async fn changes_of_rights_have_audit_entries(server: Server) {
    let admin = server.admin();
    let (user, _) = server.user(&["audit.read"], &["*"]).await;
    let role = &user["role_ids"][0];
    admin.put(&format!("/users/{}", user["id"]), json!({ "role_ids": [], "is_admin": true })).await.ok();
    admin.put(&format!("/roles/{role}"), json!({ "permissions": ["users.manage"] })).await.ok();
    let of_user = entries(&admin, "users", &user["id"]).await.pop().expect("an entry");
    assert_eq!(of_user["changes"]["role_ids"], json!({ "old": [role], "new": [] }));
    assert_eq!(of_user["changes"]["is_admin"], json!({ "old": false, "new": true }));
    let of_role = entries(&admin, "roles", role).await.pop().expect("an entry");
    assert_eq!(of_role["changes"], json!({ "permissions": { "old": ["audit.read"], "new": ["users.manage"] } }));
}

async fn writes_of_the_panel_have_the_address_of_the_browser(server: Server) {
    let server = behind_proxy(&server).await;
    let link = invitation(&server, 1).await;
    let link = link.strip_prefix(&server.url()).expect("a link of this server");
    let mut panel = CookieClient::new(&server.url()).with(FORWARDED, Some("2001:db8::7"));
    panel.post(link, &[("password", PASSWORD)]).await.status(303);
    panel.submit("/product_groups", &[("name", "Lamps")]).await.status(303);
    panel.call("POST", "/product_groups", Some(json!({ "name": "Cables" }).to_string())).await.status(201);
    let path = "/audit_entries?q[entity_type_eq]=product_groups&sort=-id&per_page=2";
    for entry in server.admin().get(path).await.records("audit_entries") {
        assert_eq!([&entry["address"], &entry["user_id"]], [&json!("2001:db8::7"), &json!(1)], "{entry}");
    }
}

async fn start_and_end_of_an_export_have_audit_entries(server: Server) {
    let admin = server.admin();
    let total = admin.get("/currencies").await.ok()["meta"]["total"].clone();
    let request_id = admin
        .with("accept", "text/csv")
        .get("/currencies")
        .await
        .status(200)
        .header("x-request-id")
        .map(str::to_string);
    admin.with("accept", "text/csv").send(reqwest::Method::HEAD, "/currencies", None).await.status(200);
    let entries = entries(&admin, "currencies", &json!(0)).await;
    assert_eq!(actions(&entries), ["export_start", "export_end"], "a HEAD request exports nothing");
    for entry in &entries {
        assert_eq!([&entry["user_id"], &entry["token_id"]], [&json!(1), &json!(1)], "{entry}");
        assert_eq!(entry["address"], "127.0.0.1");
        assert_eq!(entry["request_id"].as_str(), request_id.as_deref());
    }
    assert_eq!(entries[0]["changes"], json!({ "format": { "old": null, "new": "csv" } }));
    let ended = json!({ "records": { "old": null, "new": total }, "complete": { "old": null, "new": true } });
    assert_eq!(entries[1]["changes"], ended);
}

async fn interrupted_export_has_an_audit_entry_that_says_so(server: Server) {
    let admin = server.admin();
    let definition = json!({ "entity_type": "members", "name": "colour", "field_type": "string" });
    admin.post("/custom_fields", definition).await.created("custom_field");
    let member = admin.post("/members", json!({ "name": "Ada" })).await.created("member");
    server.sql(&format!("UPDATE members SET custom_fields = '[]' WHERE id = {}", member["id"])).await;
    admin.with("accept", "text/csv").get("/members").await.refused(500, "internal_error");
    let entries = entries(&admin, "members", &json!(0)).await;
    assert_eq!(actions(&entries), ["export_start", "export_end"]);
    assert_eq!(entries[1]["changes"]["complete"]["new"], false);
}

async fn request_log_names_user_token_and_address(server: Server) {
    let server = behind_proxy(&server).await;
    let (user, client) = server.user(&[], &["*"]).await;
    let entries = server.admin().get("/tokens?sort=-id&per_page=1").await.records("tokens");
    let answer = client.with(FORWARDED, HOME).get("/products").await;
    let line = logged(answer.header("x-request-id").expect("an id"));
    for part in [format!("user_id={}", user["id"]), format!("token_id={}", entries[0]["id"]), format!("address={HOME}")]
    {
        assert!(line.contains(&part), "{line} lacks {part}");
    }
    let answer = server.anonymous().with(FORWARDED, HOME).get("/products").await;
    let line = logged(answer.header("x-request-id").expect("an id"));
    assert!(line.contains("address=") && !line.contains("user_id") && !line.contains("token_id"), "{line}");
    let mut panel = super::signed_in(&server, &user).await;
    let page = panel.get("/panel/password").await;
    let line = logged(page.header("x-request-id"));
    assert!(line.contains(&format!("user_id={}", user["id"])) && !line.contains("token_id"), "{line}");
}
