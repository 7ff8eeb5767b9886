//! `POST /activities`.

use serde_json::{Value, json};

use super::{FIELDS, created, member, path};
use crate::support::{Server, keys, on_both};

on_both!(
    activity_requires_only_a_subject,
    writable_activity_fields_are_returned_as_sent,
    activity_fields_can_be_at_the_top_level_of_the_body,
    activity_codes_are_limited_to_the_documented_values,
    activity_cannot_end_before_it_starts,
    activity_regards_an_existing_member_product_or_stock_level,
    activity_can_be_created_for_another_owner_without_administration,
    completed_follows_the_status_of_a_new_activity,
    activity_participants_are_distinct_members,
    activity_times_accept_any_offset_and_are_returned_in_utc_milliseconds,
    creating_an_activity_requires_the_ability_activities_write,
);

async fn activity_requires_only_a_subject(server: Server) {
    let admin = server.admin();
    let answer = admin.post("/activities", json!({ "activity": { "subject": "Call back" } })).await;
    let activity = answer.created("activity");
    assert_eq!(answer.header("location"), Some(format!("/api/v1/activities/{}", activity["id"]).as_str()));
    assert_eq!(keys(&activity), FIELDS);
    let owner = admin.get("/users?q[is_admin_true]=1").await.column("users", "id")[0].clone();
    for (field, expected) in [
        ("subject", json!("Call back")),
        ("description", Value::Null),
        ("location", Value::Null),
        ("regarding_id", Value::Null),
        ("regarding_type", Value::Null),
        ("owned_by", owner),
        ("starts_at", Value::Null),
        ("ends_at", Value::Null),
        ("priority", json!(1)),
        ("type_id", json!(1001)),
        ("activity_type_name", json!("Task")),
        ("status_id", json!(2001)),
        ("activity_status_name", json!("Scheduled")),
        ("completed", json!(false)),
        ("time_status", json!(0)),
        ("time_status_name", json!("Free")),
        ("custom_fields", json!({})),
        ("participants", json!([])),
    ] {
        assert_eq!(activity[field], expected, "{field}");
    }
    for body in [json!({}), json!({ "activity": {} }), json!({ "subject": "" }), json!({ "subject": "  " })] {
        assert_eq!(admin.post("/activities", body).await.invalid_fields(), ["subject"]);
    }
    let long = |count| json!({ "subject": "é".repeat(count) });
    admin.post("/activities", long(255)).await.created("activity");
    admin.post("/activities", long(256)).await.invalid("subject");
}

async fn writable_activity_fields_are_returned_as_sent(server: Server) {
    let admin = server.admin();
    let definition = json!({ "entity_type": "activities", "name": "colour", "field_type": "string" });
    admin.post("/custom_fields", definition).await.created("custom_field");
    let (user, _) = server.user(&[], &["activities:read"]).await;
    let ada = member(&admin, "Ada").await;
    let body = json!({
        "subject": "Meet",
        "description": "About the tent",
        "location": "Office",
        "regarding_type": "Member",
        "regarding_id": ada,
        "owned_by": user["id"],
        "starts_at": "2026-03-21T10:00:00.000Z",
        "ends_at": "2026-03-21T11:00:00.250Z",
        "priority": 2,
        "type_id": 1005,
        "status_id": 2004,
        "time_status": 1,
        "custom_fields": { "colour": "red" },
    });
    let activity = admin.post("/activities", json!({ "activity": body })).await.created("activity");
    for (field, sent) in body.as_object().expect("an object") {
        assert_eq!(activity[field], *sent, "{field}");
    }
    assert_eq!(
        [&activity["activity_type_name"], &activity["activity_status_name"], &activity["time_status_name"]],
        ["Meeting", "Held", "Busy"]
    );
    assert_eq!(admin.get(&path(&activity)).await.record("activity"), activity);
}

async fn activity_fields_can_be_at_the_top_level_of_the_body(server: Server) {
    let admin = server.admin();
    let activity = admin.post("/activities", json!({ "subject": "Write", "type_id": 1007 })).await.created("activity");
    assert_eq!([&activity["subject"], &activity["activity_type_name"]], ["Write", "Letter"]);
    // A subject that is named like the resource, and a field that does not exist.
    let answer = admin.post("/activities", json!({ "activity": { "subjct": "x", "activity": 1 } })).await;
    assert_eq!(answer.invalid_fields(), ["activity", "subjct", "subject"]);
}

async fn activity_codes_are_limited_to_the_documented_values(server: Server) {
    let admin = server.admin();
    let lists: [(&str, &[i64], &[i64]); 4] = [
        ("priority", &[0, 1, 2], &[-1, 3]),
        ("type_id", &[1001, 1002, 1003, 1004, 1005, 1006, 1007], &[0, 1000, 1008]),
        ("status_id", &[2001, 2002, 2003, 2004], &[2000, 2005]),
        ("time_status", &[0, 1], &[-1, 2]),
    ];
    for (field, known, unknown) in lists {
        for code in known {
            assert_eq!(created(&admin, json!({ field: code })).await[field], *code, "{field}");
        }
        for code in unknown {
            admin.post("/activities", json!({ "subject": "x", field: code })).await.invalid(field);
        }
    }
    let names = ["Task", "Call", "Fax", "Email", "Meeting", "Note", "Letter"];
    let found = admin.get("/activities?q[type_id_not_eq]=1001&sort=type_id").await;
    assert_eq!(found.column("activities", "activity_type_name"), &names[1..]);
}

async fn activity_cannot_end_before_it_starts(server: Server) {
    let admin = server.admin();
    let times = |starts: &str, ends: &str| json!({ "subject": "x", "starts_at": starts, "ends_at": ends });
    let start = "2026-03-21T10:00:00.001Z";
    admin.post("/activities", times(start, start)).await.created("activity");
    admin.post("/activities", times(start, "2026-03-21T10:00:00.002Z")).await.created("activity");
    admin.post("/activities", times(start, "2026-03-21T10:00:00.000Z")).await.invalid("ends_at");
    // The same instant, said in another zone.
    admin.post("/activities", times(start, "2026-03-21T11:00:00.001+01:00")).await.created("activity");
    admin.post("/activities", json!({ "subject": "x", "ends_at": start })).await.created("activity");
}

async fn activity_regards_an_existing_member_product_or_stock_level(server: Server) {
    let admin = server.admin();
    let ada = member(&admin, "Ada").await;
    let product = admin.post("/products", json!({ "name": "Lamp" })).await.created("product")["id"].clone();
    let level =
        admin.post("/stock_levels", json!({ "product_id": product })).await.created("stock_level")["id"].clone();
    for (of, id) in [("Member", &ada), ("Product", &product), ("StockLevel", &level)] {
        let activity = created(&admin, json!({ "regarding_type": of, "regarding_id": id })).await;
        assert_eq!([&activity["regarding_type"], &activity["regarding_id"]], [&json!(of), id]);
    }
    let regarding = |of: Value, id: Value| json!({ "subject": "x", "regarding_type": of, "regarding_id": id });
    for (of, id, problem) in [
        (json!("Member"), json!(999), "regarding_id"),
        (json!("Member"), json!("x"), "regarding_id"),
        (json!("Member"), Value::Null, "regarding_id"),
        (Value::Null, ada.clone(), "regarding_type"),
        (json!("User"), json!(1), "regarding_type"),
        (json!("members"), ada.clone(), "regarding_type"),
    ] {
        admin.post("/activities", regarding(of, id)).await.invalid(problem);
    }
    // References to a deleted record and to its children are invalid.
    admin.delete(&format!("/products/{product}")).await.deleted();
    for (of, id) in [("Product", product), ("StockLevel", level)] {
        admin.post("/activities", regarding(json!(of), id)).await.invalid("regarding_id");
    }
}

async fn activity_can_be_created_for_another_owner_without_administration(server: Server) {
    let (user, client) = server.user(&[], &["activities:read", "activities:write"]).await;
    assert_eq!(created(&client, json!({})).await["owned_by"], user["id"]);
    let (other, _) = server.user(&[], &["activities:read"]).await;
    assert_eq!(created(&client, json!({ "owned_by": other["id"] })).await["owned_by"], other["id"]);
    client.post("/activities", json!({ "subject": "x", "owned_by": 999 })).await.invalid("owned_by");
}

async fn completed_follows_the_status_of_a_new_activity(server: Server) {
    let admin = server.admin();
    for (status, completed) in [(2001, false), (2002, true), (2003, false), (2004, false)] {
        let activity = created(&admin, json!({ "status_id": status, "completed": !completed })).await;
        assert_eq!(activity["completed"], completed, "{status}");
    }
}

async fn activity_participants_are_distinct_members(server: Server) {
    let admin = server.admin();
    let (ada, alan) = (member(&admin, "Ada").await, member(&admin, "Alan").await);
    let participants = json!([{ "member_id": ada }, { "member_id": alan, "mute": true }]);
    let activity = created(&admin, json!({ "participants": participants })).await;
    let expected = json!([
        { "id": 1, "member_id": ada, "member_name": "Ada", "mute": false },
        { "id": 2, "member_id": alan, "member_name": "Alan", "mute": true },
    ]);
    assert_eq!(activity["participants"], expected);
    let refused = async |participants: Value| {
        admin.post("/activities", json!({ "subject": "x", "participants": participants })).await.invalid_fields()
    };
    assert_eq!(refused(json!([{ "member_id": 999 }])).await, ["participants.0.member_id"]);
    assert_eq!(refused(json!([{ "member_id": ada }, { "mute": true }])).await, ["participants.1.member_id"]);
    assert_eq!(refused(json!([{ "member_id": ada }, { "member_id": ada }])).await, ["participants.1.member_id"]);
    let twice =
        json!({ "subject": "x", "participants": [{ "member_id": ada }, { "member_id": alan }, { "member_id": ada }] });
    let twice = admin.post("/activities", twice).await;
    assert_eq!(twice.invalid("participants.2.member_id"), "is in the list twice");
    assert_eq!(refused(json!([7])).await, ["participants.0"]);
    assert_eq!(refused(json!({ "member_id": ada })).await, ["participants"]);
    assert_eq!(admin.get("/activities").await.ok()["meta"]["total"], 1);
}

async fn activity_times_accept_any_offset_and_are_returned_in_utc_milliseconds(server: Server) {
    let admin = server.admin();
    for (sent, answered) in [
        ("2026-03-21T10:00:00Z", "2026-03-21T10:00:00.000Z"),
        ("2026-03-21T10:00:00.5Z", "2026-03-21T10:00:00.500Z"),
        ("2026-03-21T10:00:00.123+02:00", "2026-03-21T08:00:00.123Z"),
        ("2026-03-21t10:00:00-00:30", "2026-03-21T10:30:00.000Z"),
    ] {
        assert_eq!(created(&admin, json!({ "starts_at": sent })).await["starts_at"], answered);
    }
    for sent in ["2026-03-21", "10:00", "2026-02-30T10:00:00Z", "soon"] {
        admin.post("/activities", json!({ "subject": "x", "starts_at": sent })).await.invalid("starts_at");
    }
    let made = created(&admin, json!({})).await;
    for field in ["created_at", "updated_at"] {
        let text = made[field].as_str().expect("a text");
        assert!(text.len() == 24 && text.ends_with('Z') && text.as_bytes()[19] == b'.', "{text}");
    }
}

async fn creating_an_activity_requires_the_ability_activities_write(server: Server) {
    let reader = server.able(&["activities:read"]).await;
    reader.post("/activities", json!({ "subject": "x" })).await.refused(403, "ability_missing");
    let writer = server.able(&["activities:write"]).await;
    created(&writer, json!({})).await;
    writer.get("/activities").await.refused(403, "ability_missing");
}
