//! `deleted=only` and `POST /products/{id}/restore`: soft-deleted products, visible to callers that may delete.

use charter_runtime::db::Dialect;
use reqwest::Method;
use serde_json::{Value, json};

use super::{LIST_FIELDS, created, group, path};
use crate::support::{Client, Server, is_utc_time, keys, on_both};

on_both!(
    deleted_products_are_returned_only_with_deleted_only,
    list_of_deleted_products_follows_the_list_conventions,
    restored_product_has_all_its_values,
    restore_emits_an_event_and_writes_an_audit_entry,
    restoring_twice_has_no_further_effect,
    totals_are_updated_by_a_restore,
    deleted_products_require_the_access_to_delete,
    restore_evaluates_if_match,
    restore_with_an_idempotency_key_runs_once,
    any_value_of_deleted_except_only_is_refused,
    restoring_a_missing_product_returns_404,
    list_of_deleted_products_uses_an_index,
);

/// A product before its deletion.
async fn deleted(client: &Client, name: &str, further: Value) -> Value {
    let product = created(client, name, further).await;
    client.delete(&path(&product)).await.deleted();
    product
}

async fn total(client: &Client, query: &str) -> Value {
    client.get(&format!("/products?per_page=1&{query}")).await.ok()["meta"]["total"].clone()
}

/// The record without the fields that a restore changes.
fn as_it_was(product: &Value) -> Value {
    let mut product = product.clone();
    product.as_object_mut().expect("an object").remove("updated_at");
    product
}

async fn deleted_products_are_returned_only_with_deleted_only(server: Server) {
    let admin = server.admin();
    created(&admin, "Kept", json!({})).await;
    let lamp = deleted(&admin, "Lamp", json!({ "tag_list": ["a"] })).await;
    let gone = admin.get("/products?deleted=only").await.ok();
    assert_eq!(gone["meta"]["total"], 1);
    let mut expected = LIST_FIELDS.to_vec();
    expected.push("deleted_at");
    expected.sort_unstable();
    assert_eq!(keys(&gone["products"][0]), expected);
    assert!(is_utc_time(&gone["products"][0]["deleted_at"]), "{gone}");
    let shown = admin.get(&format!("{}?deleted=only", path(&lamp))).await.record("product");
    let mut without = shown.clone();
    let at = without.as_object_mut().expect("an object").remove("deleted_at");
    assert_eq!((at.as_ref(), &without), (Some(&gone["products"][0]["deleted_at"]), &lamp));
    admin.get(&path(&lamp)).await.refused(404, "not_found");
    assert_eq!(admin.get("/products").await.column("products", "name"), ["Kept"]);
    admin.get(&format!("/products/{}?deleted=only", 1)).await.refused(404, "not_found");
    // The shown record can be sent back after the restore.
    let other = deleted(&admin, "Cable", json!({})).await;
    let shown = admin.get(&format!("{}?deleted=only", path(&other))).await.record("product");
    admin.post(&format!("{}/restore", path(&other)), json!({})).await.ok();
    admin.put(&path(&other), shown).await.ok();
    admin.delete(&path(&other)).await.deleted();
    // A deleted record can only be restored.
    admin.put(&format!("{}?deleted=only", path(&lamp)), json!({ "name": "x" })).await.refused(404, "not_found");
    admin.delete(&format!("{}?deleted=only", path(&lamp))).await.refused(404, "not_found");
}

async fn list_of_deleted_products_follows_the_list_conventions(server: Server) {
    let admin = server.admin();
    let lighting = group(&admin, "Lighting").await;
    for name in ["Lamp", "Cable", "Stand"] {
        deleted(&admin, name, json!({ "product_group_id": lighting })).await;
    }
    created(&admin, "Lamp", json!({})).await;
    server.sql("UPDATE products SET deleted_at = '2026-01-02T00:00:00+00:00' WHERE name = 'Cable'").await;
    let names = async |query: &str| {
        let answer = admin.get(&format!("/products?deleted=only&{query}")).await;
        answer
            .column("products", "name")
            .iter()
            .map(|name| name.as_str().unwrap_or("-").to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(names("").await, ["Lamp", "Cable", "Stand"], "by id");
    assert_eq!(names("sort=-name").await, ["Stand", "Lamp", "Cable"]);
    assert_eq!(names("sort=deleted_at&per_page=1").await, ["Cable"]);
    assert_eq!(names("q[name_cont]=a&q[deleted_at_gt]=2026-06-01T00:00:00Z").await, ["Lamp", "Stand"]);
    assert_eq!(names("per_page=2&page=2").await, ["Stand"]);
    assert_eq!(names("q[product_group_name_eq]=Lighting").await.len(), 3);
    let sparse = admin.get("/products?deleted=only&fields=name,deleted_at&include=productGroup").await.ok();
    assert_eq!(keys(&sparse["products"][0]), ["deleted_at", "name", "product_group"]);
    let one = admin.get("/products/1?deleted=only&fields=deleted_at").await.record("product");
    assert_eq!(keys(&one), ["deleted_at"]);
    let lines = admin.with("accept", "text/csv").get("/products?deleted=only&fields=id,name,deleted_at").await;
    assert_eq!(lines.status(200).text.lines().next(), Some("id,name,deleted_at"));
    assert_eq!(lines.text.lines().count(), 4);
    // A cursor of this list is invalid in other lists.
    let first = admin.get("/products?deleted=only&per_page=2&cursor=").await.ok();
    let cursor = first["meta"]["next_cursor"].as_str().expect("there is more").to_string();
    let rest = admin.get(&format!("/products?deleted=only&per_page=2&cursor={cursor}")).await;
    assert_eq!(rest.column("products", "name"), ["Stand"]);
    admin.get(&format!("/products?cursor={cursor}")).await.invalid("cursor");
    // Filters and fields of deleted records are unknown in other lists.
    admin.get("/products?q[deleted_at_null]=1").await.invalid("q[deleted_at_null]");
    admin.get("/products?fields=deleted_at").await.invalid("fields");
}

async fn restored_product_has_all_its_values(server: Server) {
    let admin = server.admin();
    let group = group(&admin, "Lighting").await;
    let further = json!({ "product_group_id": group, "sku": "L1", "weight": "1.5", "tag_list": ["a", "b"] });
    let lamp = created(&admin, "Lamp", further).await;
    let case = created(&admin, "Case", json!({})).await;
    let link = json!({ "accessory_product_id": case["id"], "quantity": "2.0" });
    let link = admin.post(&format!("{}/accessories", path(&lamp)), link).await.created("accessory");
    admin.delete(&path(&lamp)).await.deleted();
    admin.get(&format!("{}/accessories", path(&lamp))).await.refused(404, "not_found");
    let answer = admin.post(&format!("{}/restore", path(&lamp)), json!({})).await;
    assert_eq!(as_it_was(&answer.record("product")), as_it_was(&lamp));
    let shown = admin.get(&path(&lamp)).await;
    assert_eq!((shown.record("product"), shown.header("etag")), (answer.record("product"), answer.header("etag")));
    // The children of the record are visible again.
    assert_eq!(admin.get(&format!("{}/accessories", path(&lamp))).await.records("accessories"), [link]);
    assert_eq!(admin.get("/products?sort=-name").await.column("products", "name"), ["Lamp", "Case"]);
    assert_eq!(total(&admin, "deleted=only").await, 0);
    admin.put(&path(&lamp), json!({ "name": "Light" })).await.record("product");
}

async fn restore_emits_an_event_and_writes_an_audit_entry(server: Server) {
    let admin = server.admin();
    assert!(server.state.catalog.events().iter().any(|name| name == "product.restored"));
    let lamp = deleted(&admin, "Lamp", json!({})).await;
    let at = admin.get(&format!("{}?deleted=only", path(&lamp))).await.record("product")["deleted_at"].clone();
    let before = server.event_bodies(0).await.len();
    let restored = admin.post(&format!("{}/restore", path(&lamp)), json!({})).await.record("product");
    let events = server.event_bodies(before).await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(
        (&events[0]["event"], &events[0]["data"]),
        (&json!("product.restored"), &json!({ "product": restored }))
    );
    let entries = admin.get("/audit_entries?q[entity_type_eq]=products&sort=-id").await.records("audit_entries");
    assert_eq!((&entries[0]["action"], &entries[0]["record_id"]), (&json!("restore"), &lamp["id"]));
    assert_eq!(entries[0]["changes"], json!({ "deleted_at": { "old": at, "new": null } }));
    // The entry of the create does not contain `deleted_at`.
    assert_eq!((&entries[2]["action"], entries[2]["changes"].get("deleted_at")), (&json!("create"), None));
}

async fn restoring_twice_has_no_further_effect(server: Server) {
    let admin = server.admin();
    let lamp = deleted(&admin, "Lamp", json!({})).await;
    let restore = format!("{}/restore", path(&lamp));
    let first = admin.post(&restore, json!({})).await.record("product");
    let (events, entries) = (server.event_bodies(0).await.len(), total_entries(&admin).await);
    assert_eq!(admin.post(&restore, json!({})).await.record("product"), first);
    assert_eq!((server.event_bodies(0).await.len(), total_entries(&admin).await), (events, entries));
}

async fn total_entries(admin: &Client) -> Value {
    admin.get("/audit_entries?per_page=1").await.ok()["meta"]["total"].clone()
}

async fn totals_are_updated_by_a_restore(server: Server) {
    let admin = server.admin();
    let mut lamps = Vec::new();
    for number in 0..4 {
        lamps.push(created(&admin, &format!("Lamp {number}"), json!({ "sku": "L" })).await);
    }
    // The second request fills the cache of totals, which the changes then update.
    let totals = async || {
        let mut told = Vec::new();
        for query in ["", "q[sku_eq]=L", "deleted=only", "deleted=only&q[sku_eq]=L"] {
            let first = total(&admin, query).await;
            assert_eq!(total(&admin, query).await, first, "{query}");
            told.push(first);
        }
        told
    };
    assert_eq!(totals().await, [4, 4, 0, 0]);
    for lamp in &lamps[..3] {
        admin.delete(&path(lamp)).await.deleted();
    }
    assert_eq!(totals().await, [1, 1, 3, 3]);
    admin.post(&format!("{}/restore", path(&lamps[1])), json!({})).await.ok();
    assert_eq!(totals().await, [2, 2, 2, 2]);
    admin.put(&path(&lamps[1]), json!({ "sku": "M" })).await.ok();
    assert_eq!(totals().await, [2, 1, 2, 2]);
    admin.delete(&path(&lamps[1])).await.deleted();
    assert_eq!(totals().await, [1, 1, 3, 2]);
    assert_eq!(total(&admin, "page=9").await, 1, "an empty page tells it too");
}

async fn deleted_products_require_the_access_to_delete(server: Server) {
    let admin = server.admin();
    let lamp = deleted(&admin, "Lamp", json!({})).await;
    let reader = server.able(&["products:read"]).await;
    for asked in ["/products?deleted=only".to_string(), format!("{}?deleted=only", path(&lamp))] {
        let refused = reader.get(&asked).await;
        refused.refused(403, "ability_missing");
        assert!(refused.header("www-authenticate").is_some_and(|header| header.contains("products:write")), "{asked}");
    }
    reader.post(&format!("{}/restore", path(&lamp)), json!({})).await.refused(403, "ability_missing");
    let writer = server.able(&["products:write"]).await;
    writer.get("/products?deleted=only").await.refused(403, "ability_missing");
    assert_eq!(total(&admin, "deleted=only").await, 1);
    writer.post(&format!("{}/restore", path(&lamp)), json!({})).await.record("product");
    server.anonymous().post(&format!("{}/restore", path(&lamp)), json!({})).await.refused(401, "unauthenticated");
}

async fn restore_evaluates_if_match(server: Server) {
    let admin = server.admin();
    let made = admin.post("/products", json!({ "name": "Lamp" })).await;
    let lamp = made.created("product");
    let before = made.header("etag").expect("a tag").to_string();
    admin.delete(&path(&lamp)).await.deleted();
    let shown = admin.get(&format!("{}?deleted=only", path(&lamp))).await;
    let tag = shown.header("etag").expect("a tag").to_string();
    assert_ne!(tag, before, "it is another answer");
    admin.with("if-none-match", &tag).get(&format!("{}?deleted=only", path(&lamp))).await.status(304);
    let restore = format!("{}/restore", path(&lamp));
    admin.with("if-match", "\"other\"").post(&restore, json!({})).await.refused(412, "precondition_failed");
    admin.get(&path(&lamp)).await.refused(404, "not_found");
    // Deletion does not change the version of a record: the client's `ETag` is still valid.
    admin.with("if-match", &before).post(&restore, json!({})).await.ok();
    admin.delete(&path(&lamp)).await.deleted();
    let tag = admin.get(&format!("{}?deleted=only", path(&lamp))).await.header("etag").expect("a tag").to_string();
    admin.with("if-match", &tag).post(&restore, json!({})).await.ok();
}

async fn restore_with_an_idempotency_key_runs_once(server: Server) {
    let admin = server.admin();
    let lamp = deleted(&admin, "Lamp", json!({})).await;
    let restore = format!("{}/restore", path(&lamp));
    let keyed = admin.with("idempotency-key", "once");
    let first = keyed.post(&restore, json!({})).await;
    admin.delete(&path(&lamp)).await.deleted();
    let again = keyed.post(&restore, json!({})).await;
    assert_eq!((again.header("idempotent-replayed"), again.ok()), (Some("true"), first.ok()));
    admin.get(&path(&lamp)).await.refused(404, "not_found");
}

async fn any_value_of_deleted_except_only_is_refused(server: Server) {
    let admin = server.admin();
    let lamp = created(&admin, "Lamp", json!({})).await;
    for asked in ["", "1", "true", "with", "ONLY"] {
        admin.get(&format!("/products?deleted={asked}")).await.invalid("deleted");
        admin.get(&format!("{}?deleted={asked}", path(&lamp))).await.invalid("deleted");
    }
    // A resource without soft delete refuses the parameter, and does not ignore it.
    assert!(admin.get("/members?deleted=only").await.invalid("deleted").contains("no soft delete"));
    admin.post("/members/1/restore", json!({})).await.refused(404, "not_found");
}

async fn restoring_a_missing_product_returns_404(server: Server) {
    let admin = server.admin();
    let lamp = deleted(&admin, "Lamp", json!({})).await;
    for id in ["999", "0", "x", "-1"] {
        admin.post(&format!("/products/{id}/restore"), json!({})).await.refused(404, "not_found");
    }
    let restore = format!("{}/restore", path(&lamp));
    admin.post_text(&restore, "{").await.refused(400, "malformed_request");
    admin.get(&restore).await.refused(405, "method_not_allowed");
    assert_eq!(admin.send(Method::POST, &restore, None).await.record("product")["id"], lamp["id"], "without a body");
}

/// With few deleted products among many, the list and its total read only the deleted ones.
async fn list_of_deleted_products_uses_an_index(server: Server) {
    let admin = server.admin();
    let (numbers, time) = match server.state.db.dialect() {
        Dialect::Sqlite => (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)",
            "'2026-03-21T10:00:00+00:00'",
        ),
        Dialect::Postgres => ("WITH n(i) AS (SELECT generate_series(1, 5000))", "'2026-03-21T10:00:00Z'::timestamptz"),
    };
    let columns = "name, custom_fields, created_at, updated_at, deleted_at";
    let values = format!("'Lamp', '{{}}', {time}, {time}, CASE WHEN i % 500 = 0 THEN {time} END");
    server.sql(&format!("INSERT INTO products ({columns}) {numbers} SELECT {values} FROM n")).await;
    server.sql("ANALYZE products").await;
    assert_eq!(total(&admin, "deleted=only").await, 10);
    for query in ["", "&sort=-deleted_at", "&q[name_eq]=Lamp", "&cursor="] {
        let plan = admin.get(&format!("/products?deleted=only&explain=1{query}")).await.ok()["plan"].clone();
        for statement in plan["statements"].as_array().expect("statements") {
            let indexes = statement["indexes"].to_string();
            assert!(indexes.contains("deleted_of_products"), "{query}: {}", statement["steps"]);
        }
    }
}
