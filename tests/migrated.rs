//! A server that goes on while another version migrates the tables that it reads and writes.

use charter_runtime::db::Dialect;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Client, Server, on_both};

on_both!(a_server_goes_on_with_texts_that_may_be_longer_and_with_columns_that_it_does_not_know);

async fn a_server_goes_on_with_texts_that_may_be_longer_and_with_columns_that_it_does_not_know(server: Server) {
    let admin = server.admin();
    let group = admin.post("/product_groups", json!({ "name": "Lamps" })).await.created("product_group");
    assert_eq!(busy(&admin, &group["id"], "lamp").await, 0);
    server.sql("ALTER TABLE products ADD COLUMN more integer").await;
    if server.state.db.dialect() == Dialect::Postgres {
        for table in ["products", "product_groups"] {
            server.sql(&format!("ALTER TABLE {table} ALTER COLUMN name TYPE varchar(300) COLLATE \"C\"")).await;
        }
    }
    // Who meets it first is told to try again, and nobody after.
    let told = busy(&admin, &group["id"], "lantern").await;
    assert!(told <= 2, "{told}");
    assert_eq!(busy(&admin, &group["id"], "lamp").await, 0);
}

/// Reads and writes often enough that every connection has the statements, and answers how often it was told to try again.
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
