//! Permissions in the panel: routes, pages, buttons, and the security headers of pages.

use charter_runtime::ops::routes;
use serde_json::{Value, json};

use super::signed_in;
use crate::support::{Server, on_both};

on_both!(
    erasing_a_person_is_offered_to_other_administrators_with_a_question,
    every_api_route_checks_its_permission_in_the_panel,
    operations_without_permission_are_not_offered,
    every_page_has_a_content_security_policy_and_no_inline_code,
    records_of_others_are_not_offered_for_editing,
);

async fn every_api_route_checks_its_permission_in_the_panel(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut plain = signed_in(&server, &user).await;
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let mut tried = 0;
    for route in routes(&server.state) {
        let path = route.path.strip_prefix("/api/v1").expect("a path of the API");
        let path: Vec<&str> =
            path.split('/').map(|part| if part.starts_with('{') { "999999999" } else { part }).collect();
        let path = format!("{}?page=0&q[nope_eq]=1", path.join("/"));
        let body = (!["GET", "DELETE"].contains(&route.method)).then(|| json!({ "nope": 1 }).to_string());
        let (refused, let_in) =
            (plain.call(route.method, &path, body.clone()).await, admin.call(route.method, &path, body).await);
        assert!(![401, 403, 500].contains(&let_in.status), "{} {path}: {}", route.method, let_in.text);
        match route.permission.is_some() {
            true => assert_eq!(refused.status, 403, "{} {path}: {}", route.method, refused.text),
            false => assert!(![401, 403, 500].contains(&refused.status), "{} {path}: {}", route.method, refused.text),
        }
        tried += usize::from(route.permission.is_some());
    }
    assert!(tried > 20, "{tried} routes need a permission");
}

async fn operations_without_permission_are_not_offered(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut plain = signed_in(&server, &user).await;
    let home = plain.get("/").await;
    for hidden in ["/exchange_rates", "/settings", "/audit_entries"] {
        assert!(!home.text.contains(&format!("href=\"{hidden}\"")), "{hidden} is offered");
        plain.get(hidden).await.status(403).says("Not permitted").says("This requires the permission");
    }
    home.says("href=\"/products\"");
    let users = plain.get("/users").await;
    users.status(200);
    assert!(!users.text.contains("New user") && !users.text.contains("Delete…"), "the user may not manage users");
    let own = plain.get(&format!("/users/{}", user["id"])).await;
    assert!(!own.text.contains("/edit\"") && !own.text.contains("Deactivate"), "{}", own.text);
    for path in ["/users/new", &format!("/users/{}/edit", user["id"])] {
        plain.get(path).await.status(403);
    }
    let path = format!("/users/{}", user["id"]);
    plain.submit(&path, &[("is_admin", "true")]).await.status(403);
    plain.submit(&format!("{path}/deactivate"), &[]).await.status(403);
    plain.submit("/users/1/invite", &[]).await.status(403);
    plain.submit("/users/bulk", &[("_step", "apply-delete"), ("id", "1")]).await.status(403);
    let user: Value = server.admin().get(&path).await.record("user");
    assert_eq!((&user["is_admin"], &user["is_active"]), (&json!(false), &json!(true)));

    let (manager, _) = server.user(&["users.manage"], &["*"]).await;
    let mut manager = signed_in(&server, &manager).await;
    manager.get("/users").await.status(200).says("New user");
    let of_admin = "name=\"is_admin\"";
    for form in ["/users/new".into(), format!("{path}/edit")] {
        assert!(!manager.get(&form).await.status(200).text.contains(of_admin), "{form}: administrators make them");
    }
    let bulk = manager.submit("/users/bulk", &[("_step", "edit"), ("id", &user["id"].to_string())]).await;
    assert!(!bulk.status(200).text.contains("is_admin"));
    // An invitation link gives all rights of its user. Only administrators may create one.
    manager.submit("/users/1/invite", &[]).await.status(403);
    manager.submit(&format!("{path}/invite"), &[]).await.status(403);
    assert!(!manager.get(&path).await.status(200).text.contains("/invite"));
    server.able(&["users:write"]).await.post(&format!("{path}/invite"), json!({})).await.status(403);
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    admin.get(&format!("{path}/edit")).await.status(200).says(of_admin);
    admin.submit(&format!("{path}/invite"), &[]).await.status(200).says("shown only once");
}

async fn every_page_has_a_content_security_policy_and_no_inline_code(server: Server) {
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let paths = ["/", "/products", "/products/new", "/settings", "/nothing", "/panel/sign-in", "/panel/password"];
    for path in paths {
        let page = admin.get(path).await;
        let policy = page.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert!(!page.text.contains(" style=") && !page.text.contains(" onclick="), "{path} has code or style in it");
        if path != "/panel/sign-in" {
            assert_eq!(page.header("cache-control"), "no-store", "{path}");
            assert!(page.text.contains("<title>"), "{path} has no title");
        }
    }
    let mut hostile =
        server.admin().post("/members", json!({ "name": "<script>alert(1)</script>\"'" })).await.created("member");
    let page = admin.get(&format!("/members/{}", hostile["id"].take())).await;
    assert!(!page.text.contains("<script>alert") && page.text.contains("&lt;script&gt;alert"));
}

/// System views and administrators are edited by administrators.
async fn records_of_others_are_not_offered_for_editing(server: Server) {
    let view = json!({ "name": "Of all", "entity_type": "products", "columns": ["name"], "visibility": "system" });
    server.admin().post("/custom_views", view).await.created("custom_view");
    let (user, client) = server.user(&["users.manage"], &["*"]).await;
    let mut plain = signed_in(&server, &user).await;
    let page = plain.get("/custom_views/1").await;
    page.status(200).says("/custom_views/1/clone");
    assert!(!page.text.contains("/edit\"") && !page.text.contains("/delete\""), "{}", page.text);
    plain.get("/custom_views/1/edit").await.status(403);
    let page = plain.get("/users/1").await;
    assert!(!page.status(200).text.contains("/edit\"") && !page.text.contains("/deactivate\""), "{}", page.text);
    plain.get(&format!("/users/{}", user["id"])).await.status(200).says("/edit\"").says("/deactivate\"");
    // A user edits their own view.
    let view = json!({ "name": "Mine", "entity_type": "products", "columns": ["name"] });
    client.post("/custom_views", view).await.created("custom_view");
    plain.get("/custom_views/2").await.status(200).says("/edit\"");
    // Events of resources that the user may not read are not offered.
    let page = plain.get("/webhooks/new").await;
    assert!(page.status(200).text.contains("product.created") && !page.text.contains("settings.updated"));
}

async fn erasing_a_person_is_offered_to_other_administrators_with_a_question(server: Server) {
    let (user, _) = server.user(&["users.manage"], &["*"]).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let own = panel.get("/users/1").await;
    assert!(!own.status(200).text.contains("/users/1/erase"), "nobody erases the own account");
    let path = format!("/users/{}", user["id"]);
    panel.get(&path).await.status(200).says(&format!("href=\"{path}/erase\""));
    panel
        .get(&format!("{path}/erase"))
        .await
        .status(200)
        .says("This cannot be undone.")
        .says("button class=\"danger\"");
    panel.submit(&format!("{path}/erase"), &[]).await.status(303);
    panel.get(&path).await.status(200).says(&format!("erased-{}@invalid", user["id"]));
    let (manager, _) = server.user(&["users.manage"], &["*"]).await;
    let mut panel = signed_in(&server, &manager).await;
    let page = panel.get("/users/1").await;
    assert!(!page.status(200).text.contains("/erase"), "only for administrators");
    assert!(!page.text.contains("/unlink_identity"), "only for administrators");
}
