//! `tools/call`: reads, writes, preconditions, idempotency keys and refusals.

use serde_json::{Value, json};

use super::{call, refused, with_mcp};
use crate::support::{Server, on_both};

on_both!(
    records_are_listed_by_page_and_filter,
    records_are_shown_created_and_changed,
    nested_records_and_singletons_have_tools,
    actions_are_tools,
    summaries_count_by_group,
    stale_if_match_is_refused,
    refusals_of_the_api_are_results,
    arguments_that_a_tool_does_not_have_are_named,
    key_of_a_rehearsal_makes_a_repeated_call_run_once,
    revoked_token_cannot_replay_a_secret,
    result_over_1_mib_is_refused,
    changes_are_audited_with_token_and_request,
);

async fn records_are_listed_by_page_and_filter(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    for number in 1..=25 {
        let group = json!({ "name": format!("Group {number:02}"), "dry_run": false });
        call(&admin, "create_product_group", group).await;
    }
    let first = call(&admin, "list_product_groups", json!({ "sort": "-name" })).await;
    let name = |page: &Value, index: usize| page["product_groups"][index]["name"].clone();
    assert_eq!(first["product_groups"].as_array().expect("records").len(), 20);
    assert_eq!((&first["meta"]["total"], name(&first, 0)), (&json!(25), json!("Group 25")));
    let cursor = &first["meta"]["next_cursor"];
    let second = call(&admin, "list_product_groups", json!({ "sort": "-name", "cursor": cursor })).await;
    assert_eq!(second["product_groups"].as_array().expect("records").len(), 5);
    assert_eq!(name(&second, 0), "Group 05");
    assert!(second["meta"]["next_cursor"].is_null(), "{}", second["meta"]);
    let filtered = json!({ "q": { "name_in": ["Group 03", "Group 07"], "id_gt": 0 }, "limit": 1, "fields": ["name"] });
    let page = call(&admin, "list_product_groups", filtered).await;
    assert_eq!(page["product_groups"], json!([{ "name": "Group 03" }]));
    assert_eq!(page["meta"]["total"], 2);
    let found = call(&admin, "list_product_groups", json!({ "search": "07" })).await;
    assert_eq!(found["meta"]["total"], 1);
    // A text with a comma is one value.
    call(&admin, "create_product_group", json!({ "name": "Sound, light", "dry_run": false })).await;
    let page = call(&admin, "list_product_groups", json!({ "q": { "name_eq": "Sound, light" } })).await;
    assert_eq!(page["meta"]["total"], 1);
}

async fn records_are_shown_created_and_changed(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let lamp = json!({ "name": "Lamp", "weight": 1.25, "tag_list": ["stage", "light"], "dry_run": false });
    let created = call(&admin, "create_product", lamp).await;
    let id = &created["product"]["id"];
    assert_eq!(created["product"]["weight"], "1.2500");
    let shown = call(&admin, "show_product", json!({ "id": id, "include": ["productGroup"] })).await;
    assert!(shown["product"].get("product_group").is_some() && shown["etag"].is_string(), "{shown}");
    // A number keeps all its digits.
    let change = format!(r#"{{"id":{id},"weight":12345678.1234,"sku":"","dry_run":false}}"#);
    let changed = call(&admin, "update_product", change.parse().expect("JSON")).await;
    assert_eq!(changed["product"]["weight"], "12345678.1234");
    assert_eq!(admin.get(&format!("/products/{id}")).await.record("product")["weight"], "12345678.1234");
    let sent_back = shown["product"].as_object().expect("a record").clone();
    let mut sent_back = Value::Object(sent_back);
    sent_back["dry_run"] = json!(true);
    let same = call(&admin, "update_product", sent_back).await;
    assert_eq!(same["changes"]["weight"], json!({ "before": "12345678.1234", "after": "1.2500" }));
}

async fn nested_records_and_singletons_have_tools(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let product = async |name: &str| {
        call(&admin, "create_product", json!({ "name": name, "dry_run": false })).await["product"]["id"].clone()
    };
    let (lamp, cable) = (product("Lamp").await, product("Cable").await);
    let added = json!({ "product_id": lamp, "accessory_product_id": cable, "dry_run": false });
    let accessory = call(&admin, "create_accessory", added).await["accessory"].clone();
    let path = json!({ "product_id": lamp, "id": accessory["id"] });
    assert_eq!(call(&admin, "show_accessory", path).await["accessory"], accessory);
    assert_eq!(call(&admin, "list_accessories", json!({ "product_id": lamp })).await["meta"]["total"], 1);
    refused(&admin, "list_accessories", json!({ "product_id": 999_999 }), "not_found").await;
    let settings = call(&admin, "show_settings", json!({})).await;
    let change = json!({ "company_name": "Acme", "if_match": settings["etag"], "dry_run": false });
    assert_eq!(call(&admin, "update_settings", change).await["settings"]["company_name"], "Acme");
    assert_eq!(admin.get("/settings").await.record("settings")["company_name"], "Acme");
}

async fn actions_are_tools(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let call_ada = json!({ "subject": "Call Ada", "dry_run": false });
    let activity = call(&admin, "create_activity", call_ada).await["activity"]["id"].clone();
    let done = call(&admin, "complete_activity", json!({ "id": activity, "dry_run": false })).await;
    assert_eq!(done["activity"]["completed"], true);
    let rate = json!({
        "source_currency_code": "GBP", "target_currency_code": "EUR", "rate": "1.25", "dry_run": false,
    });
    call(&admin, "create_exchange_rate", rate).await;
    let convert = json!({ "from": "GBP", "to": "EUR", "amount": 4 });
    let converted = call(&admin, "convert_exchange_rates", convert).await;
    assert_eq!(converted["conversion"]["result"], "5.00", "{converted}");
}

async fn summaries_count_by_group(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    for (name, weight) in [("Lamp", "1.5"), ("Spot", "2.5")] {
        call(&admin, "create_product", json!({ "name": name, "weight": weight, "dry_run": false })).await;
    }
    let arguments = json!({ "group": ["product_type"], "sum": ["weight"], "q": { "name_present": true } });
    let summary = call(&admin, "summarize_products", arguments).await;
    let expected = json!([{ "group": { "product_type": "rental" }, "count": 2, "sum": { "weight": "4.0000" } }]);
    assert_eq!(summary["summary"], expected);
}

async fn stale_if_match_is_refused(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let created = call(&admin, "create_tax_class", json!({ "name": "Full", "dry_run": false })).await;
    let change = |name: &str| json!({ "id": created["tax_class"]["id"], "name": name, "if_match": created["etag"] });
    let with = |mut arguments: Value, dry_run: bool| {
        arguments["dry_run"] = json!(dry_run);
        arguments
    };
    call(&admin, "update_tax_class", with(change("Half"), true)).await;
    call(&admin, "update_tax_class", with(change("Half"), false)).await;
    for dry_run in [true, false] {
        refused(&admin, "update_tax_class", with(change("None"), dry_run), "precondition_failed").await;
    }
    let mut malformed = with(change("None"), true);
    malformed["if_match"] = json!("\u{e9}\n");
    refused(&admin, "update_tax_class", malformed, "malformed_request").await;
}

async fn refusals_of_the_api_are_results(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    refused(&admin, "show_product", json!({ "id": 999_999 }), "not_found").await;
    let invalid = json!({ "name": "", "weight": "heavy", "colour": 1, "dry_run": true });
    let invalid = refused(&admin, "create_product", invalid, "validation_failed").await;
    for field in ["name", "weight", "colour"] {
        assert!(invalid["errors"][field][0].is_string(), "{invalid}");
    }
    refused(&admin, "list_products", json!({ "q": { "nope_eq": 1 } }), "validation_failed").await;
    // The only administrator cannot be deactivated.
    let (refusal, is_error) = super::call_any(&admin, "deactivate_user", json!({ "id": 1, "dry_run": false })).await;
    assert!(is_error && refusal["message"].is_string() && refusal["code"].is_string(), "{refusal}");
}

async fn arguments_that_a_tool_does_not_have_are_named(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    for (tool, arguments, field) in [
        ("update_product", json!({ "id": 1 }), "dry_run"),
        ("update_product", json!({ "dry_run": true }), "id"),
        ("update_product", json!({ "id": "x", "dry_run": true }), "id"),
        ("update_product", json!({ "id": 1, "dry_run": "yes" }), "dry_run"),
        ("list_products", json!({ "limit": 51 }), "limit"),
        ("list_products", json!({ "limit": 0 }), "limit"),
        ("list_products", json!({ "page": 2 }), "page"),
        ("list_products", json!({ "dry_run": true }), "dry_run"),
        ("list_products", json!({ "q": "name" }), "q"),
        ("list_products", json!({ "q": { "name_eq": {} } }), "q[name_eq]"),
        ("show_product", json!({ "id": 1, "limit": 1 }), "limit"),
        ("show_product", json!({ "id": "../members/1" }), "id"),
    ] {
        let refusal = refused(&admin, tool, arguments.clone(), "validation_failed").await;
        assert!(refusal["errors"][field][0].is_string(), "{tool} {arguments}: {refusal}");
    }
}

async fn key_of_a_rehearsal_makes_a_repeated_call_run_once(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let rehearsed = call(&admin, "create_member", json!({ "name": "Full", "dry_run": true })).await;
    assert!(rehearsed["member"].get("id").is_none() && rehearsed["etag"].is_null(), "{rehearsed}");
    let write = json!({ "name": "Full", "dry_run": false, "idempotency_key": rehearsed["idempotency_key"] });
    let first = call(&admin, "create_member", write.clone()).await;
    let again = call(&admin, "create_member", write.clone()).await;
    assert_eq!((&again["member"], &again["replayed"]), (&first["member"], &json!(true)));
    assert!(first["replayed"].is_null());
    assert_eq!(call(&admin, "list_members", json!({})).await["meta"]["total"], 1);
    // A rehearsal with the key is no replay.
    let mut rehearsal = write;
    rehearsal["dry_run"] = json!(true);
    assert_eq!(call(&admin, "create_member", rehearsal).await["dry_run"], true);
    let other = json!({ "name": "Half", "dry_run": false, "idempotency_key": rehearsed["idempotency_key"] });
    refused(&admin, "create_member", other, "validation_failed").await;
}

async fn revoked_token_cannot_replay_a_secret(server: Server) {
    let second = server.second_node_with(|config| config.mcp = true).await;
    let admin = server.admin();
    let token = admin.post("/tokens", json!({ "name": "Agent", "abilities": ["*"] })).await.created("token");
    let agent = second.client(token["value"].as_str().expect("a value"));
    let create = json!({ "name": "x", "abilities": ["*"], "dry_run": false, "idempotency_key": "first" });
    let first = call(&agent, "create_token", create.clone()).await;
    assert_eq!(call(&agent, "create_token", create.clone()).await["token"], first["token"]);
    admin.delete(&format!("/tokens/{}", token["id"])).await.deleted();
    refused(&agent, "create_token", create, "invalid_token").await;
    second.state.db.close().await;
}

async fn result_over_1_mib_is_refused(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    for name in ["Lamp", "Spot"] {
        let long = json!({ "name": name, "description": "x".repeat(600_000), "dry_run": false });
        call(&admin, "create_product", long).await;
    }
    let described = |limit: i64| json!({ "fields": ["description"], "limit": limit });
    let refusal = refused(&admin, "list_products", described(2), "validation_failed").await;
    let message = refusal["errors"]["limit"][0].as_str().expect("a message");
    assert!(message.contains("`fields`") && message.contains("1 MiB"), "{message}");
    assert_eq!(call(&admin, "list_products", described(1)).await["products"].as_array().expect("records").len(), 1);
    assert_eq!(call(&admin, "list_products", json!({ "fields": ["name"] })).await["meta"]["total"], 2);
}

async fn changes_are_audited_with_token_and_request(server: Server) {
    let server = with_mcp(&server).await;
    let agent = server.able(&["products:write", "products:read"]).await;
    let arguments = json!({ "name": "Lamp", "dry_run": false });
    let params = json!({ "name": "create_product", "arguments": arguments });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let answer = agent.undescribed().post("~/mcp", message).await;
    assert_eq!(answer.status(200).json()["result"]["isError"], false);
    let entries = server.admin().get("/audit_entries?q[entity_type_eq]=products").await.ok();
    let entry = &entries["audit_entries"][0];
    assert!(entry["token_id"].is_i64() && entry["user_id"] == 1, "{entries}");
    assert_eq!(entry["action"], "create", "{entries}");
    assert_eq!(entry["request_id"].as_str(), answer.header("x-request-id"), "{entries}");
}
