//! `DELETE /activities/{id}`.

use serde_json::json;

use super::{created, member, path};
use crate::support::{Server, on_both};

on_both!(
    deleting_an_activity_returns_204_and_removes_it,
    deleting_an_activity_deletes_its_participants,
    delete_event_contains_the_activity_before_the_delete,
    deleting_an_activity_requires_the_ability_activities_write,
);

async fn deleting_an_activity_returns_204_and_removes_it(server: Server) {
    let admin = server.admin();
    let activity = created(&admin, json!({})).await;
    admin.delete(&path(&activity)).await.deleted();
    admin.get(&path(&activity)).await.refused(404, "not_found");
    admin.delete(&path(&activity)).await.refused(404, "not_found");
    assert_eq!(admin.get("/activities").await.ok()["meta"]["total"], 0);
}

async fn deleting_an_activity_deletes_its_participants(server: Server) {
    let admin = server.admin();
    let ada = member(&admin, "Ada").await;
    let activity = created(&admin, json!({ "participants": [{ "member_id": ada }] })).await;
    admin.delete(&path(&activity)).await.deleted();
    // Nothing refers to the member any more.
    admin.delete(&format!("/members/{ada}")).await.deleted();
}

async fn delete_event_contains_the_activity_before_the_delete(server: Server) {
    let admin = server.admin();
    let activity = created(&admin, json!({})).await;
    admin.delete(&path(&activity)).await.deleted();
    assert_eq!(server.events("activity.").await, ["activity.created", "activity.deleted"]);
}

async fn deleting_an_activity_requires_the_ability_activities_write(server: Server) {
    let activity = created(&server.admin(), json!({})).await;
    server.able(&["activities:read"]).await.delete(&path(&activity)).await.refused(403, "ability_missing");
}
