//! `GET /custom_views`, and `GET`, `PUT` and `DELETE /custom_views/{id}`: visibility and permissions.

use serde_json::{Value, json};

use super::{created, path};
use crate::support::{Client, Server, keys, on_both};

on_both!(
    view_list_contains_own_shared_and_system_views,
    administrator_can_read_and_update_views_of_others_by_id,
    only_the_creator_or_an_administrator_can_update_a_view,
    invisible_view_is_not_found,
    shared_view_is_visible_while_the_user_has_the_role,
    view_update_changes_only_the_given_fields,
    view_entity_type_cannot_change,
    view_with_a_removed_column_can_still_be_renamed,
    system_view_cannot_be_deleted,
    deleting_a_view_returns_204,
    only_administrators_can_change_visibility_to_or_from_system,
);

async fn ids(client: &Client) -> Vec<Value> {
    client.get("/custom_views").await.column("custom_views", "id")
}

async fn view_list_contains_own_shared_and_system_views(server: Server) {
    let admin = server.admin();
    let (user, client) = server.user(&[], &["custom_views:read", "custom_views:write"]).await;
    let role = &user["role_ids"][0];
    let other = admin.post("/roles", json!({ "name": "Other" })).await.created("role")["id"].clone();
    created(&admin, json!({})).await;
    created(&client, json!({})).await;
    created(&admin, json!({ "visibility": "shared", "role_ids": [other, role] })).await;
    created(&admin, json!({ "visibility": "shared", "role_ids": [other] })).await;
    created(&admin, json!({ "visibility": "shared" })).await;
    created(&admin, json!({ "visibility": "system" })).await;
    created(&admin, json!({ "visibility": "personal", "role_ids": [role] })).await;
    assert_eq!(ids(&client).await, [2, 3, 6]);
    assert_eq!(ids(&admin).await, [1, 3, 4, 5, 6, 7], "the list of an administrator is no longer");
    let body = client.get("/custom_views?per_page=1").await.ok();
    assert_eq!(body["meta"], json!({ "total": 3, "per_page": 1, "page": 1 }));
    assert_eq!(keys(&body), ["custom_views", "meta"]);
}

async fn administrator_can_read_and_update_views_of_others_by_id(server: Server) {
    let admin = server.admin();
    let (user, client) = server.user(&[], &["*"]).await;
    let view = created(&client, json!({})).await;
    assert_eq!(admin.get(&path(&view)).await.record("custom_view"), view);
    let changed = admin.put(&path(&view), json!({ "name": "Theirs" })).await.record("custom_view");
    assert_eq!([&changed["name"], &changed["user_id"]], [&json!("Theirs"), &user["id"]]);
    admin.delete(&path(&view)).await.deleted();
    client.get(&path(&view)).await.refused(404, "not_found");
}

async fn only_the_creator_or_an_administrator_can_update_a_view(server: Server) {
    let admin = server.admin();
    let (user, client) = server.user(&[], &["*"]).await;
    for further in [json!({ "visibility": "shared", "role_ids": user["role_ids"] }), json!({ "visibility": "system" })]
    {
        let view = created(&admin, further).await;
        client.get(&path(&view)).await.record("custom_view");
        let refused = client.put(&path(&view), json!({ "name": "x" })).await.refused(403, "permission_missing");
        let who = match view["visibility"] == "system" {
            true => "Only an administrator may do this.",
            false => "Only the creator of this view or an administrator may do this.",
        };
        assert_eq!(refused["message"], who);
        // Permissions are checked before the body.
        client.put(&path(&view), json!({ "columns": ["nope"], "name": "" })).await.refused(403, "permission_missing");
        client.delete(&path(&view)).await.refused(403, "permission_missing");
        assert_eq!(admin.get(&path(&view)).await.record("custom_view"), view);
    }
}

async fn invisible_view_is_not_found(server: Server) {
    let (_, one) = server.user(&[], &["*"]).await;
    let (_, two) = server.user(&[], &["*"]).await;
    let view = created(&one, json!({})).await;
    two.get(&path(&view)).await.refused(404, "not_found");
    two.put(&path(&view), json!({ "name": "x" })).await.refused(404, "not_found");
    two.delete(&path(&view)).await.refused(404, "not_found");
    one.get(&path(&view)).await.record("custom_view");
}

async fn shared_view_is_visible_while_the_user_has_the_role(server: Server) {
    let admin = server.admin();
    let (user, client) = server.user(&[], &["*"]).await;
    let view = created(&admin, json!({ "visibility": "shared", "role_ids": user["role_ids"] })).await;
    client.get(&format!("/products?view_id={}", view["id"])).await.ok();
    let other = admin.post("/roles", json!({ "name": "Other", "abilities": ["*"] })).await.created("role");
    admin.put(&format!("/users/{}", user["id"]), json!({ "role_ids": [other["id"]] })).await.ok();
    client.get(&path(&view)).await.refused(404, "not_found");
    client.get(&format!("/products?view_id={}", view["id"])).await.invalid("view_id");
}

async fn view_update_changes_only_the_given_fields(server: Server) {
    let admin = server.admin();
    let filter = json!({ "field": "name", "predicate": "cont", "value": "x" });
    let view = created(&admin, json!({ "filters": [filter], "sort_column": "sku", "per_page": 5 })).await;
    let changed = admin.put(&path(&view), json!({ "per_page": 6, "name": null })).await.record("custom_view");
    let mut expected = view.clone();
    expected["per_page"] = json!(6);
    expected["updated_at"] = changed["updated_at"].clone();
    assert_eq!(changed, expected);
    let changed = admin.put(&path(&view), json!({ "sort_column": "", "filters": [] })).await.record("custom_view");
    assert_eq!([&changed["sort_column"], &changed["filters"]], [&Value::Null, &json!([])]);
    for (body, field) in [
        (json!({ "columns": ["nope"] }), "columns"),
        (json!({ "columns": [] }), "columns"),
        (json!({ "filters": [{ "field": "nope", "predicate": "eq", "value": "1" }] }), "filters"),
        (json!({ "sort_column": "nope" }), "sort_column"),
        (json!({ "name": "" }), "name"),
    ] {
        admin.put(&path(&view), body).await.invalid(field);
    }
    assert_eq!(admin.put(&path(&view), changed.clone()).await.record("custom_view"), changed);
}

async fn view_entity_type_cannot_change(server: Server) {
    let admin = server.admin();
    let view = created(&admin, json!({})).await;
    let problem = admin.put(&path(&view), json!({ "entity_type": "members" })).await.invalid("entity_type");
    assert_eq!(problem, "cannot be changed");
    admin.put(&path(&view), json!({ "entity_type": "products" })).await.record("custom_view");
}

async fn view_with_a_removed_column_can_still_be_renamed(server: Server) {
    let admin = server.admin();
    let definition = json!({ "entity_type": "products", "name": "power", "field_type": "integer" });
    let definition = admin.post("/custom_fields", definition).await.created("custom_field");
    let filter = json!({ "field": "cf.power", "predicate": "gt", "value": 1 });
    let further = json!({ "columns": ["name", "cf.power"], "filters": [filter], "sort_column": "cf.power" });
    let view = created(&admin, further).await;
    admin.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
    let renamed = admin.put(&path(&view), json!({ "name": "Renamed" })).await.record("custom_view");
    assert_eq!([&renamed["name"], &renamed["columns"]], [&json!("Renamed"), &view["columns"]]);
    admin.put(&path(&view), renamed).await.record("custom_view");
    admin.put(&path(&view), json!({ "columns": ["cf.power"] })).await.invalid("columns");
}

async fn system_view_cannot_be_deleted(server: Server) {
    let admin = server.admin();
    let view = created(&admin, json!({ "visibility": "system" })).await;
    admin.delete(&path(&view)).await.refused(422, "validation_failed");
    admin.get(&path(&view)).await.record("custom_view");
    admin.put(&path(&view), json!({ "name": "System" })).await.record("custom_view");
}

async fn deleting_a_view_returns_204(server: Server) {
    let admin = server.admin();
    let view = created(&admin, json!({})).await;
    admin.delete(&path(&view)).await.deleted();
    admin.get(&path(&view)).await.refused(404, "not_found");
    assert!(ids(&admin).await.is_empty());
}

async fn only_administrators_can_change_visibility_to_or_from_system(server: Server) {
    let admin = server.admin();
    let (user, client) = server.user(&[], &["*"]).await;
    let view = created(&client, json!({})).await;
    let shared = json!({ "visibility": "shared", "role_ids": user["role_ids"] });
    assert_eq!(client.put(&path(&view), shared).await.record("custom_view")["visibility"], "shared");
    client.put(&path(&view), json!({ "visibility": "system" })).await.invalid("visibility");
    client.put(&path(&view), json!({ "visibility": "personal" })).await.record("custom_view");
    let system = admin.put(&path(&view), json!({ "visibility": "system" })).await.record("custom_view");
    assert_eq!([&system["visibility"], &system["user_id"]], [&json!("system"), &user["id"]]);
    // The creator of a system view may no longer change it.
    client.put(&path(&view), json!({ "visibility": "personal" })).await.refused(403, "permission_missing");
    client.put(&path(&view), json!({ "name": "x" })).await.refused(403, "permission_missing");
    client.delete(&path(&view)).await.refused(403, "permission_missing");
    admin.delete(&path(&view)).await.refused(422, "validation_failed");
    admin.put(&path(&view), json!({ "visibility": "personal" })).await.record("custom_view");
    client.delete(&path(&view)).await.deleted();
}
