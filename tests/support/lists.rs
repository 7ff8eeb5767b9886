//! Every list of the service, generated from its routes, so that tests cover new lists.

use charter_runtime::meta::Operation;
use charter_runtime::ops;
use serde_json::{Value, json};

use super::Server;

/// The body for creating a parent.
fn parent(resource: &str) -> Value {
    match resource {
        "product" | "member" => json!({ "name": "Parent" }),
        "webhook" => json!({ "url": "https://hooks.example.com/", "events": ["*"] }),
        other => panic!("no body is known for the parent {other}"),
    }
}

/// The path of each list below `/api/v1`, with a created parent, and the name of its resource.
pub async fn lists(server: &Server) -> Vec<(String, &'static str)> {
    let (admin, mut lists) = (server.admin(), Vec::new());
    for route in ops::routes(&server.state) {
        let meta = server.state.catalog.get(route.resource).expect("it is linked").meta;
        let is_list = route.method == "GET" && route.path.ends_with(&format!("/{}", meta.path));
        if !is_list || meta.singleton || !meta.operations.contains(&Operation::List) {
            continue;
        }
        let mut path = route.path.trim_start_matches("/api/v1").to_string();
        if let Some(under) = meta.under {
            let over = server.state.catalog.get(under.resource).expect("it is linked").meta;
            let created = match over.name {
                "import" => crate::routes::imports::uploaded(&admin, "products", "name\nLamp\n").await,
                name => admin.post(&format!("/{}", over.path), parent(name)).await.created(name),
            };
            path = path.replace(&format!("{{{}}}", under.field), &created["id"].to_string());
        }
        lists.push((path, meta.name));
    }
    lists
}
