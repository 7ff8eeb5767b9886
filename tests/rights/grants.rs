//! Granting: nobody grants abilities, permissions or roles beyond their own.

use serde_json::json;

use super::{client_of, seeded, user_with};
use crate::support::{Server, on_both};

on_both!(
    role_grants_known_abilities_only,
    manager_of_users_grants_no_more_than_they_have,
    manager_of_users_assigns_no_wider_role,
);

async fn role_grants_known_abilities_only(server: Server) {
    let role = |abilities: &[&str]| json!({ "name": "Clerks", "abilities": abilities });
    let admin = server.admin();
    let message = admin.post("/roles", role(&["prodcuts:read"])).await.invalid("abilities");
    assert_eq!(message, "refers to an unknown ability `prodcuts:read`; did you mean `products:read`?");
    admin.post("/roles", role(&["products:fly"])).await.invalid("abilities");
    let known = ["*", "*:read", "application:read", "application:write", "products:create", "users:deactivate"];
    assert_eq!(admin.post("/roles", role(&known)).await.created("role")["abilities"], json!(known));
}

async fn manager_of_users_grants_no_more_than_they_have(server: Server) {
    let abilities = ["users:write", "users:read", "roles:write", "roles:read", "products:read"];
    let user = user_with(&server, &abilities, &["users.manage"]).await;
    let manager = client_of(&server, &user).await;
    let role = |name: &str, ability: &str, permission: &str| json!({ "name": name, "abilities": [ability], "permissions": [permission] });
    manager.post("/roles", role("A", "products:write", "users.manage")).await.invalid("abilities");
    manager.post("/roles", role("A", "*", "users.manage")).await.invalid("abilities");
    manager.post("/roles", role("A", "products:read", "audit.read")).await.invalid("permissions");
    let made = manager.post("/roles", role("A", "products:read", "users.manage")).await.created("role");
    // An ability that the role has already can stay.
    let path = format!("/roles/{}", made["id"]);
    server.admin().put(&path, json!({ "abilities": ["members:read"] })).await.record("role");
    manager.put(&path, json!({ "abilities": ["members:read", "products:read"] })).await.record("role");
}

async fn manager_of_users_assigns_no_wider_role(server: Server) {
    let abilities = ["users:write", "users:read", "products:read"];
    let manager = client_of(&server, &user_with(&server, &abilities, &["users.manage"]).await).await;
    let member = seeded(&server, "Member").await;
    let user = |email: &str, roles: serde_json::Value| json!({ "name": "New", "email": email, "role_ids": roles });
    let message = manager.post("/users", user("a@example.com", json!([member]))).await.invalid("role_ids");
    assert!(message.starts_with("cannot assign the role Member"), "{message}");
    let narrow = json!({ "name": "Narrow", "abilities": ["products:read"] });
    let narrow = server.admin().post("/roles", narrow).await.created("role");
    let made = manager.post("/users", user("b@example.com", json!([narrow["id"]]))).await.created("user");
    manager.put(&format!("/users/{}", made["id"]), json!({ "role_ids": [member] })).await.invalid("role_ids");
    // The default role was chosen by an administrator.
    let plain = json!({ "name": "Plain", "email": "c@example.com" });
    assert_eq!(manager.post("/users", plain).await.created("user")["role_ids"], json!([member]));
}
