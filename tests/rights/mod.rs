//! Rights: abilities of roles and tokens, rights of fields, and the doors through which a right could leak.

mod crawl;
mod defaults;
mod embedded_fields;
mod every_field;
mod fields;
mod grants;
mod matrix;
mod panel_posts;
mod panel_reader;
mod relations;
mod roles;
mod search;
mod webhooks;

use serde_json::{Value, json};

use crate::support::{Client, Server};

/// A new user with a role of these abilities and permissions.
pub async fn user_with(server: &Server, abilities: &[&str], permissions: &[&str]) -> Value {
    let admin = server.admin();
    let number = admin.get("/users").await.ok()["meta"]["total"].as_i64().expect("a total");
    let role = json!({ "name": format!("Role of {number}"), "abilities": abilities, "permissions": permissions });
    let role = admin.post("/roles", role).await.created("role");
    let email = format!("user{number}@example.com");
    let user = json!({ "name": format!("User {number}"), "email": email, "role_ids": [role["id"]] });
    admin.post("/users", user).await.created("user")
}

/// A client with a token of the user that has every ability: the user's roles alone limit it.
pub async fn client_of(server: &Server, user: &Value) -> Client {
    token_of(server, user, &["*"]).await.0
}

/// A client with a token of these abilities, and the token's record.
pub async fn token_of(server: &Server, user: &Value, abilities: &[&str]) -> (Client, Value) {
    let token = json!({ "name": "Theirs", "user_id": user["id"], "abilities": abilities });
    let token = server.admin().post("/tokens", token).await.created("token");
    (server.client(token["value"].as_str().expect("a value")), token)
}

/// The id of a seeded role.
pub async fn seeded(server: &Server, name: &str) -> Value {
    let roles = server.admin().get(&format!("/roles?q[name_eq]={name}")).await.records("roles");
    roles.first().unwrap_or_else(|| panic!("there is no role {name}"))["id"].clone()
}

/// A user with a seeded role.
pub async fn user_in(server: &Server, role: &str) -> Value {
    let user =
        json!({ "name": role, "email": format!("{role}@example.com"), "role_ids": [seeded(server, role).await] });
    server.admin().post("/users", user).await.created("user")
}
