//! Visibility of single records: the note at its path, attachments, references and includes.

use serde_json::{Value, json};

use super::{SECRET, World, attach};
use crate::support::{Client, Folders, on_both};

on_both!(
    child_record_is_visible_with_its_parent,
    child_record_can_be_changed_by_those_who_see_it,
    embedded_records_share_the_visibility_of_their_record,
    deleting_a_record_deletes_its_dependents,
    children_of_a_deleted_parent_are_hidden,
);

/// Endpoints that show the note or accept a reference to it.
const ENDPOINTS: &[&str] = &[
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
    "create a sibling",
    "update by bulk",
];

/// Reports whether the client sees the note through this endpoint; panics on any other response.
async fn reaches(world: &World, client: &Client, endpoint: &str) -> bool {
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
    // A record that refers to a deleted note may be deleted with it.
    let included = async |path: String| match client.get(&path).await {
        answer if answer.status == 404 => Value::Null,
        answer => answer.ok(),
    };
    match endpoint {
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
        "create a sibling" => {
            let answer = client.post(&format!("/folders/{}/notes", folder["id"]), json!({ "body": "x" })).await;
            answer.status == 201 || found(answer)
        }
        "update by bulk" => {
            let bulk = json!({ "operations": [{ "method": "update", "id": id, "note": { "body": SECRET } }] });
            found(client.post(&format!("/folders/{}/notes/bulk", folder["id"]), bulk).await)
        }
        other => panic!("there is no endpoint `{other}`"),
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

pub(super) async fn child_record_is_visible_with_its_parent(server: Folders) {
    let world = World::new(server).await;
    for endpoint in ENDPOINTS {
        for (who, client, sees) in world.callers() {
            assert_eq!(reaches(&world, client, endpoint).await, sees, "{endpoint}, as {who}");
        }
    }
}

pub(super) async fn child_record_can_be_changed_by_those_who_see_it(server: Folders) {
    let world = World::new(server).await;
    let World { owner, stranger, admin, attachment, folder, .. } = &world;
    let path = world.path();
    stranger.put(&path, json!({ "body": "x" })).await.refused(404, "not_found");
    stranger.delete(&format!("/attachments/{}", attachment["id"])).await.refused(404, "not_found");
    stranger.delete(&path).await.refused(404, "not_found");
    // A note cannot be moved into a hidden folder.
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

pub(super) async fn embedded_records_share_the_visibility_of_their_record(server: Folders) {
    let world = World::new(server).await;
    for client in [&world.owner, &world.admin] {
        let note = client.get(&world.path()).await.record("note");
        assert_eq!(note["marks"][0]["word"], "mirror");
        // The response can be sent back unchanged.
        assert_eq!(client.put(&world.path(), note.clone()).await.record("note"), note);
    }
}

pub(super) async fn deleting_a_record_deletes_its_dependents(server: Folders) {
    let world = World::new(server).await;
    let World { owner, admin, attachment, link, pin, .. } = &world;
    admin.delete(&format!("/pins/{}", pin["id"])).await.deleted();
    admin.delete(&format!("/links/{}", link["id"])).await.deleted();
    owner.delete(&world.path()).await.deleted();
    admin.get(&format!("/attachments/{}", attachment["id"])).await.refused(404, "not_found");
}

pub(super) async fn children_of_a_deleted_parent_are_hidden(server: Folders) {
    let world = World::new(server).await;
    world.owner.delete(&format!("/folders/{}", world.folder["id"])).await.deleted();
    for endpoint in ENDPOINTS {
        for (who, client, _) in world.callers() {
            assert!(!reaches(&world, client, endpoint).await, "{endpoint}, as {who}");
        }
    }
}
