//! `/stock_levels`.

use serde_json::{Value, json};

use crate::support::{Client, Server, keys, on_both};

on_both!(
    a_stock_level_is_created_shown_changed_and_deleted,
    stock_level_requires_an_existing_product_and_keeps_it,
    stock_level_quantity_and_serial_number_limits_are_enforced,
    stock_levels_are_filtered_by_product_and_location,
    stock_levels_of_a_deleted_product_are_not_found,
    stock_levels_require_their_abilities,
);

async fn product(client: &Client, name: &str) -> Value {
    client.post("/products", json!({ "name": name })).await.created("product")["id"].clone()
}

async fn a_stock_level_is_created_shown_changed_and_deleted(server: Server) {
    let admin = server.admin();
    let lamp = product(&admin, "Lamp").await;
    let level = admin.post("/stock_levels", json!({ "product_id": lamp })).await.created("stock_level");
    let fields =
        ["created_at", "id", "location", "product_id", "product_name", "quantity_held", "serial_numbers", "updated_at"];
    assert_eq!(keys(&level), fields);
    assert_eq!([&level["product_name"], &level["quantity_held"]], ["Lamp", "0.0"]);
    assert_eq!([&level["location"], &level["serial_numbers"]], [&Value::Null, &json!([])]);
    let path = format!("/stock_levels/{}", level["id"]);
    assert_eq!(admin.get(&path).await.record("stock_level"), level);
    let body = json!({ "stock_level": { "quantity_held": 2.5, "location": "A1", "serial_numbers": ["x", "y"] } });
    let changed = admin.put(&path, body).await.record("stock_level");
    assert_eq!([&changed["quantity_held"], &changed["location"]], ["2.5", "A1"]);
    assert_eq!(changed["serial_numbers"], json!(["x", "y"]));
    let shown = admin.get("/stock_levels?include=product").await.records("stock_levels");
    assert_eq!(shown[0]["product"]["name"], "Lamp");
    admin.delete(&path).await.deleted();
    admin.get(&path).await.refused(404, "not_found");
    let events = ["stock_level.created", "stock_level.updated", "stock_level.deleted"];
    assert_eq!(server.events("stock_level.").await, events);
}

async fn stock_level_requires_an_existing_product_and_keeps_it(server: Server) {
    let admin = server.admin();
    let (lamp, tent) = (product(&admin, "Lamp").await, product(&admin, "Tent").await);
    assert_eq!(admin.post("/stock_levels", json!({})).await.invalid_fields(), ["product_id"]);
    admin.post("/stock_levels", json!({ "product_id": 999 })).await.invalid("product_id");
    let level = admin.post("/stock_levels", json!({ "product_id": lamp })).await.created("stock_level");
    let path = format!("/stock_levels/{}", level["id"]);
    admin.put(&path, json!({ "product_id": tent })).await.invalid("product_id");
    admin.put(&path, json!({ "product_id": lamp, "location": "B" })).await.record("stock_level");
}

async fn stock_level_quantity_and_serial_number_limits_are_enforced(server: Server) {
    let admin = server.admin();
    let lamp = product(&admin, "Lamp").await;
    let body = |field: &str, value: Value| json!({ "product_id": lamp, field: value });
    for (field, value) in [
        ("quantity_held", json!("-0.1")),
        ("quantity_held", json!("0.25")),
        ("quantity_held", json!("100000000000")),
        ("location", json!("x".repeat(101))),
        ("serial_numbers", json!(["x".repeat(65)])),
        ("serial_numbers", json!(vec!["x"; 1001])),
    ] {
        admin.post("/stock_levels", body(field, value)).await.invalid(field);
    }
    for (field, value) in [
        ("quantity_held", json!("99999999999.9")),
        ("location", json!("x".repeat(100))),
        ("serial_numbers", json!(vec!["x".repeat(64); 1000])),
    ] {
        let level = admin.post("/stock_levels", body(field, value.clone())).await.created("stock_level");
        assert_eq!(level[field], value, "{field}");
    }
}

async fn stock_levels_are_filtered_by_product_and_location(server: Server) {
    let admin = server.admin();
    let (lamp, tent) = (product(&admin, "Lamp").await, product(&admin, "Tent").await);
    for (product, location) in [(&lamp, "A1"), (&lamp, "B1"), (&tent, "A2")] {
        let body = json!({ "product_id": product, "location": location, "quantity_held": 1 });
        admin.post("/stock_levels", body).await.created("stock_level");
    }
    let ids = async |query: &str| admin.get(&format!("/stock_levels?{query}")).await.column("stock_levels", "id");
    assert_eq!(ids(&format!("q[product_id_eq]={lamp}")).await, [1, 2]);
    assert_eq!(ids("q[location_start]=a").await, [1, 3]);
    assert_eq!(ids("q[product_name_eq]=Tent").await, [3]);
    assert_eq!(ids("sort=-product_name").await, [3, 1, 2]);
    let shown = admin.get("/products?include=stockLevels").await.records("products");
    let places: Vec<&Value> =
        shown[0]["stock_levels"].as_array().expect("a list").iter().map(|l| &l["location"]).collect();
    assert_eq!(places, ["A1", "B1"]);
    assert_eq!(shown[1]["stock_levels"][0]["product_name"], "Tent");
}

/// A record that cannot be without another is not there without it.
async fn stock_levels_of_a_deleted_product_are_not_found(server: Server) {
    let admin = server.admin();
    let (lamp, tent) = (product(&admin, "Lamp").await, product(&admin, "Tent").await);
    for product in [&lamp, &tent] {
        admin.post("/stock_levels", json!({ "product_id": product })).await.created("stock_level");
    }
    admin.delete(&format!("/products/{lamp}")).await.deleted();
    let list = admin.get("/stock_levels?per_page=1").await.ok();
    assert_eq!([&list["meta"]["total"], &list["stock_levels"][0]["id"]], [1, 2]);
    admin.get("/stock_levels/1").await.refused(404, "not_found");
    admin.put("/stock_levels/1", json!({ "location": "A" })).await.refused(404, "not_found");
    admin.delete("/stock_levels/1").await.refused(404, "not_found");
    admin.post("/stock_levels", json!({ "product_id": lamp })).await.invalid("product_id");
    server.sql("UPDATE products SET deleted_at = NULL").await;
    admin.get("/stock_levels/1").await.record("stock_level");
}

async fn stock_levels_require_their_abilities(server: Server) {
    let lamp = product(&server.admin(), "Lamp").await;
    let reader = server.able(&["stock_levels:read"]).await;
    reader.post("/stock_levels", json!({ "product_id": lamp })).await.refused(403, "ability_missing");
    reader.get("/stock_levels").await.records("stock_levels");
    server.able(&["products:read", "products:write"]).await.get("/stock_levels").await.refused(403, "ability_missing");
}
