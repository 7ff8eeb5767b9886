//! Visibility in webhooks: receivers of the events of child records.

use serde_json::json;

use super::{SECRET, World, attach};
use crate::delivery::{Receiver, deliver};
use crate::support::{Folders, on_both};

on_both!(
    webhook_receives_events_of_records_its_owner_sees,
    deletion_of_a_child_reaches_its_owner_after_the_parent_is_deleted,
    transferred_record_is_reported_to_its_new_owner,
    application_event_reaches_users_who_see_its_record,
);

/// Received events with the caller that the webhook's URL names.
async fn received(world: &World) -> Vec<(String, String)> {
    let receiver = Receiver::answering(200);
    deliver(&world.server, &receiver).await;
    let sent = receiver.take();
    let mut received: Vec<(String, String)> = sent
        .iter()
        .map(|attempt| (attempt.event.to_string(), attempt.url.rsplit('/').next().unwrap_or_default().to_string()))
        .collect();
    received.sort();
    received
}

async fn listen(world: &World) {
    for (who, client, _) in world.callers() {
        let webhook = json!({ "url": format!("https://example.com/{who}"), "events": ["*"] });
        client.post("/webhooks", webhook).await.created("webhook");
    }
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(event, who)| (event.to_string(), who.to_string())).collect()
}

async fn webhook_receives_events_of_records_its_owner_sees(server: Folders) {
    let world = World::new(server).await;
    listen(&world).await;
    world.owner.put(&world.path(), json!({ "body": format!("{SECRET}.") })).await.record("note");
    attach(&world.owner, &world.note).await.created("attachment");
    let expected = [
        ("attachment.created", "administrator"),
        ("attachment.created", "owner"),
        ("note.updated", "administrator"),
        ("note.updated", "owner"),
    ];
    assert_eq!(received(&world).await, pairs(&expected));
    // Events of records without an owner go to everyone.
    world.owner.post("/members", json!({ "name": "Ada" })).await.created("member");
    assert_eq!(received(&world).await.len(), 3);
}

async fn deletion_of_a_child_reaches_its_owner_after_the_parent_is_deleted(server: Folders) {
    let world = World::new(server).await;
    world.admin.delete(&format!("/pins/{}", world.pin["id"])).await.deleted();
    world.admin.delete(&format!("/links/{}", world.link["id"])).await.deleted();
    listen(&world).await;
    world.owner.delete(&world.path()).await.deleted();
    world.owner.delete(&format!("/folders/{}", world.folder["id"])).await.deleted();
    world.server.sql("DELETE FROM folders").await;
    let expected = [
        ("attachment.deleted", "administrator"),
        ("attachment.deleted", "owner"),
        ("folder.deleted", "administrator"),
        ("folder.deleted", "owner"),
        ("note.deleted", "administrator"),
        ("note.deleted", "owner"),
    ];
    assert_eq!(received(&world).await, pairs(&expected));
}

async fn transferred_record_is_reported_to_its_new_owner(server: Folders) {
    let world = World::new(server).await;
    listen(&world).await;
    let given = json!({ "user_id": world.stranger_user["id"] });
    world.admin.put(&format!("/folders/{}", world.folder["id"]), given).await.record("folder");
    world.admin.put(&world.path(), json!({ "body": "Moved" })).await.record("note");
    let expected = [
        ("folder.updated", "administrator"),
        ("folder.updated", "stranger"),
        ("note.updated", "administrator"),
        ("note.updated", "stranger"),
    ];
    assert_eq!(received(&world).await, pairs(&expected));
}

/// The application may emit an event that no API operation emits.
async fn application_event_reaches_users_who_see_its_record(server: Folders) {
    let world = World::new(server).await;
    listen(&world).await;
    assert!(!world.server.state.catalog.events().contains(&"note.restored".to_string()));
    let columns = "name, body, owner_id, created_at";
    let values = format!("'note.restored', '{{}}', {}, CURRENT_TIMESTAMP", world.owner_user["id"]);
    let later = match world.server.database {
        crate::support::Database::Sqlite => values.replace("CURRENT_TIMESTAMP", "'2999-01-01T00:00:00+00:00'"),
        crate::support::Database::Postgres => values.replace("CURRENT_TIMESTAMP", "now() + interval '1 day'"),
    };
    world.server.sql(&format!("INSERT INTO events ({columns}) VALUES ({later})")).await;
    assert_eq!(received(&world).await, pairs(&[("note.restored", "administrator"), ("note.restored", "owner")]));
}
