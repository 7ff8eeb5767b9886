//! Webhook events of child records reach only users who can see them.

use serde_json::json;

use super::{SECRET, World, attach};
use crate::delivery::{Receiver, deliver};
use crate::support::{Folders, on_both};

on_both!(
    webhook_receives_only_events_of_visible_records,
    delete_event_reaches_the_owner_of_a_record_with_a_deleted_parent,
    event_of_a_transferred_record_reaches_its_new_owner,
    event_unknown_to_the_catalog_reaches_users_who_see_its_record,
);

/// Those who are told of each event, by the name of their webhook's address.
async fn told(world: &World) -> Vec<(String, String)> {
    let receiver = Receiver::answering(200);
    deliver(&world.server, &receiver).await;
    let sent = receiver.take();
    let mut told: Vec<(String, String)> = sent
        .iter()
        .map(|attempt| (attempt.event.to_string(), attempt.url.rsplit('/').next().unwrap_or_default().to_string()))
        .collect();
    told.sort();
    told
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

async fn webhook_receives_only_events_of_visible_records(server: Folders) {
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
    assert_eq!(told(&world).await, pairs(&expected));
    // What is nobody's own is told to everybody.
    world.owner.post("/members", json!({ "name": "Ada" })).await.created("member");
    assert_eq!(told(&world).await.len(), 3);
}

async fn delete_event_reaches_the_owner_of_a_record_with_a_deleted_parent(server: Folders) {
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
    assert_eq!(told(&world).await, pairs(&expected));
}

async fn event_of_a_transferred_record_reaches_its_new_owner(server: Folders) {
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
    assert_eq!(told(&world).await, pairs(&expected));
}

/// The application may write a record whose resource serves no such operation.
async fn event_unknown_to_the_catalog_reaches_users_who_see_its_record(server: Folders) {
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
    assert_eq!(told(&world).await, pairs(&[("note.restored", "administrator"), ("note.restored", "owner")]));
}
