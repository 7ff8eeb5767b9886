//! Order of the events and audit entries of one transaction.

use serde_json::json;

use super::Behaviours;
use crate::support::on_both;

on_both!(events_of_a_hooks_changes_follow_the_event_of_the_triggering_change);

async fn events_of_a_hooks_changes_follow_the_event_of_the_triggering_change(server: Behaviours) {
    let admin = server.admin();
    let before = server.event_bodies(0).await.len();
    let player = admin.post("/players", json!({ "practice": 2 })).await.created("player");
    assert_eq!(player["hits"], 2, "what the hook changed is answered");
    let told: Vec<_> = server.event_bodies(before).await;
    let told: Vec<_> =
        told.iter().map(|body| (body["event"].clone(), body["data"]["player"]["hits"].clone())).collect();
    let expected = [("player.created", 0), ("player.updated", 1), ("player.updated", 2)];
    assert_eq!(told, expected.map(|(event, hits)| (json!(event), json!(hits))));
    let entries = admin.get("/audit_entries?q[entity_type_eq]=players&sort=id").await.column("audit_entries", "action");
    assert_eq!(entries, ["create", "update", "update"]);
}
