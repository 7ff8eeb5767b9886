//! `tools/list`: names, pages, schemas and rights.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{call, names, refused, rpc, tools, with_mcp};
use crate::support::{Gadgets, Probes, Server, on_both};

on_both!(
    tools_are_those_that_the_token_may_call,
    tools_of_a_user_are_those_of_token_and_roles,
    tools_of_an_administrator_come_in_pages,
    schemas_have_no_references_and_name_required_arguments,
    fields_that_a_role_may_not_read_are_in_no_schema_and_no_result,
    includes_are_those_that_the_caller_may_read,
    schema_of_an_application_keeps_its_alternatives,
    description_of_all_tools_is_short,
);

async fn tools_are_those_that_the_token_may_call(server: Server) {
    let server = with_mcp(&server).await;
    let reader = server.able(&["members:read"]).await;
    assert_eq!(
        names(&tools(&reader).await),
        ["list_members", "show_member", "summarize_members", "list_attachments_of_members", "show_attachment"]
    );
    let all = tools(&reader).await;
    assert!(all.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true), "{all:?}");
    let creator = server.able(&["members:create", "activities:complete"]).await;
    assert_eq!(names(&tools(&creator).await), ["complete_activity", "create_member"]);
    let denied = refused(&creator, "list_members", json!({}), "ability_missing").await;
    assert_eq!(denied["message"], "The token lacks the ability `members:read`.");
    let create = json!({ "name": "Ada", "dry_run": false });
    refused(&reader, "create_member", create.clone(), "ability_missing").await;
    assert_eq!(call(&creator, "create_member", create).await["member"]["name"], "Ada");
}

async fn tools_of_a_user_are_those_of_token_and_roles(server: Server) {
    let server = with_mcp(&server).await;
    let (_, user) = server.user(&[], &["settings:read", "tax_classes:read"]).await;
    let found = tools(&user).await;
    assert!(names(&found).contains(&"show_tax_class"), "{:?}", names(&found));
    assert!(!names(&found).contains(&"show_settings"), "its permission is missing: {:?}", names(&found));
    refused(&user, "show_settings", json!({}), "permission_missing").await;
}

async fn tools_of_an_administrator_come_in_pages(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let first = rpc(&admin, "tools/list", json!({})).await;
    assert_eq!(first["tools"].as_array().expect("tools").len(), 100);
    let all = tools(&admin).await;
    let names = names(&all);
    let distinct: BTreeSet<&str> = names.iter().copied().collect();
    assert!(names.len() > 100 && distinct.len() == names.len(), "{names:?}");
    for expected in
        ["show_settings", "update_settings", "complete_activity", "convert_exchange_rates", "list_accessories"]
    {
        assert!(distinct.contains(expected), "{expected} in {names:?}");
    }
    for absent in [
        "delete_product",
        "restore_product",
        "bulk_products",
        "create_import",
        "rehearse_import",
        "run_import",
        "cancel_import",
        "undo_import",
        "create_attachment",
    ] {
        assert!(!distinct.contains(absent), "{absent}");
    }
}

/// Clients allow at most 64 of these characters.
fn is_portable(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

async fn schemas_have_no_references_and_name_required_arguments(server: Server) {
    let server = with_mcp(&server).await;
    for tool in tools(&server.admin()).await {
        let (name, schema) = (tool["name"].as_str().expect("a name"), &tool["inputSchema"]);
        assert!(is_portable(name) && tool["annotations"]["title"].is_string(), "{tool}");
        assert!(schema["type"] == "object" && !schema.to_string().contains("$ref"), "{tool}");
        let required: Vec<&Value> = schema["required"].as_array().into_iter().flatten().collect();
        let properties = schema["properties"].as_object().expect("properties");
        assert!(required.iter().all(|one| properties.contains_key(one.as_str().expect("a name"))), "{tool}");
        let writes = tool["annotations"]["readOnlyHint"] != true;
        assert_eq!(required.contains(&&json!("dry_run")), writes, "{tool}");
        for (argument, schema) in properties {
            let has_type = ["type", "anyOf"].iter().any(|member| schema.get(member).is_some());
            assert!(has_type, "{name}: {argument} {schema}");
        }
    }
    let all = tools(&server.admin()).await;
    let update = all.iter().find(|tool| tool["name"] == "update_product").expect("a tool");
    assert_eq!(update["inputSchema"]["required"], json!(["id", "dry_run"]));
    let hints = &update["annotations"];
    assert_eq!((&hints["destructiveHint"], &hints["idempotentHint"]), (&json!(true), &json!(true)));
    let properties = &update["inputSchema"]["properties"];
    assert_eq!(properties["is_active"], json!({ "type": "boolean" }));
    assert_eq!(properties["tax_class_id"], json!({ "anyOf": [{ "type": "integer" }, { "const": "" }] }));
    assert_eq!(properties["stock_method"]["enum"], json!([1, 2]));
    let create = all.iter().find(|tool| tool["name"] == "create_accessory").expect("a tool");
    assert_eq!(create["inputSchema"]["required"], json!(["product_id", "dry_run", "accessory_product_id"]));
    assert_eq!(create["annotations"]["destructiveHint"], false);
}

async fn fields_that_a_role_may_not_read_are_in_no_schema_and_no_result(server: Gadgets) {
    let (_, viewer) = server.user(&["costs.view", "costs.manage"], &["*"]).await;
    let (_, other) = server.user(&[], &["*"]).await;
    let create = json!({ "name": "Clock", "cost": 987_654, "supplier": "Acme", "dry_run": false });
    let gadget = call(&viewer, "create_gadget", create).await["gadget"].clone();
    let part = json!({ "gadget_id": gadget["id"], "dry_run": false });
    call(&viewer, "create_part", part).await;
    let described = |tools: &[Value]| {
        let own = tools.iter().filter(|tool| {
            let name = tool["name"].as_str().expect("a name");
            name.contains("gadget") || name.contains("part_") || name.ends_with("_part") || name.ends_with("_parts")
        });
        own.map(Value::to_string).collect::<String>()
    };
    let (seen, hidden) = (described(&tools(&viewer).await), described(&tools(&other).await));
    for field in ["cost", "supplier"] {
        assert!(seen.contains(field), "{seen}");
        assert!(!hidden.contains(field), "{field} in {hidden}");
    }
    let id = &gadget["id"];
    for (tool, arguments) in [
        ("list_gadgets", json!({})),
        ("show_gadget", json!({ "id": id })),
        ("list_parts", json!({ "include": ["gadget"] })),
        ("update_gadget", json!({ "id": id, "name": "Watch", "dry_run": true })),
        ("update_gadget", json!({ "id": id, "name": "Watch", "dry_run": false })),
    ] {
        let text = call(&other, tool, arguments.clone()).await.to_string();
        assert!(!text.contains("987654") && !text.contains("Acme"), "{tool}: {text}");
        assert!(call(&viewer, tool, arguments).await.to_string().contains("987654"), "{tool}");
    }
    let set = json!({ "id": id, "cost": 1, "dry_run": true });
    let denied = refused(&other, "update_gadget", set, "permission_missing").await;
    assert!(denied["errors"]["cost"].is_array(), "{denied}");
    refused(&other, "list_gadgets", json!({ "q": { "cost_gt": 1 } }), "validation_failed").await;
    refused(&other, "list_gadgets", json!({ "sort": "cost" }), "validation_failed").await;
}

async fn includes_are_those_that_the_caller_may_read(server: Gadgets) {
    let includes = async |abilities: &[&str]| {
        let tools = tools(&server.able(abilities).await).await;
        let list = tools.iter().find(|tool| tool["name"] == "list_parts").expect("a tool");
        list["inputSchema"]["properties"]["include"]["items"]["enum"].clone()
    };
    assert_eq!(includes(&["parts:read", "gadgets:read"]).await, json!(["gadget"]));
    assert_eq!(includes(&["parts:read"]).await, Value::Null);
}

async fn schema_of_an_application_keeps_its_alternatives(server: Probes) {
    let tools = tools(&server.admin()).await;
    let schema = |name: &str| tools.iter().find(|tool| tool["name"] == name).expect("a tool")["inputSchema"].clone();
    let boxed = json!({ "type": "object", "properties": { "title": { "type": "string" } } });
    let shape = json!({ "anyOf": [{ "const": "none" }, boxed] });
    let (create, update) = (schema("create_probe"), schema("update_probe"));
    assert_eq!(create["properties"]["shape"], shape);
    assert_eq!(update["properties"]["shape"], json!({ "anyOf": [shape, { "const": "" }] }));
    // A field named like an argument is not listed twice.
    assert_eq!(create["required"], json!(["dry_run", "name"]));
}

/// Agents read the description in every conversation. `docs/mcp.md` has the sizes.
async fn description_of_all_tools_is_short(server: Server) {
    let server = with_mcp(&server).await;
    let bytes = |tools: Vec<Value>| tools.iter().map(|tool| tool.to_string().len()).sum::<usize>();
    let all = bytes(tools(&server.admin()).await);
    let reader = bytes(tools(&server.able(&["products:read"]).await).await);
    assert!(all < 80_000, "{all}");
    assert!(reader < 5_000, "{reader}");
}
