//! MCP endpoint: transport, tools by right, calls, dry runs, and the tour of a public client.

mod arguments;
mod calls;
mod dry_runs;
mod tools;
mod tour;
mod transport;

use serde_json::{Value, json};

use crate::support::{Client, Server};

/// The same service with the MCP endpoint.
async fn with_mcp(server: &Server) -> Server {
    server.configured(|config| config.mcp = true).await
}

/// The result of a method of the protocol.
async fn rpc(client: &Client, method: &str, params: Value) -> Value {
    let answer = send(client, method, params).await;
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}

/// The response to a request of the protocol, a result or an error.
async fn send(client: &Client, method: &str, params: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let answer = client.undescribed().post("~/mcp", message).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let body = answer.json();
    assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!(7)));
    body
}

/// All tools of a client, from every page.
async fn tools(client: &Client) -> Vec<Value> {
    let (mut tools, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = rpc(client, "tools/list", json!({ "cursor": cursor })).await;
        tools.extend(page["tools"].as_array().expect("tools").iter().cloned());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return tools;
        }
    }
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

/// The JSON of a call, and true if it was refused. The text of the result is the same JSON.
async fn call_any(client: &Client, tool: &str, arguments: Value) -> (Value, bool) {
    let result = rpc(client, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert_eq!(text.parse::<Value>().expect("JSON"), result["structuredContent"]);
    (result["structuredContent"].clone(), result["isError"].as_bool().expect("a boolean"))
}

/// The JSON of a call that succeeds.
async fn call(client: &Client, tool: &str, arguments: Value) -> Value {
    let (json, is_error) = call_any(client, tool, arguments).await;
    assert!(!is_error, "{tool}: {json}");
    json
}

/// The JSON of a call that is refused with this code.
async fn refused(client: &Client, tool: &str, arguments: Value, code: &str) -> Value {
    let (json, is_error) = call_any(client, tool, arguments).await;
    assert!(is_error && json["code"] == code, "{tool}: {json}");
    json
}
