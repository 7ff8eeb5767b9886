//! `/users`, and `POST /users/{id}/deactivate`.

use serde_json::{Value, json};

use crate::support::{Client, Server, is_utc_time, keys, on_both};

on_both!(
    user_has_the_documented_fields,
    email_address_is_unique_case_insensitively,
    invalid_email_address_is_refused,
    deactivating_a_user_revokes_their_tokens_immediately,
    reactivated_user_can_authenticate_again,
    writing_users_requires_the_permission_users_manage,
    only_an_administrator_can_create_administrators,
    user_whose_views_others_use_cannot_be_deleted,
    last_administrator_cannot_be_removed,
    concurrent_deactivation_of_two_administrators_leaves_one_active,
    a_deleted_users_tokens_are_refused,
    role_assignment_grants_permissions_immediately,
    concurrent_creates_of_one_email_address_create_one_user,
    erasing_a_person_removes_name_email_and_access_and_keeps_the_audit_entries,
    only_another_administrator_with_all_abilities_erases_a_person,
);

async fn created(client: &Client, email: &str) -> Value {
    client.post("/users", json!({ "name": "User", "email": email })).await.created("user")
}

fn path(user: &Value) -> String {
    format!("/users/{}", user["id"])
}

async fn user_has_the_documented_fields(server: Server) {
    let admin = server.admin();
    let user = created(&admin, "a@example.com").await;
    assert_eq!(keys(&user), ["created_at", "email", "id", "is_active", "is_admin", "name", "role_ids", "updated_at"]);
    assert_eq!([&user["is_active"], &user["is_admin"], &user["role_ids"]], [&json!(true), &json!(false), &json!([1])]);
    assert!(is_utc_time(&user["created_at"]), "{user}");
    assert_eq!(admin.get(&path(&user)).await.record("user"), user);
    let answer = admin.get("/users?q[email_cont]=A@EX&sort=-name").await;
    assert_eq!(answer.records("users"), std::slice::from_ref(&user));
    let changed = admin.put(&path(&user), json!({ "name": "Changed" })).await.record("user");
    assert_eq!([&changed["name"], &changed["email"]], ["Changed", "a@example.com"]);
    admin.delete(&path(&user)).await.deleted();
    admin.get(&path(&user)).await.refused(404, "not_found");
    assert_eq!(admin.post("/users", json!({})).await.invalid_fields(), ["email", "name"]);
}

async fn email_address_is_unique_case_insensitively(server: Server) {
    let admin = server.admin();
    let user = created(&admin, "Ada@Example.com").await;
    assert_eq!(user["email"], "ada@example.com");
    for taken in ["ada@example.com", "ADA@EXAMPLE.COM"] {
        let answer = admin.post("/users", json!({ "name": "x", "email": taken })).await;
        assert_eq!(answer.invalid("email"), "is already taken");
    }
    let other = created(&admin, "b@example.com").await;
    assert_eq!(
        admin.put(&path(&other), json!({ "email": "ADA@example.com" })).await.invalid("email"),
        "is already taken"
    );
    admin.put(&path(&user), json!({ "email": "ADA@example.com" })).await.record("user");
}

async fn invalid_email_address_is_refused(server: Server) {
    let admin = server.admin();
    for bad in ["", " ", "x", "x@", "@x", "a b@c", "a@b..c", "a@b@", "a\n@b.c"] {
        admin.post("/users", json!({ "name": "x", "email": bad })).await.invalid("email");
    }
    let longest = format!("{}@example.com", "x".repeat(243));
    created(&admin, &longest).await;
    admin.post("/users", json!({ "name": "x", "email": format!("x{longest}") })).await.invalid("email");
}

async fn deactivating_a_user_revokes_their_tokens_immediately(server: Server) {
    let admin = server.admin();
    let (user, client) = server.user(&[], &["*"]).await;
    client.get("/products").await.ok();
    let answer = admin.send(reqwest::Method::POST, &format!("{}/deactivate", path(&user)), None).await;
    assert_eq!(answer.record("user")["is_active"], json!(false));
    client.get("/products").await.refused(403, "user_deactivated");
    client.post("/products", json!({ "name": "x" })).await.refused(403, "user_deactivated");
    // A second call returns the same.
    let again = admin.post(&format!("{}/deactivate", path(&user)), json!({})).await;
    assert_eq!(again.record("user"), answer.record("user"));
    admin.post("/users/999/deactivate", json!({})).await.refused(404, "not_found");
}

async fn reactivated_user_can_authenticate_again(server: Server) {
    let admin = server.admin();
    let (user, client) = server.user(&[], &["*"]).await;
    admin.put(&path(&user), json!({ "is_active": false })).await.record("user");
    client.get("/products").await.refused(403, "user_deactivated");
    admin.put(&path(&user), json!({ "is_active": true })).await.record("user");
    client.get("/products").await.ok();
}

async fn writing_users_requires_the_permission_users_manage(server: Server) {
    let (user, without) = server.user(&["settings.manage"], &["users:read", "users:write"]).await;
    without.get("/users").await.ok();
    without.get(&path(&user)).await.ok();
    let body = json!({ "name": "x", "email": "x@example.com" });
    without.post("/users", body.clone()).await.refused(403, "permission_missing");
    without.put(&path(&user), json!({ "name": "x" })).await.refused(403, "permission_missing");
    without.delete(&path(&user)).await.refused(403, "permission_missing");
    without.post(&format!("{}/deactivate", path(&user)), json!({})).await.refused(403, "permission_missing");
    let (_, with) = server.user(&["users.manage"], &["users:write"]).await;
    let made = with.post("/users", body).await.created("user");
    with.put(&path(&made), json!({ "name": "y" })).await.record("user");
    with.post(&format!("{}/deactivate", path(&made)), json!({})).await.record("user");
    with.delete(&path(&made)).await.deleted();
    with.get("/users").await.refused(403, "ability_missing");
}

async fn only_an_administrator_can_create_administrators(server: Server) {
    let (user, client) = server.user(&["users.manage"], &["*"]).await;
    let body = json!({ "name": "x", "email": "x@example.com", "is_admin": true });
    client.post("/users", body.clone()).await.invalid("is_admin");
    client.put(&path(&user), json!({ "is_admin": true })).await.invalid("is_admin");
    let second = server.admin().post("/users", body).await.created("user");
    // An administrator's token without `*` may not either: the new administrator's tokens would be stronger at once.
    let narrow = server.able(&["users:write"]).await;
    narrow.put(&path(&user), json!({ "is_admin": true })).await.refused(403, "ability_missing");
    narrow.put(&path(&user), json!({ "name": "y" })).await.record("user");
    // Other users cannot change, deactivate or delete an administrator.
    client.put(&path(&second), json!({ "is_admin": false })).await.refused(403, "permission_missing");
    client.put(&path(&second), json!({ "email": "mine@example.com" })).await.refused(403, "permission_missing");
    client.post(&format!("{}/deactivate", path(&second)), json!({})).await.refused(403, "permission_missing");
    client.delete(&path(&second)).await.refused(403, "permission_missing");
}

async fn user_whose_views_others_use_cannot_be_deleted(server: Server) {
    let admin = server.admin();
    let (user, client) = server.user(&[], &["*"]).await;
    let view = |visibility: &str| json!({ "name": "v", "entity_type": "products", "columns": ["name"], "visibility": visibility });
    client.post("/custom_views", view("personal")).await.created("custom_view");
    let shared = client.post("/custom_views", view("shared")).await.created("custom_view");
    admin.delete(&path(&user)).await.refused(409, "conflict");
    client.delete(&format!("/custom_views/{}", shared["id"])).await.deleted();
    admin.delete(&path(&user)).await.deleted();
}

async fn last_administrator_cannot_be_removed(server: Server) {
    let admin = server.admin();
    admin.put("/users/1", json!({ "is_admin": false })).await.invalid("is_admin");
    admin.put("/users/1", json!({ "is_active": false })).await.invalid("is_active");
    admin.post("/users/1/deactivate", json!({})).await.invalid("is_active");
    admin.delete("/users/1").await.refused(409, "conflict");
    let second = json!({ "name": "Second", "email": "second@example.com", "is_admin": true });
    let second = admin.post("/users", second).await.created("user");
    admin.put(&path(&second), json!({ "is_active": false })).await.record("user");
    admin.delete("/users/1").await.refused(409, "conflict");
    admin.put(&path(&second), json!({ "is_active": true })).await.record("user");
    admin.put("/users/1", json!({ "is_admin": false })).await.record("user");
}

async fn concurrent_deactivation_of_two_administrators_leaves_one_active(server: Server) {
    let admin = server.admin();
    let (_, reader) = server.user(&[], &["users:read"]).await;
    let second = json!({ "name": "Second", "email": "second@example.com", "is_admin": true });
    let second = format!("{}/deactivate", path(&admin.post("/users", second).await.created("user")));
    let (one, other) = tokio::join!(admin.post("/users/1/deactivate", json!({})), admin.post(&second, json!({})));
    let mut told = [one.status, other.status];
    told.sort();
    assert!(told[0] == 200 && [403, 422].contains(&told[1]), "{} {}", one.text, other.text);
    let left = reader.get("/users?q[is_admin_true]=1&q[is_active_true]=1").await.records("users");
    assert_eq!(left.len(), 1);
}

async fn a_deleted_users_tokens_are_refused(server: Server) {
    let (user, client) = server.user(&[], &["*"]).await;
    client.get("/products").await.ok();
    server.admin().delete(&path(&user)).await.deleted();
    client.get("/products").await.refused(401, "invalid_token");
}

async fn role_assignment_grants_permissions_immediately(server: Server) {
    let admin = server.admin();
    let (user, client) = server.user(&[], &["*"]).await;
    client.get("/exchange_rates").await.refused(403, "permission_missing");
    let role = json!({ "name": "Rates", "permissions": ["settings.manage"] });
    let role = admin.post("/roles", role).await.created("role");
    admin.put(&path(&user), json!({ "role_ids": [role["id"], user["role_ids"][0]] })).await.record("user");
    client.get("/exchange_rates").await.ok();
    admin.put(&format!("/roles/{}", role["id"]), json!({ "permissions": [] })).await.record("role");
    client.get("/exchange_rates").await.refused(403, "permission_missing");
    admin.put(&path(&user), json!({ "role_ids": [999] })).await.invalid("role_ids");
    let id = &role["id"];
    let twice = admin.put(&path(&user), json!({ "role_ids": [id, id, id.to_string()] })).await.record("user");
    assert_eq!(twice["role_ids"], json!([id]), "a list of ids names each once");
}

async fn concurrent_creates_of_one_email_address_create_one_user(server: Server) {
    let admin = server.admin();
    for round in 0..5 {
        let body = json!({ "name": "x", "email": format!("same{round}@example.com") });
        let (one, two) = tokio::join!(admin.post("/users", body.clone()), admin.post("/users", body));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 422], "{} {}", one.text, two.text);
        let refused = if one.status == 422 { one } else { two };
        assert_eq!(refused.invalid("email"), "is already taken");
    }
}

async fn erasing_a_person_removes_name_email_and_access_and_keeps_the_audit_entries(server: Server) {
    let admin = server.admin();
    let (user, client) = server.user(&["users.manage", "audit.read"], &["*"]).await;
    let id = user["id"].as_i64().expect("an id");
    admin.put(&path(&user), json!({ "name": "Ada Lovelace", "email": "ada@example.com" })).await.record("user");
    admin.put(&path(&user), json!({ "name": "Countess", "is_admin": true })).await.record("user");
    client.post("/members", json!({ "name": "Lamp" })).await.created("member");
    admin.post(&format!("{}/invite", path(&user)), json!({})).await.record("user");
    let entries = async || {
        let path = format!("/audit_entries?q[entity_type_eq]=users&q[record_id_eq]={id}&sort=id&per_page=100");
        admin.get(&path).await.records("audit_entries")
    };
    let before = entries().await;

    let erased = admin.post(&format!("{}/erase", path(&user)), json!({})).await.record("user");
    let (name, email) = (format!("Erased user {id}"), format!("erased-{id}@invalid"));
    assert_eq!([&erased["name"], &erased["email"]], [&json!(name), &json!(email)]);
    let rights = [&erased["is_active"], &erased["is_admin"], &erased["role_ids"]];
    assert_eq!(rights, [&json!(false), &json!(false), &json!([])]);
    client.get("/members").await.refused(401, "invalid_token");
    for table in
        ["user_passwords", "user_sessions", "user_invitations", "user_second_factors", "user_recovery_codes", "tokens"]
    {
        let rows = server.texts(&format!("SELECT 'row' AS text FROM {table} WHERE user_id = {id}")).await;
        assert!(rows.is_empty(), "{table}");
    }

    let after = entries().await;
    let text = json!(after).to_string();
    for known in ["Ada", "ada@", "Countess", "User ", "user1@", "user2@"] {
        assert!(!text.replace(&name, "").contains(known), "{known} in {text}");
    }
    assert_eq!(after.len(), before.len() + 1);
    let last = after.last().expect("an entry");
    assert_eq!((&last["action"], &last["user_id"]), (&json!("erase"), &json!(1)));
    assert_eq!(last["changes"]["name"], json!({ "old": "[erased]", "new": name }));
    assert_eq!(after[0]["changes"]["name"], json!({ "old": null, "new": "[erased]" }));
    assert_eq!(after[1]["changes"]["email"], json!({ "old": "[erased]", "new": "[erased]" }));
    assert_eq!(after[2]["changes"]["is_admin"], json!({ "old": false, "new": true }), "other values stay");
    let revoked = "/audit_entries?q[entity_type_eq]=tokens&q[action_eq]=delete";
    assert_eq!(admin.get(revoked).await.records("audit_entries").len(), 1, "the token was revoked");
    // Again it changes nothing, and what the person did still names the id.
    admin.post(&format!("{}/erase", path(&user)), json!({})).await.record("user");
    assert_eq!(entries().await, after);
    let written = format!("/audit_entries?q[entity_type_eq]=members&q[user_id_eq]={id}");
    assert_eq!(admin.get(&written).await.records("audit_entries").len(), 1);
}

async fn only_another_administrator_with_all_abilities_erases_a_person(server: Server) {
    let admin = server.admin();
    let (user, manager) = server.user(&["users.manage"], &["*"]).await;
    let other = created(&admin, "other@example.com").await;
    let erase = |user: &Value| format!("{}/erase", path(user));
    manager.post(&erase(&other), json!({})).await.refused(403, "permission_missing");
    server.able(&["users:write"]).await.post(&erase(&other), json!({})).await.refused(403, "ability_missing");
    admin.post("/users/1/erase", json!({})).await.refused(409, "conflict");
    admin.post("/users/4711/erase", json!({})).await.refused(404, "not_found");
    admin.put(&path(&user), json!({ "is_admin": true })).await.record("user");
    manager.post(&erase(&user), json!({})).await.refused(409, "conflict");
    // Two administrators are left, then one.
    manager.post("/users/1/erase", json!({})).await.record("user");
    admin.get("/users").await.refused(401, "invalid_token");
    manager.post(&erase(&other), json!({})).await.record("user");
    assert_eq!(manager.get("/users?q[is_active_true]=1").await.records("users").len(), 1);
}
