//! `DELETE /products/{id}`: soft delete.

use serde_json::json;

use super::{created, group, path};
use crate::support::{Server, on_both};

on_both!(
    deleting_a_product_returns_204_without_a_body,
    deleted_product_is_missing_from_every_response,
    deleted_product_cannot_be_updated_or_deleted_again,
    soft_deleted_product_keeps_its_row,
    product_ids_are_never_reused,
    deleting_a_product_requires_the_ability_products_write,
);

async fn deleting_a_product_returns_204_without_a_body(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    let answer = admin.delete(&path(&product)).await;
    answer.deleted();
    assert_eq!(answer.header("content-type"), None);
}

async fn deleted_product_is_missing_from_every_response(server: Server) {
    let admin = server.admin();
    let kept = created(&admin, "Lamp", json!({})).await;
    let product = created(&admin, "Lamp", json!({ "sku": "gone" })).await;
    admin.delete(&path(&product)).await.deleted();
    admin.get(&path(&product)).await.refused(404, "not_found");
    for query in ["", "?sort=-name", "?q[name_cont]=lam", "?q[id_in]=1,2", "?per_page=1"] {
        let body = admin.get(&format!("/products{query}")).await.ok();
        assert_eq!(body["meta"]["total"], json!(1), "{query}");
        assert_eq!(body["products"][0]["id"], kept["id"], "{query}");
    }
    assert_eq!(admin.get("/products?q[sku_eq]=gone").await.ok()["meta"]["total"], json!(0));
}

async fn deleted_product_cannot_be_updated_or_deleted_again(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    admin.delete(&path(&product)).await.deleted();
    admin.put(&path(&product), json!({ "name": "x" })).await.refused(404, "not_found");
    admin.delete(&path(&product)).await.refused(404, "not_found");
}

async fn soft_deleted_product_keeps_its_row(server: Server) {
    let admin = server.admin();
    let group = group(&admin, "Lighting").await;
    let product = created(&admin, "Lamp", json!({ "product_group_id": group })).await;
    admin.delete(&path(&product)).await.deleted();
    server.sql("UPDATE products SET deleted_at = NULL").await;
    assert_eq!(admin.get(&path(&product)).await.record("product")["product_group_name"], "Lighting");
}

async fn product_ids_are_never_reused(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    admin.delete(&path(&product)).await.deleted();
    assert_ne!(created(&admin, "Lamp", json!({})).await["id"], product["id"]);
}

async fn deleting_a_product_requires_the_ability_products_write(server: Server) {
    let product = created(&server.admin(), "Lamp", json!({})).await;
    let reader = server.able(&["products:read"]).await;
    reader.delete(&path(&product)).await.refused(403, "ability_missing");
    server.admin().get(&path(&product)).await.record("product");
}
