//! Webhooks of the lending library, whose resources have no attachments, on SQLite and PostgreSQL.

use std::time::Duration;

use charter_testing::{Database, Server, on_both};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

on_both!(a_webhook_receives_a_new_book);

async fn a_webhook_receives_a_new_book(database: Database) {
    let library = Server::start_with(lending::app, database, |config| {
        (config.webhook_concurrency, config.webhook_endpoint_concurrency) = (1, 1);
        config.webhook_policy.allow_http = true;
        config.webhook_policy.networks = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;
    let receiver = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", receiver.local_addr().unwrap());
    let (status, answer) = library.post("webhooks", json!({ "url": url, "events": ["book.created"] })).await;
    assert_eq!(status, 201, "{answer}");
    let (status, answer) = library.post("books", json!({ "title": "Emma", "author": "Jane Austen" })).await;
    assert_eq!(status, 201, "{answer}");

    let connected = tokio::time::timeout(Duration::from_secs(30), receiver.accept()).await;
    let (mut delivery, _) = connected.expect("a delivery arrives").unwrap();
    let mut text = String::new();
    while !text.contains("Jane Austen") {
        let mut bytes = [0; 4096];
        let count = delivery.read(&mut bytes).await.unwrap();
        assert!(count > 0, "the delivery ended: {text}");
        text.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    assert!(text.to_lowercase().contains("x-service-event: book.created\r\n"), "{text}");
    delivery.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
}
