//! `POST /activities/{id}/complete`.

use reqwest::Method;
use serde_json::json;

use super::{created, path};
use crate::support::{Server, on_both};

on_both!(
    complete_sets_the_status_and_returns_the_activity,
    completing_twice_returns_the_same_activity_and_emits_no_event,
    cancelled_activity_can_be_completed_and_reopened,
    completing_a_missing_activity_returns_404,
    complete_requires_the_ability_activities_write,
);

async fn complete_sets_the_status_and_returns_the_activity(server: Server) {
    let admin = server.admin();
    let activity = created(&admin, json!({})).await;
    let completed = admin.send(Method::POST, &format!("{}/complete", path(&activity)), None).await.record("activity");
    let mut expected = activity.clone();
    expected["completed"] = json!(true);
    expected["status_id"] = json!(2002);
    expected["activity_status_name"] = json!("Completed");
    expected["updated_at"] = completed["updated_at"].clone();
    assert_eq!(completed, expected);
    assert_eq!(admin.get(&path(&activity)).await.record("activity"), completed);
    assert_eq!(admin.get("/activities?q[completed_true]=1").await.records("activities"), [completed]);
}

async fn completing_twice_returns_the_same_activity_and_emits_no_event(server: Server) {
    let admin = server.admin();
    let activity = created(&admin, json!({})).await;
    let complete = async || admin.post(&format!("{}/complete", path(&activity)), json!({})).await.record("activity");
    let first = complete().await;
    assert_eq!(complete().await, first);
    assert_eq!(server.events("activity.").await, ["activity.created", "activity.updated"]);
}

async fn cancelled_activity_can_be_completed_and_reopened(server: Server) {
    let admin = server.admin();
    let activity = created(&admin, json!({ "status_id": 2003 })).await;
    let completed = admin.send(Method::POST, &format!("{}/complete", path(&activity)), None).await.record("activity");
    assert_eq!([&completed["completed"], &completed["status_id"]], [&json!(true), &json!(2002)]);
    let opened = admin.put(&path(&activity), json!({ "status_id": 2001 })).await.record("activity");
    assert_eq!(opened["completed"], false);
}

async fn completing_a_missing_activity_returns_404(server: Server) {
    let admin = server.admin();
    admin.send(Method::POST, "/activities/999/complete", None).await.refused(404, "not_found");
    admin.send(Method::POST, "/activities/x/complete", None).await.refused(404, "not_found");
    let answer = admin.get("/activities/1/complete").await;
    answer.refused(405, "method_not_allowed");
    assert_eq!(answer.header("allow"), Some("POST"));
}

async fn complete_requires_the_ability_activities_write(server: Server) {
    let activity = created(&server.admin(), json!({})).await;
    let reader = server.able(&["activities:read"]).await;
    let url = format!("{}/complete", path(&activity));
    reader.send(Method::POST, &url, None).await.refused(403, "ability_missing");
    server.able(&["activities:write"]).await.send(Method::POST, &url, None).await.record("activity");
}
