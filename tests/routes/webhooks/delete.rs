//! `DELETE /webhooks/{id}`: ends all deliveries to it.

use super::{delivering, path, role, webhook};
use crate::support::{Receiver, Server, on_both};

on_both!(deleted_webhook_receives_no_more_events);

async fn deleted_webhook_receives_no_more_events(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let (gone, left) = (Receiver::answering(200).await, Receiver::answering(200).await);
    let hook = webhook(&admin, &gone.url(), &["*"]).await;
    webhook(&admin, &left.url(), &["role.created"]).await;
    role(&server, "First").await;
    gone.wait_for(1).await;
    admin.delete(&path(&hook)).await.deleted();
    admin.get(&path(&hook)).await.refused(404, "not_found");
    admin.get(&format!("{}/logs", path(&hook))).await.refused(404, "not_found");
    role(&server, "Second").await;
    left.wait_for(2).await;
    assert_eq!(gone.received().len(), 1);
}
