//! `POST /<path>/bulk`: several writes in one request, on every writable resource.

use charter_runtime::meta::Operation;
use charter_runtime::ops::{self, RouteInfo};
use serde_json::{Value, json};

use crate::support::{Answer, Client, Server, on_both};

on_both!(
    bulk_operations_run_in_order,
    atomic_bulk_write_runs_completely_or_reports_every_error_by_index,
    independent_bulk_operations_each_have_a_status,
    failed_bulk_operation_is_rolled_back_without_affecting_others,
    parent_in_the_path_applies_to_every_bulk_operation,
    bulk_write_is_limited_to_1000_operations,
    malformed_bulk_operations_are_refused,
    if_match_of_each_bulk_operation_is_evaluated,
    bulk_operation_requires_the_access_of_the_single_operation,
    bulk_write_with_an_idempotency_key_runs_once,
    secrets_of_a_bulk_write_are_replayed_only_to_the_same_token,
    only_writable_resources_have_a_bulk_path,
    bulk_write_with_a_too_long_response_is_rolled_back,
    concurrent_bulk_writes_in_different_orders_do_not_deadlock,
);

fn create(fields: Value) -> Value {
    json!({ "method": "create", "member": fields })
}

async fn bulk(client: &Client, path: &str, atomic: bool, operations: &[Value]) -> Answer {
    client.post(&format!("{path}/bulk"), json!({ "atomic": atomic, "operations": operations })).await
}

fn statuses(answer: &Answer) -> Vec<i64> {
    answer.ok()["results"].as_array().expect("results").iter().filter_map(|result| result["status"].as_i64()).collect()
}

/// The names of all members, the total of the list, and the numbers of events and audit entries.
async fn stand(server: &Server) -> (Vec<Value>, i64, usize, i64) {
    let admin = server.admin();
    let list = admin.get("/members?per_page=100").await;
    let entries = admin.get("/audit_entries?q[entity_type_eq]=members&per_page=1").await.ok();
    (
        list.column("members", "name"),
        list.ok()["meta"]["total"].as_i64().expect("a total"),
        server.events("member.").await.len(),
        entries["meta"]["total"].as_i64().expect("a total"),
    )
}

async fn bulk_operations_run_in_order(server: Server) {
    let admin = server.admin();
    let first = admin.post("/members", json!({ "name": "Ada" })).await.created("member")["id"].clone();
    let operations = [
        create(json!({ "name": "Grace" })),
        json!({ "method": "update", "id": first, "member": { "name": "Ada L." } }),
        json!({ "method": "update", "id": first.to_string(), "member": { "name": "Ada Lovelace" } }),
        json!({ "method": "create", "member": { "name": "Gone" } }),
    ];
    let answer = admin.post("/members/bulk", json!({ "operations": operations })).await;
    let results = answer.ok()["results"].as_array().expect("results").clone();
    assert_eq!(statuses(&answer), [201, 200, 200, 201]);
    // Each result equals the response of the single request.
    for result in &results {
        let shown = admin.get(&format!("/members/{}", result["member"]["id"])).await;
        if result["member"]["name"] != "Ada L." {
            assert_eq!(result["member"], shown.record("member"));
            assert_eq!(result["etag"].as_str(), shown.header("etag"));
        }
    }
    let gone = results[3]["member"]["id"].clone();
    let answer = bulk(&admin, "/members", true, &[json!({ "method": "delete", "id": gone })]).await;
    assert_eq!(answer.ok(), json!({ "results": [{ "status": 204, "id": gone }] }));
    assert_eq!(stand(&server).await.0, ["Ada Lovelace", "Grace"]);
    let entries = admin.get("/audit_entries?q[entity_type_eq]=members&sort=id&per_page=100").await;
    let actions = ["create", "create", "update", "update", "create", "delete"];
    assert_eq!(entries.column("audit_entries", "action"), actions);
}

async fn atomic_bulk_write_runs_completely_or_reports_every_error_by_index(server: Server) {
    let admin = server.admin();
    let first = admin.post("/members", json!({ "name": "Ada" })).await.created("member")["id"].clone();
    let before = stand(&server).await;
    let operations = [
        create(json!({ "name": "Grace" })),
        create(json!({})),
        json!({ "method": "update", "id": first, "member": { "name": "" } }),
        json!({ "method": "delete", "id": 999_999 }),
        json!({ "method": "update", "id": first, "member": { "nope": 1 } }),
        json!({ "method": "fetch", "id": first }),
        json!({ "method": "delete", "id": first }),
    ];
    let answer = bulk(&admin, "/members", true, &operations).await;
    let expected =
        ["operations.1.name", "operations.2.name", "operations.3", "operations.4.nope", "operations.5.method"];
    assert_eq!(answer.invalid_fields(), expected);
    assert_eq!(answer.invalid("operations.3"), "is refused: Not found");
    let message = answer.json()["message"].to_string();
    assert!(!message.contains(".."), "{message}");
    assert_eq!(stand(&server).await, before);
    let good = [operations[0].clone(), operations[6].clone()];
    assert_eq!(statuses(&bulk(&admin, "/members", true, &good).await), [201, 204]);
    let (names, total, ..) = stand(&server).await;
    assert_eq!((names, total), (vec![json!("Grace")], 1));
}

async fn independent_bulk_operations_each_have_a_status(server: Server) {
    let admin = server.admin();
    let first = admin.post("/members", json!({ "name": "Ada" })).await.created("member")["id"].clone();
    let before = stand(&server).await;
    let operations = [
        create(json!({ "name": "Grace" })),
        create(json!({ "name": "x".repeat(300) })),
        json!({ "method": "delete", "id": 999_999 }),
        json!({ "method": "update", "id": first, "member": { "name": "Ada L." } }),
        json!({ "method": "fetch" }),
        json!(7),
    ];
    let answer = bulk(&admin, "/members", false, &operations).await;
    assert_eq!(statuses(&answer), [201, 422, 404, 200, 422, 422]);
    let results = answer.ok()["results"].clone();
    assert_eq!(results[1]["error"]["code"], "validation_failed");
    assert!(results[1]["error"]["errors"]["name"][0].as_str().is_some_and(|problem| problem.contains("255")));
    assert_eq!(
        results[2],
        json!({ "status": 404,
        "error": { "code": "not_found", "message": "Not found." } })
    );
    assert!(results[4]["error"]["errors"]["method"].is_array());
    let after = stand(&server).await;
    assert_eq!(after.0, ["Ada L.", "Grace"]);
    // One created and one updated record have an entry; the failed operation has none.
    assert_eq!((after.1, after.3), (2, before.3 + 2));
}

async fn failed_bulk_operation_is_rolled_back_without_affecting_others(server: Server) {
    let admin = server.admin();
    // The database itself rejects a duplicate value, and the deletion of a referenced record.
    let group = admin.post("/product_groups", json!({ "name": "Lighting" })).await.created("product_group");
    admin.post("/products", json!({ "name": "Lamp", "product_group_id": group["id"] })).await.created("product");
    let operations = [
        json!({ "method": "create", "product_group": { "name": "Audio" } }),
        json!({ "method": "delete", "id": group["id"] }),
        json!({ "method": "create", "product_group": { "name": "Rigging" } }),
    ];
    let alone = admin.delete(&format!("/product_groups/{}", group["id"])).await.status;
    assert_eq!(alone, 409);
    let answer = bulk(&admin, "/product_groups", false, &operations).await;
    assert_eq!(statuses(&answer), [201, i64::from(alone), 201], "{}", answer.text);
    let names = admin.get("/product_groups?sort=id").await.column("product_groups", "name");
    assert!(names.ends_with(&[json!("Audio"), json!("Rigging")]), "{names:?}");

    let user = |email: &str| json!({ "method": "create", "user": { "name": "U", "email": email } });
    let twice = [user("a@example.com"), user("A@EXAMPLE.COM"), user("b@example.com")];
    let events = server.events("user.").await.len();
    let answer = bulk(&admin, "/users", false, &twice).await;
    assert_eq!(statuses(&answer), [201, 422, 201], "{}", answer.text);
    assert_eq!(server.events("user.").await.len(), events + 2);
    assert_eq!(bulk(&admin, "/users", true, &twice).await.status, 422);
    assert_eq!(server.events("user.").await.len(), events + 2);
    assert_eq!(admin.get("/users").await.ok()["meta"]["total"], 3);
}

async fn parent_in_the_path_applies_to_every_bulk_operation(server: Server) {
    let admin = server.admin();
    let mut products = Vec::new();
    for name in ["Lamp", "Stand", "Case"] {
        products.push(admin.post("/products", json!({ "name": name })).await.created("product")["id"].clone());
    }
    let add = |to: &Value| json!({ "method": "create", "accessory": { "accessory_product_id": to } });
    let path = format!("/products/{}/accessories", products[0]);
    let answer = bulk(&admin, &path, false, &[add(&products[1]), add(&products[1]), add(&products[2])]).await;
    assert_eq!(statuses(&answer), [201, 422, 201], "{}", answer.text);
    let accessory = answer.ok()["results"][0]["accessory"].clone();
    assert_eq!(accessory["product_id"], products[0]);
    // The accessory of another product is not found.
    let other = format!("/products/{}/accessories", products[1]);
    let operations = [
        json!({ "method": "update", "id": accessory["id"], "accessory": { "quantity": "2" } }),
        json!({ "method": "delete", "id": accessory["id"] }),
    ];
    assert_eq!(statuses(&bulk(&admin, &other, false, &operations).await), [404, 404]);
    assert_eq!(statuses(&bulk(&admin, &path, true, &operations).await), [200, 204]);
    bulk(&admin, "/products/999999/accessories", true, &operations).await.refused(404, "not_found");
}

async fn bulk_write_is_limited_to_1000_operations(server: Server) {
    let admin = server.admin();
    let many = |count: usize| (0..count).map(|n| create(json!({ "name": format!("M{n}") }))).collect::<Vec<_>>();
    let problem = bulk(&admin, "/members", true, &many(1_001)).await.invalid("operations");
    assert_eq!(problem, "must have 1 to 1000 elements");
    assert_eq!(stand(&server).await.1, 0);
    assert_eq!(statuses(&bulk(&admin, "/members", true, &many(1_000)).await), [201; 1_000]);
    assert_eq!(stand(&server).await.1, 1_000);
    let everyone = admin.get("/members?sort=-id&per_page=1").await.records("members")[0].clone();
    assert_eq!(everyone["name"], "M999");
}

async fn malformed_bulk_operations_are_refused(server: Server) {
    let admin = server.admin();
    admin.post("/members", json!({ "name": "Ada" })).await.created("member");
    let many = (0..=1_000).map(|number| format!("\"f{number}\":1")).collect::<Vec<_>>().join(",");
    for (body, field) in [
        ("", "operations"),
        ("{}", "operations"),
        (r#"{"operations":[]}"#, "operations"),
        (r#"{"operations":{}}"#, "operations"),
        (r#"{"operations":"x"}"#, "operations"),
        (r#"{"operations":[1],"atomic":"maybe"}"#, "atomic"),
        (r#"{"operations":[1],"atomic":[]}"#, "atomic"),
        (r#"{"operations":[1],"more":1}"#, "more"),
        (r#"{"operations":[1],"more":null}"#, "more"),
        (r#"{"operations":null}"#, "operations"),
        (r#"{"operations":[1]}"#, "operations.0.method"),
        (r#"{"operations":[{}]}"#, "operations.0.method"),
        (r#"{"operations":[{"method":7}]}"#, "operations.0.method"),
        (r#"{"operations":[{"method":"update"}]}"#, "operations.0.id"),
        (r#"{"operations":[{"method":"delete","id":"x"}]}"#, "operations.0.id"),
        (r#"{"operations":[{"method":"delete","id":[1]}]}"#, "operations.0.id"),
        (r#"{"operations":[{"method":"delete","id":1,"member":{}}]}"#, "operations.0.member"),
        (r#"{"operations":[{"method":"create","id":1,"member":{"name":"x"}}]}"#, "operations.0.id"),
        (r#"{"operations":[{"method":"create","member":[]}]}"#, "operations.0.member"),
        (r#"{"operations":[{"method":"update","id":1,"member":{"name":"New","\ud800":1}}]}"#, "operations.0.member"),
        (r#"{"operations":[{"method":"delete","id":1,"\ud800":1}]}"#, "operations.0.method"),
        (&format!(r#"{{"operations":[{{"method":"create","member":{{{}}}}}]}}"#, many), "operations.0.member"),
        (r#"{"operations":[{"method":"create","name":"x"}]}"#, "operations.0.name"),
        (r#"{"operations":[{"method":"create","member":{"name":"x"},"name":null}]}"#, "operations.0.name"),
        (r#"{"operations":[{"method":"create","member":{"name":"x","nope":null}}]}"#, "operations.0.nope"),
        (r#"{"operations":[{"method":"create","product":{"name":"x"}}]}"#, "operations.0.product"),
        (r#"{"operations":[{"method":"create","if_match":"*","member":{"name":"x"}}]}"#, "operations.0.if_match"),
        (r#"{"operations":[{"method":"update","id":1,"if_match":"x"}]}"#, "operations.0.if_match"),
        (r#"{"operations":[{"method":"update","id":1,"if_match":1}]}"#, "operations.0.if_match"),
    ] {
        let answer = admin.post_text("/members/bulk", body).await;
        assert!(answer.invalid_fields().iter().any(|name| name == field), "{body}: {}", answer.text);
    }
    for body in ["[", "[]", "{\"operations\":[}"] {
        admin.post_text("/members/bulk", body).await.refused(400, "malformed_request");
    }
    let form = "operations[0][method]=create&operations[0][member][name]=Ada&atomic=false";
    let kind = Some("application/x-www-form-urlencoded");
    let answer = admin.send_bytes(reqwest::Method::POST, "/members/bulk", kind, form).await;
    assert_eq!(statuses(&answer), [201]);
    admin.get("/members/bulk").await.refused(405, "method_not_allowed");
}

async fn if_match_of_each_bulk_operation_is_evaluated(server: Server) {
    let admin = server.admin();
    let created = bulk(&admin, "/members", true, &[create(json!({ "name": "Ada" }))]).await.ok()["results"][0].clone();
    let (id, tag) = (&created["member"]["id"], created["etag"].as_str().expect("a tag"));
    let rename =
        |tag: &str, name: &str| json!({ "method": "update", "id": id, "if_match": tag, "member": { "name": name } });
    let operations = [
        rename("\"other\"", "No"),
        rename(tag, "Yes"),
        rename(tag, "No"),
        json!({ "method": "delete", "id": id, "if_match": tag }),
        rename("*", "Still"),
    ];
    let answer = bulk(&admin, "/members", false, &operations).await;
    assert_eq!(statuses(&answer), [412, 200, 412, 412, 200]);
    assert_eq!(answer.ok()["results"][0]["error"]["code"], "precondition_failed");
    assert_eq!(admin.get(&format!("/members/{id}")).await.record("member")["name"], "Still");
}

async fn bulk_operation_requires_the_access_of_the_single_operation(server: Server) {
    let admin = server.admin();
    let (_, other) = server.user(&[], &["*"]).await;
    let operations = [json!({ "method": "create", "exchange_rate": {} })];
    bulk(&other, "/exchange_rates", true, &operations).await.refused(403, "permission_missing");
    bulk(&server.able(&["members:read"]).await, "/members", true, &[]).await.refused(403, "ability_missing");
    bulk(&server.anonymous(), "/members", true, &[]).await.refused(401, "unauthenticated");
    // Users do not see the views of others, and cannot change system views.
    let view = |visibility: &str| json!({ "name": "v", "entity_type": "members", "columns": ["id"], "visibility": visibility });
    let own = admin.post("/custom_views", view("personal")).await.created("custom_view")["id"].clone();
    let all = admin.post("/custom_views", view("system")).await.created("custom_view")["id"].clone();
    let rename = |id: &Value| json!({ "method": "update", "id": id, "custom_view": { "name": "mine" } });
    let operations = [
        rename(&own),
        rename(&all),
        json!({ "method": "delete", "id": all }),
        json!({ "method": "create", "custom_view": view("system") }),
        json!({ "method": "create", "custom_view": view("personal") }),
    ];
    let answer = bulk(&other, "/custom_views", false, &operations).await;
    let mut alone = Vec::new();
    for id in [&own, &all] {
        alone.push(i64::from(other.put(&format!("/custom_views/{id}"), json!({ "name": "mine" })).await.status));
    }
    alone.push(i64::from(other.delete(&format!("/custom_views/{all}")).await.status));
    alone.push(i64::from(other.post("/custom_views", view("system")).await.status));
    alone.push(201);
    assert_eq!(statuses(&answer), alone, "{}", answer.text);
    assert!(alone[..4].iter().all(|status| *status >= 400), "{alone:?}");
    assert_eq!(admin.get(&format!("/custom_views/{own}")).await.record("custom_view")["name"], "v");
}

async fn bulk_write_with_an_idempotency_key_runs_once(server: Server) {
    let keyed = server.admin().with("idempotency-key", "many");
    let operations = [create(json!({ "name": "Ada" })), create(json!({})), create(json!({ "name": "Grace" }))];
    bulk(&keyed, "/members", true, &operations).await.refused(422, "validation_failed");
    let first = bulk(&keyed, "/members", false, &operations).await;
    let again = bulk(&keyed, "/members", false, &operations).await;
    assert_eq!(statuses(&first), [201, 422, 201]);
    assert_eq!((again.ok(), again.header("idempotent-replayed")), (first.ok(), Some("true")));
    assert_eq!(stand(&server).await.1, 2);
    bulk(&keyed, "/members", false, &operations[..1]).await.invalid("Idempotency-Key");
}

async fn secrets_of_a_bulk_write_are_replayed_only_to_the_same_token(server: Server) {
    let admin = server.admin();
    let keyed = admin.with("idempotency-key", "tokens");
    let token = |name: &str| json!({ "method": "create", "token": { "name": name, "abilities": ["members:read"] } });
    let operations = [token("one"), token("two")];
    let answer = bulk(&keyed, "/tokens", true, &operations).await;
    let results = answer.ok()["results"].clone();
    for result in results.as_array().expect("results") {
        let value = result["token"]["value"].as_str().expect("the secret");
        server.client(value).get("/members").await.ok();
        assert!(
            server.texts("SELECT body AS text FROM idempotency_keys").await.iter().all(|body| !body.contains(value))
        );
    }
    assert_eq!(bulk(&keyed, "/tokens", true, &operations).await.ok()["results"], results);
    let other = server.able(&["*"]).await.with("idempotency-key", "tokens");
    bulk(&other, "/tokens", true, &operations).await.refused(409, "conflict");
    // A token that a bulk request revokes is invalid immediately.
    let value = results[0]["token"]["value"].as_str().expect("the secret").to_string();
    let id = results[0]["token"]["id"].clone();
    bulk(&admin, "/tokens", true, &[json!({ "method": "delete", "id": id })]).await.ok();
    server.client(&value).get("/members").await.refused(401, "invalid_token");
}

async fn only_writable_resources_have_a_bulk_path(server: Server) {
    let routes: Vec<RouteInfo> = ops::routes(&server.state);
    let mut served = 0;
    for entry in server.state.catalog.entries() {
        let writes = [Operation::Create, Operation::Update, Operation::Delete];
        let written = writes.iter().any(|operation| entry.meta.operations.contains(operation));
        let expected = written && !entry.meta.singleton && !entry.receives_file();
        let is_it = |route: &&RouteInfo| route.resource == entry.meta.name && route.path.ends_with("/bulk");
        let found: Vec<&RouteInfo> = routes.iter().filter(is_it).collect();
        assert_eq!(found.len(), usize::from(expected), "{}", entry.meta.plural);
        served += found.len();
        for route in found.into_iter().filter(|route| !route.path.contains('{')) {
            let path = route.path.trim_start_matches("/api/v1");
            let operations = json!({ "operations": [{ "method": "nothing" }] });
            server.admin().post(path, operations).await.invalid("operations.0.method");
        }
    }
    assert!(served >= 12, "{served}");
}

async fn bulk_write_with_a_too_long_response_is_rolled_back(server: Server) {
    let admin = server.admin();
    let product = json!({ "name": "Long", "description": "x".repeat(500_000) });
    let id = admin.post("/products", product).await.created("product")["id"].clone();
    let operations = |count: usize| {
        let mut operations = vec![json!({ "method": "update", "id": id, "product": { "name": "Longer" } })];
        operations.resize(count, json!({ "method": "update", "id": id, "product": {} }));
        json!({ "operations": operations, "atomic": false })
    };
    let answer = admin.post("/products/bulk", operations(80)).await;
    assert!(answer.invalid("operations").contains("too long"));
    let name = || async { admin.get(&format!("/products/{id}")).await.record("product")["name"].clone() };
    assert_eq!(name().await, json!("Long"), "nothing is done");
    admin.post("/products/bulk", operations(60)).await.ok();
    assert_eq!(name().await, json!("Longer"));
}

/// The two requests would deadlock if they did not lock the records in the same order.
async fn concurrent_bulk_writes_in_different_orders_do_not_deadlock(server: Server) {
    let admin = server.admin();
    let mut ids = Vec::new();
    for n in 0..40 {
        ids.push(admin.post("/products", json!({ "name": format!("P{n}") })).await.created("product")["id"].clone());
    }
    let turned: Vec<Value> = ids.iter().rev().cloned().collect();
    for turn in 0..5 {
        let operations = |ids: &[Value], who: &str| -> Vec<Value> {
            let name = format!("{who} {turn}");
            let change = |id| json!({ "method": "update", "id": id, "product": { "name": name } });
            ids.iter().map(change).collect()
        };
        let (one, other) = (operations(&ids, "one"), operations(&turned, "other"));
        let (one, other) = tokio::join!(bulk(&admin, "/products", true, &one), bulk(&admin, "/products", true, &other));
        assert_eq!((statuses(&one).len(), statuses(&other).len()), (40, 40));
    }
}
