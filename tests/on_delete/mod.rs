//! `on_delete` of references: what a deletion does to the records that refer to the deleted one.

mod limits;
mod panel;
mod shelves;

use serde_json::{Value, json};

use crate::routes::imports;
use crate::support::{Client, on_both};
use shelves::Shelves;

/// Creates a record, and returns its id.
async fn made(client: &Client, record: &str, plural: &str, body: Value) -> i64 {
    let record = client.post(&format!("/{plural}"), body).await.created(record);
    record["id"].as_i64().expect("an id")
}

/// The actions on a record in the audit log, oldest first.
async fn log(client: &Client, plural: &str, id: i64) -> Vec<Value> {
    let path = format!("/audit_entries?q[entity_type_eq]={plural}&q[record_id_eq]={id}&sort=id");
    client.get(&path).await.column("audit_entries", "action")
}

async fn total(client: &Client, plural: &str) -> Value {
    client.get(&format!("/{plural}")).await.ok()["meta"]["total"].clone()
}

on_both!(
    restrict_refuses_with_the_number_and_the_resource,
    restrict_does_not_name_records_that_the_caller_may_not_see,
    restrict_allows_records_that_are_deleted_along,
    clear_sets_the_reference_to_null_with_its_event,
    clear_reaches_records_in_the_trash,
    cascade_deletes_a_tree_with_its_events,
    cascade_ends_for_records_that_refer_to_each_other,
    hook_of_a_record_refuses_the_whole_deletion,
    soft_deletion_cascades_and_restore_brings_back,
    restore_leaves_what_was_deleted_before_or_cannot_return,
    restrict_sees_a_soft_deletion,
    bulk_deletion_applies_them_to_each_record,
    undo_of_an_import_leaves_records_that_others_refer_to,
    record_created_while_its_parent_is_deleted_is_refused,
    description_of_the_deletion_names_the_effects,
);

async fn restrict_refuses_with_the_number_and_the_resource(server: Shelves) {
    let admin = server.admin();
    let bin = made(&admin, "bin", "bins", json!({ "name": "B" })).await;
    let first = made(&admin, "seal", "seals", json!({ "bin_id": bin })).await;
    let second = made(&admin, "seal", "seals", json!({ "bin_id": bin })).await;
    let path = format!("/bins/{bin}");
    let refused = admin.delete(&path).await.refused(409, "conflict");
    let message = "2 seals still refer to this record by bin_id. Change or delete them first.";
    assert_eq!(refused["message"], message);
    admin.delete(&format!("/seals/{first}")).await.deleted();
    let refused = admin.delete(&path).await.refused(409, "conflict");
    assert_eq!(refused["message"], "1 seal still refers to this record by bin_id. Change or delete it first.");
    admin.put(&format!("/seals/{second}"), json!({ "bin_id": "" })).await.ok();
    admin.delete(&path).await.deleted();
}

async fn restrict_does_not_name_records_that_the_caller_may_not_see(server: Shelves) {
    let admin = server.admin();
    let bin = made(&admin, "bin", "bins", json!({ "name": "B" })).await;
    made(&admin, "seal", "seals", json!({ "bin_id": bin })).await;
    let (_, other) = server.user(&[], &["*"]).await;
    let refused = other.delete(&format!("/bins/{bin}")).await.refused(409, "conflict");
    let message = "Records that you may not see still refer to this record: seals, by bin_id.";
    assert_eq!(refused["message"], message);
    made(&other, "seal", "seals", json!({ "bin_id": bin })).await;
    let refused = other.delete(&format!("/bins/{bin}")).await.refused(409, "conflict");
    let message = "1 seal and others that you may not see still refer to this record by bin_id.";
    assert_eq!(refused["message"], message);
}

async fn restrict_allows_records_that_are_deleted_along(server: Shelves) {
    let admin = server.admin();
    let shelf = made(&admin, "shelf", "shelves", json!({ "name": "S" })).await;
    let bin = made(&admin, "bin", "bins", json!({ "name": "B", "shelf_id": shelf })).await;
    let seal = made(&admin, "seal", "seals", json!({ "bin_id": bin })).await;
    let path = format!("/shelves/{shelf}");
    let refused = admin.delete(&path).await.refused(409, "conflict");
    let message = "1 seal still refers to records that would be deleted with it by bin_id. Change or delete it first.";
    assert_eq!(refused["message"], message);
    assert_eq!(total(&admin, "bins").await, 1, "nothing was deleted");
    admin.put(&format!("/seals/{seal}"), json!({ "shelf_id": shelf })).await.ok();
    admin.delete(&path).await.deleted();
    assert_eq!([total(&admin, "bins").await, total(&admin, "seals").await], [json!(0), json!(0)]);
}

async fn clear_sets_the_reference_to_null_with_its_event(server: Shelves) {
    let admin = server.admin();
    let bin = made(&admin, "bin", "bins", json!({ "name": "B" })).await;
    let note = made(&admin, "note", "notes", json!({ "name": "N", "bin_id": bin })).await;
    let listed = admin.get("/notes").await.records("notes");
    assert_eq!(listed[0]["bin_id"], bin);
    let before = server.event_bodies(0).await.len();
    admin.delete(&format!("/bins/{bin}")).await.deleted();
    let events = server.event_bodies(before).await;
    let names: Vec<&Value> = events.iter().map(|event| &event["event"]).collect();
    assert_eq!(names, ["note.updated", "bin.deleted"]);
    assert_eq!(events[0]["data"]["note"]["bin_id"], Value::Null);
    assert_eq!(log(&admin, "notes", note).await, ["create", "update"]);
    // The cached list of before is not valid any more.
    assert_eq!(admin.get("/notes").await.records("notes")[0]["bin_id"], Value::Null);
}

async fn clear_reaches_records_in_the_trash(server: Shelves) {
    let admin = server.admin();
    let bin = made(&admin, "bin", "bins", json!({ "name": "B" })).await;
    let note = made(&admin, "note", "notes", json!({ "name": "N", "bin_id": bin })).await;
    admin.delete(&format!("/notes/{note}")).await.deleted();
    let before = server.event_bodies(0).await.len();
    admin.delete(&format!("/bins/{bin}")).await.deleted();
    assert_eq!(server.event_bodies(before).await.len(), 1, "a deleted note has no events");
    let restored = admin.post(&format!("/notes/{note}/restore"), json!({})).await.record("note");
    assert_eq!(restored["bin_id"], Value::Null);
    assert_eq!(log(&admin, "notes", note).await, ["create", "delete", "update", "restore"]);
}

async fn cascade_deletes_a_tree_with_its_events(server: Shelves) {
    let admin = server.admin();
    let shelf = made(&admin, "shelf", "shelves", json!({ "name": "S" })).await;
    let other = made(&admin, "shelf", "shelves", json!({ "name": "T" })).await;
    let outer = made(&admin, "bin", "bins", json!({ "name": "outer", "shelf_id": shelf })).await;
    // A bin that the shelf reaches twice: directly, and through the outer bin.
    let inner = made(&admin, "bin", "bins", json!({ "name": "inner", "shelf_id": shelf, "outer_id": outer })).await;
    let small = made(&admin, "bin", "bins", json!({ "name": "small", "outer_id": inner })).await;
    let kept = made(&admin, "bin", "bins", json!({ "name": "kept", "shelf_id": other })).await;
    let note = made(&admin, "note", "notes", json!({ "name": "N", "bin_id": small })).await;
    let before = server.event_bodies(0).await.len();
    admin.delete(&format!("/shelves/{shelf}")).await.deleted();
    let events = server.event_bodies(before).await;
    let names: Vec<&Value> = events.iter().map(|event| &event["event"]).collect();
    assert_eq!(names, ["note.updated", "bin.deleted", "bin.deleted", "bin.deleted", "shelf.deleted"]);
    let order: Vec<&Value> = events[1..4].iter().map(|event| &event["data"]["bin"]["id"]).collect();
    assert_eq!(order, [small, inner, outer]);
    assert_eq!(admin.get("/bins").await.column("bins", "id"), [kept]);
    assert_eq!(admin.get(&format!("/notes/{note}")).await.record("note")["bin_id"], Value::Null);
    assert_eq!(log(&admin, "bins", small).await, ["create", "delete"]);
}

async fn cascade_ends_for_records_that_refer_to_each_other(server: Shelves) {
    let admin = server.admin();
    let one = made(&admin, "bin", "bins", json!({ "name": "one" })).await;
    let two = made(&admin, "bin", "bins", json!({ "name": "two", "outer_id": one })).await;
    admin.put(&format!("/bins/{one}"), json!({ "outer_id": two })).await.ok();
    admin.delete(&format!("/bins/{one}")).await.refused(409, "conflict");
    admin.put(&format!("/bins/{one}"), json!({ "outer_id": "" })).await.ok();
    admin.delete(&format!("/bins/{one}")).await.deleted();
    assert_eq!(total(&admin, "bins").await, 0);
}

async fn hook_of_a_record_refuses_the_whole_deletion(server: Shelves) {
    let admin = server.admin();
    let shelf = made(&admin, "shelf", "shelves", json!({ "name": "S" })).await;
    made(&admin, "bin", "bins", json!({ "name": "loose", "shelf_id": shelf })).await;
    made(&admin, "bin", "bins", json!({ "name": "nailed", "shelf_id": shelf })).await;
    let before = server.event_bodies(0).await.len();
    let refused = admin.delete(&format!("/shelves/{shelf}")).await.refused(409, "conflict");
    assert_eq!(refused["message"], "It is nailed down.");
    assert_eq!([total(&admin, "bins").await, total(&admin, "shelves").await], [json!(2), json!(1)]);
    assert_eq!(server.event_bodies(before).await.len(), 0);
}

async fn soft_deletion_cascades_and_restore_brings_back(server: Shelves) {
    let admin = server.admin();
    let team = made(&admin, "team", "teams", json!({ "name": "A" })).await;
    let lamp = made(&admin, "lamp", "lamps", json!({ "name": "D", "team_id": team })).await;
    let phone = made(&admin, "phone", "phones", json!({ "team_id": team })).await;
    admin.delete(&format!("/teams/{team}")).await.deleted();
    assert_eq!(admin.get("/lamps?deleted=only").await.column("lamps", "id"), [lamp]);
    assert_eq!(admin.get(&format!("/phones/{phone}")).await.record("phone")["team_id"], Value::Null);
    admin.post(&format!("/teams/{team}/restore"), json!({})).await.ok();
    assert_eq!(admin.get("/lamps").await.column("lamps", "id"), [lamp]);
    assert_eq!(log(&admin, "lamps", lamp).await, ["create", "delete", "restore"]);
    assert!(server.events("lamp.").await.contains(&"lamp.restored".to_owned()));
}

async fn restore_leaves_what_was_deleted_before_or_cannot_return(server: Shelves) {
    let admin = server.admin();
    let team = made(&admin, "team", "teams", json!({ "name": "A" })).await;
    let other = made(&admin, "team", "teams", json!({ "name": "B" })).await;
    let before = made(&admin, "lamp", "lamps", json!({ "name": "before", "team_id": team })).await;
    let taken = made(&admin, "lamp", "lamps", json!({ "name": "taken", "team_id": team })).await;
    let plain = made(&admin, "lamp", "lamps", json!({ "name": "plain", "team_id": team })).await;
    admin.delete(&format!("/lamps/{before}")).await.deleted();
    server.sql(&format!("UPDATE lamps SET deleted_at = '2026-01-02 03:04:05+00:00' WHERE id = {before}")).await;
    admin.delete(&format!("/teams/{team}")).await.deleted();
    made(&admin, "lamp", "lamps", json!({ "name": "taken", "team_id": other })).await;
    admin.post(&format!("/teams/{team}/restore"), json!({})).await.ok();
    admin.get(&format!("/lamps/{plain}")).await.ok();
    let deleted = admin.get("/lamps?deleted=only&sort=id").await.column("lamps", "id");
    assert_eq!(deleted, [before, taken]);
}

async fn restrict_sees_a_soft_deletion(server: Shelves) {
    let admin = server.admin();
    let team = made(&admin, "team", "teams", json!({ "name": "A" })).await;
    let contract = made(&admin, "contract", "contracts", json!({ "team_id": team })).await;
    let refused = admin.delete(&format!("/teams/{team}")).await.refused(409, "conflict");
    assert_eq!(refused["message"], "1 contract still refers to this record by team_id. Change or delete it first.");
    admin.delete(&format!("/contracts/{contract}")).await.deleted();
    admin.delete(&format!("/teams/{team}")).await.deleted();
}

async fn bulk_deletion_applies_them_to_each_record(server: Shelves) {
    let admin = server.admin();
    let free = made(&admin, "team", "teams", json!({ "name": "free" })).await;
    let bound = made(&admin, "team", "teams", json!({ "name": "bound" })).await;
    let lamp = made(&admin, "lamp", "lamps", json!({ "name": "D", "team_id": free })).await;
    made(&admin, "contract", "contracts", json!({ "team_id": bound })).await;
    let operations = [free, bound].map(|id| json!({ "method": "delete", "id": id }));
    let body = |atomic: bool| json!({ "atomic": atomic, "operations": operations });
    admin.post("/teams/bulk", body(true)).await.refused(422, "validation_failed");
    assert_eq!(admin.get("/lamps").await.column("lamps", "id"), [lamp]);
    let answer = admin.post("/teams/bulk", body(false)).await.ok();
    assert_eq!([&answer["results"][0]["status"], &answer["results"][1]["status"]], [204, 409]);
    assert_eq!(total(&admin, "lamps").await, 0);
    assert_eq!(admin.get("/teams").await.column("teams", "id"), [bound]);
}

async fn undo_of_an_import_leaves_records_that_others_refer_to(server: Shelves) {
    let admin = server.admin();
    let import = imports::uploaded(&admin, "shelves", "name\nS\nT\n").await;
    imports::finished(&admin, &import, "run").await;
    let shelf = admin.get("/shelves?q[name_eq]=S").await.column("shelves", "id")[0].clone();
    made(&admin, "bin", "bins", json!({ "name": "B", "shelf_id": shelf })).await;
    let undone = imports::finished(&admin, &import, "undo").await;
    assert_eq!((&undone["undone_count"], &undone["left_count"]), (&json!(1), &json!(1)));
    assert_eq!((total(&admin, "shelves").await, total(&admin, "bins").await), (json!(1), json!(1)));
}

async fn record_created_while_its_parent_is_deleted_is_refused(server: Shelves) {
    let admin = server.admin();
    for round in 0..20 {
        let team = made(&admin, "team", "teams", json!({ "name": round.to_string() })).await;
        let path = format!("/teams/{team}");
        let create = admin.post("/contracts", json!({ "team_id": team }));
        let (created, deleted) = tokio::join!(create, admin.delete(&path));
        // One of the two comes first, and the other is refused.
        assert_eq!((created.status == 201, deleted.status == 204), (deleted.status == 409, created.status == 422));
        assert!(created.status == 201 || deleted.status == 204, "{} {}", created.text, deleted.text);
    }
}

async fn description_of_the_deletion_names_the_effects(server: Shelves) {
    let document = server.admin().get("/openapi.json").await.ok();
    let text = |path: &str| {
        document["paths"][format!("/api/v1{path}")]["delete"]["description"].as_str().expect("a text").to_owned()
    };
    let (bins, teams) = (text("/bins/{id}"), text("/teams/{id}"));
    assert!(bins.contains("The notes that refer to it by `bin_id` lose the reference."), "{bins}");
    assert!(bins.contains("Fails while seals refer to it by `bin_id`."), "{bins}");
    assert!(teams.contains("The lamps that refer to it by `team_id` are deleted, too."), "{teams}");
}
