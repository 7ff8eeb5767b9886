//! Requests to the tools of the MCP endpoint. Tools that write are rehearsed.

use serde_json::{Value, json};

use super::exceptions::counts_hidden;
use super::reads::Probes;
use super::request::Request;
use super::world::World;

async fn rpc(world: &World, method: &str, params: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    world.callers[0].client.post("~/mcp", message).await.ok()["result"].clone()
}

/// All tools, from every page.
async fn tools(world: &World) -> Vec<Value> {
    let (mut tools, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = rpc(world, "tools/list", json!({ "cursor": cursor })).await;
        tools.extend(page["tools"].as_array().expect("tools").iter().cloned());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return tools;
        }
    }
}

/// A call of each tool, for each record of its resource.
pub async fn requests(probes: &Probes<'_>) -> Vec<Request> {
    let world = probes.world();
    let call = |door, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
        Request { ignores_tag: true, ..Request::new(door, reqwest::Method::POST, "~/mcp").body(message) }
    };
    let mut found = vec![
        Request::new("mcp: list of tools", reqwest::Method::POST, "~/mcp")
            .body(json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" }))
            .basic(),
    ];
    for tool in tools(world).await {
        let name = tool["name"].as_str().expect("a name");
        let properties = &tool["inputSchema"]["properties"];
        let writes = properties.get("dry_run").is_some();
        let of_one = |entry: &&charter_runtime::catalog::Entry| name.ends_with(&format!("_{}", entry.meta.name));
        let of_many = |entry: &&charter_runtime::catalog::Entry| name.ends_with(&format!("_{}", entry.meta.plural));
        let entry =
            world.entries().filter(|entry| of_one(entry) || of_many(entry)).max_by_key(|entry| entry.meta.name.len());
        let mut base = json!({});
        if writes {
            base["dry_run"] = json!(true);
        }
        let Some(entry) = entry.filter(|entry| world.rows_of(entry.meta.name).next().is_some()) else {
            found.push(call("mcp: other tool", json!({ "name": name, "arguments": base })));
            continue;
        };
        let rows = world.rows_of(entry.meta.name);
        for row in rows {
            let mut arguments = base.clone();
            if let (Some(under), Some(parent)) = (entry.meta.under, row.parent) {
                arguments[under.field] = json!(parent);
            }
            let takes_id = properties.get("id").is_some();
            if takes_id {
                arguments["id"] = json!(row.id);
            }
            let door = match (writes, takes_id) {
                (true, _) => "mcp: tool that writes",
                (false, true) => "mcp: record",
                (false, false) => "mcp: list",
            };
            let request = call(door, json!({ "name": name, "arguments": arguments }));
            let names = takes_id.then_some((entry.meta.name, row.id));
            let is_compared = !writes && !counts_hidden(&world.server.state.catalog, entry);
            found.push(Request { names, is_compared, resource: entry.meta.name, ..request });
        }
    }
    found
}
