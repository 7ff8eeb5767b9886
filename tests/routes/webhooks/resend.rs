//! `POST /webhooks/{id}/logs/{log_id}/resend`: resends one delivery.

use serde_json::json;

use super::{delivering, path, role, webhook};
use crate::support::{Receiver, Server, on_both};

on_both!(resent_delivery_has_the_same_id_and_body);

async fn resent_delivery_has_the_same_id_and_body(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let receiver = Receiver::answering(200).await;
    let hook = webhook(&admin, &receiver.url(), &["role.created"]).await;
    role(&server, "Once more").await;
    receiver.wait_for(1).await;
    let logs = format!("{}/logs", path(&hook));
    while admin.get(&logs).await.records("logs").is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let id = admin.get(&logs).await.records("logs")[0]["id"].clone();
    let delivery = admin.post(&format!("{logs}/{id}/resend"), json!({})).await.record("delivery");
    assert_eq!([&delivery["delivered"], &delivery["response_status"]], [&json!(true), &json!(200)]);
    let received = receiver.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].header("webhook-id"), received[1].header("webhook-id"));
    assert_eq!((&received[0].body, received[1].header("x-service-attempt")), (&received[1].body, "2"));
    assert_eq!(admin.get(&logs).await.column("logs", "attempt"), [1, 2]);
    admin.post(&format!("{logs}/99/resend"), json!({})).await.refused(404, "not_found");
}
