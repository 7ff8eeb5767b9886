//! `DELETE /products/{id}`: the row stays, and nobody sees it again.

use serde_json::json;

use super::{created, group, path};
use crate::support::{Server, on_both};

on_both!(
    delete_answers_204_without_a_body,
    a_deleted_product_vanishes_from_every_answer,
    a_deleted_product_cannot_be_changed_or_deleted_again,
    a_deleted_product_stays_as_a_row,
    an_id_is_never_used_again,
    delete_needs_the_ability_products_write,
);

async fn delete_answers_204_without_a_body(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    let answer = admin.delete(&path(&product)).await;
    answer.deleted();
    assert_eq!(answer.header("content-type"), None);
}

async fn a_deleted_product_vanishes_from_every_answer(server: Server) {
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

async fn a_deleted_product_cannot_be_changed_or_deleted_again(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    admin.delete(&path(&product)).await.deleted();
    admin.put(&path(&product), json!({ "name": "x" })).await.refused(404, "not_found");
    admin.delete(&path(&product)).await.refused(404, "not_found");
}

async fn a_deleted_product_stays_as_a_row(server: Server) {
    let admin = server.admin();
    let group = group(&admin, "Lighting").await;
    let product = created(&admin, "Lamp", json!({ "product_group_id": group })).await;
    admin.delete(&path(&product)).await.deleted();
    server.sql("UPDATE products SET deleted_at = NULL").await;
    assert_eq!(admin.get(&path(&product)).await.record("product")["product_group_name"], "Lighting");
}

async fn an_id_is_never_used_again(server: Server) {
    let admin = server.admin();
    let product = created(&admin, "Lamp", json!({})).await;
    admin.delete(&path(&product)).await.deleted();
    assert_ne!(created(&admin, "Lamp", json!({})).await["id"], product["id"]);
}

async fn delete_needs_the_ability_products_write(server: Server) {
    let product = created(&server.admin(), "Lamp", json!({})).await;
    let reader = server.able(&["products:read"]).await;
    reader.delete(&path(&product)).await.refused(403, "ability_missing");
    server.admin().get(&path(&product)).await.record("product");
}
