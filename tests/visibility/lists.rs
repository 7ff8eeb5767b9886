//! Visibility in lists: relation filters, saved views, totals, exports and the audit log.

use serde_json::{Value, json};

use super::{SECRET, World};
use crate::support::{Client, Folders, on_both};

on_both!(
    filter_through_a_relation_matches_only_visible_records,
    hidden_record_is_indistinguishable_from_a_missing_one,
    saved_view_matches_only_records_visible_to_its_reader,
    export_contains_the_same_records_as_the_list,
    summary_aggregates_the_records_that_its_caller_sees,
    audit_entries_of_a_hidden_record_are_hidden,
    history_of_a_hidden_record_is_hidden_in_the_panel,
);

/// Number of links that a query finds, equal in total and rows, by page and by cursor.
async fn links(client: &Client, query: &str) -> usize {
    let answer = client.get(&format!("/links?{query}")).await;
    let rows = answer.records("links").len();
    assert_eq!(answer.json()["meta"]["total"], rows, "{query}");
    assert_eq!(client.get(&format!("/links?{query}&cursor=")).await.records("links").len(), rows, "{query}");
    rows
}

pub(super) async fn filter_through_a_relation_matches_only_visible_records(server: Folders) {
    let world = World::new(server).await;
    let filters = json!([{ "field": "note.body", "predicate": "cont", "value": "mirror" }]).to_string();
    let filters =
        format!("filters={}", percent_encoding::utf8_percent_encode(&filters, percent_encoding::NON_ALPHANUMERIC));
    let queries =
        ["q[note.body_cont]=MIRROR", &format!("q[note.body_eq]={SECRET}"), "q[note.body_present]=1", &filters];
    for query in queries {
        // Twice, because a cached response must not leak to another caller.
        for (who, client, sees) in world.callers().into_iter().chain(world.callers()) {
            assert_eq!(links(client, query).await, usize::from(sees), "{query}, as {who}");
        }
    }
}

pub(super) async fn hidden_record_is_indistinguishable_from_a_missing_one(server: Folders) {
    let world = World::new(server).await;
    for (query, seen, hidden) in [
        ("q[note.body_blank]=1", 0, 1),
        ("q[note.body_null]=1", 0, 1),
        ("q[note.body_not_null]=1", 1, 0),
        ("q[note.body_not_cont]=lamp", 1, 0),
        ("q[note.body_not_eq]=lamp", 1, 0),
        ("q[id_gt]=0", 1, 1),
    ] {
        for (who, client, sees) in world.callers() {
            assert_eq!(links(client, query).await, if sees { seen } else { hidden }, "{query}, as {who}");
        }
    }
}

pub(super) async fn saved_view_matches_only_records_visible_to_its_reader(server: Folders) {
    let world = World::new(server).await;
    let view = json!({
        "name": "Mirrors", "entity_type": "links", "visibility": "system", "columns": ["id"],
        "filters": [{ "field": "note.body", "predicate": "cont", "value": "mirror" }],
    });
    let view = world.admin.post("/custom_views", view).await.created("custom_view");
    for (who, client, sees) in world.callers() {
        assert_eq!(links(client, &format!("view_id={}", view["id"])).await, usize::from(sees), "{who}");
    }
}

pub(super) async fn export_contains_the_same_records_as_the_list(server: Folders) {
    let world = World::new(server).await;
    for (who, client, sees) in world.callers() {
        let csv = client.with("accept", "text/csv").get("/links?q[note.body_cont]=mirror").await;
        let lines = csv.status(200).text.lines().count();
        assert_eq!(lines, 1 + usize::from(sees), "{who}");
    }
}

pub(super) async fn summary_aggregates_the_records_that_its_caller_sees(server: Folders) {
    let world = World::new(server).await;
    let notes = format!("/folders/{}/notes/summary?group=folder_id&q[body_cont]=mirror", world.folder["id"]);
    // Twice, because a cached summary must not leak to another caller.
    for (who, client, sees) in world.callers().into_iter().chain(world.callers()) {
        let count = async |path: &str| {
            let groups = client.get(path).await.records("summary");
            groups.iter().filter_map(|group| group["count"].as_i64()).sum::<i64>()
        };
        assert_eq!(count("/folders/summary?group=name&min=id").await, i64::from(sees), "{who}");
        assert_eq!(count("/links/summary?q[note.body_cont]=MIRROR").await, i64::from(sees), "{who}");
        assert_eq!(
            count("/audit_entries/summary?q[entity_type_eq]=notes&group=action").await,
            i64::from(sees),
            "{who}"
        );
        let answer = client.get(&notes).await;
        if sees {
            let group = json!({ "group": { "folder_id": world.folder["id"] }, "count": 1 });
            assert_eq!(answer.records("summary"), [group], "{who}");
        } else {
            answer.refused(404, "not_found");
        }
        // A list shows the id of a hidden record, and so does the summary.
        let listed = client.get("/links").await.column("links", "note_id");
        let grouped = client.get("/links/summary?group=note_id").await.records("summary");
        assert_eq!(grouped[0]["group"]["note_id"], listed[0], "{who}");
        assert_eq!(grouped[0].as_object().expect("a group").len(), 2, "the group has nothing but the id and the count");
    }
}

pub(super) async fn audit_entries_of_a_hidden_record_are_hidden(server: Folders) {
    let world = World::new(server).await;
    for entity in ["folders", "notes", "marks", "attachments"] {
        for (who, client, sees) in world.callers() {
            let found = client.get(&format!("/audit_entries?q[entity_type_eq]={entity}")).await;
            assert_eq!(!found.records("audit_entries").is_empty(), sees, "{entity}, as {who}");
        }
    }
    let entries = world.admin.get("/audit_entries?q[entity_type_eq]=notes").await.records("audit_entries");
    let path = format!("/audit_entries/{}", entries[0]["id"]);
    world.stranger.get(&path).await.refused(404, "not_found");
    assert!(world.owner.get(&path).await.ok().to_string().contains(SECRET));
    // Records that everyone sees are in everyone's audit log.
    let seen: Vec<Value> = world.stranger.get("/audit_entries?q[entity_type_eq]=links").await.records("audit_entries");
    assert_eq!(seen.len(), 1);
}

pub(super) async fn history_of_a_hidden_record_is_hidden_in_the_panel(server: Folders) {
    let world = World::new(server).await;
    let mut owner = crate::panel::signed_in(&world.server, &world.owner_user).await;
    let mut stranger = crate::panel::signed_in(&world.server, &world.stranger_user).await;
    let path = world.path();
    for path in [path.clone(), format!("{path}/history"), format!("{path}/edit")] {
        owner.get(&path).await.status(200).says(SECRET);
        stranger.get(&path).await.status(404);
    }
    let link = format!("/links/{}", world.link["id"]);
    for path in [link.as_str(), "/links", "/pins"] {
        assert!(!stranger.get(path).await.status(200).text.contains("mirror"), "{path}");
    }
}
