//! Granting: nobody grants abilities, permissions or roles beyond their own.

use serde_json::json;

use super::{client_of, seeded, user_with};
use crate::support::{Server, on_both};

on_both!(
    role_grants_known_abilities_only,
    manager_of_users_grants_no_more_than_they_have,
    manager_of_users_assigns_no_wider_role,
    token_of_an_administrator_assigns_no_wider_role,
    email_address_of_a_user_with_more_rights_stays,
    default_role_grants_no_more_than_who_sets_it_has,
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

async fn token_of_an_administrator_assigns_no_wider_role(server: Server) {
    let narrow = server.client(&server.token(&["users:write", "users:read"]).await);
    let member = seeded(&server, "Member").await;
    let user = |email: &str, roles: serde_json::Value| json!({ "name": "New", "email": email, "role_ids": roles });
    let message = narrow.post("/users", user("a@example.com", json!([member]))).await.invalid("role_ids");
    assert!(message.starts_with("cannot assign the role Member: you do not have its ability"), "{message}");
    let made = narrow.post("/users", user("b@example.com", json!([]))).await.created("user");
    narrow.put(&format!("/users/{}", made["id"]), json!({ "role_ids": [member] })).await.invalid("role_ids");
    server.admin().put(&format!("/users/{}", made["id"]), json!({ "role_ids": [member] })).await.record("user");
}

async fn email_address_of_a_user_with_more_rights_stays(server: Server) {
    let admin = server.admin();
    let boss = user_with(&server, &["*"], &["users.manage"]).await;
    let peer = user_with(&server, &["users:read"], &[]).await;
    let chief = json!({ "name": "Chief", "email": "chief@example.com", "is_admin": true });
    let chief = admin.post("/users", chief).await.created("user");
    let path = |user: &serde_json::Value| format!("/users/{}", user["id"]);
    let moved = || json!({ "email": "other@example.com" });
    let manager =
        client_of(&server, &user_with(&server, &["users:read", "users:write"], &["users.manage"]).await).await;
    let message = manager.put(&path(&boss), moved()).await.invalid("email");
    assert!(message.contains("and you do not have its ability `*`"), "{message}");
    manager.put(&path(&chief), moved()).await.refused(403, "permission_missing");
    // The administrator's own account too: the token may do less than the session that a password would start.
    let narrow = server.client(&server.token(&["users:write", "users:read"]).await);
    let own = admin.get("/users?q[is_admin_eq]=true&sort=id").await.records("users").remove(0);
    for user in [&chief, &boss, &own] {
        narrow.put(&path(user), moved()).await.invalid("email");
    }
    let id = peer["id"].clone();
    let bulk = json!({ "operations": [{ "method": "update", "id": chief["id"], "user": moved() }] });
    let refused = narrow.post("/users/bulk", bulk).await;
    assert!(refused.status(422).text.contains("of an administrator"), "{}", refused.text);
    // An equal address, another field, and users without more rights.
    narrow.put(&path(&boss), json!({ "name": "Boss", "email": boss["email"] })).await.record("user");
    manager.put(&path(&peer), moved()).await.record("user");
    admin.put(&path(&chief), json!({ "email": "chief2@example.com" })).await.record("user");
    let soon = json!({ "name": "Soon", "abilities": ["*"], "expires_at": "2099-01-01T00:00:00Z" });
    let soon = admin.post("/tokens", soon).await.created("token");
    let expiring = server.client(soon["value"].as_str().expect("a secret"));
    let message = expiring.put(&format!("/users/{id}"), json!({ "email": "late@example.com" })).await.invalid("email");
    assert!(message.contains("a token that expires"), "{message}");
}

async fn default_role_grants_no_more_than_who_sets_it_has(server: Server) {
    let admin = server.admin();
    let all = json!({ "name": "All", "abilities": ["*"], "permissions": ["users.manage"] });
    let all = admin.post("/roles", all).await.created("role");
    let clerk =
        client_of(&server, &user_with(&server, &["settings:read", "settings:write"], &["settings.manage"]).await).await;
    let message = clerk.put("/settings", json!({ "default_role_id": all["id"] })).await.invalid("default_role_id");
    assert!(message.starts_with("cannot be the role All: you do not have its"), "{message}");
    clerk.put("/settings", json!({ "timezone": "Europe/Berlin" })).await.record("settings");
    admin.put("/settings", json!({ "default_role_id": all["id"] })).await.record("settings");
    // The role of before can stay.
    clerk.put("/settings", json!({ "default_role_id": all["id"], "timezone": "UTC" })).await.record("settings");
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
