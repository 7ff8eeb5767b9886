//! The page of one's own account: name, sessions and tokens, all without scripts.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CookieClient, PASSWORD, signed_in};
use crate::support::{Client, Server, on_both};

on_both!(
    user_without_permissions_changes_their_own_name_and_no_email_address,
    sessions_are_listed_with_browser_address_and_last_use,
    ending_a_session_asks_first_and_ends_only_that_one,
    ending_all_other_sessions_says_how_many_and_keeps_this_one,
    sessions_of_others_cannot_be_ended,
    own_tokens_are_listed_and_revoked_after_a_question,
    tokens_are_hidden_from_users_whose_roles_do_not_grant_them,
);

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
const PHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                     Version/18.6 Mobile/15E148 Safari/604.1";

/// Another session of the user, in this browser.
async fn sign_in(server: &Server, email: &str, user_agent: &str) -> CookieClient {
    let mut panel = CookieClient::new(&server.url()).with("user-agent", Some(user_agent));
    panel.post("/panel/sign-in", &[("email", email), ("password", PASSWORD)]).await.status(303);
    panel
}

async fn session_ids(server: &Server, user_id: i64) -> Vec<String> {
    let sql = format!("SELECT CAST(id AS TEXT) AS text FROM user_sessions WHERE user_id = {user_id} ORDER BY id");
    server.texts(&sql).await
}

/// The latest audit entry of the user.
async fn last_entry(client: &Client, id: &Value) -> Value {
    let path = format!("/audit_entries?q[entity_type_eq]=users&q[record_id_eq]={id}&sort=-id&per_page=1");
    client.get(&path).await.records("audit_entries").remove(0)
}

async fn user_without_permissions_changes_their_own_name_and_no_email_address(server: Server) {
    let (user, _) = server.user(&[], &["products:read"]).await;
    let mut panel = signed_in(&server, &user).await;
    panel.get("/").await.says("href=\"/panel/account\"");
    panel.get("/panel/account").await.status(200).says(user["name"].as_str().expect("a name"));
    let page = panel.submit("/panel/account", &[("name", "Ada Lovelace"), ("email", "other@example.com")]).await;
    assert_eq!(page.status(303).header("location"), "/panel/account");
    panel.get("/panel/account").await.says("value=\"Ada Lovelace\"");
    let stored = server.admin().get(&format!("/users/{}", user["id"])).await.record("user");
    assert_eq!([&stored["name"], &stored["email"]], [&json!("Ada Lovelace"), &user["email"]]);
    let entry = last_entry(&server.admin(), &user["id"]).await;
    assert_eq!([&entry["action"], &entry["user_id"]], [&json!("update"), &user["id"]], "{entry}");
    for refused in ["", &"x".repeat(256), "a\0b"] {
        panel.submit("/panel/account", &[("name", refused)]).await.status(422).says("class=\"error\">Name ");
    }
    panel.post("/panel/account", &[("name", "Without a token")]).await.status(409);
}

async fn sessions_are_listed_with_browser_address_and_last_use(server: Server) {
    let server = server.configured(|config| config.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")]);
    let server = server.await;
    signed_in(&server, &json!({ "id": 1 })).await;
    let long = format!("{PHONE} {}", "x".repeat(400));
    let mut phone = CookieClient::new(&server.url()).with("user-agent", Some(&long));
    phone = phone.with("x-forwarded-for", Some("203.0.113.7"));
    let form = [("email", "admin@example.com"), ("password", PASSWORD)];
    phone.post("/panel/sign-in", &form).await.status(303);
    let mut panel = sign_in(&server, "admin@example.com", FIREFOX).await;
    let page = panel.get("/panel/account").await;
    page.status(200).says(">Firefox on Linux<").says(">Safari on iPhone<").says(">203.0.113.7<").says("This session");
    page.says(">Unknown browser<").says("Last used");
    assert_eq!(page.text.matches("This session").count(), 1);
    // An expired session is no longer listed.
    server.state.clock.advance(Duration::from_secs(13 * 3600));
    let mut panel = sign_in(&server, "admin@example.com", FIREFOX).await;
    let page = panel.get("/panel/account").await;
    assert!(!page.status(200).text.contains("Safari on iPhone"), "{}", page.text);
}

async fn ending_a_session_asks_first_and_ends_only_that_one(server: Server) {
    let mut first = signed_in(&server, &json!({ "id": 1 })).await;
    let mut phone = sign_in(&server, "admin@example.com", PHONE).await;
    let mut panel = sign_in(&server, "admin@example.com", FIREFOX).await;
    let ids = session_ids(&server, 1).await;
    let path = format!("/panel/account/sessions/{}/end", ids[1]);
    panel.get("/panel/account").await.says(&format!("href=\"{path}\""));
    let question = panel.get(&path).await;
    question.status(200).says("1 session will end").says("2 sessions stay").says("Safari on iPhone");
    phone.get("/panel/account").await.status(200);
    panel.post(&path, &[]).await.status(409);
    panel.submit(&path, &[]).await.status(303);
    phone.get("/panel/account").await.status(303);
    first.get("/panel/account").await.status(200);
    panel.get(&path).await.status(404);
    // The session of the request ends by signing out only.
    let own = format!("/panel/account/sessions/{}/end", ids[2]);
    panel.get(&own).await.status(404);
    panel.submit(&own, &[]).await.status(303);
    panel.get("/panel/account").await.status(200);
    for unknown in ["/panel/account/sessions/x/end", "/panel/account/sessions/1", "/panel/account/nothing"] {
        panel.get(unknown).await.status(404);
    }
}

async fn ending_all_other_sessions_says_how_many_and_keeps_this_one(server: Server) {
    let mut first = signed_in(&server, &json!({ "id": 1 })).await;
    let mut phone = sign_in(&server, "admin@example.com", PHONE).await;
    let mut panel = sign_in(&server, "admin@example.com", FIREFOX).await;
    let path = "/panel/account/sessions/end-others";
    panel.get(path).await.status(200).says("End 2 sessions?").says("1 session stays");
    panel.submit(path, &[]).await.status(303);
    for ended in [&mut first, &mut phone] {
        ended.get("/panel/account").await.status(303);
    }
    let page = panel.get("/panel/account").await;
    assert!(!page.status(200).text.contains(path), "nothing is left to end");
    let entry = last_entry(&server.admin(), &json!(1)).await;
    assert_eq!(entry["action"], "end_sessions");
    assert_eq!(entry["changes"], json!({ "sessions": { "old": null, "new": 2 } }));
}

async fn sessions_of_others_cannot_be_ended(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut other = signed_in(&server, &user).await;
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let theirs = session_ids(&server, user["id"].as_i64().expect("an id")).await;
    let path = format!("/panel/account/sessions/{}/end", theirs[0]);
    admin.get(&path).await.status(404);
    admin.submit(&path, &[]).await.status(303);
    admin.submit("/panel/account/sessions/end-others", &[]).await.status(303);
    other.get("/panel/account").await.status(200);
}

async fn own_tokens_are_listed_and_revoked_after_a_question(server: Server) {
    let (user, client) = server.user(&[], &["*"]).await;
    let token = client.post("/tokens", json!({ "name": "Nightly", "abilities": ["*"] })).await.created("token");
    let used = server.client(token["value"].as_str().expect("a secret"));
    used.get("/products").await.ok();
    let mut panel = signed_in(&server, &user).await;
    let path = format!("/panel/account/tokens/{}/revoke", token["id"]);
    panel.get("/panel/account").await.status(200).says("Nightly").says(&format!("href=\"{path}\""));
    panel.get(&path).await.status(200).says("1 token will be revoked").says("Nightly");
    used.get("/products").await.ok();
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let page = admin.get("/panel/account").await;
    assert!(!page.status(200).text.contains("Nightly"), "an administrator sees only their own tokens here");
    admin.get(&path).await.status(404);
    admin.submit(&path, &[]).await.status(404);
    panel.submit(&path, &[]).await.status(303);
    used.get("/products").await.refused(401, "invalid_token");
    panel.get(&path).await.status(404);
}

async fn tokens_are_hidden_from_users_whose_roles_do_not_grant_them(server: Server) {
    let (user, client) = server.user(&[], &["*"]).await;
    let token = client.get("/tokens?per_page=1").await.records("tokens").remove(0);
    let role = user["role_ids"][0].clone();
    server.admin().put(&format!("/roles/{role}"), json!({ "abilities": ["products:read"] })).await.ok();
    let mut panel = signed_in(&server, &user).await;
    let page = panel.get("/panel/account").await;
    assert!(page.status(200).says("Sessions").text.matches("Tokens").count() == 0, "{}", page.text);
    panel.get(&format!("/panel/account/tokens/{}/revoke", token["id"])).await.status(403);
}
