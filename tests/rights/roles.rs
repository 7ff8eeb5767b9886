//! Every endpoint for every kind of role, in a table generated from the routes: the role and the token must both grant
//! the ability.

use std::fmt::Write;

use charter_runtime::ops::{RouteInfo, RouteOperation, routes};
use serde_json::{Value, json};

use super::{client_of, token_of, user_in, user_with};
use crate::support::{Answer, Client, Server, on_both};

on_both!(
    every_endpoint_needs_the_ability_of_the_role,
    reader_changes_nothing_and_a_user_without_roles_sees_nothing,
    member_reads_and_writes_the_application_and_nothing_else,
    single_verb_admits_its_operation_only,
    withdrawn_ability_ends_at_once,
    bulk_write_needs_the_ability_of_each_operation,
);

/// Sends a request that has no effect behind the access checks: no such record, and a body without a valid field.
async fn send(client: &Client, route: &RouteInfo) -> Answer {
    let path = route.path.strip_prefix("/api/v1").expect("a path of the API");
    let path: Vec<&str> = path.split('/').map(|part| if part.starts_with('{') { "999999999" } else { part }).collect();
    let body = (!["GET", "DELETE"].contains(&route.method)).then(|| json!({ "nope": 1 }));
    client.send(route.method.parse().expect("a method"), &path.join("/"), body).await
}

fn is_refused(answer: &Answer) -> bool {
    let code = answer.text.parse::<Value>().map(|body| body["code"].clone()).unwrap_or_default();
    answer.status == 403 && (code == "ability_missing" || code == "permission_missing")
}

async fn every_endpoint_needs_the_ability_of_the_role(server: Server) {
    let permissions: Vec<&str> = server.state.catalog.permissions().into_iter().collect();
    let all: Vec<String> = server.state.catalog.abilities().into_iter().collect();
    let none = client_of(&server, &user_with(&server, &[], &permissions).await).await;
    let mut wrong = String::new();
    for ability in &all {
        let of_route: Vec<RouteInfo> =
            routes(&server.state).into_iter().filter(|route| route.ability == *ability).collect();
        if of_route.is_empty() {
            continue;
        }
        let others: Vec<&str> = all.iter().filter(|other| *other != ability).map(String::as_str).collect();
        let has = client_of(&server, &user_with(&server, &[ability], &permissions).await).await;
        let lacks = client_of(&server, &user_with(&server, &others, &permissions).await).await;
        for route in &of_route {
            for (who, client, admitted) in
                [("only it", &has, true), ("all others", &lacks, false), ("none", &none, false)]
            {
                let answer = send(client, route).await;
                if is_refused(&answer) == admitted || answer.status == 401 || answer.status >= 500 {
                    writeln!(wrong, "{} {} with {who}: {} {}", route.method, route.path, answer.status, answer.text)
                        .expect("text grows");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

async fn reader_changes_nothing_and_a_user_without_roles_sees_nothing(server: Server) {
    let reader = client_of(&server, &user_in(&server, "Reader").await).await;
    let nobody = json!({ "name": "Nobody", "email": "nobody@example.com", "role_ids": [] });
    let nobody = server.admin().post("/users", nobody).await.created("user");
    let nobody = client_of(&server, &nobody).await;
    for route in routes(&server.state) {
        let reads =
            route.method == "GET" || matches!(route.call, RouteOperation::Action(action) if action.name == "convert");
        if !reads {
            assert!(is_refused(&send(&reader, &route).await), "{} {} as reader", route.method, route.path);
        }
        assert!(is_refused(&send(&nobody, &route).await), "{} {} without roles", route.method, route.path);
    }
    reader.get("/products").await.ok();
}

async fn member_reads_and_writes_the_application_and_nothing_else(server: Server) {
    let member = client_of(&server, &user_in(&server, "Member").await).await;
    let lamp = member.post("/products", json!({ "name": "Lamp" })).await.created("product");
    member.put(&format!("/products/{}", lamp["id"]), json!({ "name": "Lamp 2" })).await.record("product");
    member.delete(&format!("/products/{}", lamp["id"])).await.deleted();
    let view = json!({ "name": "Mine", "entity_type": "products", "columns": ["name"] });
    member.post("/custom_views", view).await.created("custom_view");
    member.get("/custom_fields").await.ok();
    for path in ["/users", "/roles", "/webhooks", "/audit_entries", "/settings"] {
        assert_eq!(member.get(path).await.status, 403, "{path}");
    }
    let field = json!({ "entity_type": "products", "name": "power", "label": "Power", "field_type": "integer" });
    member.post("/custom_fields", field).await.refused(403, "ability_missing");
    let system = json!({ "name": "All", "entity_type": "products", "columns": ["name"], "visibility": "system" });
    member.post("/custom_views", system).await.invalid("visibility");
    // A token of a member is no wider than the member.
    member.post("/tokens", json!({ "name": "Wide", "abilities": ["*"] })).await.invalid("abilities");
    let narrow = json!({ "name": "Narrow", "abilities": ["products:read"] });
    member.post("/tokens", narrow).await.created("token");
}

async fn single_verb_admits_its_operation_only(server: Server) {
    let lamp = server.admin().post("/products", json!({ "name": "Lamp" })).await.created("product");
    let path = format!("/products/{}", lamp["id"]);
    let maker = client_of(&server, &user_with(&server, &["products:create"], &[]).await).await;
    maker.post("/products", json!({ "name": "Chair" })).await.created("product");
    let refused = maker.put(&path, json!({ "name": "Lamp 2" })).await;
    refused.refused(403, "ability_missing");
    assert!(refused.header("www-authenticate").is_some_and(|text| text.contains(r#"scope="products:write""#)));
    maker.get("/products").await.refused(403, "ability_missing");
    // The same word limits a token.
    let (eraser, _) = token_of(&server, &json!({ "id": 1 }), &["products:delete"]).await;
    eraser.post("/products", json!({ "name": "Desk" })).await.refused(403, "ability_missing");
    eraser.post(&format!("{path}/restore"), json!({})).await.refused(403, "ability_missing");
    eraser.delete(&path).await.deleted();
}

async fn withdrawn_ability_ends_at_once(server: Server) {
    let user = user_with(&server, &["products:read"], &[]).await;
    let client = client_of(&server, &user).await;
    client.get("/products").await.ok();
    let role = format!("/roles/{}", user["role_ids"][0]);
    server.admin().put(&role, json!({ "abilities": [] })).await.record("role");
    let body = client.get("/products").await.refused(403, "ability_missing");
    assert_eq!(body["message"], "No role of this user grants the ability `products:read`.");
}

async fn bulk_write_needs_the_ability_of_each_operation(server: Server) {
    let lamp = server.admin().post("/products", json!({ "name": "Lamp" })).await.created("product");
    let maker = client_of(&server, &user_with(&server, &["products:create"], &[]).await).await;
    let create = json!({ "method": "create", "product": { "name": "Chair" } });
    let made = json!({ "operations": [create.clone()] });
    assert_eq!(maker.post("/products/bulk", made).await.ok()["results"][0]["status"], 201);
    for atomic in [true, false] {
        let delete = json!({ "method": "delete", "id": lamp["id"] });
        let both = json!({ "atomic": atomic, "operations": [create.clone(), delete] });
        maker.post("/products/bulk", both).await.refused(403, "ability_missing");
    }
    assert_eq!(server.admin().get("/products").await.ok()["meta"]["total"], 2);
}
