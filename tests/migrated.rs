//! A running server during a migration, by another version, of the tables that it reads and writes.

use charter_runtime::db::Dialect;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Client, Server, on_both};

on_both!(server_keeps_working_after_a_migration_widens_columns_and_adds_one);

async fn server_keeps_working_after_a_migration_widens_columns_and_adds_one(server: Server) {
    let admin = server.admin();
    let group = admin.post("/product_groups", json!({ "name": "Lamps" })).await.created("product_group");
    assert_eq!(busy(&admin, &group["id"], "lamp").await, 0);
    server.sql("ALTER TABLE products ADD COLUMN more integer").await;
    if server.state.db.dialect() == Dialect::Postgres {
        for table in ["products", "product_groups"] {
            server.sql(&format!("ALTER TABLE {table} ALTER COLUMN name TYPE varchar(300) COLLATE \"C\"")).await;
        }
    }
    // At most the first requests are answered 503, later ones succeed.
    let told = busy(&admin, &group["id"], "lantern").await;
    assert!(told <= 2, "{told}");
    assert_eq!(busy(&admin, &group["id"], "lamp").await, 0);
}

/// Reads and writes until each connection has prepared the statements. Returns the number of retried requests.
async fn busy(client: &Client, group: &Value, name: &str) -> u32 {
    let mut told = 0;
    for number in 0..12 {
        let body = json!({ "name": name, "product_group_id": group });
        let made = insist(client, Method::POST, "/products", Some(body), &mut told).await.created("product");
        let path = format!("/products/{}", made["id"]);
        insist(client, Method::GET, &path, None, &mut told).await.ok();
        let body = json!({ "name": format!("{name} {number}") });
        insist(client, Method::PUT, &path, Some(body), &mut told).await.ok();
        for list in ["/products?include=productGroup&sort=-name", "/products?q[name_cont]=l"] {
            insist(client, Method::GET, list, None, &mut told).await.ok();
        }
        insist(client, Method::DELETE, &path, None, &mut told).await.status(204);
    }
    told
}

async fn insist(client: &Client, method: Method, path: &str, body: Option<Value>, told: &mut u32) -> Answer {
    loop {
        let answer = client.send(method.clone(), path, body.clone()).await;
        if answer.status != 503 {
            return answer;
        }
        *told += 1;
    }
}
