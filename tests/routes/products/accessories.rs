//! `/products/{product_id}/accessories`: products that accompany a product.

use serde_json::{Value, json};

use super::{created, path};
use crate::support::{Client, Server, keys, on_both};

on_both!(
    accessory_is_created_shown_updated_and_deleted,
    accessory_must_be_another_existing_product,
    pair_of_product_and_accessory_is_unique,
    accessory_quantity_has_one_decimal_place_and_is_not_negative,
    product_of_an_accessory_comes_from_the_path,
    accessory_of_another_product_is_not_found,
    accessories_of_a_deleted_product_are_not_found,
    accessory_that_links_to_a_deleted_product_is_not_found,
    accessory_list_follows_the_list_conventions,
    product_can_include_its_accessories,
    accessories_require_the_abilities_of_products,
);

/// The path of the accessories of a product.
fn under(product: &Value) -> String {
    format!("{}/accessories", path(product))
}

async fn added(client: &Client, product: &Value, accessory: &Value) -> Value {
    client.post(&under(product), json!({ "accessory_product_id": accessory["id"] })).await.created("accessory")
}

async fn accessory_is_created_shown_updated_and_deleted(server: Server) {
    let admin = server.admin();
    let (lamp, bulb) = (created(&admin, "Lamp", json!({})).await, created(&admin, "Bulb", json!({})).await);
    let answer = admin.post(&under(&lamp), json!({ "accessory": { "accessory_product_id": bulb["id"] } })).await;
    let accessory = answer.created("accessory");
    let fields = [
        "accessory_product_id",
        "created_at",
        "id",
        "included",
        "product_id",
        "quantity",
        "related_name",
        "sort_order",
        "updated_at",
        "zero_priced",
    ];
    assert_eq!(keys(&accessory), fields);
    for (field, expected) in [
        ("product_id", lamp["id"].clone()),
        ("accessory_product_id", bulb["id"].clone()),
        ("related_name", json!("Bulb")),
        ("quantity", json!("1.0")),
        ("included", json!(false)),
        ("zero_priced", json!(false)),
        ("sort_order", json!(0)),
    ] {
        assert_eq!(accessory[field], expected, "{field}");
    }
    let one = format!("{}/{}", under(&lamp), accessory["id"]);
    assert_eq!(answer.header("location"), Some(format!("/api/v1{one}").as_str()));
    assert_eq!(admin.get(&one).await.record("accessory"), accessory);
    let body = json!({ "quantity": "2.5", "included": true, "zero_priced": "t", "sort_order": 3 });
    let changed = admin.put(&one, body).await.record("accessory");
    assert_eq!(
        [&changed["quantity"], &changed["included"], &changed["zero_priced"]],
        [&json!("2.5"), &json!(true), &json!(true)]
    );
    assert_eq!(admin.get(&under(&lamp)).await.records("accessories"), [changed]);
    admin.delete(&one).await.deleted();
    admin.get(&one).await.refused(404, "not_found");
    assert_eq!(admin.get(&under(&lamp)).await.ok()["meta"]["total"], 0);
    let events = ["accessory.created", "accessory.updated", "accessory.deleted"];
    assert_eq!(server.events("accessory.").await, events);
}

async fn accessory_must_be_another_existing_product(server: Server) {
    let admin = server.admin();
    let lamp = created(&admin, "Lamp", json!({})).await;
    assert_eq!(admin.post(&under(&lamp), json!({})).await.invalid_fields(), ["accessory_product_id"]);
    let add = async |id: Value| admin.post(&under(&lamp), json!({ "accessory_product_id": id })).await;
    add(json!(999)).await.invalid("accessory_product_id");
    assert_eq!(add(lamp["id"].clone()).await.invalid("accessory_product_id"), "must differ from product_id");
    let bulb = created(&admin, "Bulb", json!({})).await;
    let accessory = added(&admin, &lamp, &bulb).await;
    let one = format!("{}/{}", under(&lamp), accessory["id"]);
    admin.put(&one, json!({ "accessory_product_id": lamp["id"] })).await.invalid("accessory_product_id");
}

async fn pair_of_product_and_accessory_is_unique(server: Server) {
    let admin = server.admin();
    let (lamp, bulb) = (created(&admin, "Lamp", json!({})).await, created(&admin, "Bulb", json!({})).await);
    added(&admin, &lamp, &bulb).await;
    let again = json!({ "accessory_product_id": bulb["id"] });
    admin.post(&under(&lamp), again.clone()).await.invalid("accessory_product_id");
    // The other way round is another pair, and so is another product's.
    added(&admin, &bulb, &lamp).await;
    let tent = created(&admin, "Tent", json!({})).await;
    added(&admin, &tent, &bulb).await;
    let other = added(&admin, &lamp, &tent).await;
    let one = format!("{}/{}", under(&lamp), other["id"]);
    admin.put(&one, again).await.invalid("accessory_product_id");
}

async fn accessory_quantity_has_one_decimal_place_and_is_not_negative(server: Server) {
    let admin = server.admin();
    let (lamp, bulb) = (created(&admin, "Lamp", json!({})).await, created(&admin, "Bulb", json!({})).await);
    let body = |quantity: Value| json!({ "accessory_product_id": bulb["id"], "quantity": quantity });
    for quantity in [json!("-0.1"), json!("0.25"), json!("many"), json!("")] {
        admin.post(&under(&lamp), body(quantity)).await.invalid("quantity");
    }
    let accessory = admin.post(&under(&lamp), body(json!(0))).await.created("accessory");
    assert_eq!(accessory["quantity"], "0.0");
}

async fn product_of_an_accessory_comes_from_the_path(server: Server) {
    let admin = server.admin();
    let (lamp, bulb) = (created(&admin, "Lamp", json!({})).await, created(&admin, "Bulb", json!({})).await);
    let body = |product: Value| json!({ "product_id": product, "accessory_product_id": bulb["id"] });
    let said = format!("must be {}, as in the path", lamp["id"]);
    for other in [&bulb["id"], &json!(999)] {
        assert_eq!(admin.post(&under(&lamp), body(other.clone())).await.invalid("product_id"), said);
    }
    let operations = json!({ "operations": [{ "method": "create", "accessory": body(bulb["id"].clone()) }] });
    let refused = admin.post(&format!("{}/bulk", under(&lamp)), operations).await;
    assert_eq!(refused.invalid("operations.0.product_id"), said);
    let both = admin.post(&under(&lamp), json!({ "product_id": bulb["id"], "quantity": "x" })).await.invalid_fields();
    assert_eq!(both, ["accessory_product_id", "product_id", "quantity"]);
    for same in [json!(null), lamp["id"].clone(), lamp["id"].to_string().into()] {
        let accessory = admin.post(&under(&lamp), body(same)).await.created("accessory");
        assert_eq!(accessory["product_id"], lamp["id"]);
        let path = format!("{}/{}", under(&lamp), accessory["id"]);
        // An update refuses another product as well, and takes back what was read.
        let moved = admin.put(&path, json!({ "product_id": bulb["id"] })).await;
        assert_eq!(moved.invalid("product_id"), "cannot be changed");
        assert_eq!(admin.put(&path, accessory.clone()).await.record("accessory"), accessory);
        admin.delete(&path).await.deleted();
    }
    admin.post("/products/999/accessories", json!({ "nope": 1 })).await.refused(404, "not_found");
    admin.get("/products/x/accessories").await.refused(404, "not_found");
}

async fn accessory_of_another_product_is_not_found(server: Server) {
    let admin = server.admin();
    let (lamp, bulb) = (created(&admin, "Lamp", json!({})).await, created(&admin, "Bulb", json!({})).await);
    let accessory = added(&admin, &lamp, &bulb).await;
    let elsewhere = format!("{}/{}", under(&bulb), accessory["id"]);
    admin.get(&elsewhere).await.refused(404, "not_found");
    admin.put(&elsewhere, json!({ "quantity": 2 })).await.refused(404, "not_found");
    admin.delete(&elsewhere).await.refused(404, "not_found");
    assert_eq!(admin.get(&under(&bulb)).await.records("accessories").len(), 0);
    assert_eq!(admin.get(&under(&lamp)).await.records("accessories"), [accessory]);
}

async fn accessories_of_a_deleted_product_are_not_found(server: Server) {
    let admin = server.admin();
    let (lamp, bulb) = (created(&admin, "Lamp", json!({})).await, created(&admin, "Bulb", json!({})).await);
    let accessory = added(&admin, &lamp, &bulb).await;
    admin.delete(&path(&lamp)).await.deleted();
    let one = format!("{}/{}", under(&lamp), accessory["id"]);
    for url in [&under(&lamp), &one] {
        admin.get(url).await.refused(404, "not_found");
    }
    admin.post(&under(&lamp), json!({ "accessory_product_id": bulb["id"] })).await.refused(404, "not_found");
    admin.put(&one, json!({ "quantity": 2 })).await.refused(404, "not_found");
    admin.delete(&one).await.refused(404, "not_found");
}

async fn accessory_that_links_to_a_deleted_product_is_not_found(server: Server) {
    let admin = server.admin();
    let (lamp, bulb) = (created(&admin, "Lamp", json!({})).await, created(&admin, "Bulb", json!({})).await);
    let (gone, kept) = (added(&admin, &lamp, &bulb).await, created(&admin, "Stand", json!({})).await);
    let kept = added(&admin, &lamp, &kept).await;
    admin.delete(&path(&bulb)).await.deleted();
    let list = admin.get(&format!("{}?per_page=1", under(&lamp))).await.ok();
    assert_eq!(list["meta"]["total"], 1);
    assert_eq!(list["accessories"][0], kept);
    let one = format!("{}/{}", under(&lamp), gone["id"]);
    admin.get(&one).await.refused(404, "not_found");
    admin.put(&one, json!({ "quantity": 2 })).await.refused(404, "not_found");
    admin.delete(&one).await.refused(404, "not_found");
    admin.post(&under(&lamp), json!({ "accessory_product_id": bulb["id"] })).await.invalid("accessory_product_id");
    let shown = admin.get(&format!("{}?include=accessories", path(&lamp))).await.record("product");
    assert_eq!(shown["accessories"], json!([kept]));
}

async fn accessory_list_follows_the_list_conventions(server: Server) {
    let admin = server.admin();
    let lamp = created(&admin, "Lamp", json!({})).await;
    for (name, quantity) in [("Bulb", "2"), ("Stand", "1"), ("Cable", "3")] {
        let product = created(&admin, name, json!({})).await;
        let body = json!({ "accessory_product_id": product["id"], "quantity": quantity });
        admin.post(&under(&lamp), body).await.created("accessory");
    }
    let names =
        async |query: &str| admin.get(&format!("{}?{query}", under(&lamp))).await.column("accessories", "related_name");
    assert_eq!(names("sort=-quantity").await, ["Cable", "Bulb", "Stand"]);
    assert_eq!(names("q[related_name_cont]=b&sort=related_name").await, ["Bulb", "Cable"]);
    assert_eq!(names("q[accessory_product.name_eq]=Stand").await, ["Stand"]);
    assert_eq!(names("per_page=1&page=2").await, ["Stand"]);
    let shown = admin.get(&format!("{}?include=accessoryProduct", under(&lamp))).await.records("accessories");
    assert_eq!(shown[0]["accessory_product"]["name"], "Bulb");
}

async fn product_can_include_its_accessories(server: Server) {
    let admin = server.admin();
    let (lamp, bulb) = (created(&admin, "Lamp", json!({})).await, created(&admin, "Bulb", json!({})).await);
    let accessory = added(&admin, &lamp, &bulb).await;
    let list = admin.get("/products?include=accessories,stockLevels,productGroup,taxClass,customFieldValues").await;
    let list = list.records("products");
    assert_eq!(list[0]["accessories"], json!([accessory]));
    assert_eq!(list[1]["accessories"], json!([]));
    assert_eq!(list[0]["stock_levels"], json!([]));
}

async fn accessories_require_the_abilities_of_products(server: Server) {
    let admin = server.admin();
    let (lamp, bulb) = (created(&admin, "Lamp", json!({})).await, created(&admin, "Bulb", json!({})).await);
    let reader = server.able(&["products:read"]).await;
    reader.get(&under(&lamp)).await.records("accessories");
    let body = json!({ "accessory_product_id": bulb["id"] });
    reader.post(&under(&lamp), body.clone()).await.refused(403, "ability_missing");
    let writer = server.able(&["products:write"]).await;
    writer.get(&under(&lamp)).await.refused(403, "ability_missing");
    let accessory = writer.post(&under(&lamp), body).await.created("accessory");
    let one = format!("{}/{}", under(&lamp), accessory["id"]);
    reader.delete(&one).await.refused(403, "ability_missing");
    writer.delete(&one).await.deleted();
}
