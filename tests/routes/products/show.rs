//! `GET /products/{id}`.

use serde_json::{Value, json};

use super::{DETAIL_FIELDS, LIST_FIELDS, created, group, path};
use crate::support::{Server, is_utc_time, keys, on_both};

on_both!(
    a_product_is_shown_with_the_extended_field_set,
    decimals_are_texts_with_the_places_of_their_fields,
    its_times_are_in_utc_with_a_z,
    the_name_of_the_group_is_that_of_now,
    a_product_that_is_not_there_is_not_found,
    includes_stand_under_their_names_in_snake_case,
    a_sparse_product_has_the_fields_that_were_asked_for,
    an_unknown_include_is_refused_with_the_known_ones,
    show_needs_the_ability_products_read,
);

async fn a_product_is_shown_with_the_extended_field_set(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    let body = admin.get(&path(&product)).await.ok();
    assert_eq!(keys(&body), ["product"]);
    let mut fields: Vec<&str> = LIST_FIELDS.into_iter().chain(DETAIL_FIELDS).collect();
    fields.sort_unstable();
    assert_eq!(keys(&body["product"]), fields);
}

async fn decimals_are_texts_with_the_places_of_their_fields(server: Server) {
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

async fn its_times_are_in_utc_with_a_z(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    let shown = admin.get(&path(&product)).await.record("product");
    assert!(is_utc_time(&shown["created_at"]) && is_utc_time(&shown["updated_at"]), "{shown}");
}

async fn the_name_of_the_group_is_that_of_now(server: Server) {
    let admin = server.admin();
    let group = group(&admin, "Lighting").await;
    let product = created(&admin, "Lamp", json!({ "product_group_id": group })).await;
    admin.put(&format!("/product_groups/{group}"), json!({ "name": "Lights" })).await.ok();
    assert_eq!(admin.get(&path(&product)).await.record("product")["product_group_name"], "Lights");
}

async fn a_product_that_is_not_there_is_not_found(server: Server) {
    for id in ["1", "0", "-1", "x", "1x", "+1", "99999999999999999999", "1/2", "%00"] {
        server.admin().get(&format!("/products/{id}")).await.refused(404, "not_found");
    }
}

async fn includes_stand_under_their_names_in_snake_case(server: Server) {
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

async fn a_sparse_product_has_the_fields_that_were_asked_for(server: Server) {
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

async fn an_unknown_include_is_refused_with_the_known_ones(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    let problem = admin.get(&format!("{}?include=owner", path(&product))).await.invalid("include");
    for known in ["productGroup", "taxClass", "customFieldValues"] {
        assert!(problem.contains(known), "{problem}");
    }
}

async fn show_needs_the_ability_products_read(server: Server) {
    let product = created(&server.admin(), "Lamp", json!({})).await;
    let writer = server.able(&["products:write"]).await;
    writer.get(&path(&product)).await.refused(403, "ability_missing");
    writer.get("/products/999").await.refused(403, "ability_missing");
    let (_, reader) = server.user(&[], &["products:read"]).await;
    reader.get(&path(&product)).await.record("product");
}
