//! `GET /products`.

use serde_json::{Value, json};

use super::{LIST_FIELDS, created, group, path};
use crate::support::{Client, Server, keys, on_both};

on_both!(
    product_list_has_a_plural_key_and_meta,
    product_list_item_has_the_specified_fields,
    product_list_supports_the_specified_filters,
    products_are_filtered_by_a_custom_field,
    products_are_filtered_and_sorted_by_every_further_field_of_the_list_item,
    fields_of_the_single_product_alone_cannot_be_filtered,
    product_list_supports_the_specified_sorts,
    products_are_filtered_and_sorted_by_the_name_of_their_group,
    products_are_filtered_by_a_field_of_a_related_record,
    product_includes_are_loaded_for_the_whole_page,
    blank_fields_include_and_sort_are_ignored,
);

/// Four products, of which the last has no group.
async fn four(client: &Client) {
    let lighting = group(client, "lighting").await;
    let audio = group(client, "Audio").await;
    for (name, further) in [
        ("Lamp", json!({ "sku": "LMP-2", "product_group_id": lighting, "barcode": "501" })),
        (
            "microphone",
            json!({ "sku": "MIC-1", "product_group_id": audio, "product_type": "sale", "is_active": false }),
        ),
        ("Éclair", json!({ "sku": "lmp-1", "product_group_id": lighting, "stock_method": 2, "system": true })),
        ("Lamp", json!({ "product_type": "service", "weight": "2.5" })),
    ] {
        created(client, name, further).await;
    }
}

async fn ids(client: &Client, parameters: &[(&str, &str)]) -> Vec<Value> {
    client.list("/products", parameters).await.column("products", "id")
}

async fn product_list_has_a_plural_key_and_meta(server: Server) {
    let admin = server.admin();
    let body = admin.get("/products").await.ok();
    assert_eq!(body, json!({ "products": [], "meta": { "total": 0, "per_page": 20, "page": 1 } }));
    four(&admin).await;
    let body = admin.get("/products?per_page=3").await.ok();
    assert_eq!(body["meta"], json!({ "total": 4, "per_page": 3, "page": 1 }));
    assert_eq!(body["products"].as_array().map(Vec::len), Some(3));
}

async fn product_list_item_has_the_specified_fields(server: Server) {
    let admin = server.admin();
    four(&admin).await;
    for item in admin.get("/products").await.records("products") {
        assert_eq!(keys(&item), LIST_FIELDS);
        let shown = admin.get(&path(&item)).await.record("product");
        for field in LIST_FIELDS {
            assert_eq!(item[field], shown[field], "{field}");
        }
    }
}

async fn product_list_supports_the_specified_filters(server: Server) {
    let admin = server.admin();
    four(&admin).await;
    let cases: [(&str, &str, &[i64]); 12] = [
        ("q[name_cont]", "AM", &[1, 4]),
        ("q[name_cont]", "éCL", &[3]),
        ("q[product_type_eq]", "rental", &[1, 3]),
        ("q[product_type_eq]", "Sale", &[2]),
        ("q[is_active_eq]", "true", &[1, 3, 4]),
        ("q[is_active_eq]", "0", &[2]),
        ("q[product_group_id_eq]", "1", &[1, 3]),
        ("q[product_group_id_eq]", "99", &[]),
        ("q[sku_cont]", "Lmp", &[1, 3]),
        ("q[barcode_eq]", "501", &[1]),
        ("q[stock_method_eq]", "2", &[3]),
        ("q[stock_method_eq]", "1", &[1, 2, 4]),
    ];
    for (name, value, expected) in cases {
        assert_eq!(ids(&admin, &[(name, value)]).await, expected, "{name}={value}");
    }
}

async fn products_are_filtered_by_a_custom_field(server: Server) {
    let admin = server.admin();
    for (name, field_type) in [("power", "integer"), ("colour", "choice")] {
        let mut definition = json!({ "entity_type": "products", "name": name, "field_type": field_type });
        if field_type == "choice" {
            definition["choices"] = json!(["red", "Red"]);
        }
        admin.post("/custom_fields", definition).await.created("custom_field");
    }
    created(&admin, "a", json!({ "custom_fields": { "power": 150, "colour": "red" } })).await;
    created(&admin, "b", json!({ "custom_fields": { "power": 1500, "colour": "Red" } })).await;
    created(&admin, "c", json!({})).await;
    let cases: [(&str, &str, &[i64]); 8] = [
        ("q[cf.power_eq]", "150", &[1]),
        ("q[cf.power_gt]", "9", &[1, 2]),
        ("q[cf.power_not_eq]", "150", &[2]),
        ("q[cf.colour_eq]", "red", &[1, 2]),
        ("q[cf.colour_in]", "blue,RED", &[1, 2]),
        ("q[cf.colour_cont]", "RE", &[1, 2]),
        ("q[cf.power_null]", "1", &[3]),
        ("q[cf.colour_present]", "1", &[1, 2]),
    ];
    for (name, value, expected) in cases {
        assert_eq!(ids(&admin, &[(name, value)]).await, expected, "{name}={value}");
    }
    assert_eq!(ids(&admin, &[("sort", "-cf.power")]).await, [2, 1, 3]);
    let problem = admin.list("/products", &[("q[cf.powr_eq]", "1")]).await.invalid("q[cf.powr_eq]");
    assert!(problem.contains("did you mean `power`?"), "{problem}");
}

async fn products_are_filtered_and_sorted_by_every_further_field_of_the_list_item(server: Server) {
    let admin = server.admin();
    four(&admin).await;
    assert_eq!(ids(&admin, &[("q[weight_gt]", "2.4999")]).await, [4]);
    assert_eq!(ids(&admin, &[("q[replacement_charge_eq]", "0")]).await, [1, 2, 3, 4]);
    assert_eq!(ids(&admin, &[("q[description_null]", "1"), ("q[id_gt]", "2")]).await, [3, 4]);
    assert_eq!(ids(&admin, &[("sort", "-weight")]).await, [4, 1, 2, 3]);
    assert_eq!(ids(&admin, &[("sort", "-stock_method")]).await, [3, 1, 2, 4]);
}

async fn fields_of_the_single_product_alone_cannot_be_filtered(server: Server) {
    let admin = server.admin();
    four(&admin).await;
    for field in ["system", "discountable"] {
        let parameter = format!("q[{field}_true]");
        admin.list("/products", &[(&parameter, "1")]).await.invalid(&parameter);
        assert_eq!(ids(&admin, &[("sort", &format!("-{field}"))]).await, [1, 2, 3, 4]);
    }
}

async fn product_list_supports_the_specified_sorts(server: Server) {
    let admin = server.admin();
    four(&admin).await;
    server.reverse_creation_times("products").await;
    let cases: [(&str, [i64; 4]); 7] = [
        ("name", [1, 4, 2, 3]),
        ("-name", [3, 2, 1, 4]),
        ("product_type", [1, 3, 2, 4]),
        ("sku", [4, 3, 1, 2]),
        ("-sku", [2, 1, 3, 4]),
        ("created_at", [4, 3, 2, 1]),
        ("-id", [4, 3, 2, 1]),
    ];
    for (sort, expected) in cases {
        assert_eq!(ids(&admin, &[("sort", sort)]).await, expected, "{sort}");
    }
}

async fn products_are_filtered_and_sorted_by_the_name_of_their_group(server: Server) {
    let admin = server.admin();
    four(&admin).await;
    assert_eq!(ids(&admin, &[("q[product_group_name_cont]", "LIGHT")]).await, [1, 3]);
    assert_eq!(ids(&admin, &[("q[product_group_name_null]", "1")]).await, [4]);
    assert_eq!(ids(&admin, &[("sort", "product_group_name")]).await, [4, 2, 1, 3]);
    assert_eq!(ids(&admin, &[("sort", "-product_group_name")]).await, [1, 3, 2, 4]);
}

async fn products_are_filtered_by_a_field_of_a_related_record(server: Server) {
    let admin = server.admin();
    four(&admin).await;
    for name in ["q[product_group.name_eq]", "q[productGroup.name_eq]"] {
        assert_eq!(ids(&admin, &[(name, "Audio")]).await, [2], "{name}");
    }
    assert_eq!(ids(&admin, &[("q[product_group.name_not_eq]", "Audio")]).await, [1, 3], "a missing one is NULL");
    assert_eq!(ids(&admin, &[("q[product_group.id_in]", "1,2")]).await, [1, 2, 3]);
    for unknown in ["q[group.name_eq]", "q[product_group.nam_eq]", "q[product_group.name.x_eq]", "q[.name_eq]"] {
        admin.list("/products", &[(unknown, "x")]).await.invalid(unknown);
    }
}

async fn product_includes_are_loaded_for_the_whole_page(server: Server) {
    let admin = server.admin();
    four(&admin).await;
    for include in ["include=productGroup", "include=product_group", "include[]=productGroup&include[]=taxClass"] {
        let products = admin.get(&format!("/products?{include}")).await.records("products");
        let names: Vec<&Value> = products.iter().map(|product| &product["product_group"]["name"]).collect();
        assert_eq!(names, [&json!("lighting"), &json!("Audio"), &json!("lighting"), &Value::Null], "{include}");
        assert_eq!(products[3]["product_group"], Value::Null);
        assert_eq!(keys(&products[0]["product_group"]), ["created_at", "description", "id", "name", "updated_at"]);
    }
    let products = admin.get("/products?include=").await.records("products");
    assert_eq!(keys(&products[0]), LIST_FIELDS, "nothing named, nothing included");
}

async fn blank_fields_include_and_sort_are_ignored(server: Server) {
    let admin = server.admin();
    four(&admin).await;
    let whole = admin.get("/products").await.ok();
    for blank in ["fields=", "fields=%20", "fields[]=", "include=", "sort="] {
        assert_eq!(admin.get(&format!("/products?{blank}")).await.ok(), whole, "{blank}");
    }
    let named = admin.get("/products?fields=&fields=name").await.ok();
    assert_eq!(keys(&named["products"][0]), ["name"]);
}
