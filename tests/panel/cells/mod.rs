//! Cells of a list are edited in place: rights, versions, number forms and errors.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CookieClient, signed_in};
use crate::support::{Server, on_both};

on_both!(
    only_plain_fields_that_the_user_may_set_have_a_cell,
    cells_of_deleted_records_are_not_edited,
    a_saved_cell_answers_its_row_and_changes_only_its_field,
    a_cell_is_not_saved_without_session_token_or_version,
    a_field_that_somebody_else_changed_is_saved_only_on_demand,
    a_refused_value_is_explained_as_in_the_form_of_the_record,
    numbers_of_a_cell_have_the_form_of_the_company,
);

mod interaction;

async fn lamp(server: &Server) {
    let lamp = json!({ "name": "Lamp", "sku": "OLD", "weight": "1.5", "description": "Long" });
    server.admin().post("/products", lamp).await.created("product");
}

async fn product(server: &Server) -> Value {
    server.admin().get("/products/1").await.record("product")
}

/// The value of a hidden input.
fn hidden(page: &str, name: &str) -> String {
    let rest = page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap_or_default();
    let value = rest.split('"').next().unwrap_or_default();
    value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// The form of a cell with another value, as the script sends it.
fn filled(page: &str, value: &str) -> Vec<(String, String)> {
    let field = hidden(page, "_field");
    let mut form: Vec<(String, String)> =
        ["_field", "_version", "_shown"].iter().map(|name| ((*name).to_string(), hidden(page, name))).collect();
    form.push((field, value.to_string()));
    form
}

fn pairs(form: &[(String, String)]) -> Vec<(&str, &str)> {
    form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

async fn cell(panel: &mut CookieClient, field: &str) -> String {
    panel.get(&format!("/products/1/cell?field={field}")).await.status(200).text.clone()
}

async fn only_plain_fields_that_the_user_may_set_have_a_cell(server: Server) {
    lamp(&server).await;
    server.admin().post("/activities", json!({ "subject": "Call" })).await.created("activity");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    for field in ["name", "product_type", "sku", "is_active", "stock_method", "weight", "replacement_charge"] {
        let form = cell(&mut panel, field).await;
        assert!(form.contains(&format!("name=\"{field}\"")) && form.contains("name=\"_token\""), "{form}");
        assert!(!hidden(&form, "_version").is_empty(), "{form}");
    }
    for field in [
        "id",
        "description",
        "product_group_id",
        "product_group_name",
        "tag_list",
        "created_at",
        "custom_fields",
        "nope",
    ] {
        panel.get(&format!("/products/1/cell?field={field}")).await.status(404);
        panel.submit("/products/1/cell", &[("_field", field), ("_version", "\"1\""), (field, "x")]).await.status(404);
    }
    panel.get("/products/9/cell?field=name").await.status(404);
    panel.get("/activities/1/cell?field=starts_at").await.status(200).says("datetime-local");
    // A cell has no room for radio buttons.
    panel.get("/activities/1/cell?field=priority").await.status(200).says("<select").says("High");
    for field in ["location", "completed", "regarding_id", "owned_by"] {
        panel.get(&format!("/activities/1/cell?field={field}")).await.status(404);
    }
    let list = panel.get("/products?columns=name,description,weight,product_group_name").await;
    list.status(200).says("data-field=\"name\"").says("data-field=\"weight\"").says("title=\"Double-click to edit\"");
    assert_eq!(list.text.matches("data-field").count(), 2, "{}", list.text);

    let role = json!({ "name": "Look", "permissions": [], "abilities": ["products:read"] });
    let role = server.admin().post("/roles", role).await.created("role");
    let reader = json!({ "name": "Reader", "email": "reader@example.com", "role_ids": [role["id"]] });
    let reader = server.admin().post("/users", reader).await.created("user");
    let mut reader = signed_in(&server, &reader).await;
    assert!(!reader.get("/products").await.status(200).text.contains("data-field"));
    reader.get("/products/1/cell?field=name").await.status(404);
    let version = hidden(&cell(&mut panel, "name").await, "_version");
    reader.submit("/products/1/cell", &[("_field", "name"), ("_version", &version), ("name", "X")]).await.status(404);
    assert_eq!(product(&server).await["name"], "Lamp");

    // Only administrators set this field.
    let (manager, _) = server.user(&["users.manage"], &["*"]).await;
    let mut manager = signed_in(&server, &manager).await;
    manager.get("/users/1/cell?field=is_admin").await.status(404);
    panel.get("/users/1/cell?field=is_admin").await.status(200);
}

async fn cells_of_deleted_records_are_not_edited(server: Server) {
    lamp(&server).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let form = filled(&cell(&mut panel, "name").await, "Torch");
    server.admin().delete("/products/1").await.deleted();
    assert!(!panel.get("/products?deleted=only").await.status(200).text.contains("data-field"));
    panel.get("/products/1/cell?field=name").await.status(404);
    let answer = panel.submit("/products/1/cell", &pairs(&form)).await;
    answer.status(404).says("value=\"Torch\"").says("This record was deleted meanwhile. Your change is not saved.");
}

async fn a_saved_cell_answers_its_row_and_changes_only_its_field(server: Server) {
    lamp(&server).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let mut form = filled(&cell(&mut panel, "weight").await, "2.5");
    form.push(("_back".into(), "/products?columns=weight,name,sku".into()));
    // Other values of a form are not those of the cell.
    form.push(("sku".into(), "FORGED".into()));
    let row = panel.submit("/products/1/cell", &pairs(&form)).await;
    row.status(200).says("<tr data-row").says("data-field=\"weight\"").says("2.5").says("OLD");
    assert!(row.text.find("data-field=\"weight\"") < row.text.find("data-field=\"name\""), "{}", row.text);
    assert_eq!(row.text.matches("<td").count(), 4, "a checkbox and three columns: {}", row.text);
    let saved = product(&server).await;
    assert_eq!((&saved["weight"], &saved["sku"]), (&json!("2.5000"), &json!("OLD")));
    let entries = "/audit_entries?q[action_eq]=update&q[entity_type_eq]=products";
    let entries = server.admin().get(entries).await.records("audit_entries");
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["changes"], json!({ "weight": { "old": "1.5000", "new": "2.5000" } }));
    // An unchanged value is no change, and an unchecked box is "no".
    let same = filled(&cell(&mut panel, "weight").await, "2.5000");
    panel.submit("/products/1/cell", &pairs(&same)).await.status(200).says("<tr data-row");
    let no = filled(&cell(&mut panel, "is_active").await, "false");
    panel.submit("/products/1/cell", &pairs(&no)).await.status(200).says("No");
    let saved = product(&server).await;
    assert_eq!((&saved["is_active"], &saved["weight"]), (&json!(false), &json!("2.5000")));
}

async fn a_cell_is_not_saved_without_session_token_or_version(server: Server) {
    lamp(&server).await;
    let (user, _) = server.user(&[], &["*"]).await;
    let mut other = signed_in(&server, &user).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let form = filled(&cell(&mut panel, "name").await, "Torch");
    panel.post("/products/1/cell", &pairs(&form)).await.status(409);
    panel.with("sec-fetch-site", Some("cross-site")).submit("/products/1/cell", &pairs(&form)).await.status(409);
    // The input survives a new session of the same browser, and has its token.
    let token = other.token().await;
    let mut script = panel.with("accept", Some("*/*"));
    let stale: Vec<(&str, &str)> = pairs(&form).into_iter().chain([("_token", token.as_str())]).collect();
    let answer = script.post("/products/1/cell", &stale).await;
    answer.status(409).says("value=\"Torch\"").says("Your change is not saved yet.").says("data-asks");
    let again = filled(&answer.text, "Torch");
    let unversioned: Vec<(String, String)> = form.iter().filter(|(name, _)| name != "_version").cloned().collect();
    panel.submit("/products/1/cell", &pairs(&unversioned)).await.status(400);
    assert_eq!(product(&server).await["name"], "Lamp");
    panel.submit("/products/1/cell", &pairs(&again)).await.status(200).says("Torch");
    let mut stranger = CookieClient::new(&server.url()).with("accept", Some("*/*"));
    stranger.get("/products/1/cell?field=name").await.status(401);
    stranger.post("/products/1/cell", &pairs(&form)).await.status(401);
}

async fn a_field_that_somebody_else_changed_is_saved_only_on_demand(server: Server) {
    lamp(&server).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let form = filled(&cell(&mut panel, "name").await, "Mine");
    // Another field: both changes are kept.
    server.admin().put("/products/1", json!({ "sku": "THEIRS" })).await.ok();
    panel.submit("/products/1/cell", &pairs(&form)).await.status(200).says("Mine").says("THEIRS");
    let form = filled(&cell(&mut panel, "name").await, "Mine again");
    server.admin().put("/products/1", json!({ "name": "Theirs" })).await.ok();
    let asked = panel.submit("/products/1/cell", &pairs(&form)).await;
    asked.status(412).says("value=\"Mine again\"").says("Their value: Theirs").says("data-asks").says("Save my value");
    assert_eq!(product(&server).await["name"], "Theirs");
    let mut theirs = filled(&asked.text, "Mine again");
    theirs.push(("_take".into(), "theirs".into()));
    panel.submit("/products/1/cell", &pairs(&theirs)).await.status(200).says("<tr data-row").says("Theirs");
    assert_eq!(product(&server).await["name"], "Theirs");
    let mine = filled(&asked.text, "Mine again");
    panel.submit("/products/1/cell", &pairs(&mine)).await.status(200).says("Mine again");
    assert_eq!(product(&server).await["name"], "Mine again");
    // Both changed it to the same value.
    let form = filled(&cell(&mut panel, "name").await, "Same");
    server.admin().put("/products/1", json!({ "name": "Same" })).await.ok();
    panel.submit("/products/1/cell", &pairs(&form)).await.status(200).says("Same");
}

async fn a_refused_value_is_explained_as_in_the_form_of_the_record(server: Server) {
    lamp(&server).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    for (field, value, words) in [
        ("weight", "-1", "Weight must be at least 0"),
        ("weight", "heavy", "“heavy” is not a number here"),
        ("name", "", "Name must not be blank"),
    ] {
        let form = filled(&cell(&mut panel, field).await, value);
        let refused = panel.submit("/products/1/cell", &pairs(&form)).await;
        refused.status(422).says(words).says("aria-invalid=\"true\"").says(&format!("value=\"{value}\""));
    }
    assert_eq!(product(&server).await["weight"], "1.5000");
}

async fn numbers_of_a_cell_have_the_form_of_the_company(server: Server) {
    lamp(&server).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let berlin = json!({ "timezone": "Europe/Berlin", "base_currency": "EUR" });
    server.admin().put("/settings", berlin).await.ok();
    // Pages read settings every five seconds.
    let mut shown = String::new();
    for _ in 0..70 {
        shown = cell(&mut panel, "weight").await;
        if shown.contains("1,5000") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(shown.contains("value=\"1,5000\""), "{shown}");
    let mut form = filled(&shown, "1234,5");
    form.push(("_back".into(), "/products?columns=name,weight".into()));
    let row = panel.submit("/products/1/cell", &pairs(&form)).await;
    row.status(200).says("1.234,5");
    assert_eq!(product(&server).await["weight"], "1234.5000");
    let ambiguous = filled(&cell(&mut panel, "weight").await, "1.221");
    let refused = panel.submit("/products/1/cell", &pairs(&ambiguous)).await;
    refused.status(422).says("value=\"1.221\"").says("“1.221” can mean two numbers");
    server.admin().post("/activities", json!({ "subject": "Call" })).await.created("activity");
    let form = panel.get("/activities/1/cell?field=starts_at").await.status(200).text.clone();
    let row = panel.submit("/activities/1/cell", &pairs(&filled(&form, "2026-07-01T12:00"))).await;
    row.status(200);
    let saved = server.admin().get("/activities/1").await.record("activity");
    assert_eq!(saved["starts_at"], "2026-07-01T10:00:00.000Z");
}
