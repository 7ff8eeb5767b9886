//! The tour: the public Python client finds a product, rehearses a change, makes it, and is refused.

use std::process::Command;

use charter_testing::search;
use serde_json::json;

use super::with_mcp;
use crate::support::{Server, on_both};

on_both!(mcp: public_client_takes_the_tour);

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/mcp_tour.py");

async fn public_client_takes_the_tour(server: Server) {
    let server = with_mcp(&server).await;
    for name in ["Lamp", "Cable"] {
        server.admin().post("/products", json!({ "name": name })).await.created("product");
    }
    let editor = server.token(&["products:read", "products:update"]).await;
    let reader = server.token(&["products:read"]).await;
    let python = search::mcp().expect("CHARTER_TEST_MCP is Python with the package mcp, which .ci/run installs");
    let all = server.token(&["*"]).await;
    let arguments = [PROGRAM.to_string(), format!("{}/mcp", server.url()), editor, reader, all];
    let mut tour = Command::new(python);
    tour.args(arguments);
    let output = tokio::task::spawn_blocking(move || tour.output()).await.expect("a task").expect("Python runs");
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("The tour is complete."), "{out}\n{errors}");
}
