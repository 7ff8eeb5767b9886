//! `DELETE /activities/{id}`.

use serde_json::json;

use super::{created, member, path};
use crate::support::{Server, on_both};

on_both!(
    delete_answers_204_and_the_activity_is_gone,
    its_participants_go_with_it,
    delete_emits_the_activity_as_it_was,
    delete_needs_the_ability_activities_write,
);

async fn delete_answers_204_and_the_activity_is_gone(server: Server) {
    let admin = server.admin();
    let activity = created(&admin, json!({})).await;
    admin.delete(&path(&activity)).await.deleted();
    admin.get(&path(&activity)).await.refused(404, "not_found");
    admin.delete(&path(&activity)).await.refused(404, "not_found");
    assert_eq!(admin.get("/activities").await.ok()["meta"]["total"], 0);
}

async fn its_participants_go_with_it(server: Server) {
    let admin = server.admin();
    let ada = member(&admin, "Ada").await;
    let activity = created(&admin, json!({ "participants": [{ "member_id": ada }] })).await;
    admin.delete(&path(&activity)).await.deleted();
    // Nothing refers to the member any more.
    admin.delete(&format!("/members/{ada}")).await.deleted();
}

async fn delete_emits_the_activity_as_it_was(server: Server) {
    let admin = server.admin();
    let activity = created(&admin, json!({})).await;
    admin.delete(&path(&activity)).await.deleted();
    assert_eq!(server.events("activity.").await, ["activity.created", "activity.deleted"]);
}

async fn delete_needs_the_ability_activities_write(server: Server) {
    let activity = created(&server.admin(), json!({})).await;
    server.able(&["activities:read"]).await.delete(&path(&activity)).await.refused(403, "ability_missing");
}
