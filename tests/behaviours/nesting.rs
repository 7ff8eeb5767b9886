//! Hooks that revise each other without end.

use serde_json::json;

use super::Behaviours;
use crate::support::{logged, on_both};

on_both!(
    endlessly_nested_hooks_return_500_and_store_nothing,
    hooks_can_be_nested_up_to_a_maximum_depth,
    recursive_after_commit_hooks_stop_at_the_maximum_depth,
);

async fn endlessly_nested_hooks_return_500_and_store_nothing(server: Behaviours) {
    let admin = server.admin();
    let one = admin.post("/players", json!({})).await.created("player");
    let two = admin.post("/players", json!({ "partner_id": one["id"] })).await.created("player");
    let (one, two) = (format!("/players/{}", one["id"]), format!("/players/{}", two["id"]));
    let before = [admin.get(&one).await.record("player"), admin.get(&two).await.record("player")];
    let events = server.events("player.").await;
    for _ in 0..3 {
        let answer = admin.put(&one, json!({ "partner_id": before[1]["id"] })).await;
        answer.refused(500, "internal_error");
        let line = logged(answer.header("x-request-id").expect("an id"));
        assert!(line.contains("player.revise, player.after_save, player.revise"), "{line}");
        // The server still answers, and the writes are rolled back.
        assert_eq!([admin.get(&one).await.record("player"), admin.get(&two).await.record("player")], before);
        assert_eq!(server.events("player.").await, events);
    }
}

async fn hooks_can_be_nested_up_to_a_maximum_depth(server: Behaviours) {
    let admin = server.admin();
    // Each throw is two levels: the revision and its hook.
    let player = admin.post("/players", json!({ "practice": 15 })).await.created("player");
    assert_eq!(player["hits"], 15);
    admin.post("/players", json!({ "practice": 16 })).await.refused(500, "internal_error");
    assert_eq!(admin.get("/players").await.json()["meta"]["total"], 1);
}

async fn recursive_after_commit_hooks_stop_at_the_maximum_depth(server: Behaviours) {
    let admin = server.admin();
    let player = admin.post("/players", json!({})).await.created("player");
    let path = format!("/players/{}", player["id"]);
    // It throws to itself in each `after_save`.
    admin.put(&path, json!({ "next_id": player["id"] })).await.record("player");
    let hits = admin.get(&path).await.record("player")["hits"].as_i64().expect("a number");
    assert!((1..32).contains(&hits), "{hits}");
}
