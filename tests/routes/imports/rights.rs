//! Rights of imports: those of the resource, of its fields and records, at each portion.

use serde_json::json;

use super::{act, counts, errors, finished, keyed, path, rows, settled, upload, uploaded};
use crate::rights::{client_of, token_of, user_with};
use crate::support::{Server, on_both};

on_both!(
    import_needs_the_rights_of_its_resource,
    import_is_seen_by_its_owner_and_administrators,
    deactivated_or_deleted_user_stops_an_import,
    update_without_the_right_to_create_refuses_new_rows,
    token_limits_an_import,
);

async fn import_needs_the_rights_of_its_resource(server: Server) {
    let user = user_with(&server, &["imports:read", "imports:write", "products:read"], &[]).await;
    let client = client_of(&server, &user).await;
    upload(&client, "products", "x.csv", b"name\nLamp\n").await.refused(403, "ability_missing");
    let user = user_with(&server, &["products:write", "products:read"], &[]).await;
    let client = client_of(&server, &user).await;
    upload(&client, "products", "x.csv", b"name\nLamp\n").await.refused(403, "ability_missing");
}

async fn import_is_seen_by_its_owner_and_administrators(server: Server) {
    let abilities = ["imports:read", "imports:write", "products:read", "products:write"];
    let (owner, other) = (user_with(&server, &abilities, &[]).await, user_with(&server, &abilities, &[]).await);
    let (owner, other) = (client_of(&server, &owner).await, client_of(&server, &other).await);
    let import = uploaded(&owner, "products", "name\nLamp\n").await;
    for path in [path(&import), format!("{}/rows", path(&import))] {
        other.get(&path).await.refused(404, "not_found");
        server.admin().get(&path).await.ok();
        owner.get(&path).await.ok();
    }
    act(&other, &import, "run").await.refused(404, "not_found");
    assert_eq!(other.get("/imports").await.ok()["meta"]["total"], 0);
    assert_eq!(counts(&finished(&owner, &import, "run").await), [1, 0, 0, 0]);
    assert_eq!(rows(&owner, &import).await.len(), 1);
}

async fn deactivated_or_deleted_user_stops_an_import(server: Server) {
    let admin = server.admin();
    let abilities = ["imports:read", "imports:write", "products:read", "products:write"];
    for (number, reason) in ["deactivated", "deleted"].into_iter().enumerate() {
        let user = user_with(&server, &abilities, &[]).await;
        let client = client_of(&server, &user).await;
        let import = uploaded(&client, "products", &format!("name\nLamp {number}\n")).await;
        finished(&client, &import, "rehearse").await;
        match reason {
            "deactivated" => {
                drop(admin.post(&format!("/users/{}/deactivate", user["id"]), json!({})).await.record("user"))
            }
            _ => admin.delete(&format!("/users/{}", user["id"])).await.deleted(),
        }
        // As if the user had started it just before.
        server.sql(&format!("UPDATE \"imports\" SET \"status\" = 'running' WHERE \"id\" = {}", import["id"])).await;
        let stopped = settled(&admin, &import).await;
        assert_eq!(stopped["status"], "failed", "{stopped}");
        assert!(stopped["error"].as_str().is_some_and(|text| text.contains(reason)), "{stopped}");
    }
    assert_eq!(admin.get("/products").await.ok()["meta"]["total"], 0);
}

async fn update_without_the_right_to_create_refuses_new_rows(server: Server) {
    let admin = server.admin();
    admin.post("/products", json!({ "name": "Lamp", "sku": "L1" })).await.created("product");
    let user = user_with(&server, &["imports:read", "imports:write", "products:read", "products:update"], &[]).await;
    let client = client_of(&server, &user).await;
    let import = keyed(&client, "products", "sku", "name,sku\nLight,L1\nDesk,D1\n").await;
    assert_eq!(counts(&finished(&client, &import, "run").await), [0, 1, 0, 1]);
    assert!(errors(&client, &import, 3).await["row"][0].as_str().is_some_and(|text| text.contains("products:write")));
    let import = uploaded(&client, "products", "name\nOther\n").await;
    act(&client, &import, "run").await.refused(403, "ability_missing");
}

async fn token_limits_an_import(server: Server) {
    let admin = server.admin();
    let user = user_with(&server, &["*"], &[]).await;
    let (narrow, _) = token_of(&server, &user, &["imports:read", "imports:write", "products:read"]).await;
    upload(&narrow, "products", "x.csv", b"name\nLamp\n").await.refused(403, "ability_missing");
    let (client, token) = token_of(&server, &user, &["imports:read", "imports:write", "products:write"]).await;
    let import = uploaded(&client, "products", "name\nLamp\n").await;
    finished(&client, &import, "rehearse").await;
    admin.delete(&format!("/tokens/{}", token["id"])).await.deleted();
    server.sql(&format!("UPDATE \"imports\" SET \"status\" = 'running' WHERE \"id\" = {}", import["id"])).await;
    let stopped = settled(&admin, &import).await;
    assert!(stopped["error"].as_str().is_some_and(|text| text.contains("token")), "{stopped}");
}
