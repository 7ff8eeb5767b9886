//! The seeded roles and the role of new users.

use serde_json::json;

use super::{seeded, user_with};
use crate::support::{Server, on_both};

on_both!(
    user_without_role_ids_gets_the_default_role,
    default_role_is_a_setting_that_can_be_changed_and_cleared,
    role_of_the_setting_cannot_be_deleted,
);

async fn user_without_role_ids_gets_the_default_role(server: Server) {
    let admin = server.admin();
    let member = seeded(&server, "Member").await;
    assert_eq!(admin.get("/settings").await.record("settings")["default_role_id"], member);
    let user = json!({ "name": "Ada", "email": "ada@example.com" });
    assert_eq!(admin.post("/users", user).await.created("user")["role_ids"], json!([member]));
    let user = json!({ "name": "Ben", "email": "ben@example.com", "role_ids": [] });
    assert_eq!(admin.post("/users", user).await.created("user")["role_ids"], json!([]));
}

async fn default_role_is_a_setting_that_can_be_changed_and_cleared(server: Server) {
    let admin = server.admin();
    let reader = seeded(&server, "Reader").await;
    admin.put("/settings", json!({ "default_role_id": reader })).await.record("settings");
    let user = json!({ "name": "Ada", "email": "ada@example.com" });
    assert_eq!(admin.post("/users", user).await.created("user")["role_ids"], json!([reader]));
    admin.put("/settings", json!({ "default_role_id": "" })).await.record("settings");
    let user = json!({ "name": "Ben", "email": "ben@example.com" });
    assert_eq!(admin.post("/users", user).await.created("user")["role_ids"], json!([]));
    // An update without `role_ids` leaves the roles as they are.
    let user = user_with(&server, &["products:read"], &[]).await;
    let renamed = admin.put(&format!("/users/{}", user["id"]), json!({ "name": "Cy" })).await.record("user");
    assert_eq!(renamed["role_ids"], user["role_ids"]);
}

async fn role_of_the_setting_cannot_be_deleted(server: Server) {
    let member = seeded(&server, "Member").await;
    server.admin().delete(&format!("/roles/{member}")).await.refused(409, "conflict");
}
