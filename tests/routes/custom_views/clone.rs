//! `POST /custom_views/{id}/clone`: a personal copy.

use serde_json::{Value, json};

use super::{created, path};
use crate::support::{Server, on_both};

on_both!(
    cloned_view_is_a_personal_copy,
    system_view_can_be_cloned_by_any_user_who_sees_it,
    name_of_a_cloned_view_is_truncated_to_its_limit,
    clone_omits_columns_and_the_order_of_deleted_custom_fields,
    clone_keeps_every_filter_or_is_refused,
    invisible_view_cannot_be_cloned,
);

async fn cloned_view_is_a_personal_copy(server: Server) {
    let admin = server.admin();
    let (user, client) = server.user(&[], &["*"]).await;
    let filter = json!({ "field": "name", "predicate": "cont", "value": "x", "logic": "or" });
    let further = json!({
        "columns": ["name", "sku"], "filters": [filter], "sort_column": "sku", "sort_direction": "desc",
        "per_page": 7, "visibility": "shared", "role_ids": user["role_ids"],
    });
    let view = created(&admin, further).await;
    let answer = client.post(&format!("{}/clone", path(&view)), json!({})).await;
    let copy = answer.created("custom_view");
    let location = answer.header("location").expect("a location").to_string();
    assert_eq!(location, format!("/api/v1/custom_views/{}", copy["id"]));
    assert_eq!(client.get(&format!("~{location}")).await.record("custom_view"), copy);
    let mut expected = view.clone();
    expected["id"] = copy["id"].clone();
    expected["name"] = json!("Mine (Copy)");
    expected["visibility"] = json!("personal");
    expected["user_id"] = user["id"].clone();
    expected["role_ids"] = json!([]);
    expected["created_at"] = copy["created_at"].clone();
    expected["updated_at"] = copy["updated_at"].clone();
    assert_eq!(copy, expected);
    assert_ne!(copy["id"], view["id"]);
    admin.get(&path(&view)).await.record("custom_view");
}

async fn system_view_can_be_cloned_by_any_user_who_sees_it(server: Server) {
    let view = created(&server.admin(), json!({ "visibility": "system" })).await;
    let (user, client) = server.user(&[], &["custom_views:write"]).await;
    let copy = client.post(&format!("{}/clone", path(&view)), json!({})).await.created("custom_view");
    assert_eq!([&copy["visibility"], &copy["user_id"]], [&json!("personal"), &user["id"]]);
    let (_, reader) = server.user(&[], &["custom_views:read"]).await;
    reader.post(&format!("{}/clone", path(&view)), json!({})).await.refused(403, "ability_missing");
}

async fn name_of_a_cloned_view_is_truncated_to_its_limit(server: Server) {
    let admin = server.admin();
    for (length, expected) in [(248, "ä".repeat(248) + " (Copy)"), (249, "ä".repeat(249) + " (Copy")] {
        let view = created(&admin, json!({ "name": "ä".repeat(length) })).await;
        let copy = admin.post(&format!("{}/clone", path(&view)), json!({})).await.created("custom_view");
        assert_eq!(copy["name"], expected);
    }
}

async fn clone_omits_columns_and_the_order_of_deleted_custom_fields(server: Server) {
    let admin = server.admin();
    let definition = json!({ "entity_type": "products", "name": "power", "field_type": "integer" });
    let definition = admin.post("/custom_fields", definition).await.created("custom_field");
    let filters = json!([{ "field": "name", "predicate": "cont", "value": "x" }]);
    let further = json!({ "columns": ["name", "cf.power"], "filters": filters, "sort_column": "cf.power" });
    let view = created(&admin, further).await;
    let only = created(&admin, json!({ "columns": ["cf.power"] })).await;
    admin.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
    let copy = admin.post(&format!("{}/clone", path(&view)), json!({})).await.created("custom_view");
    assert_eq!([&copy["columns"], &copy["sort_column"]], [&json!(["name"]), &Value::Null]);
    assert_eq!(copy["filters"], filters);
    admin.post(&format!("{}/clone", path(&only)), json!({})).await.invalid("columns");
}

async fn clone_keeps_every_filter_or_is_refused(server: Server) {
    let admin = server.admin();
    let definition = json!({ "entity_type": "products", "name": "power", "field_type": "integer" });
    let definition = admin.post("/custom_fields", definition).await.created("custom_field");
    let filter = |field: &str, value: Value| json!({ "field": field, "predicate": "eq", "value": value });
    let power =
        json!({ "visibility": "system", "filters": [filter("name", json!("x")), filter("cf.power", json!(1))] });
    let power = created(&admin, power).await;
    let class = json!({ "visibility": "system", "filters": [filter("tax_class.name", json!("Reduced"))] });
    let class = created(&admin, class).await;
    admin.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
    let (_, reader) = server.user(&[], &["products:read", "custom_views:read", "custom_views:write"]).await;
    let refused = reader.post(&format!("{}/clone", path(&power)), json!({})).await.invalid("filters");
    assert!(refused.contains("unknown custom field `power`") && refused.ends_with("(filter 2)"), "{refused}");
    let refused = reader.post(&format!("{}/clone", path(&class)), json!({})).await.invalid("filters");
    assert_eq!(refused, "is on tax_classes, which requires the ability `tax_classes:read` (filter 1)");
    assert_eq!(reader.get("/custom_views").await.ok()["meta"]["total"], 2, "there is no copy");
    let copy = admin.post(&format!("{}/clone", path(&class)), json!({})).await.created("custom_view");
    assert_eq!(copy["filters"], class["filters"]);
}

async fn invisible_view_cannot_be_cloned(server: Server) {
    let (_, one) = server.user(&[], &["*"]).await;
    let (_, two) = server.user(&[], &["*"]).await;
    let view = created(&one, json!({})).await;
    two.post(&format!("{}/clone", path(&view)), json!({})).await.refused(404, "not_found");
    one.post("/custom_views/999/clone", json!({})).await.refused(404, "not_found");
    assert_eq!(two.get("/custom_views").await.ok()["meta"]["total"], 0);
}
