//! `GET /activities`.

use serde_json::{Value, json};

use super::{created, member};
use crate::support::{Client, Server, on_both};

on_both!(
    activity_list_is_paginated_with_meta,
    activity_list_supports_the_specified_filters,
    activity_list_supports_the_specified_sorts,
    unknown_sort_of_activities_is_ignored,
    activity_times_are_compared_to_the_millisecond,
    filter_time_finer_than_a_millisecond_is_compared_exactly,
    leap_second_equals_the_next_second,
    activity_list_includes_participants_on_request,
    activity_includes_are_loaded_for_the_whole_page,
    activities_are_filtered_by_owner_name_and_code_label,
);

/// Three activities, ids 1 to 3.
async fn three(client: &Client) {
    let all = [
        json!({ "subject": "Call Ada", "type_id": 1002, "priority": 2, "starts_at": "2026-03-02T00:00:00.002Z",
            "ends_at": "2026-03-05T00:00:00Z" }),
        json!({ "subject": "buy cable", "type_id": 1001, "status_id": 2002, "priority": 0,
            "starts_at": "2026-03-02T00:00:00.001Z" }),
        json!({ "subject": "Recall", "type_id": 1005, "status_id": 2003, "ends_at": "2026-03-04T00:00:00Z" }),
    ];
    for body in all {
        created(client, body).await;
    }
}

async fn ids(client: &Client, parameters: &[(&str, &str)]) -> Vec<i64> {
    let found = client.list("/activities", parameters).await.column("activities", "id");
    found.iter().map(|id| id.as_i64().expect("an id")).collect()
}

async fn activity_list_is_paginated_with_meta(server: Server) {
    let admin = server.admin();
    three(&admin).await;
    let body = admin.get("/activities?per_page=2&page=2").await.ok();
    assert_eq!(body["meta"], json!({ "total": 3, "per_page": 2, "page": 2 }));
    assert_eq!(body["activities"][0], admin.get("/activities/3").await.record("activity"));
    assert_eq!(body["activities"].as_array().map(Vec::len), Some(1));
}

async fn activity_list_supports_the_specified_filters(server: Server) {
    let admin = server.admin();
    three(&admin).await;
    for (name, value, expected) in [
        ("q[subject_cont]", "CALL", vec![1, 3]),
        ("q[type_id_eq]", "1002", vec![1]),
        ("q[status_id_eq]", "2002", vec![2]),
        ("q[completed_true]", "1", vec![2]),
        ("q[completed_true]", "false", vec![1, 3]),
        ("q[completed_false]", "t", vec![1, 3]),
        ("q[ends_at_null]", "1", vec![2]),
        ("q[regarding_type_null]", "1", vec![1, 2, 3]),
    ] {
        assert_eq!(ids(&admin, &[(name, value)]).await, expected, "{name}={value}");
    }
    admin.get("/activities?q[type_id_eq]=task").await.invalid("q[type_id_eq]");
}

async fn activity_list_supports_the_specified_sorts(server: Server) {
    let admin = server.admin();
    three(&admin).await;
    server.reverse_creation_times("activities").await;
    for (sort, expected) in [
        ("subject", [2, 1, 3]),
        ("-subject", [3, 1, 2]),
        ("type_id", [2, 1, 3]),
        ("status_id", [1, 2, 3]),
        ("-status_id", [3, 2, 1]),
        ("priority", [2, 3, 1]),
        // Null is the smallest value.
        ("starts_at", [3, 2, 1]),
        ("-starts_at", [1, 2, 3]),
        ("ends_at", [2, 3, 1]),
        ("created_at", [3, 2, 1]),
        ("-id", [3, 2, 1]),
    ] {
        assert_eq!(ids(&admin, &[("sort", sort)]).await, expected, "{sort}");
    }
}

async fn unknown_sort_of_activities_is_ignored(server: Server) {
    let admin = server.admin();
    three(&admin).await;
    for sort in ["participants", "-custom_fields", "nonsense", "", "-", "subject;"] {
        assert_eq!(ids(&admin, &[("sort", sort)]).await, [1, 2, 3], "{sort}");
    }
}

async fn activity_times_are_compared_to_the_millisecond(server: Server) {
    let admin = server.admin();
    three(&admin).await;
    assert_eq!(ids(&admin, &[("q[starts_at_eq]", "2026-03-02T00:00:00.001Z")]).await, [2]);
    assert_eq!(ids(&admin, &[("q[starts_at_gt]", "2026-03-02T01:00:00.001+01:00")]).await, [1]);
    assert_eq!(ids(&admin, &[("q[starts_at_lteq]", "2026-03-02T00:00:00.001Z")]).await, [2]);
}

async fn filter_time_finer_than_a_millisecond_is_compared_exactly(server: Server) {
    let admin = server.admin();
    three(&admin).await;
    let finer = "2026-03-02T00:00:00.0015Z";
    assert_eq!(ids(&admin, &[("q[starts_at_lt]", finer)]).await, [2]);
    assert_eq!(ids(&admin, &[("q[starts_at_lteq]", finer)]).await, [2]);
    assert_eq!(ids(&admin, &[("q[starts_at_gteq]", finer)]).await, [1]);
    assert_eq!(ids(&admin, &[("q[starts_at_eq]", finer)]).await, [0; 0]);
    assert_eq!(ids(&admin, &[("q[starts_at_not_eq]", finer)]).await, [1, 2]);
    assert_eq!(ids(&admin, &[("q[starts_at_in]", "2026-03-02T00:00:00.0015Z,2026-03-02T00:00:00.001000Z")]).await, [2]);
}

async fn leap_second_equals_the_next_second(server: Server) {
    let admin = server.admin();
    let made = created(&admin, json!({ "starts_at": "2016-12-31T23:59:60.5Z" })).await;
    assert_eq!(made["starts_at"], "2017-01-01T00:00:00.500Z");
    assert_eq!(ids(&admin, &[("q[starts_at_lt]", "2017-01-01T00:00:00Z")]).await, [0; 0]);
    assert_eq!(ids(&admin, &[("q[starts_at_eq]", "2016-12-31T23:59:60.500Z")]).await, [1]);
}

async fn activity_list_includes_participants_on_request(server: Server) {
    let admin = server.admin();
    let ada = member(&admin, "Ada").await;
    created(&admin, json!({ "participants": [{ "member_id": ada }] })).await;
    let named = async |path: &str| -> Value {
        let body = admin.get(path).await.ok();
        let record = if body["activity"].is_object() { &body["activity"] } else { &body["activities"][0] };
        record["participants"][0]["member_name"].clone()
    };
    let view = json!({ "name": "Subjects", "entity_type": "activities", "columns": ["subject"] });
    let view = admin.post("/custom_views", view).await.created("custom_view")["id"].clone();
    for path in ["/activities?fields=subject", &format!("/activities?view_id={view}"), "/activities/1?fields=subject"] {
        assert_eq!(named(path).await, Value::Null, "{path}");
        assert_eq!(named(&format!("{path}&include=participants")).await, "Ada", "{path}");
    }
    let told = admin.get("/activities?include=nobody").await.invalid("include");
    assert!(told.ends_with("valid names are owner, regarding, customFieldValues, can, participants"), "{told}");
}

async fn activity_includes_are_loaded_for_the_whole_page(server: Server) {
    let admin = server.admin();
    let ada = member(&admin, "Ada").await;
    let product = admin.post("/products", json!({ "name": "Lamp" })).await.created("product")["id"].clone();
    created(&admin, json!({ "regarding_type": "Member", "regarding_id": ada, "participants": [{ "member_id": ada }] }))
        .await;
    created(&admin, json!({ "regarding_type": "Product", "regarding_id": product })).await;
    created(&admin, json!({})).await;
    let list = admin.get("/activities?include=regarding,owner&include[]=customFieldValues").await.records("activities");
    let names: Vec<&Value> = list.iter().map(|activity| &activity["regarding"]["name"]).collect();
    assert_eq!(names, [&json!("Ada"), &json!("Lamp"), &Value::Null]);
    assert!(list.iter().all(|activity| activity["owner"]["email"] == "admin@example.com"), "{list:?}");
    assert_eq!(list[0]["participants"][0]["member_name"], "Ada");
    assert_eq!(list[2]["participants"], json!([]));
}

async fn activities_are_filtered_by_owner_name_and_code_label(server: Server) {
    let admin = server.admin();
    three(&admin).await;
    assert_eq!(ids(&admin, &[("q[owner.name_eq]", "Administrator")]).await, [1, 2, 3]);
    assert_eq!(ids(&admin, &[("q[activity_type_name_eq]", "Meeting")]).await, [3]);
    assert_eq!(ids(&admin, &[("q[activity_status_name_start]", "comp")]).await, [2]);
}
