//! `/product_groups`.

use serde_json::{Value, json};

use crate::support::{Server, keys, on_both};

on_both!(
    a_group_is_created_shown_changed_and_deleted,
    product_group_name_is_unique_and_compared_exactly,
    product_group_in_use_cannot_be_deleted,
    concurrent_creates_of_one_name_create_one_product_group,
    concurrent_renames_to_one_name_let_one_succeed,
);

async fn a_group_is_created_shown_changed_and_deleted(server: Server) {
    let admin = server.admin();
    let body = json!({ "name": "Lighting", "description": "Lamps" });
    let group = admin.post("/product_groups", body).await.created("product_group");
    assert_eq!(keys(&group), ["created_at", "description", "id", "name", "updated_at"]);
    let path = format!("/product_groups/{}", group["id"]);
    assert_eq!(admin.get(&path).await.record("product_group"), group);
    let changed = admin.put(&path, json!({ "description": "" })).await.record("product_group");
    assert_eq!([&changed["name"], &changed["description"]], [&json!("Lighting"), &Value::Null]);
    assert_eq!(admin.get("/product_groups").await.records("product_groups"), [changed]);
    admin.delete(&path).await.deleted();
    admin.get(&path).await.refused(404, "not_found");
}

async fn product_group_name_is_unique_and_compared_exactly(server: Server) {
    let admin = server.admin();
    let create = async |name: &str| admin.post("/product_groups", json!({ "name": name })).await;
    create("Lighting").await.created("product_group");
    assert_eq!(create("Lighting").await.invalid("name"), "is already taken");
    create("lighting").await.created("product_group");
    create("Lighting ").await.created("product_group");
    admin.put("/product_groups/1", json!({ "name": "lighting" })).await.invalid("name");
    admin.put("/product_groups/1", json!({ "name": "Lighting" })).await.record("product_group");
}

async fn product_group_in_use_cannot_be_deleted(server: Server) {
    let admin = server.admin();
    let group = admin.post("/product_groups", json!({ "name": "Lighting" })).await.created("product_group");
    let body = json!({ "name": "Lamp", "product_group_id": group["id"] });
    let product = admin.post("/products", body).await.created("product");
    let path = format!("/product_groups/{}", group["id"]);
    admin.delete(&path).await.refused(409, "conflict");
    assert_eq!(admin.get(&path).await.record("product_group"), group);
    admin.put(&format!("/products/{}", product["id"]), json!({ "product_group_id": "" })).await.record("product");
    admin.delete(&path).await.deleted();
}

async fn concurrent_creates_of_one_name_create_one_product_group(server: Server) {
    let admin = server.admin();
    for round in 0..8 {
        let body = json!({ "name": format!("Group {round}") });
        let post = || admin.post("/product_groups", body.clone());
        let (one, two, three) = tokio::join!(post(), post(), post());
        let mut statuses = [one.status, two.status, three.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 422, 422], "{} {} {}", one.text, two.text, three.text);
        for answer in [one, two, three].iter().filter(|answer| answer.status == 422) {
            assert_eq!(answer.invalid("name"), "is already taken");
        }
    }
    assert_eq!(admin.get("/product_groups").await.ok()["meta"]["total"], 8);
}

async fn concurrent_renames_to_one_name_let_one_succeed(server: Server) {
    let admin = server.admin();
    for name in ["a", "b"] {
        admin.post("/product_groups", json!({ "name": name })).await.created("product_group");
    }
    for round in 0..5 {
        let body = json!({ "name": format!("same {round}") });
        let put = |id: i64| {
            let (admin, body) = (admin.clone(), body.clone());
            async move { admin.put(&format!("/product_groups/{id}"), body).await }
        };
        let (one, two) = tokio::join!(put(1), put(2));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 422], "{} {}", one.text, two.text);
    }
}
