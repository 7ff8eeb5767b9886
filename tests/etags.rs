//! Entity tags: conditional reads and writes (`If-None-Match`, `If-Match`).

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Server, on_both};

on_both!(
    etag_changes_exactly_when_the_record_changes,
    if_none_match_with_the_current_etag_is_304,
    update_evaluates_if_match,
    delete_and_action_evaluate_if_match,
    etag_of_every_representation_works_in_if_match,
    change_of_an_included_value_changes_only_the_etag_of_that_representation,
    settings_have_an_etag,
    concurrent_updates_with_one_if_match_let_one_succeed,
    malformed_precondition_is_refused,
    errors_404_and_403_take_precedence_over_412,
);

fn tag(answer: &Answer) -> String {
    let tag = answer.header("etag").unwrap_or_else(|| panic!("no tag: {}", answer.text));
    assert!(tag.starts_with('"') && tag.ends_with('"'), "a strong tag: {tag}");
    tag.to_string()
}

async fn product(server: &Server) -> (String, Answer) {
    let group = server.admin().post("/product_groups", json!({ "name": "Lamps" })).await.created("product_group");
    let body = json!({ "name": "Lamp", "product_group_id": group["id"] });
    let created = server.admin().post("/products", body).await;
    (format!("/products/{}", created.created("product")["id"]), created)
}

async fn etag_changes_exactly_when_the_record_changes(server: Server) {
    let admin = server.admin();
    let (path, created) = product(&server).await;
    let first = tag(&created);
    assert_eq!(tag(&admin.get(&path).await), first);
    assert_eq!(tag(&admin.send(Method::HEAD, &path, None).await), first);
    assert_eq!(tag(&admin.put(&path, json!({ "name": "Lamp" })).await), first, "nothing changed");
    let changed = admin.put(&path, json!({ "name": "Light" })).await;
    assert_ne!(tag(&changed), first);
    assert_eq!(tag(&admin.get(&path).await), tag(&changed));
    // A change of a field that lists do not show.
    let detail = admin.put(&path, json!({ "purchase_price": "1.50" })).await;
    assert_ne!(tag(&detail), tag(&changed));
}

async fn if_none_match_with_the_current_etag_is_304(server: Server) {
    let admin = server.admin();
    let (path, created) = product(&server).await;
    let etag = tag(&created);
    for header in [etag.clone(), format!("W/{etag}"), format!("\"x\" , {etag}"), "*".into()] {
        let answer = admin.with("if-none-match", &header).get(&path).await;
        answer.status(304);
        assert_eq!([answer.text.as_str(), answer.header("etag").unwrap_or_default()], ["", etag.as_str()]);
    }
    admin.put(&path, json!({ "name": "Light" })).await.ok();
    assert_eq!(admin.with("if-none-match", &etag).get(&path).await.record("product")["name"], "Light");
}

async fn update_evaluates_if_match(server: Server) {
    let admin = server.admin();
    let (path, created) = product(&server).await;
    let etag = tag(&created);
    let changed = admin.with("if-match", &etag).put(&path, json!({ "name": "One" })).await;
    changed.record("product");
    let stale = admin.with("if-match", &etag).put(&path, json!({ "name": "Two" })).await;
    stale.refused(412, "precondition_failed");
    admin.with("if-match", &etag).patch(&path, json!({ "name": "Two" })).await.refused(412, "precondition_failed");
    assert_eq!(admin.get(&path).await.record("product")["name"], "One");
    let weak = format!("W/{}", tag(&changed));
    admin.with("if-match", &weak).put(&path, json!({ "name": "Two" })).await.refused(412, "precondition_failed");
    let either = format!("{etag}, {}", tag(&changed));
    admin.with("if-match", &either).put(&path, json!({ "name": "Two" })).await.record("product");
    admin.with("if-match", "*").put(&path, json!({ "name": "Three" })).await.record("product");
    let present = admin.with("if-none-match", "*").put(&path, json!({ "name": "Four" })).await;
    present.refused(412, "precondition_failed");
}

async fn delete_and_action_evaluate_if_match(server: Server) {
    let admin = server.admin();
    let (user, _) = server.user(&[], &["*"]).await;
    let path = format!("/users/{}", user["id"]);
    let etag = tag(&admin.get(&path).await);
    let current = tag(&admin.put(&path, json!({ "name": "Other" })).await);
    let deactivate = format!("{path}/deactivate");
    admin.with("if-match", &etag).post(&deactivate, json!({})).await.refused(412, "precondition_failed");
    let deactivated = admin.with("if-match", &current).post(&deactivate, json!({})).await;
    assert_eq!(deactivated.record("user")["is_active"], false);
    admin.with("if-match", &current).delete(&path).await.refused(412, "precondition_failed");
    admin.with("if-match", &tag(&deactivated)).delete(&path).await.deleted();
}

async fn etag_of_every_representation_works_in_if_match(server: Server) {
    let admin = server.admin();
    let (path, created) = product(&server).await;
    let mut etag = vec![tag(&created)];
    for form in ["?include=productGroup", "?fields=name", "?fields=sku&include=productGroup"] {
        let answer = admin.get(&format!("{path}{form}")).await;
        answer.ok();
        assert!(!etag.contains(&tag(&answer)), "each projection has its own tag: {form}");
        admin.with("if-none-match", &tag(&answer)).get(&format!("{path}{form}")).await.status(304);
        admin.with("if-none-match", &tag(&answer)).get(&path).await.status(200);
        etag.push(tag(&answer));
    }
    for tag in &etag {
        admin.with("if-match", tag).put(&path, json!({ "name": "Lamp" })).await.record("product");
    }
    admin.put(&path, json!({ "name": "Light" })).await.record("product");
    for tag in &etag {
        let stale = admin.with("if-match", tag).put(&path, json!({ "name": "x" })).await;
        stale.refused(412, "precondition_failed");
    }
}

async fn change_of_an_included_value_changes_only_the_etag_of_that_representation(server: Server) {
    let admin = server.admin();
    let role = admin.post("/roles", json!({ "name": "Office" })).await;
    let path = format!("/roles/{}", role.created("role")["id"]);
    let user = json!({ "name": "Ada", "email": "ada@example.com" });
    admin.post("/users", user).await.created("user");
    assert_eq!(tag(&admin.get(&path).await), tag(&role), "another record changed");
    let (path, created) = product(&server).await;
    let with_values = format!("{path}?include=customFieldValues");
    let etag = tag(&admin.get(&with_values).await);
    let definition = json!({ "entity_type": "products", "name": "power", "field_type": "integer" });
    admin.post("/custom_fields", definition).await.created("custom_field");
    assert_ne!(tag(&admin.with("if-none-match", &etag).get(&with_values).await), etag);
    assert_eq!(tag(&admin.get(&path).await), tag(&created));
    admin.with("if-match", &etag).put(&path, json!({ "name": "Light" })).await.record("product");
}

async fn settings_have_an_etag(server: Server) {
    let admin = server.admin();
    let etag = tag(&admin.get("/settings").await);
    admin.with("if-none-match", &etag).get("/settings").await.status(304);
    admin.with("if-match", &etag).put("/settings", json!({ "company_name": "Hire" })).await.record("settings");
    let stale = admin.with("if-match", &etag).put("/settings", json!({ "company_name": "x" })).await;
    stale.refused(412, "precondition_failed");
}

async fn concurrent_updates_with_one_if_match_let_one_succeed(server: Server) {
    let (path, created) = product(&server).await;
    let client = server.admin().with("if-match", &tag(&created));
    let write = |number: usize| {
        let (client, path) = (client.clone(), path.clone());
        async move { client.put(&path, json!({ "name": format!("Writer {number}") })).await.status }
    };
    let mut statuses: Vec<u16> = futures_util::future::join_all((0..6).map(write)).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412, 412, 412, 412, 412]);
}

async fn malformed_precondition_is_refused(server: Server) {
    let admin = server.admin();
    let (path, _) = product(&server).await;
    for bad in ["x", "\"x", "", "\"a\" \"b\""] {
        let refused = admin.with("if-match", bad).put(&path, json!({ "name": "x" })).await;
        let message = refused.refused(400, "malformed_request")["message"].to_string();
        assert!(message.contains("If-Match"), "{message}");
    }
    admin.with("if-none-match", "x").get(&path).await.refused(400, "malformed_request");
}

async fn errors_404_and_403_take_precedence_over_412(server: Server) {
    let (path, _) = product(&server).await;
    let stale = server.admin().with("if-match", "\"0\"");
    stale.get("/products/999").await.refused(404, "not_found");
    stale.put("/products/999", json!({})).await.refused(404, "not_found");
    let reader = server.able(&["products:read"]).await.with("if-match", "\"0\"");
    reader.put(&path, json!({})).await.refused(403, "ability_missing");
    reader.get(&path).await.refused(412, "precondition_failed");
    let body: Value = json!({ "name": "" });
    stale.put(&path, body).await.refused(412, "precondition_failed");
}
