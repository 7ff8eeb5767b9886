//! Order of the checks of a request: the same on every route, and for each operation of a bulk write.

use charter_runtime::ops::routes;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Client, Server, on_both};

on_both!(
    missing_record_is_404_on_every_route_even_if_the_request_is_malformed,
    malformed_request_is_400_before_preconditions_are_evaluated,
    bulk_operation_is_checked_in_the_order_of_a_single_request,
);

/// A malformed body or query string.
async fn unread(client: &Client, method: &str, path: &str) -> Answer {
    let method = Method::from_bytes(method.as_bytes()).expect("a method");
    match method.as_str() {
        "GET" | "DELETE" => {
            let mark = if path.contains('?') { '&' } else { '?' };
            client.send(method, &format!("{path}{mark}q[=1"), None).await
        }
        _ => client.send_bytes(method, path, Some("application/json"), b"{".to_vec()).await,
    }
}

async fn missing_record_is_404_on_every_route_even_if_the_request_is_malformed(server: Server) {
    let admin = server.admin();
    let mut asked = 0;
    for route in routes(&server.state).iter().filter(|route| route.path.contains('{')) {
        let parts = route.path.trim_start_matches("/api/v1").split('/');
        let path: Vec<&str> = parts.map(|part| if part.starts_with('{') { "999999" } else { part }).collect();
        for client in [admin.with("if-match", "x"), admin.with("if-none-match", "\"a"), admin.clone()] {
            let answer = unread(&client, route.method, &path.join("/")).await;
            assert_eq!(answer.status, 404, "{} {}: {}", route.method, route.path, answer.text);
        }
        asked += 1;
    }
    assert!(asked > 60, "{asked} routes");
    // A missing record is 404, even if the parameters are invalid.
    for path in ["/products/999?include=nope", "/products/999?deleted=x", "/currencies/999?deleted=only"] {
        admin.get(path).await.refused(404, "not_found");
    }
    assert_eq!(admin.get("/currencies/1?deleted=only&include=x").await.invalid_fields(), ["deleted", "include"]);
}

async fn malformed_request_is_400_before_preconditions_are_evaluated(server: Server) {
    let admin = server.admin();
    let product = admin.post("/products", json!({ "name": "Lamp" })).await.created("product");
    let path = format!("/products/{}", product["id"]);
    let activity = admin.post("/activities", json!({ "subject": "Call" })).await.created("activity");
    let complete = format!("/activities/{}/complete", activity["id"]);
    let restore = format!("{path}/restore");
    let stale = admin.with("if-match", "\"0\"");
    for (method, path) in [("GET", &path), ("PUT", &path), ("PATCH", &path), ("POST", &complete), ("POST", &restore)] {
        unread(&stale, method, path).await.refused(400, "malformed_request");
        unread(&admin.with("if-match", "x"), method, path).await.refused(400, "malformed_request");
    }
    admin.with("if-match", "x").delete(&path).await.refused(400, "malformed_request");
    stale.post(&complete, json!({})).await.refused(412, "precondition_failed");
    stale.post(&restore, json!({})).await.refused(412, "precondition_failed");
    // The query string is checked before preconditions (RFC 9110, section 13.2.1).
    stale.get(&format!("{path}?include=nope")).await.invalid("include");
    admin.delete(&path).await.deleted();
    unread(&stale, "POST", &restore).await.refused(400, "malformed_request");
    stale.post(&restore, json!({})).await.refused(412, "precondition_failed");
    unread(&stale, "GET", &path).await.refused(404, "not_found");
    unread(&stale, "GET", &format!("{path}?deleted=only")).await.refused(400, "malformed_request");
    admin.post(&restore, json!({})).await.ok();
    // A malformed body is reported before the missing permission to change the record.
    let view = json!({ "name": "V", "entity_type": "products", "columns": ["name"], "visibility": "system" });
    let view = admin.post("/custom_views", view).await.created("custom_view");
    let view = format!("/custom_views/{}", view["id"]);
    let (_, other) = server.user(&[], &["*"]).await;
    unread(&other, "PUT", &view).await.refused(400, "malformed_request");
    other.with("if-match", "\"0\"").put(&view, json!({ "name": "" })).await.refused(403, "permission_missing");
}

/// The response to these operations, atomic or independent.
async fn bulk(client: &Client, path: &str, atomic: bool, operations: &[Value]) -> Answer {
    client.post(&format!("{path}/bulk"), json!({ "atomic": atomic, "operations": operations })).await
}

fn statuses(answer: &Answer) -> Vec<i64> {
    answer.ok()["results"].as_array().expect("results").iter().filter_map(|result| result["status"].as_i64()).collect()
}

async fn bulk_operation_is_checked_in_the_order_of_a_single_request(server: Server) {
    let admin = server.admin();
    let member = admin.post("/members", json!({ "name": "Ada" })).await.created("member")["id"].clone();
    let product = admin.post("/products", json!({ "name": "Lamp" })).await.created("product")["id"].clone();
    admin.delete(&format!("/products/{product}")).await.deleted();
    let wrong = |id: &Value| {
        [
            json!({ "method": "update", "id": id, "if_match": "x", "member": { "name": "x" } }),
            json!({ "method": "update", "id": id, "member": 7 }),
            json!({ "method": "delete", "id": id, "if_match": "x" }),
            json!({ "method": "delete", "id": id, "member": {} }),
            json!({ "method": "delete", "id": id, "nope": 1 }),
        ]
    };
    for id in [json!(999_999), json!(0), json!(-1)] {
        assert_eq!(statuses(&bulk(&admin, "/members", false, &wrong(&id)).await), [404; 5], "what is not there");
    }
    assert_eq!(statuses(&bulk(&admin, "/members", false, &wrong(&member)).await), [422; 5]);
    let named = bulk(&admin, "/members", true, &wrong(&json!(999_999))).await.invalid_fields();
    assert_eq!(named, (0..5).map(|index| format!("operations.{index}")).collect::<Vec<_>>());
    let restore = |id: &Value| json!({ "method": "restore", "id": id, "if_match": "x" });
    let answer = bulk(&admin, "/products", false, &[restore(&product), restore(&json!(999_999))]).await;
    assert_eq!(statuses(&answer), [422, 404]);
    // A known member with the value null counts as omitted.
    let null = json!({ "method": "update", "id": member, "if_match": null, "member": { "name": "Ada L." } });
    assert_eq!(statuses(&bulk(&admin, "/members", true, &[null]).await), [200]);
    let more = json!({ "atomic": null, "operations": [{ "method": "create", "member": { "name": "Grace" } }] });
    assert_eq!(statuses(&admin.post("/members/bulk", more).await), [201]);
}
