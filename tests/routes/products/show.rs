//! `GET /products/{id}`.

use serde_json::{Value, json};

use super::{DETAIL_FIELDS, LIST_FIELDS, created, group, path};
use crate::support::{Server, is_utc_time, keys, on_both};

on_both!(
    showing_a_product_returns_the_extended_fields,
    product_decimals_are_strings_with_a_fixed_scale,
    product_times_are_in_utc_with_z,
    product_group_name_is_current,
    missing_product_is_not_found,
    product_includes_have_snake_case_keys,
    fields_selects_the_fields_of_a_product,
    unknown_include_is_refused_with_the_known_ones,
    showing_a_product_requires_the_ability_products_read,
);

async fn showing_a_product_returns_the_extended_fields(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    let body = admin.get(&path(&product)).await.ok();
    assert_eq!(keys(&body), ["product"]);
    let mut fields: Vec<&str> = LIST_FIELDS.into_iter().chain(DETAIL_FIELDS).collect();
    fields.sort_unstable();
    assert_eq!(keys(&body["product"]), fields);
}

async fn product_decimals_are_strings_with_a_fixed_scale(server: Server) {
    let admin = server.admin();
    let body = json!({ "weight": 1, "replacement_charge": 2, "buffer_percent": 3, "sub_rental_price": 4, "purchase_price": 5 });
    let product = created(&admin, "Lamp", body).await;
    let shown = admin.get(&path(&product)).await.record("product");
    assert_eq!([&shown["weight"], &shown["replacement_charge"]], ["1.0000", "2.00"]);
    assert_eq!(
        [&shown["buffer_percent"], &shown["sub_rental_price"], &shown["purchase_price"]],
        ["3.00", "4.00", "5.00"]
    );
}

async fn product_times_are_in_utc_with_z(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    let shown = admin.get(&path(&product)).await.record("product");
    assert!(is_utc_time(&shown["created_at"]) && is_utc_time(&shown["updated_at"]), "{shown}");
}

async fn product_group_name_is_current(server: Server) {
    let admin = server.admin();
    let group = group(&admin, "Lighting").await;
    let product = created(&admin, "Lamp", json!({ "product_group_id": group })).await;
    admin.put(&format!("/product_groups/{group}"), json!({ "name": "Lights" })).await.ok();
    assert_eq!(admin.get(&path(&product)).await.record("product")["product_group_name"], "Lights");
}

async fn missing_product_is_not_found(server: Server) {
    for id in ["1", "0", "-1", "x", "1x", "+1", "99999999999999999999", "1/2", "%00"] {
        server.admin().get(&format!("/products/{id}")).await.refused(404, "not_found");
    }
}

async fn product_includes_have_snake_case_keys(server: Server) {
    let admin = server.admin();
    let group = group(&admin, "Lighting").await;
    let definition = json!({ "entity_type": "products", "name": "power", "field_type": "integer" });
    admin.post("/custom_fields", definition).await.created("custom_field");
    let body = json!({ "product_group_id": group, "custom_fields": { "power": 150 } });
    let product = created(&admin, "Lamp", body).await;
    let query = format!("{}?include=productGroup,taxClass,customFieldValues", path(&product));
    let shown = admin.get(&query).await.record("product");
    assert_eq!([&shown["product_group"]["id"], &shown["product_group"]["name"]], [&group, &json!("Lighting")]);
    assert_eq!(shown["tax_class"], Value::Null);
    let values = json!([{ "name": "power", "label": "Power", "field_type": "integer", "value": 150 }]);
    assert_eq!(shown["custom_field_values"], values);
    assert_eq!(shown["custom_fields"], json!({ "power": 150 }));
    let plain = admin.get(&path(&product)).await.record("product");
    assert_eq!(plain["product_group"], Value::Null, "nothing is included unless asked for");
    assert!(!plain.as_object().is_some_and(|fields| fields.contains_key("product_group")));
}

async fn fields_selects_the_fields_of_a_product(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    let shown = admin.get(&format!("{}?fields=name,weight,tag_list", path(&product))).await.record("product");
    assert_eq!(shown, json!({ "name": "Lamp", "weight": "0.0000", "tag_list": [] }));
    // Also when nothing but what is included is left.
    let included = admin.get(&format!("{}?fields=,&include=customFieldValues", path(&product))).await.record("product");
    assert_eq!(included, json!({ "custom_field_values": [] }));
    let problem = admin.get(&format!("{}?fields=nam", path(&product))).await.invalid("fields");
    assert!(problem.contains("did you mean `name`?"), "{problem}");
    admin.get(&format!("{}?fields=deleted_at", path(&product))).await.invalid("fields");
}

async fn unknown_include_is_refused_with_the_known_ones(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    let problem = admin.get(&format!("{}?include=owner", path(&product))).await.invalid("include");
    for known in ["productGroup", "taxClass", "customFieldValues"] {
        assert!(problem.contains(known), "{problem}");
    }
}

async fn showing_a_product_requires_the_ability_products_read(server: Server) {
    let product = created(&server.admin(), "Lamp", json!({})).await;
    let writer = server.able(&["products:write"]).await;
    writer.get(&path(&product)).await.refused(403, "ability_missing");
    writer.get("/products/999").await.refused(403, "ability_missing");
    let (_, reader) = server.user(&[], &["products:read"]).await;
    reader.get(&path(&product)).await.record("product");
}
