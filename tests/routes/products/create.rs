//! `POST /products`.

use serde_json::{Value, json};

use super::{DETAIL_FIELDS, LIST_FIELDS, created, group};
use crate::support::{Client, Server, is_utc_time, keys, on_both};

on_both!(
    creating_a_product_returns_201_with_location,
    product_fields_can_be_under_the_singular_key,
    product_requires_only_a_name,
    omitted_product_fields_get_their_defaults,
    every_writable_product_field_is_stored,
    product_types_are_case_insensitive_strings,
    product_codes_are_limited_to_those_with_a_label,
    product_decimals_have_a_fixed_scale_and_are_never_rounded,
    negative_product_amounts_are_refused,
    product_texts_have_a_maximum_length,
    product_integers_have_32_bits,
    product_booleans_accept_words_and_digits,
    product_references_must_exist,
    product_tags_are_a_list_of_strings,
    product_tag_cannot_be_blank,
    unknown_product_field_is_refused_with_a_hint,
    read_only_product_fields_are_ignored,
    null_keeps_the_default_and_empty_string_clears_a_nullable_field,
    all_errors_of_a_product_are_reported_at_once,
    creating_a_product_requires_the_ability_products_write,
);

async fn refused(client: &Client, field: &str, value: Value) -> String {
    client.post("/products", json!({ "name": "Lamp", field: value })).await.invalid(field)
}

async fn creating_a_product_returns_201_with_location(server: Server) {
    let admin = server.admin();
    let group = group(&admin, "Lighting").await;
    let body = json!({
        "name": "Lamp", "product_type": "rental", "product_group_id": group, "sku": "LMP-1", "stock_method": 1,
        "is_active": true,
    });
    let answer = admin.post("/products", body).await;
    let product = answer.created("product");
    assert_eq!(answer.header("location"), Some(format!("/api/v1/products/{}", product["id"]).as_str()));
    let mut fields: Vec<&str> = LIST_FIELDS.into_iter().chain(DETAIL_FIELDS).collect();
    fields.sort_unstable();
    assert_eq!(keys(&product), fields);
    assert_eq!([&product["name"], &product["sku"], &product["product_group_name"]], ["Lamp", "LMP-1", "Lighting"]);
    assert!(is_utc_time(&product["created_at"]) && product["created_at"] == product["updated_at"], "{product}");
    assert_eq!(admin.get(&super::path(&product)).await.record("product"), product);
}

async fn product_fields_can_be_under_the_singular_key(server: Server) {
    let admin = server.admin();
    let product = admin.post("/products", json!({ "product": { "name": "Lamp" } })).await.created("product");
    assert_eq!(product["name"], "Lamp");
    // Members next to the record's key are unknown fields.
    let answer = admin.post("/products", json!({ "product": { "name": "Lamp" }, "sku": "x" })).await;
    assert_eq!(answer.invalid_fields(), ["sku"]);
}

async fn product_requires_only_a_name(server: Server) {
    let admin = server.admin();
    assert_eq!(admin.post("/products", json!({})).await.invalid("name"), "is required");
    assert_eq!(admin.send(reqwest::Method::POST, "/products", None).await.invalid("name"), "is required");
    for blank in ["", " ", "\t\n"] {
        assert_eq!(admin.post("/products", json!({ "name": blank })).await.invalid("name"), "must not be blank");
    }
    admin.post("/products", json!({ "name": "x" })).await.created("product");
}

async fn omitted_product_fields_get_their_defaults(server: Server) {
    let product = created(&server.admin(), "Lamp", json!({})).await;
    let expected = json!({
        "product_type": "rental", "stock_method": 1, "allowed_stock_type": 1, "is_active": true, "discountable": true,
        "accessory_only": false, "system": false, "post_rent_unavailability": 0, "weight": "0.0000",
        "replacement_charge": "0.00", "buffer_percent": "0.00", "sub_rental_price": "0.00", "purchase_price": "0.00",
        "custom_fields": {}, "tag_list": [], "description": null, "sku": null, "barcode": null,
        "product_group_id": null, "product_group_name": null, "tax_class_id": null, "purchase_tax_class_id": null,
        "rental_revenue_group_id": null, "sale_revenue_group_id": null, "sub_rental_cost_group_id": null,
        "purchase_cost_group_id": null, "country_of_origin_id": null,
    });
    for (field, value) in expected.as_object().expect("an object") {
        assert_eq!(product[field], *value, "{field}");
    }
}

async fn every_writable_product_field_is_stored(server: Server) {
    let admin = server.admin();
    let tax = admin.post("/tax_classes", json!({ "name": "Standard", "percentage": "20" })).await.created("tax_class");
    let body = json!({
        "name": "Lamp", "description": "Bright\nand warm", "product_type": "sale", "sku": "L", "barcode": "501",
        "is_active": false, "stock_method": 2, "weight": "1.5000", "replacement_charge": "99.90",
        "allowed_stock_type": 3, "buffer_percent": "2.50", "post_rent_unavailability": 7, "accessory_only": true,
        "system": true, "discountable": false, "tax_class_id": tax["id"], "purchase_tax_class_id": tax["id"],
        "rental_revenue_group_id": 1, "sale_revenue_group_id": 2, "sub_rental_cost_group_id": 3,
        "sub_rental_price": "10.00", "purchase_cost_group_id": 4, "purchase_price": "50.25",
        "country_of_origin_id": 826, "tag_list": ["new", "LED"],
    });
    let product = admin.post("/products", body.clone()).await.created("product");
    for (field, value) in body.as_object().expect("an object") {
        assert_eq!(product[field], *value, "{field}");
    }
}

async fn product_types_are_case_insensitive_strings(server: Server) {
    let admin = server.admin();
    for (given, stored) in [("SALE", "sale"), ("service", "service"), ("Loss_And_Damage", "loss_and_damage")] {
        assert_eq!(created(&admin, "x", json!({ "product_type": given })).await["product_type"], stored);
    }
    let problem = refused(&admin, "product_type", json!("rentl")).await;
    assert!(problem.contains("rental, sale, service, loss_and_damage") && problem.contains("`rental`?"), "{problem}");
    refused(&admin, "product_type", json!("")).await;
    refused(&admin, "product_type", json!(1)).await;
}

async fn product_codes_are_limited_to_those_with_a_label(server: Server) {
    let admin = server.admin();
    assert_eq!(created(&admin, "x", json!({ "stock_method": "2" })).await["stock_method"], json!(2));
    let problem = refused(&admin, "stock_method", json!(3)).await;
    assert!(problem.contains("1 (Bulk), 2 (Serialised)"), "{problem}");
    for bad in [json!(0), json!(1.5), json!("bulk"), json!(""), json!(99_999_999_999_i64)] {
        refused(&admin, "stock_method", bad).await;
    }
    refused(&admin, "allowed_stock_type", json!(4)).await;
}

async fn product_decimals_have_a_fixed_scale_and_are_never_rounded(server: Server) {
    let admin = server.admin();
    for (field, given, written) in [
        ("weight", json!("1.5"), "1.5000"),
        ("weight", json!(12), "12.0000"),
        ("weight", json!("99999999.9999"), "99999999.9999"),
        ("weight", json!(" 3.25 "), "3.2500"),
        ("replacement_charge", json!(0.1), "0.10"),
        ("replacement_charge", json!("9999999999.99"), "9999999999.99"),
        ("purchase_price", json!("1e3"), "1000.00"),
        ("buffer_percent", json!("9999.99"), "9999.99"),
    ] {
        assert_eq!(created(&admin, "x", json!({ field: given })).await[field], written, "{field}: {given}");
    }
    assert_eq!(refused(&admin, "weight", json!("0.00001")).await, "must have at most 4 decimal places");
    assert_eq!(refused(&admin, "weight", json!(0.00001)).await, "must have at most 4 decimal places");
    assert_eq!(refused(&admin, "weight", json!("100000000")).await, "must have at most 8 digits before the point");
    assert_eq!(refused(&admin, "replacement_charge", json!("1.005")).await, "must have at most 2 decimal places");
    for bad in ["1,5", "£1", "", "1 000", "--1"] {
        refused(&admin, "replacement_charge", json!(bad)).await;
    }
}

async fn negative_product_amounts_are_refused(server: Server) {
    let admin = server.admin();
    for field in ["weight", "replacement_charge", "buffer_percent", "sub_rental_price", "purchase_price"] {
        assert_eq!(refused(&admin, field, json!("-0.01")).await, "must be at least 0", "{field}");
        created(&admin, "x", json!({ field: "-0" })).await;
    }
    refused(&admin, "post_rent_unavailability", json!(-1)).await;
}

async fn product_texts_have_a_maximum_length(server: Server) {
    let admin = server.admin();
    for (field, most) in [("name", 255), ("sku", 64), ("barcode", 64)] {
        // Characters, not bytes: this one has four.
        let longest = "𝄞".repeat(most);
        let product = admin.post("/products", merged(field, &longest)).await.created("product");
        assert_eq!(product[field], longest.as_str());
        let problem = admin.post("/products", merged(field, &format!("{longest}x"))).await.invalid(field);
        assert_eq!(problem, format!("must have at most {most} characters"));
    }
    let long = "long ".repeat(20_000);
    assert_eq!(created(&admin, "x", json!({ "description": long })).await["description"], long.as_str());
    refused(&admin, "sku", json!(12)).await;
    refused(&admin, "description", json!(["x"])).await;
}

fn merged(field: &str, value: &str) -> Value {
    let mut body = json!({ "name": "Lamp" });
    body[field] = json!(value);
    body
}

async fn product_integers_have_32_bits(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "x", json!({ "country_of_origin_id": 2147483647_i64 })).await;
    assert_eq!(product["country_of_origin_id"], json!(2147483647_i64));
    let product = created(&admin, "x", json!({ "country_of_origin_id": "1e2" })).await;
    assert_eq!(product["country_of_origin_id"], json!(100));
    for bad in [json!(2147483648_i64), json!(1.5), json!("x"), json!(true), json!([1])] {
        refused(&admin, "country_of_origin_id", bad).await;
    }
    let body = r#"{"name":"x","country_of_origin_id":1e400,"rental_revenue_group_id":123456789012345678901234567890}"#;
    let answer = admin.post_text("/products", body).await;
    assert_eq!(answer.invalid_fields(), ["country_of_origin_id", "rental_revenue_group_id"]);
}

async fn product_booleans_accept_words_and_digits(server: Server) {
    let admin = server.admin();
    for given in [json!(false), json!("false"), json!("F"), json!(0), json!("0"), json!(" False ")] {
        assert_eq!(created(&admin, "x", json!({ "is_active": given })).await["is_active"], json!(false), "{given}");
    }
    for bad in [json!("no"), json!(2), json!(""), json!({}), json!([false])] {
        refused(&admin, "is_active", bad).await;
    }
}

async fn product_references_must_exist(server: Server) {
    let admin = server.admin();
    assert_eq!(refused(&admin, "product_group_id", json!(999)).await, "does not refer to an existing product group");
    assert_eq!(refused(&admin, "tax_class_id", json!(999)).await, "does not refer to an existing tax class");
    for bad in [json!("x"), json!(1.5), json!(9_223_372_036_854_775_807_i64), json!("9223372036854775808"), json!(-1)] {
        refused(&admin, "product_group_id", bad).await;
    }
    assert_eq!(created(&admin, "x", json!({ "product_group_id": "" })).await["product_group_id"], Value::Null);
}

async fn product_tags_are_a_list_of_strings(server: Server) {
    let admin = server.admin();
    let longest = "ä".repeat(50);
    let tags = json!(["a", "a", "b,c", longest]);
    assert_eq!(created(&admin, "x", json!({ "tag_list": tags })).await["tag_list"], tags);
    let thousand: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    assert_eq!(created(&admin, "x", json!({ "tag_list": thousand })).await["tag_list"], json!(thousand));
    let more: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
    assert_eq!(refused(&admin, "tag_list", json!(more)).await, "must have at most 1000 elements");
    let problem = refused(&admin, "tag_list", json!(["a", format!("{longest}x")])).await;
    assert_eq!(problem, "must have at most 50 characters (element 2)");
    let each = admin.post("/products", json!({ "name": "x", "tag_list": [5, "a", format!("{longest}x")] })).await;
    let told = each.invalid("tag_list");
    assert_eq!(told, "must be a string (element 1); must have at most 50 characters (element 3)");
    for bad in [json!("a"), json!([1]), json!([null]), json!([["a"]]), json!({ "a": 1 })] {
        refused(&admin, "tag_list", bad).await;
    }
    assert_eq!(created(&admin, "x", json!({ "tag_list": "" })).await["tag_list"], json!([]));
}

async fn product_tag_cannot_be_blank(server: Server) {
    let admin = server.admin();
    for blank in ["", " ", "\u{a0}\t"] {
        assert_eq!(refused(&admin, "tag_list", json!(["stage", blank])).await, "must not be blank (element 2)");
    }
    let kept = created(&admin, "Lamp", json!({ "tag_list": [" a "] })).await;
    assert_eq!(kept["tag_list"], json!([" a "]));
    // An unchanged stored value is accepted, although it is invalid in a new record.
    let path = format!("/products/{}", kept["id"]);
    server.sql("UPDATE products SET tag_list = '[\"a\", \"\"]'").await;
    let read = admin.get(&path).await.record("product");
    assert_eq!(read["tag_list"], json!(["a", ""]));
    assert_eq!(admin.put(&path, read.clone()).await.record("product"), read);
    let problem = admin.put(&path, json!({ "tag_list": ["", "a"] })).await.invalid("tag_list");
    assert_eq!(problem, "must not be blank (element 1)");
    assert_eq!(admin.put(&path, json!({ "tag_list": "" })).await.record("product")["tag_list"], json!([]));
}

async fn unknown_product_field_is_refused_with_a_hint(server: Server) {
    let admin = server.admin();
    let problem = refused(&admin, "barcod", json!("1")).await;
    assert_eq!(problem, "is not a field of product; did you mean `barcode`?");
    for hidden in ["token_hash", "table", "", "product_group.name", "Name"] {
        refused(&admin, hidden, json!(null)).await;
    }
}

async fn read_only_product_fields_are_ignored(server: Server) {
    let body = json!({
        "id": 4711, "created_at": "1999-01-01T00:00:00Z", "updated_at": "never", "product_group_name": "Lighting",
        "product_group": { "id": 1 }, "custom_field_values": [], "deleted_at": "1999-01-01T00:00:00Z",
    });
    let product = created(&server.admin(), "Lamp", body).await;
    assert_eq!([&product["id"], &product["product_group_name"]], [&json!(1), &Value::Null]);
    assert_ne!(product["created_at"], "1999-01-01T00:00:00Z");
}

async fn null_keeps_the_default_and_empty_string_clears_a_nullable_field(server: Server) {
    let admin = server.admin();
    let body = json!({ "is_active": null, "weight": null, "sku": null, "barcode": "", "tag_list": null, "custom_fields": null });
    let product = created(&admin, "x", body).await;
    assert_eq!([&product["is_active"], &product["weight"]], [&json!(true), &json!("0.0000")]);
    assert_eq!([&product["sku"], &product["barcode"]], [&Value::Null, &Value::Null]);
    assert_eq!([&product["tag_list"], &product["custom_fields"]], [&json!([]), &json!({})]);
}

async fn all_errors_of_a_product_are_reported_at_once(server: Server) {
    let body = json!({
        "nam": "x", "sku": 1, "weight": "-1", "stock_method": 9, "product_group_id": 999, "tag_list": "a",
        "custom_fields": [], "is_active": "perhaps",
    });
    let answer = server.admin().post("/products", body).await;
    let expected =
        ["custom_fields", "is_active", "nam", "name", "product_group_id", "sku", "stock_method", "tag_list", "weight"];
    assert_eq!(answer.invalid_fields(), expected);
    let body = answer.json();
    assert!(body["message"].as_str().is_some_and(|message| message.contains("and 8 more")), "{body}");
    assert!(body["errors"].as_object().is_some_and(|all| all.values().all(Value::is_array)), "{body}");
}

async fn creating_a_product_requires_the_ability_products_write(server: Server) {
    let reader = server.able(&["products:read", "product_groups:write"]).await;
    let answer = reader.post("/products", json!({ "name": "x" })).await;
    answer.refused(403, "ability_missing");
    // Abilities are checked before the body is parsed.
    reader.post_text("/products", "{").await.refused(403, "ability_missing");
    let (_, writer) = server.user(&[], &["products:write"]).await;
    writer.post("/products", json!({ "name": "x" })).await.created("product");
}
