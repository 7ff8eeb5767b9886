//! `PUT` and `PATCH /activities/{id}`.

use serde_json::{Value, json};

use super::{created, member, path};
use crate::support::{Client, Server, on_both};

on_both!(
    activity_update_changes_only_the_given_fields_and_returns_200,
    null_keeps_a_field_and_an_empty_string_clears_it,
    activity_from_get_can_be_sent_back_unchanged,
    completed_follows_every_status_change_of_an_activity,
    updated_activity_cannot_end_before_it_starts,
    activity_update_changes_adds_and_deletes_participants,
    participant_without_id_is_matched_by_its_member,
    outdated_participant_ids_in_an_update_are_ignored,
    two_participants_can_swap_their_members,
    activity_update_emits_one_event_and_none_without_a_change,
    updating_an_activity_requires_the_ability_activities_write,
);

async fn update(client: &Client, activity: &Value, body: Value) -> Value {
    client.put(&path(activity), json!({ "activity": body })).await.record("activity")
}

async fn activity_update_changes_only_the_given_fields_and_returns_200(server: Server) {
    let admin = server.admin();
    let activity = created(&admin, json!({ "location": "Office", "priority": 2 })).await;
    let updated = update(&admin, &activity, json!({ "subject": "Meet" })).await;
    let mut expected = activity.clone();
    expected["subject"] = json!("Meet");
    expected["updated_at"] = updated["updated_at"].clone();
    assert_eq!(updated, expected);
    let flat = admin.patch(&path(&activity), json!({ "type_id": "1002" })).await.record("activity");
    assert_eq!([&flat["subject"], &flat["activity_type_name"]], ["Meet", "Call"]);
}

async fn null_keeps_a_field_and_an_empty_string_clears_it(server: Server) {
    let admin = server.admin();
    let ada = member(&admin, "Ada").await;
    let body = json!({
        "description": "d", "location": "l", "starts_at": "2026-03-21T10:00:00Z", "ends_at": "2026-03-21T11:00:00Z",
        "regarding_type": "Member", "regarding_id": ada, "participants": [{ "member_id": ada }],
    });
    let activity = created(&admin, body.clone()).await;
    let fields = || body.as_object().expect("an object").keys();
    let all = |value: Value| Value::Object(fields().map(|name| (name.clone(), value.clone())).collect());
    assert_eq!(update(&admin, &activity, all(Value::Null)).await, activity);
    let cleared = update(&admin, &activity, all(json!(""))).await;
    for field in fields().filter(|name| *name != "participants") {
        assert_eq!(cleared[field], Value::Null, "{field}");
    }
    assert_eq!(cleared["participants"], json!([]));
    for field in ["subject", "type_id", "status_id", "priority", "time_status", "owned_by"] {
        admin.put(&path(&activity), json!({ field: "" })).await.invalid(field);
    }
}

async fn activity_from_get_can_be_sent_back_unchanged(server: Server) {
    let admin = server.admin();
    let ada = member(&admin, "Ada").await;
    let body = json!({ "regarding_type": "Member", "regarding_id": ada, "participants": [{ "member_id": ada }] });
    let activity = created(&admin, body).await;
    let query = format!("{}?include=owner,regarding,participants,customFieldValues", path(&activity));
    let shown = admin.get(&query).await.record("activity");
    assert_eq!(update(&admin, &activity, shown).await, activity);
}

async fn completed_follows_every_status_change_of_an_activity(server: Server) {
    let admin = server.admin();
    let activity = created(&admin, json!({})).await;
    for (status, completed) in [(2002, true), (2003, false), (2002, true), (2004, false), (2001, false)] {
        let updated = update(&admin, &activity, json!({ "status_id": status })).await;
        assert_eq!([&updated["status_id"], &updated["completed"]], [&json!(status), &json!(completed)]);
    }
    // Only the status says so.
    let updated = update(&admin, &activity, json!({ "completed": true })).await;
    assert_eq!([&updated["status_id"], &updated["completed"]], [&json!(2001), &json!(false)]);
}

async fn updated_activity_cannot_end_before_it_starts(server: Server) {
    let admin = server.admin();
    let times = json!({ "starts_at": "2026-03-21T10:00:00Z", "ends_at": "2026-03-21T11:00:00Z" });
    let activity = created(&admin, times).await;
    admin.put(&path(&activity), json!({ "starts_at": "2026-03-21T11:00:00.001Z" })).await.invalid("ends_at");
    admin.put(&path(&activity), json!({ "ends_at": "2026-03-21T09:59:59.999Z" })).await.invalid("ends_at");
    update(&admin, &activity, json!({ "starts_at": "2026-03-21T11:00:00Z" })).await;
    update(&admin, &activity, json!({ "starts_at": "2027-01-01T00:00:00Z", "ends_at": "" })).await;
}

async fn activity_update_changes_adds_and_deletes_participants(server: Server) {
    let admin = server.admin();
    let (ada, alan, grace) = (member(&admin, "Ada").await, member(&admin, "Alan").await, member(&admin, "Grace").await);
    let both = json!({ "participants": [{ "member_id": ada }, { "member_id": alan }] });
    let activity = created(&admin, both).await;
    let participants = json!([{ "id": 2, "mute": "t" }, { "member_id": grace }]);
    let updated = update(&admin, &activity, json!({ "participants": participants })).await;
    let expected = json!([
        { "id": 2, "member_id": alan, "member_name": "Alan", "mute": true },
        { "id": 3, "member_id": grace, "member_name": "Grace", "mute": false },
    ]);
    assert_eq!(updated["participants"], expected);
    admin.delete(&format!("/members/{grace}")).await.refused(409, "conflict");
    assert_eq!(update(&admin, &activity, json!({ "participants": [] })).await["participants"], json!([]));
    admin.delete(&format!("/members/{grace}")).await.deleted();
}

async fn participant_without_id_is_matched_by_its_member(server: Server) {
    let admin = server.admin();
    let (ada, alan) = (member(&admin, "Ada").await, member(&admin, "Alan").await);
    let activity = created(&admin, json!({ "participants": [{ "member_id": alan, "mute": true }] })).await;
    let participants = json!([{ "member_id": ada }, { "member_id": alan }]);
    let updated = update(&admin, &activity, json!({ "participants": participants })).await;
    let expected = json!([
        { "id": 1, "member_id": alan, "member_name": "Alan", "mute": true },
        { "id": 2, "member_id": ada, "member_name": "Ada", "mute": false },
    ]);
    assert_eq!(updated["participants"], expected);
    let twice = json!({ "participants": [{ "member_id": alan }, { "id": 1 }] });
    let answer = admin.put(&path(&activity), twice).await;
    assert_eq!(answer.invalid_fields(), ["participants.1.member_id"], "the first is not the one of that id");
    assert_eq!(answer.invalid("participants.1.member_id"), "is in the list twice");
}

async fn outdated_participant_ids_in_an_update_are_ignored(server: Server) {
    let admin = server.admin();
    let (ada, alan) = (member(&admin, "Ada").await, member(&admin, "Alan").await);
    let read = created(&admin, json!({ "participants": [{ "member_id": ada }, { "member_id": alan }] })).await;
    update(&admin, &read, json!({ "participants": [{ "member_id": alan, "mute": true }] })).await;
    let updated = update(&admin, &read, read.clone()).await;
    let expected = json!([
        { "id": 2, "member_id": alan, "member_name": "Alan", "mute": false },
        { "id": 3, "member_id": ada, "member_name": "Ada", "mute": false },
    ]);
    assert_eq!(updated["participants"], expected);
    let copy = created(&admin, read.clone()).await;
    assert_eq!(copy["participants"].as_array().map(Vec::len), Some(2), "the ids of another record say nothing");
    assert_eq!(update(&admin, &read, json!({})).await["participants"], expected);
}

async fn two_participants_can_swap_their_members(server: Server) {
    let admin = server.admin();
    let (ada, alan) = (member(&admin, "Ada").await, member(&admin, "Alan").await);
    let both = json!({ "participants": [{ "member_id": ada }, { "member_id": alan }] });
    let activity = created(&admin, both).await;
    let swapped = json!([{ "id": 1, "member_id": alan }, { "id": 2, "member_id": ada }]);
    let updated = update(&admin, &activity, json!({ "participants": swapped })).await;
    let members: Vec<&Value> =
        updated["participants"].as_array().expect("a list").iter().map(|p| &p["member_id"]).collect();
    assert_eq!(members, [&alan, &ada]);
}

async fn activity_update_emits_one_event_and_none_without_a_change(server: Server) {
    let admin = server.admin();
    let ada = member(&admin, "Ada").await;
    let activity = created(&admin, json!({})).await;
    update(&admin, &activity, json!({ "participants": [{ "member_id": ada }] })).await;
    update(&admin, &activity, json!({ "participants": [{ "id": 1, "mute": false }], "priority": 1 })).await;
    assert_eq!(server.events("activity.").await, ["activity.created", "activity.updated"]);
}

async fn updating_an_activity_requires_the_ability_activities_write(server: Server) {
    let activity = created(&server.admin(), json!({})).await;
    let reader = server.able(&["activities:read"]).await;
    reader.put(&path(&activity), json!({ "subject": "x" })).await.refused(403, "ability_missing");
    server.admin().put("/activities/999", json!({ "nope": 1 })).await.refused(404, "not_found");
}
