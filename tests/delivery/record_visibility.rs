//! Visibility of records in webhooks: no events of records that the owner cannot see.

use serde_json::{Value, json};

use super::{Receiver, deliver, webhook};
use crate::routes::attachments::Form;
use crate::support::{Client, Gatherings, Server, on_both};

on_both!(
    event_of_an_owned_record_goes_to_its_owner_and_administrators,
    event_of_a_large_record_reaches_its_owner,
    attachment_event_reaches_users_who_see_the_record,
    former_administrator_cannot_read_old_deliveries,
);

async fn event_of_an_owned_record_goes_to_its_owner_and_administrators(server: Gatherings) {
    let Hooks { of_admin, own, client, other } = hooks(&server).await;
    let body = json!({ "subject": "Spring", "code": "A" });
    let path = format!("/gatherings/{}", client.post("/gatherings", body).await.created("gathering")["id"]);
    client.put(&path, json!({ "subject": "Summer" })).await.record("gathering");
    client.delete(&path).await;
    let receivers = receivers(&server, "gathering.").await;
    assert_eq!([of_admin, own, other].map(|hook| receivers.iter().filter(|id| **id == hook).count()), [3, 3, 0]);
}

async fn event_of_a_large_record_reaches_its_owner(server: Gatherings) {
    let Hooks { of_admin, own, client, .. } = hooks(&server).await;
    let body = json!({ "subject": "Spring", "code": "A", "notes": { "long": "x".repeat(300 * 1024) } });
    let gathering = client.post("/gatherings", body).await.created("gathering");
    let receiver = Receiver::answering(204);
    deliver(&server, &receiver).await;
    let sent = receiver.take();
    let sent = sent.iter().filter(|attempt| &*attempt.event == "gathering.created");
    let sent: Vec<(i64, Value)> =
        sent.map(|attempt| (attempt.webhook_id, serde_json::from_str(&attempt.body).expect("JSON"))).collect();
    let mut receivers: Vec<i64> = sent.iter().map(|(hook, _)| *hook).collect();
    receivers.sort_unstable();
    assert_eq!(receivers, [of_admin, own]);
    let short = json!({ "gathering": { "id": gathering["id"] } });
    assert!(sent.iter().all(|(_, body)| body["data"] == short && body["truncated"] == true), "{sent:?}");
}

async fn attachment_event_reaches_users_who_see_the_record(server: Gatherings) {
    let Hooks { of_admin, own, client, .. } = hooks(&server).await;
    let gathering = client.post("/gatherings", json!({ "subject": "Spring", "code": "A" })).await.created("gathering");
    let form = Form::default().file("plan.txt", b"a plan").field("attachable_type", "gathering");
    form.field("attachable_id", &gathering["id"]).send(&client).await.created("attachment");
    let mut receivers = receivers(&server, "attachment.").await;
    receivers.sort_unstable();
    assert_eq!(receivers, [of_admin, own]);
}

async fn former_administrator_cannot_read_old_deliveries(server: Gatherings) {
    let admin = server.admin();
    let (user, client) = server.user(&[], &["webhooks:read", "webhooks:write", "gatherings:read"]).await;
    let hook = webhook(&server, &["gathering.created"]).await;
    server.sql(&format!("UPDATE webhooks SET user_id = {} WHERE id = {hook}", user["id"])).await;
    let administers = async |is_admin: bool| {
        admin.put(&format!("/users/{}", user["id"]), json!({ "is_admin": is_admin })).await.ok();
    };
    administers(true).await;
    admin.post("/gatherings", json!({ "subject": "Spring", "code": "A" })).await.created("gathering");
    assert_eq!(receivers(&server, "gathering.").await, [hook]);
    let logs = format!("/webhooks/{hook}/logs");
    let request = format!("{logs}/{}/request", client.get(&logs).await.records("logs")[0]["id"]);
    client.get(&request).await.record("request");
    administers(false).await;
    client.get(&request).await.refused(403, "permission_missing");
    // An event from before events had owners.
    server.sql("UPDATE events SET owner_id = NULL").await;
    client.get(&request).await.refused(403, "permission_missing");
}

/// Webhooks with the subscription `*` of an administrator and of two users.
struct Hooks {
    of_admin: i64,
    own: i64,
    client: Client,
    other: i64,
}

async fn hooks(server: &Server) -> Hooks {
    let abilities = ["gatherings:read", "gatherings:write"];
    let of_admin = webhook(server, &["*"]).await;
    let mut of_users = Vec::new();
    for _ in 0..2 {
        let (user, client) = server.user(&[], &abilities).await;
        let hook = webhook(server, &["*"]).await;
        server.sql(&format!("UPDATE webhooks SET user_id = {} WHERE id = {hook}", user["id"])).await;
        of_users.push((hook, client));
    }
    let (other, _) = of_users.pop().expect("two");
    let (own, client) = of_users.pop().expect("two");
    Hooks { of_admin, own, client, other }
}

/// Webhooks that received events whose name starts with `name`.
async fn receivers(server: &Server, name: &str) -> Vec<i64> {
    let receiver = Receiver::answering(204);
    deliver(server, &receiver).await;
    receiver.take().iter().filter(|attempt| attempt.event.starts_with(name)).map(|attempt| attempt.webhook_id).collect()
}
