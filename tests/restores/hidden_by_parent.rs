//! Records that refer to a record hidden by its deleted parent.

use serde_json::{Value, json};

use super::{Racks, gone, tray};
use crate::support::{Client, on_both};

on_both!(
    record_hidden_by_its_deleted_parent_is_shown_by_no_other_record,
    cached_total_changes_when_the_parent_of_a_referenced_record_is_deleted,
    write_returns_no_values_of_a_record_hidden_by_its_deleted_parent,
);

/// A tool in tray 7, and one without a tray.
async fn tools(admin: &Client) -> String {
    let tray = tray(admin, 7, json!({})).await;
    admin.post("/tools", json!({ "name": "Saw", "tray_id": 1 })).await.created("tool");
    admin.post("/tools", json!({ "name": "Axe" })).await.created("tool");
    tray
}

async fn names(admin: &Client, query: &str) -> Vec<Value> {
    admin.get(&format!("/tools?{query}")).await.column("tools", "name")
}

async fn record_hidden_by_its_deleted_parent_is_shown_by_no_other_record(racks: Racks) {
    let admin = racks.admin();
    let tray = tools(&admin).await;
    let shown = async |number: Value, found: &[&str], order: [&str; 2]| {
        let listed = admin.get("/tools?include=tray").await.records("tools");
        assert_eq!((&listed[0]["tray_number"], &listed[0]["tray"]["number"]), (&number, &number));
        assert_eq!(admin.get("/tools/1").await.record("tool")["tray_number"], number);
        assert_eq!(names(&admin, "q[tray_number_eq]=7").await, found);
        assert_eq!(names(&admin, "q[tray.number_eq]=7").await, found);
        assert_eq!(names(&admin, "q[tray_number_not_null]=1").await, found);
        assert_eq!(names(&admin, "sort=tray_number").await, order);
        let exported = admin.with("accept", "text/csv").get("/tools?sort=id").await.text;
        assert_eq!(exported.contains(",7,"), number == 7, "{exported}");
    };
    shown(json!(7), &["Saw"], ["Axe", "Saw"]).await;
    gone(&admin, "/racks/1").await;
    admin.get(&tray).await.refused(404, "not_found");
    shown(Value::Null, &[], ["Saw", "Axe"]).await;
    admin.post("/racks/1/restore", json!({})).await.ok();
    shown(json!(7), &["Saw"], ["Axe", "Saw"]).await;
    // The list of deleted tools shows the same.
    gone(&admin, "/tools/1").await;
    gone(&admin, "/racks/1").await;
    assert_eq!(admin.get("/tools?deleted=only").await.column("tools", "tray_number"), [Value::Null]);
}

async fn cached_total_changes_when_the_parent_of_a_referenced_record_is_deleted(racks: Racks) {
    let admin = racks.admin();
    tools(&admin).await;
    admin.post("/tools", json!({ "name": "Awl", "tray_id": 1 })).await.created("tool");
    let total = async || {
        let page = admin.get("/tools?q[tray_number_eq]=7&per_page=1&page=1").await.ok();
        page["meta"]["total"].as_i64().expect("a total")
    };
    for _ in 0..3 {
        assert_eq!(total().await, 2);
        assert_eq!(total().await, 2, "it is remembered");
        // A tool without a tray keeps this list from being empty, so that the page shows the new total.
        let others = "/tools?q[tray_number_null]=1&per_page=1";
        assert_eq!(admin.get(others).await.ok()["meta"]["total"], 1);
        gone(&admin, "/racks/1").await;
        assert_eq!(total().await, 0);
        assert_eq!(admin.get(others).await.ok()["meta"]["total"], 3, "what changed is in another table");
        admin.post("/racks/1/restore", json!({})).await.ok();
    }
}

async fn write_returns_no_values_of_a_record_hidden_by_its_deleted_parent(racks: Racks) {
    let admin = racks.admin();
    tools(&admin).await;
    let named = async |name: &str| admin.put("/tools/1", json!({ "name": name })).await.record("tool");
    assert_eq!(named("Fretsaw").await["tray_number"], 7);
    gone(&admin, "/racks/1").await;
    let changed = named("Handsaw").await;
    assert_eq!((&changed["tray_number"], &changed["tray_id"]), (&Value::Null, &json!(1)));
    assert_eq!(changed, admin.get("/tools/1").await.record("tool"));
}
