//! "Undo" after a soft deletion and after a bulk change: what is set back, what stays, and who may do it.

use serde_json::{Value, json};

use super::{CookieClient, admin, signed_in};
use crate::support::{Client, Server, on_both};

on_both!(
    undo_of_a_deletion_restores_the_record,
    undo_belongs_to_the_session_and_cannot_be_forged,
    undo_expires_after_an_hour,
    undo_of_a_bulk_change_sets_the_old_values_back,
    undo_skips_records_that_changed_since_and_says_how_many,
    undo_clears_what_had_no_value_before,
    undo_of_a_bulk_deletion_restores_the_records_of_that_request,
    undo_obeys_the_rights_of_the_caller,
    hard_deletion_offers_no_undo,
);

on_both!(
    browser:
    deleted_record_is_restored_by_undo_in_the_notice,
    bulk_change_is_undone_by_the_button_of_its_result,
    undo_of_a_job_sets_all_its_records_back,
    undo_of_a_large_job_is_not_offered,
);

async fn products(client: &Client, count: usize) {
    let create =
        |n: usize| json!({ "method": "create", "product": { "name": format!("Lamp {n:04}"), "sku": format!("S{n}") } });
    let operations: Vec<Value> = (1..=count).map(create).collect();
    for part in operations.chunks(1000) {
        client.post("/products/bulk", json!({ "operations": part })).await.ok();
    }
}

/// The sealed offer in a page or a cookie.
pub(super) fn offer(text: &str) -> Option<String> {
    let rest = text.split_once("name=\"_undo\" value=\"").map(|(_, rest)| rest)?;
    rest.split('"').next().map(String::from)
}

/// Changes the SKU of products in one request, and returns the offer to undo it.
async fn change_sku(panel: &mut CookieClient, ids: &[&str], sku: &str) -> Option<String> {
    let mut form = vec![("_step", "apply"), ("_field", "sku"), ("sku", sku), ("value", sku)];
    form.extend(ids.iter().map(|id| ("id", *id)));
    let page = panel.submit("/products/bulk", &form).await;
    page.status(200).says("changed.");
    offer(&page.text)
}

async fn undo_of_a_deletion_restores_the_record(server: Server) {
    let client = server.admin();
    products(&client, 2).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let done = panel.submit("/products/1/delete", &[]).await;
    let flash = done
        .status(303)
        .headers
        .get_all("set-cookie")
        .iter()
        .find_map(|set| set.to_str().ok()?.strip_prefix("charter_said="))
        .expect("a flash");
    let flash = flash.split(';').next().expect("a value").to_string();
    assert!(flash.starts_with("deleted."), "{flash}");
    let mut next =
        panel.with("cookie", Some(&format!("charter_said={flash}; {}", panel.cookie.clone().expect("a session"))));
    next.cookie = None;
    let page = next.get("/products").await;
    page.status(200).says("The product Lamp 0001 was deleted.").says(">Undo</button>");
    let sealed = offer(&page.text).expect("an offer");
    client.get("/products/1").await.refused(404, "not_found");
    panel.post("/panel/undo", &[("_undo", &sealed)]).await.status(409);
    let undone = panel.submit("/panel/undo", &[("_undo", &sealed), ("_back", "/products?sort=sku")]).await;
    assert_eq!(undone.status(303).header("location"), "/products?sort=sku");
    assert_eq!(client.get("/products/1").await.record("product")["name"], "Lamp 0001");
    // A second undo finds that the record changed since.
    panel
        .submit("/panel/undo", &[("_undo", &sealed)])
        .await
        .status(200)
        .says("Nothing was undone")
        .says("changed again since");
}

async fn undo_belongs_to_the_session_and_cannot_be_forged(server: Server) {
    products(&server.admin(), 1).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let sealed = change_sku(&mut panel, &["1"], "NEW").await.expect("an offer");
    let (user, _) = server.user(&[], &["*"]).await;
    let mut other = signed_in(&server, &user).await;
    other.submit("/panel/undo", &[("_undo", &sealed)]).await.status(409).says("can no longer be undone");
    let mut forged = sealed.clone();
    forged.replace_range(60..62, if sealed.get(60..62) == Some("00") { "01" } else { "00" });
    for bad in [forged.as_str(), "", "x", "00"] {
        panel.submit("/panel/undo", &[("_undo", bad)]).await.status(409).says("can no longer be undone");
    }
    panel.submit("/panel/undo", &[]).await.status(409);
    panel.get("/panel/undo").await.status(404);
    assert_eq!(server.admin().get("/products/1").await.record("product")["sku"], "NEW");
}

async fn undo_expires_after_an_hour(server: Server) {
    products(&server.admin(), 1).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let sealed = change_sku(&mut panel, &["1"], "NEW").await.expect("an offer");
    server.state.clock.advance(std::time::Duration::from_secs(3601));
    panel.submit("/panel/undo", &[("_undo", &sealed)]).await.status(409).says("can no longer be undone");
}

async fn undo_of_a_bulk_change_sets_the_old_values_back(server: Server) {
    let client = server.admin();
    products(&client, 3).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let sealed = change_sku(&mut panel, &["1", "2"], "NEW").await.expect("an offer");
    panel.submit("/panel/undo", &[("_undo", &sealed)]).await.status(200).says("2 products were set back.");
    assert_eq!(client.get("/products?sort=id").await.column("products", "sku"), ["S1", "S2", "S3"]);
    let entries = client.get("/audit_entries?q[entity_type_eq]=products&q[record_id_eq]=1&sort=-id").await;
    assert_eq!(entries.records("audit_entries")[0]["changes"]["sku"], json!({ "old": "NEW", "new": "S1" }));
}

async fn undo_skips_records_that_changed_since_and_says_how_many(server: Server) {
    let client = server.admin();
    products(&client, 3).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let sealed = change_sku(&mut panel, &["1", "2", "3"], "NEW").await.expect("an offer");
    client.put("/products/2", json!({ "name": "Theirs" })).await.ok();
    client.delete("/products/3").await.deleted();
    let page = panel.submit("/panel/undo", &[("_undo", &sealed)]).await;
    page.status(200).says("1 product was set back.").says("2 products were not.").says("changed again since");
    assert_eq!(client.get("/products?sort=id").await.column("products", "sku"), ["S1", "NEW"]);
}

async fn undo_clears_what_had_no_value_before(server: Server) {
    let client = server.admin();
    let field = json!({ "entity_type": "products", "name": "power", "field_type": "integer" });
    client.post("/custom_fields", field).await.created("custom_field");
    client.post("/products", json!({ "name": "Lamp" })).await.created("product");
    client.post("/products", json!({ "name": "Bulb", "custom_fields": { "power": 7 } })).await.created("product");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let sealed = change_sku(&mut panel, &["1"], "NEW").await.expect("an offer");
    panel.submit("/panel/undo", &[("_undo", &sealed)]).await.status(303);
    assert_eq!(client.get("/products/1").await.record("product")["sku"], Value::Null);
    let name = "custom_fields[power]";
    let form = [
        ("_step", "apply"),
        ("_field", "custom_fields.power"),
        ("id", "1"),
        ("id", "2"),
        (name, "60"),
        ("value", "60"),
    ];
    let page = panel.submit("/products/bulk", &form).await;
    let sealed = offer(&page.status(200).text).expect("an offer");
    panel.submit("/panel/undo", &[("_undo", &sealed)]).await.status(200).says("2 products were set back.");
    for (path, power) in [("/products/1", Value::Null), ("/products/2", json!(7))] {
        assert_eq!(client.get(path).await.record("product")["custom_fields"]["power"], power, "{path}");
    }
}

async fn undo_of_a_bulk_deletion_restores_the_records_of_that_request(server: Server) {
    let client = server.admin();
    products(&client, 3).await;
    client.delete("/products/3").await.deleted();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.submit("/products/bulk", &[("_step", "apply-delete"), ("id", "1"), ("id", "2")]).await;
    let sealed = offer(&page.status(200).says("2 products were deleted.").text).expect("an offer");
    panel.submit("/panel/undo", &[("_undo", &sealed)]).await.status(200).says("2 products were set back.");
    assert_eq!(client.get("/products?sort=id").await.column("products", "sku"), ["S1", "S2"]);
}

async fn undo_of_a_job_sets_all_its_records_back(server: Server) {
    let client = server.admin();
    products(&client, 130).await;
    let mut browser = admin(&server).await;
    browser.open("/products?sort=name");
    browser.press("[name=_all]");
    browser.follow("[data-bulk] [value=edit]");
    browser.fill("#_field", "sku");
    browser.follow(".record .primary");
    browser.fill("#value", "NEW");
    browser.follow(".record .primary");
    browser.press("main form .primary");
    browser.sees("130 products were changed.");
    browser.follow("form[action='/panel/undo'] button");
    browser.sees("130 products were set back.");
    assert_eq!(client.get("/products?q[sku_eq]=NEW").await.ok()["meta"]["total"], 0);
    assert_eq!(client.get("/products/77").await.record("product")["sku"], "S77");
    browser.is_clean();
}

async fn undo_of_a_large_job_is_not_offered(server: Server) {
    products(&server.admin(), 1_001).await;
    let mut browser = admin(&server).await;
    browser.open("/products?sort=name");
    browser.press("[name=_all]");
    browser.follow("[data-bulk] [value=delete]");
    browser.press("main form .danger");
    browser.sees("1,001 products were deleted.");
    assert_eq!(browser.run("document.querySelector(\"form[action='/panel/undo']\")"), Value::Null);
}

async fn undo_obeys_the_rights_of_the_caller(server: Server) {
    let client = server.admin();
    products(&client, 1).await;
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(&server, &user).await;
    let sealed = change_sku(&mut panel, &["1"], "NEW").await.expect("an offer");
    let role = &user["role_ids"][0];
    client.put(&format!("/roles/{role}"), json!({ "abilities": ["*:read"] })).await.ok();
    let page = panel.submit("/panel/undo", &[("_undo", &sealed)]).await;
    assert!(page.text.contains("Nothing was undone") || page.status == 403, "{}", page.text);
    assert_eq!(client.get("/products/1").await.record("product")["sku"], "NEW");
}

async fn hard_deletion_offers_no_undo(server: Server) {
    let client = server.admin();
    client.post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let done = panel.submit("/product_groups/1/delete", &[]).await;
    let cookies: Vec<_> = done.status(303).headers.get_all("set-cookie").iter().collect();
    assert!(
        cookies.iter().any(|set| set.to_str().is_ok_and(|set| set.starts_with("charter_said=deleted;"))),
        "{cookies:?}"
    );
    client.post("/product_groups", json!({ "name": "Sound" })).await.created("product_group");
    let page = panel.submit("/product_groups/bulk", &[("_step", "apply-delete"), ("id", "2")]).await;
    assert_eq!(offer(&page.status(200).text), None);
}

async fn deleted_record_is_restored_by_undo_in_the_notice(server: Server) {
    let client = server.admin();
    products(&client, 1).await;
    let mut browser = admin(&server).await;
    browser.open("/products/1/delete?_back=%2Fproducts%3Fsort%3D-name");
    browser.follow("main form .danger");
    browser.sees("The product Lamp 0001 was deleted.");
    browser.follow("form[action='/panel/undo'] button");
    assert_eq!(browser.address(), "/products?sort=-name");
    browser.until("document.querySelector('#status').textContent.includes('Undone')");
    assert!(browser.text("main").contains("Lamp 0001"));
    // The notice is shown once.
    browser.open("/products");
    assert_eq!(browser.run("document.querySelector(\"form[action='/panel/undo']\")"), Value::Null);
    browser.is_clean();
}

async fn bulk_change_is_undone_by_the_button_of_its_result(server: Server) {
    let client = server.admin();
    products(&client, 2).await;
    let mut browser = admin(&server).await;
    browser.open("/products?sort=-name");
    browser.press("[data-all]");
    browser.follow("[data-bulk] [value=delete]");
    browser.follow("main form .danger");
    browser.sees("2 products were deleted.");
    browser.follow("form[action='/panel/undo'] button");
    browser.sees("2 products were set back.");
    browser.follow("p a.primary");
    assert_eq!(browser.address(), "/products?sort=-name");
    assert_eq!(client.get("/products").await.ok()["meta"]["total"], 2);
    browser.is_clean();
}
