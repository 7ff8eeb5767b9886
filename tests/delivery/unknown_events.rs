//! Events of a resource that only another version of the server has: their rights are unknown, so that nothing is sent.

use std::time::Duration;

use super::{Receiver, count, deliver, webhook};
use crate::support::{Server, on_both};

on_both!(unknown_event_waits_for_a_server_that_knows_it, only_administrators_read_the_request_of_an_unknown_event);

/// An event of this server under a name that it does not know, as one of a later version would have it.
async fn rename(server: &Server, from: &str, to: &str) {
    server.sql(&format!("UPDATE events SET name = '{to}' WHERE name = '{from}'")).await;
}

async fn unknown_event_waits_for_a_server_that_knows_it(server: Server) {
    let hook = webhook(&server, &["*"]).await;
    server.admin().post("/roles", serde_json::json!({ "name": "Clerk" })).await.created("role");
    rename(&server, "role.created", "parcel.created").await;
    let receiver = Receiver::answering(204);
    deliver(&server, &receiver).await;
    assert_eq!(receiver.count(), 0);
    assert_eq!(count(&server, "webhook_deliveries WHERE status = 'pending' AND retries = 1").await, 1);
    let logs = server.admin().get(&format!("/webhooks/{hook}/logs")).await.records("logs");
    assert_eq!(logs[0]["error"], "the event `parcel.created` is unknown to this version of the server");
    // The next attempt belongs to a server of the later version.
    rename(&server, "parcel.created", "role.created").await;
    server.state.clock.advance(Duration::from_secs(60));
    deliver(&server, &receiver).await;
    assert_eq!(receiver.count(), 1);
}

async fn only_administrators_read_the_request_of_an_unknown_event(server: Server) {
    let (user, client) = server.user(&[], &["webhooks:read", "webhooks:write", "products:read"]).await;
    let hook = webhook(&server, &["product.created"]).await;
    server.sql(&format!("UPDATE webhooks SET user_id = {} WHERE id = {hook}", user["id"])).await;
    server.admin().post("/products", serde_json::json!({ "name": "Lamp" })).await.created("product");
    deliver(&server, &Receiver::answering(204)).await;
    let logs = format!("/webhooks/{hook}/logs");
    let request = format!("{logs}/{}/request", client.get(&logs).await.records("logs")[0]["id"]);
    client.get(&request).await.record("request");
    server.sql("UPDATE webhook_logs SET event = 'parcel.created'").await;
    rename(&server, "product.created", "parcel.created").await;
    client.get(&request).await.refused(403, "permission_missing");
    server.admin().get(&request).await.record("request");
}
