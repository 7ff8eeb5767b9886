//! Access to a single child record: its path, its attachments, references to it, includes.

use serde_json::{Value, json};

use super::{SECRET, World, attach};
use crate::support::{Client, Folders, on_both};

on_both!(
    child_record_is_visible_only_if_its_parent_is,
    child_record_can_be_changed_by_callers_who_see_it,
    embedded_records_are_visible_with_their_record_and_can_be_sent_back,
    deleting_a_record_deletes_attachments_that_the_caller_cannot_see,
    child_records_of_a_deleted_parent_are_hidden_from_everyone,
);

/// What shows the note, or takes a reference to it.
const DOORS: &[&str] = &[
    "show",
    "list",
    "list of its attachments",
    "show an attachment",
    "attach",
    "refer",
    "refer in a list",
    "refer to any of several",
    "refer to a part",
    "refer to an attachment",
    "rule that it exists",
    "include in a list",
    "include of one",
    "include of any of several",
    "include of a part",
    "include of an attachment",
    "create beside it",
    "update by bulk",
];

/// Whether a door is open to a client; panics where it is broken.
async fn opens(world: &World, client: &Client, door: &str) -> bool {
    let World { folder, note, attachment, pin, link, .. } = world;
    let (path, id) = (world.path(), &note["id"]);
    let shows = |answer: Value| answer.to_string().contains(SECRET);
    let pinned = async |body: Value| match client.post("/pins", body).await {
        answer if answer.status == 201 => true,
        answer => {
            answer.status(422);
            false
        }
    };
    // What refers to a note that is gone may be gone with it.
    let included = async |path: String| match client.get(&path).await {
        answer if answer.status == 404 => Value::Null,
        answer => answer.ok(),
    };
    match door {
        "show" => found(client.get(&path).await),
        "list" => found(client.get(&format!("/folders/{}/notes", folder["id"])).await),
        "list of its attachments" => found(client.get(&format!("{path}/attachments")).await),
        "show an attachment" => found(client.get(&format!("/attachments/{}", attachment["id"])).await),
        "attach" => match attach(client, note).await {
            answer if answer.status == 201 => true,
            answer => {
                answer.invalid("attachable_id");
                false
            }
        },
        "refer" => match client.post("/links", json!({ "note_id": id })).await {
            answer if answer.status == 201 => true,
            answer => {
                answer.invalid("note_id");
                false
            }
        },
        "refer in a list" => pinned(json!({ "note_ids": [id] })).await,
        "refer to any of several" => pinned(json!({ "subject_type": "Note", "subject_id": id })).await,
        "refer to a part" => pinned(json!({ "mark_id": note["marks"][0]["id"] })).await,
        "refer to an attachment" => pinned(json!({ "file_id": attachment["id"] })).await,
        "rule that it exists" => pinned(json!({ "quote": SECRET })).await,
        "include in a list" => shows(included("/links?include=note".into()).await),
        "include of one" => shows(included(format!("/links/{}?include=note", link["id"])).await),
        "include of any of several" => {
            let answer = included(format!("/pins/{}?include=subject", pin["id"])).await;
            !answer["pin"]["subject"].is_null()
        }
        "include of a part" => {
            let answer = included(format!("/pins/{}?include=mark", pin["id"])).await;
            !answer["pin"]["mark"].is_null()
        }
        "include of an attachment" => {
            let answer = included(format!("/pins/{}?include=file", pin["id"])).await;
            !answer["pin"]["file"].is_null()
        }
        "create beside it" => {
            let answer = client.post(&format!("/folders/{}/notes", folder["id"]), json!({ "body": "x" })).await;
            answer.status == 201 || found(answer)
        }
        "update by bulk" => {
            let bulk = json!({ "operations": [{ "method": "update", "id": id, "note": { "body": SECRET } }] });
            found(client.post(&format!("/folders/{}/notes/bulk", folder["id"]), bulk).await)
        }
        other => panic!("there is no door `{other}`"),
    }
}

fn found(answer: crate::support::Answer) -> bool {
    if answer.status == 404 {
        answer.refused(404, "not_found");
        return false;
    }
    answer.ok();
    true
}

async fn child_record_is_visible_only_if_its_parent_is(server: Folders) {
    let world = World::new(server).await;
    for door in DOORS {
        for (who, client, sees) in world.callers() {
            assert_eq!(opens(&world, client, door).await, sees, "{door}, as {who}");
        }
    }
}

async fn child_record_can_be_changed_by_callers_who_see_it(server: Folders) {
    let world = World::new(server).await;
    let World { owner, stranger, admin, attachment, folder, .. } = &world;
    let path = world.path();
    stranger.put(&path, json!({ "body": "x" })).await.refused(404, "not_found");
    stranger.delete(&format!("/attachments/{}", attachment["id"])).await.refused(404, "not_found");
    stranger.delete(&path).await.refused(404, "not_found");
    // Nor is a note taken out of a folder, or put into one that is hidden.
    let own = stranger.post("/folders", json!({ "name": "Own" })).await.created("folder");
    let own = stranger.post(&format!("/folders/{}/notes", own["id"]), json!({ "body": "x" })).await.created("note");
    let moved = json!({ "folder_id": folder["id"] });
    stranger.put(&format!("/folders/{}/notes/{}", own["folder_id"], own["id"]), moved).await.invalid("folder_id");
    for client in [owner, admin] {
        client.put(&path, json!({ "body": SECRET })).await.record("note");
        let attachment = attach(client, &world.note).await.created("attachment");
        client.delete(&format!("/attachments/{}", attachment["id"])).await.deleted();
    }
}

async fn embedded_records_are_visible_with_their_record_and_can_be_sent_back(server: Folders) {
    let world = World::new(server).await;
    for client in [&world.owner, &world.admin] {
        let note = client.get(&world.path()).await.record("note");
        assert_eq!(note["marks"][0]["word"], "mirror");
        // What was read can be sent back.
        assert_eq!(client.put(&world.path(), note.clone()).await.record("note"), note);
    }
}

async fn deleting_a_record_deletes_attachments_that_the_caller_cannot_see(server: Folders) {
    let world = World::new(server).await;
    let World { owner, admin, attachment, link, pin, .. } = &world;
    admin.delete(&format!("/pins/{}", pin["id"])).await.deleted();
    admin.delete(&format!("/links/{}", link["id"])).await.deleted();
    owner.delete(&world.path()).await.deleted();
    admin.get(&format!("/attachments/{}", attachment["id"])).await.refused(404, "not_found");
}

async fn child_records_of_a_deleted_parent_are_hidden_from_everyone(server: Folders) {
    let world = World::new(server).await;
    world.owner.delete(&format!("/folders/{}", world.folder["id"])).await.deleted();
    for door in DOORS {
        for (who, client, _) in world.callers() {
            assert!(!opens(&world, client, door).await, "{door}, as {who}");
        }
    }
}
