//! The conditions of a saved view in its own form: chosen as in a list, and never only as JSON.

use serde_json::json;

use super::{admin, visitor};
use crate::support::{Server, on_both};

on_both!(
    the_conditions_of_a_view_are_edited_as_those_of_a_list,
    a_view_that_is_opened_and_saved_is_not_changed,
    conditions_that_are_refused_stand_in_the_form_again,
);

async fn a_view_that_is_opened_and_saved_is_not_changed(server: Server) {
    let client = server.admin();
    let numbers = json!([
        { "field": "weight", "predicate": "gt", "value": 50, "logic": "and" },
        { "field": "product_type", "predicate": "in", "value": ["rental", "sale"], "logic": "or" },
        { "field": "sku", "predicate": "present" },
    ]);
    // An element with a comma has no input: it stays the text that it was.
    let commas = json!([{ "field": "name", "predicate": "in", "value": ["a,b", "c"], "logic": "and" }]);
    // Nor has a field of a related record, or a beginning that no list begins with.
    let related = json!([{ "field": "product_group.name", "predicate": "eq", "value": "Lamps", "logic": "and" }]);
    let turned = json!([{ "field": "name", "predicate": "cont", "value": "la", "logic": "nor" }]);
    let Some(mut browser) = admin(&server).await else { return };
    let views = [(numbers, true), (commas, false), (json!([]), true), (related, false), (turned, false)];
    for (id, (filters, is_built)) in (1..).zip(views) {
        let view = json!({ "name": "A view", "entity_type": "products", "columns": ["name"], "filters": filters });
        client.post("/custom_views", view).await.created("custom_view");
        let path = format!("/custom_views/{id}");
        let before = client.get(&path).await.text;
        browser.open(&format!("{path}/edit"));
        assert_eq!(browser.run("!!document.querySelector('[data-condition]')"), is_built, "{filters}");
        browser.follow(".record .primary");
        assert_eq!(client.get(&path).await.text, before, "{}", browser.text("main"));
    }
    browser.is_clean();
}

async fn the_conditions_of_a_view_are_edited_as_those_of_a_list(server: Server) {
    let client = server.admin();
    for (name, weight) in [("Lamp", "1.5"), ("Lantern", "2.5"), ("Table", "30")] {
        client.post("/products", json!({ "name": name, "weight": weight })).await.created("product");
    }
    let filters = json!([{ "field": "name", "predicate": "cont", "value": "la", "logic": "and" }]);
    let view = json!({ "name": "Lights", "entity_type": "products", "columns": ["name"], "filters": filters });
    client.post("/custom_views", view).await.created("custom_view");
    let Some(mut browser) = admin(&server).await else { return };
    browser.open("/custom_views/1/edit");
    assert_eq!(browser.run("document.querySelector('[name=\"f0.value\"]').value"), "la");
    assert_eq!(browser.run("!!document.querySelector('textarea.code')"), false, "no JSON is to be written");
    browser.fill("[name='f0.value']", "lamp");
    browser.fill("[name='f1.logic']", "or");
    browser.fill("[name='f1.field']", "weight");
    browser.fill("[name='f1.predicate']", "gt");
    browser.fill("[name='f1.value']", "10");
    browser.press("[data-add-condition]");
    browser.fill("[name='f2.field']", "product_type");
    browser.fill("[name='f2.predicate']", "eq");
    browser.fill("[name='f2.value']", "rental");
    browser.follow(".record .primary");
    let stored = client.get("/custom_views/1").await.record("custom_view")["filters"].clone();
    let expected = json!([
        { "field": "name", "predicate": "cont", "value": "lamp", "logic": "and" },
        { "field": "weight", "predicate": "gt", "value": "10", "logic": "or" },
        { "field": "product_type", "predicate": "eq", "value": "rental", "logic": "and" },
    ]);
    assert_eq!(stored, expected);
    browser.open("/products?view_id=1");
    let names = browser.run("[...document.querySelectorAll('[data-open]')].map(a => a.innerText)");
    assert_eq!(names, json!(["Lamp", "Table"]));
    // All of them go again.
    browser.open("/custom_views/1/edit");
    for _ in 0..3 {
        browser.press("[data-condition] [data-remove]");
    }
    browser.follow(".record .primary");
    assert_eq!(client.get("/custom_views/1").await.record("custom_view")["filters"], json!([]));
    browser.is_clean();
}

async fn conditions_that_are_refused_stand_in_the_form_again(server: Server) {
    let view = json!({ "name": "Heavy", "entity_type": "products", "columns": ["name"] });
    server.admin().post("/custom_views", view).await.created("custom_view");
    let mut admin = visitor(&server, &json!({ "id": 1 })).await;
    admin.get("/custom_views/1/edit").await.status(200).says("name=\"f0.field\"");
    admin.get("/custom_views/new").await.status(200).says("name=\"filters[json]\"");
    admin.get("/custom_views/new?entity_type=members").await.status(200).says("value=\"membership_type\"");
    let form = [
        ("_conditions", "products"),
        ("f0.logic", "and"),
        ("f0.field", "weight"),
        ("f0.predicate", "gt"),
        ("f0.value", "much"),
    ];
    let refused = admin.submit("/custom_views/1", &form).await;
    refused.status(422).says("value=\"much\"").says("Conditions ").says("name=\"f1.field\"");
    admin.submit("/custom_views/1", &[&form[..4], &[("f0.value", "7")]].concat()).await.status(303);
    let filters = server.admin().get("/custom_views/1").await.record("custom_view")["filters"].clone();
    assert_eq!(filters, json!([{ "field": "weight", "predicate": "gt", "value": "7", "logic": "and" }]));
}
