//! `/roles`.

use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::support::{Database, Server, keys, on_both, run};

on_both!(
    a_role_is_created_shown_changed_and_deleted,
    unknown_permissions_of_a_role_are_refused,
    role_name_is_unique,
    writing_roles_requires_the_permission_users_manage,
    deleted_role_is_removed_from_its_users,
    role_deleted_during_its_assignment_is_removed_from_every_user,
);

charter_testing::needs_postgres! {
    #[test]
    fn roles_assigned_during_the_delete_of_another_role_are_kept() {
        run(Database::Postgres, assign_during_delete);
    }
}

async fn assign_during_delete(server: Server) {
    let admin = &server.admin();
    let mut roles = Vec::new();
    for name in ["Gone", "Taken", "Given"] {
        roles.push(admin.post("/roles", json!({ "name": name })).await.created("role")["id"].clone());
    }
    let mut users = Vec::new();
    for number in 0..2 {
        let body = json!({ "name": "User", "email": format!("{number}@example.com"), "role_ids": roles[..2] });
        users.push(format!("/users/{}", admin.post("/users", body).await.created("user")["id"]));
    }
    // The lock on the first user delays the deletion after it has found all users.
    let transaction = server.state.db.begin().await.expect("a transaction begins");
    let hold = format!("SELECT FROM users WHERE id = {} FOR UPDATE", users[0].trim_start_matches("/users/"));
    transaction.execute_unprepared(&hold).await.expect("it is held");
    let gone = format!("/roles/{}", roles[0]);
    let deletion = admin.delete(&gone);
    let meanwhile = async {
        let waiting = "SELECT 'yes' AS text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while server.texts(waiting).await.is_empty() {}
        admin.put(&users[1], json!({ "role_ids": [roles[2]] })).await.ok();
        transaction.commit().await.expect("it ends");
    };
    tokio::join!(deletion, meanwhile).0.deleted();
    assert_eq!(admin.get(&users[0]).await.record("user")["role_ids"], json!([roles[1]]));
    assert_eq!(admin.get(&users[1]).await.record("user")["role_ids"], json!([roles[2]]));
}

async fn role_deleted_during_its_assignment_is_removed_from_every_user(server: Server) {
    let admin = server.admin();
    let user = admin
        .post("/users", json!({ "name": "User", "email": "user@example.com", "role_ids": [] }))
        .await
        .created("user");
    let path = format!("/users/{}", user["id"]);
    for number in 0..20 {
        let role = admin.post("/roles", json!({ "name": format!("Role {number}") })).await.created("role");
        let gone = format!("/roles/{}", role["id"]);
        let (given, deleted) = tokio::join!(admin.put(&path, json!({ "role_ids": [role["id"]] })), admin.delete(&gone));
        assert!([200, 422].contains(&given.status), "{}", given.text);
        deleted.deleted();
        assert_eq!(admin.get(&path).await.record("user")["role_ids"], json!([]), "{number}");
    }
}

async fn a_role_is_created_shown_changed_and_deleted(server: Server) {
    let admin = server.admin();
    let body = json!({ "name": "Office", "description": "d", "permissions": ["users.manage", "settings.manage"] });
    let role = admin.post("/roles", body.clone()).await.created("role");
    assert_eq!(keys(&role), ["abilities", "created_at", "description", "id", "name", "permissions", "updated_at"]);
    assert_eq!([&role["name"], &role["permissions"]], [&body["name"], &body["permissions"]]);
    let path = format!("/roles/{}", role["id"]);
    assert_eq!(admin.get(&path).await.record("role"), role);
    let changed = admin.put(&path, json!({ "description": "", "permissions": "" })).await.record("role");
    assert_eq!([&changed["description"], &changed["permissions"]], [&Value::Null, &json!([])]);
    assert_eq!(admin.get("/roles?q[id_gt]=2").await.records("roles"), [changed]);
    admin.delete(&path).await.deleted();
    admin.get(&path).await.refused(404, "not_found");
}

async fn unknown_permissions_of_a_role_are_refused(server: Server) {
    let admin = server.admin();
    let create =
        async |permissions: Value| admin.post("/roles", json!({ "name": "x", "permissions": permissions })).await;
    let problem = create(json!(["setting.manage"])).await.invalid("permissions");
    assert!(problem.contains("did you mean `settings.manage`?"), "{problem}");
    for bad in [json!(["*"]), json!(["products:read"]), json!([""]), json!([1]), json!("settings.manage"), json!({})] {
        create(bad).await.invalid("permissions");
    }
    assert_eq!(create(json!([])).await.created("role")["permissions"], json!([]));
}

async fn role_name_is_unique(server: Server) {
    let admin = server.admin();
    admin.post("/roles", json!({ "name": "Office" })).await.created("role");
    assert_eq!(admin.post("/roles", json!({ "name": "Office" })).await.invalid("name"), "is already taken");
    let other = admin.post("/roles", json!({ "name": "Other" })).await.created("role");
    admin.put(&format!("/roles/{}", other["id"]), json!({ "name": "Office" })).await.invalid("name");
    admin.put(&format!("/roles/{}", other["id"]), json!({ "name": "Other" })).await.record("role");
}

async fn writing_roles_requires_the_permission_users_manage(server: Server) {
    let (_, without) = server.user(&["settings.manage"], &["roles:read", "roles:write"]).await;
    without.get("/roles/1").await.record("role");
    without.post("/roles", json!({ "name": "x" })).await.refused(403, "permission_missing");
    without.put("/roles/1", json!({ "permissions": ["users.manage"] })).await.refused(403, "permission_missing");
    without.delete("/roles/1").await.refused(403, "permission_missing");
    let (_, with) = server.user(&["users.manage"], &["roles:write"]).await;
    with.post("/roles", json!({ "name": "x" })).await.created("role");
}

async fn deleted_role_is_removed_from_its_users(server: Server) {
    let admin = server.admin();
    let (other_user, other) = server.user(&["settings.manage"], &["*"]).await;
    let role = admin.get("/roles?sort=-id&per_page=1").await.records("roles")[0]["id"].clone();
    let view = json!({ "name": "Shared", "entity_type": "products", "columns": ["name"], "visibility": "shared",
        "role_ids": [role] });
    let view = admin.post("/custom_views", view).await.created("custom_view")["id"].clone();
    let lasting = admin.post("/roles", json!({ "name": "Lasting", "abilities": ["*"] })).await.created("role");
    let both = json!({ "role_ids": [role, lasting["id"]] });
    admin.put(&format!("/users/{}", other_user["id"]), both).await.record("user");
    other.get(&format!("/products?view_id={view}")).await.ok();
    admin.delete(&format!("/roles/{role}")).await.deleted();
    assert_eq!(admin.get(&format!("/custom_views/{view}")).await.record("custom_view")["role_ids"], json!([]));
    other.get(&format!("/products?view_id={view}")).await.invalid("view_id");
    let (user, client) = server.user(&["settings.manage"], &["*"]).await;
    client.get("/exchange_rates").await.ok();
    admin.delete(&format!("/roles/{}", user["role_ids"][0])).await.deleted();
    assert_eq!(admin.get(&format!("/users/{}", user["id"])).await.record("user")["role_ids"], json!([]));
    client.get("/exchange_rates").await.refused(403, "ability_missing");
}
