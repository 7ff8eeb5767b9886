//! Two people edit one record: no field is lost that only one of them changed, and one that both changed is chosen.

use serde_json::json;

use super::{admin, browser_of, signed_in};
use crate::support::{Browser, Server, on_both};

on_both!(
    browser:
    fields_that_one_of_two_people_changed_are_both_saved,
    a_field_that_both_people_changed_is_chosen_from_three_values,
    conflicts_of_references_and_embedded_records_show_titles,
    a_conflict_without_a_choice_is_not_saved,
);

on_both!(a_form_sends_only_the_fields_that_were_changed);

/// The hidden snapshot of a form, as a browser sends it.
fn snapshot(page: &str) -> String {
    let rest = page.split("name=\"_shown\" value=\"").nth(1).unwrap_or_default();
    rest.split('"').next().unwrap_or_default().replace("&quot;", "\"").replace("&lt;", "<").replace("&amp;", "&")
}

/// A form without a version overwrites nothing either.
async fn a_form_sends_only_the_fields_that_were_changed(server: Server) {
    let client = server.admin();
    let lamp = json!({ "name": "Lamp", "sku": "OLD", "weight": "1.5" });
    client.post("/products", lamp).await.created("product");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let shown = snapshot(&panel.get("/products/1/edit").await.status(200).text);
    client.put("/products/1", json!({ "name": "Theirs", "weight": "2" })).await.ok();
    let sent = [("name", "Lamp"), ("sku", "NEW"), ("weight", "1.5000"), ("_shown", shown.as_str())];
    panel.submit("/products/1", &sent).await.status(303);
    let saved = client.get("/products/1").await.record("product");
    assert_eq!((&saved["name"], &saved["sku"]), (&json!("Theirs"), &json!("NEW")));
    assert_eq!(saved["weight"], "2.0000");
    let updates = "/audit_entries?q[action_eq]=update&q[entity_type_eq]=products&per_page=100";
    let updates = client.get(updates).await.records("audit_entries");
    let last = updates.iter().max_by_key(|entry| entry["id"].as_i64()).expect("an entry");
    assert_eq!(last["changes"], json!({ "sku": { "old": "OLD", "new": "NEW" } }));
}

/// Opens the form of a record in the browsers of two people.
async fn two_people(server: &Server, path: &str) -> (Browser, Browser) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut ada = admin(server).await;
    let mut ben = browser_of(server, user["id"].as_i64().expect("an id")).await;
    ada.open(path);
    ben.open(path);
    (ada, ben)
}

async fn fields_that_one_of_two_people_changed_are_both_saved(server: Server) {
    let client = server.admin();
    for (name, kind) in [("power", "integer"), ("colour", "string")] {
        let field = json!({ "entity_type": "products", "name": name, "field_type": kind });
        client.post("/custom_fields", field).await.created("custom_field");
    }
    let lamp = json!({ "name": "Lamp", "weight": "1.5", "tag_list": ["a"], "custom_fields": { "power": 40 } });
    client.post("/products", lamp).await.created("product");
    let (mut ada, mut ben) = two_people(&server, "/products/1/edit").await;
    ada.fill("[name=name]", "Lantern");
    ada.fill("[name='custom_fields[power]']", "60");
    ada.follow(".record .primary");
    ben.fill("[name=sku]", "BEN");
    ben.fill("[name='custom_fields[colour]']", "red");
    ben.press("#field-is_active");
    ben.follow(".record .primary");
    assert_eq!(ben.address(), "/products/1", "{}", ben.text("main"));
    ben.until("document.querySelector('#status').innerText.includes('somebody else made meanwhile were kept')");
    let saved = client.get("/products/1").await.record("product");
    assert_eq!((&saved["name"], &saved["sku"]), (&json!("Lantern"), &json!("BEN")));
    assert_eq!(saved["custom_fields"], json!({ "power": 60, "colour": "red" }));
    assert_eq!((&saved["is_active"], &saved["weight"]), (&json!(false), &json!("1.5000")));
    ada.is_clean();
    ben.is_clean();
}

async fn a_field_that_both_people_changed_is_chosen_from_three_values(server: Server) {
    let client = server.admin();
    for (choice, name) in [("before", "Lamp"), ("theirs", "Lantern"), ("mine", "Torch")] {
        let lamp = client.post("/products", json!({ "name": "Lamp", "weight": "1" })).await.created("product");
        let path = format!("/products/{}", lamp["id"]);
        let (mut ada, mut ben) = two_people(&server, &format!("{path}/edit")).await;
        ada.fill("[name=name]", "Lantern");
        ada.fill("[name=weight]", "2");
        ada.follow(".record .primary");
        ben.fill("[name=name]", "Torch");
        ben.fill("[name=sku]", choice);
        ben.follow(".record .primary");
        ben.sees("Somebody else changed this record");
        assert_eq!(client.get(&path).await.record("product")["sku"], json!(null), "nothing is saved yet");
        let shown = ben.text(".conflict");
        for value in ["Before: Lamp", "Theirs: Lantern", "Mine: Torch"] {
            assert!(shown.contains(value), "{value}: {shown}");
        }
        assert!(ben.text(".notice").contains("Weight"), "the fields that only they changed: {}", ben.text(".notice"));
        assert_eq!(ben.run("document.querySelector('[name=weight]').value"), "2.0000");
        ben.press(&format!("[name='_take.name'][value={choice}]"));
        // An input is hidden while another value is chosen.
        let hidden = ben.run("document.querySelector('[name=name]').offsetParent === null");
        assert_eq!(hidden, choice != "mine");
        ben.follow(".record .primary");
        assert_eq!(ben.address(), path, "{}", ben.text("main"));
        let saved = client.get(&path).await.record("product");
        assert_eq!((&saved["name"], &saved["sku"]), (&json!(name), &json!(choice)));
        assert_eq!(saved["weight"], "2.0000");
        ada.is_clean();
        ben.is_clean();
    }
}

async fn conflicts_of_references_and_embedded_records_show_titles(server: Server) {
    let client = server.admin();
    for name in ["Ada", "Bea", "Cleo"] {
        client.post("/members", json!({ "name": name })).await.created("member");
    }
    let call = json!({
        "subject": "Call", "regarding_type": "Member", "regarding_id": 1, "participants": [{ "member_id": 1 }],
    });
    client.post("/activities", call).await.created("activity");
    let mut browser = admin(&server).await;
    browser.open("/activities/1/edit");
    let row = client.get("/activities/1").await.record("activity")["participants"][0]["id"].clone();
    let theirs =
        json!({ "regarding_id": 2, "participants": [{ "id": row, "member_id": 1, "mute": true }], "location": "Hall" });
    client.put("/activities/1", theirs).await.ok();
    browser.run("document.querySelector('#field-regarding_id').select(); 1");
    browser.refer("#field-regarding_id", "Cleo", "Cleo");
    browser.press("[data-remove-row]");
    browser.follow(".record .primary");
    browser.sees("Somebody else changed this record");
    let shown = browser.text("form.record");
    for value in ["Before: Ada", "Theirs: Bea", "Mine: Cleo", "Member Ada, Mute Yes"] {
        assert!(shown.contains(value), "{value}: {shown}");
    }
    browser.press("[name='_take.regarding_id'][value=mine]");
    browser.press("[name='_take.participants'][value=theirs]");
    browser.follow(".record .primary");
    assert_eq!(browser.address(), "/activities/1", "{}", browser.text("main"));
    let saved = client.get("/activities/1").await.record("activity");
    assert_eq!((&saved["regarding_id"], &saved["location"]), (&json!(3), &json!("Hall")));
    assert_eq!((&saved["participants"][0]["id"], &saved["participants"][0]["mute"]), (&row, &json!(true)));
    browser.is_clean();
}

async fn a_conflict_without_a_choice_is_not_saved(server: Server) {
    let client = server.admin();
    client.post("/tax_classes", json!({ "name": "Books", "percentage": "7" })).await.created("tax_class");
    let id = client.get("/tax_classes?q[name_eq]=Books").await.records("tax_classes")[0]["id"].clone();
    let path = format!("/tax_classes/{id}");
    let mut browser = admin(&server).await;
    browser.open(&format!("{path}/edit"));
    client.put(&path, json!({ "percentage": "8" })).await.ok();
    browser.fill("[name=percentage]", "9");
    browser.follow(".record .primary");
    browser.sees("Somebody else changed this record");
    browser.follow(".record .primary");
    browser.sees("needs a choice");
    assert_eq!(client.get(&path).await.record("tax_class")["percentage"], "8.00");
    browser.press("[name='_take.percentage'][value=mine]");
    // A third change while the choice is open is another conflict.
    client.put(&path, json!({ "percentage": "10" })).await.ok();
    browser.follow(".record .primary");
    browser.sees("Theirs: 10.00");
    browser.press("[name='_take.percentage'][value=mine]");
    browser.follow(".record .primary");
    assert_eq!(client.get(&path).await.record("tax_class")["percentage"], "9.00");
    browser.is_clean();
}
