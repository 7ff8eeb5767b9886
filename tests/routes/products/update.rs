//! `PUT` and `PATCH /products/{id}`.

use serde_json::{Value, json};

use super::{created, group, path};
use crate::support::{Client, Server, on_both};

on_both!(
    product_update_changes_only_the_given_fields_and_returns_200,
    patch_and_put_have_the_same_effect,
    omitted_or_null_field_stays_unchanged,
    empty_string_clears_a_nullable_field,
    empty_string_for_a_field_that_is_not_nullable_is_refused,
    list_is_cleared_by_an_empty_list_or_string,
    product_from_get_can_be_sent_back_unchanged,
    update_without_a_difference_keeps_updated_at,
    custom_fields_are_merged_by_name_and_cleared_by_an_empty_string,
    value_of_a_deleted_custom_field_can_be_sent_back_or_cleared,
    missing_product_is_404_before_its_body_is_validated,
    update_with_an_error_stores_nothing,
    concurrent_updates_of_different_fields_both_succeed,
    updating_a_product_requires_the_ability_products_write,
);

async fn update(client: &Client, product: &Value, body: Value) -> Value {
    client.put(&path(product), body).await.record("product")
}

async fn product_update_changes_only_the_given_fields_and_returns_200(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({ "sku": "L", "weight": "1" })).await;
    let mut expected = product.clone();
    let updated = update(&admin, &product, json!({ "name": "Light" })).await;
    expected["name"] = json!("Light");
    expected["updated_at"] = updated["updated_at"].clone();
    assert_eq!(updated, expected);
    assert_eq!(admin.get(&path(&product)).await.record("product"), expected);
    let updated = update(&admin, &product, json!({ "product": { "weight": 2 } })).await;
    assert_eq!([&updated["name"], &updated["weight"]], ["Light", "2.0000"]);
}

async fn patch_and_put_have_the_same_effect(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({ "sku": "L", "barcode": "1" })).await;
    let body = json!({ "sku": "", "barcode": null, "name": "Light" });
    let patched = admin.patch(&path(&product), body).await.record("product");
    assert_eq!([&patched["sku"], &patched["barcode"], &patched["name"]], [&Value::Null, &json!("1"), &json!("Light")]);
}

async fn omitted_or_null_field_stays_unchanged(server: Server) {
    let admin = server.admin();
    let body = json!({ "sku": "L", "is_active": false, "weight": "1.5", "tag_list": ["a"], "stock_method": 2 });
    let product = created(&admin, "Lamp", body).await;
    let nulls = json!({ "name": null, "sku": null, "is_active": null, "weight": null, "tag_list": null, "custom_fields": null });
    assert_eq!(update(&admin, &product, nulls).await, product);
    assert_eq!(update(&admin, &product, json!({})).await, product);
    assert_eq!(admin.send(reqwest::Method::PUT, &path(&product), None).await.record("product"), product);
}

async fn empty_string_clears_a_nullable_field(server: Server) {
    let admin = server.admin();
    let group = group(&admin, "Lighting").await;
    let fields = ["description", "sku", "barcode", "product_group_id", "country_of_origin_id"];
    let body = json!({
        "description": "d", "sku": "s", "barcode": "b", "product_group_id": group, "country_of_origin_id": 826,
    });
    let product = created(&admin, "Lamp", body).await;
    for field in fields {
        let updated = update(&admin, &product, json!({ field: "" })).await;
        assert_eq!(updated[field], Value::Null, "{field}");
    }
    assert_eq!(admin.get(&path(&product)).await.record("product")["product_group_name"], Value::Null);
}

async fn empty_string_for_a_field_that_is_not_nullable_is_refused(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    for field in
        ["name", "product_type", "is_active", "stock_method", "weight", "post_rent_unavailability", "custom_fields"]
    {
        admin.put(&path(&product), json!({ field: "" })).await.invalid(field);
    }
}

async fn list_is_cleared_by_an_empty_list_or_string(server: Server) {
    let admin = server.admin();
    for empty in [json!([]), json!("")] {
        let product = created(&admin, "Lamp", json!({ "tag_list": ["a", "b"] })).await;
        assert_eq!(update(&admin, &product, json!({ "tag_list": empty })).await["tag_list"], json!([]), "{empty}");
    }
}

async fn product_from_get_can_be_sent_back_unchanged(server: Server) {
    let admin = server.admin();
    let group = group(&admin, "Lighting").await;
    let product = created(&admin, "Lamp", json!({ "product_group_id": group, "tag_list": ["a"] })).await;
    let query = format!("{}?include=productGroup,taxClass,customFieldValues", path(&product));
    let shown = admin.get(&query).await.record("product");
    assert_eq!(update(&admin, &product, shown.clone()).await, product);
    assert_eq!(update(&admin, &product, json!({ "product": shown })).await, product);
}

async fn update_without_a_difference_keeps_updated_at(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({ "weight": "1.5" })).await;
    server.sql("UPDATE products SET updated_at = created_at").await;
    let before = admin.get("/products?q[id_eq]=1").await.records("products").remove(0);
    update(&admin, &product, json!({ "name": "Lamp", "weight": "1.50", "is_active": "t" })).await;
    assert_eq!(admin.get("/products?q[id_eq]=1").await.records("products").remove(0), before);
}

async fn custom_fields_are_merged_by_name_and_cleared_by_an_empty_string(server: Server) {
    let admin = server.admin();
    for name in ["a", "b", "c"] {
        let definition = json!({ "entity_type": "products", "name": name, "field_type": "string" });
        admin.post("/custom_fields", definition).await.created("custom_field");
    }
    let product = created(&admin, "Lamp", json!({ "custom_fields": { "a": "1", "b": "2" } })).await;
    let updated = update(&admin, &product, json!({ "custom_fields": { "b": "3", "a": null } })).await;
    assert_eq!(updated["custom_fields"], json!({ "a": "1", "b": "3" }));
    let updated = update(&admin, &product, json!({ "custom_fields": { "a": "", "c": "4" } })).await;
    assert_eq!(updated["custom_fields"], json!({ "b": "3", "c": "4" }));
    assert_eq!(
        update(&admin, &product, json!({ "custom_fields": {} })).await["custom_fields"],
        updated["custom_fields"]
    );
    let answer = admin.put(&path(&product), json!({ "custom_fields": { "aa": "1", "b": 2 } })).await;
    assert_eq!(answer.invalid_fields(), ["custom_fields.aa", "custom_fields.b"]);
}

async fn value_of_a_deleted_custom_field_can_be_sent_back_or_cleared(server: Server) {
    let admin = server.admin();
    let definition = json!({ "entity_type": "products", "name": "power", "field_type": "integer" });
    let definition = admin.post("/custom_fields", definition).await.created("custom_field");
    let product = created(&admin, "Lamp", json!({ "custom_fields": { "power": 150 } })).await;
    admin.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
    let shown = admin.get(&path(&product)).await.record("product");
    update(&admin, &product, shown).await;
    admin.put(&path(&product), json!({ "custom_fields": { "power": 151 } })).await.invalid("custom_fields.power");
    let kept = update(&admin, &product, json!({ "custom_fields": { "power": null } })).await;
    assert_eq!(kept["custom_fields"], json!({ "power": 150 }));
    let cleared = update(&admin, &product, json!({ "custom_fields": { "power": "" } })).await;
    assert_eq!(cleared["custom_fields"], json!({}));
    admin.put(&path(&product), json!({ "custom_fields": { "power": "" } })).await.invalid("custom_fields.power");
}

async fn missing_product_is_404_before_its_body_is_validated(server: Server) {
    let admin = server.admin();
    admin.put("/products/1", json!({ "nope": 1 })).await.refused(404, "not_found");
    let body = "{".to_string();
    let answer = admin.send_bytes(reqwest::Method::PUT, "/products/1", Some("application/json"), body).await;
    answer.refused(404, "not_found");
}

async fn update_with_an_error_stores_nothing(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    admin.put(&path(&product), json!({ "name": "Light", "weight": "-1" })).await.invalid("weight");
    assert_eq!(admin.get(&path(&product)).await.record("product"), product);
}

async fn concurrent_updates_of_different_fields_both_succeed(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    let url = path(&product);
    for round in 0..5 {
        let bodies = [
            json!({ "sku": format!("s{round}") }),
            json!({ "barcode": format!("b{round}") }),
            json!({ "description": format!("d{round}") }),
        ];
        let [one, two, three] = bodies.map(|body| admin.put(&url, body));
        let (one, two, three) = tokio::join!(one, two, three);
        for answer in [one, two, three] {
            answer.record("product");
        }
        let shown = admin.get(&url).await.record("product");
        let expected = [format!("s{round}"), format!("b{round}"), format!("d{round}")];
        assert_eq!(
            [&shown["sku"], &shown["barcode"], &shown["description"]],
            [&expected[0], &expected[1], &expected[2]]
        );
    }
}

async fn updating_a_product_requires_the_ability_products_write(server: Server) {
    let product = created(&server.admin(), "Lamp", json!({})).await;
    let reader = server.able(&["products:read"]).await;
    reader.put(&path(&product), json!({ "name": "x" })).await.refused(403, "ability_missing");
    reader.patch("/products/999", json!({ "name": "x" })).await.refused(403, "ability_missing");
}
