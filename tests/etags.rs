//! Entity tags: reading what has not changed, and writing only what nobody else has changed.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Server, on_both};

on_both!(
    a_tag_stays_as_long_as_the_record_does,
    what_a_client_has_is_not_sent_again,
    a_write_is_made_to_the_version_that_is_meant,
    a_deletion_and_an_action_too,
    every_form_of_a_record_names_its_version,
    a_change_beside_the_record_is_another_answer_of_the_same_version,
    the_settings_have_a_version,
    of_two_writers_of_one_version_one_wins,
    a_malformed_condition_is_told,
    what_is_refused_anyway_is_refused_as_ever,
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

async fn a_tag_stays_as_long_as_the_record_does(server: Server) {
    let admin = server.admin();
    let (path, created) = product(&server).await;
    let first = tag(&created);
    assert_eq!(tag(&admin.get(&path).await), first);
    assert_eq!(tag(&admin.send(Method::HEAD, &path, None).await), first);
    assert_eq!(tag(&admin.put(&path, json!({ "name": "Lamp" })).await), first, "nothing changed");
    let changed = admin.put(&path, json!({ "name": "Light" })).await;
    assert_ne!(tag(&changed), first);
    assert_eq!(tag(&admin.get(&path).await), tag(&changed));
    // Also what a list does not show.
    let detail = admin.put(&path, json!({ "purchase_price": "1.50" })).await;
    assert_ne!(tag(&detail), tag(&changed));
}

async fn what_a_client_has_is_not_sent_again(server: Server) {
    let admin = server.admin();
    let (path, created) = product(&server).await;
    let known = tag(&created);
    for header in [known.clone(), format!("W/{known}"), format!("\"x\" , {known}"), "*".into()] {
        let answer = admin.with("if-none-match", &header).get(&path).await;
        answer.status(304);
        assert_eq!([answer.text.as_str(), answer.header("etag").unwrap_or_default()], ["", known.as_str()]);
    }
    admin.put(&path, json!({ "name": "Light" })).await.ok();
    assert_eq!(admin.with("if-none-match", &known).get(&path).await.record("product")["name"], "Light");
}

async fn a_write_is_made_to_the_version_that_is_meant(server: Server) {
    let admin = server.admin();
    let (path, created) = product(&server).await;
    let known = tag(&created);
    let changed = admin.with("if-match", &known).put(&path, json!({ "name": "One" })).await;
    changed.record("product");
    let stale = admin.with("if-match", &known).put(&path, json!({ "name": "Two" })).await;
    stale.refused(412, "precondition_failed");
    admin.with("if-match", &known).patch(&path, json!({ "name": "Two" })).await.refused(412, "precondition_failed");
    assert_eq!(admin.get(&path).await.record("product")["name"], "One");
    let weak = format!("W/{}", tag(&changed));
    admin.with("if-match", &weak).put(&path, json!({ "name": "Two" })).await.refused(412, "precondition_failed");
    let either = format!("{known}, {}", tag(&changed));
    admin.with("if-match", &either).put(&path, json!({ "name": "Two" })).await.record("product");
    admin.with("if-match", "*").put(&path, json!({ "name": "Three" })).await.record("product");
    let present = admin.with("if-none-match", "*").put(&path, json!({ "name": "Four" })).await;
    present.refused(412, "precondition_failed");
}

async fn a_deletion_and_an_action_too(server: Server) {
    let admin = server.admin();
    let (user, _) = server.user(&[], &["*"]).await;
    let path = format!("/users/{}", user["id"]);
    let known = tag(&admin.get(&path).await);
    let named = tag(&admin.put(&path, json!({ "name": "Other" })).await);
    let stop = format!("{path}/deactivate");
    admin.with("if-match", &known).post(&stop, json!({})).await.refused(412, "precondition_failed");
    let stopped = admin.with("if-match", &named).post(&stop, json!({})).await;
    assert_eq!(stopped.record("user")["is_active"], false);
    admin.with("if-match", &named).delete(&path).await.refused(412, "precondition_failed");
    admin.with("if-match", &tag(&stopped)).delete(&path).await.deleted();
}

async fn every_form_of_a_record_names_its_version(server: Server) {
    let admin = server.admin();
    let (path, created) = product(&server).await;
    let mut known = vec![tag(&created)];
    for form in ["?include=productGroup", "?fields=name", "?fields=sku&include=productGroup"] {
        let answer = admin.get(&format!("{path}{form}")).await;
        answer.ok();
        assert!(!known.contains(&tag(&answer)), "each answer has its own tag: {form}");
        admin.with("if-none-match", &tag(&answer)).get(&format!("{path}{form}")).await.status(304);
        admin.with("if-none-match", &tag(&answer)).get(&path).await.status(200);
        known.push(tag(&answer));
    }
    for tag in &known {
        admin.with("if-match", tag).put(&path, json!({ "name": "Lamp" })).await.record("product");
    }
    admin.put(&path, json!({ "name": "Light" })).await.record("product");
    for tag in &known {
        let stale = admin.with("if-match", tag).put(&path, json!({ "name": "x" })).await;
        stale.refused(412, "precondition_failed");
    }
}

async fn a_change_beside_the_record_is_another_answer_of_the_same_version(server: Server) {
    let admin = server.admin();
    let role = admin.post("/roles", json!({ "name": "Office" })).await;
    let path = format!("/roles/{}", role.created("role")["id"]);
    let user = json!({ "name": "Ada", "email": "ada@example.com" });
    admin.post("/users", user).await.created("user");
    assert_eq!(tag(&admin.get(&path).await), tag(&role), "another record changed");
    let (path, created) = product(&server).await;
    let with_values = format!("{path}?include=customFieldValues");
    let known = tag(&admin.get(&with_values).await);
    let definition = json!({ "entity_type": "products", "name": "power", "field_type": "integer" });
    admin.post("/custom_fields", definition).await.created("custom_field");
    assert_ne!(tag(&admin.with("if-none-match", &known).get(&with_values).await), known);
    assert_eq!(tag(&admin.get(&path).await), tag(&created));
    admin.with("if-match", &known).put(&path, json!({ "name": "Light" })).await.record("product");
}

async fn the_settings_have_a_version(server: Server) {
    let admin = server.admin();
    let known = tag(&admin.get("/settings").await);
    admin.with("if-none-match", &known).get("/settings").await.status(304);
    admin.with("if-match", &known).put("/settings", json!({ "company_name": "Hire" })).await.record("settings");
    let stale = admin.with("if-match", &known).put("/settings", json!({ "company_name": "x" })).await;
    stale.refused(412, "precondition_failed");
}

async fn of_two_writers_of_one_version_one_wins(server: Server) {
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

async fn a_malformed_condition_is_told(server: Server) {
    let admin = server.admin();
    let (path, _) = product(&server).await;
    for bad in ["x", "\"x", "", "\"a\" \"b\""] {
        let refused = admin.with("if-match", bad).put(&path, json!({ "name": "x" })).await;
        let message = refused.refused(400, "malformed_request")["message"].to_string();
        assert!(message.contains("If-Match"), "{message}");
    }
    admin.with("if-none-match", "x").get(&path).await.refused(400, "malformed_request");
}

async fn what_is_refused_anyway_is_refused_as_ever(server: Server) {
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
