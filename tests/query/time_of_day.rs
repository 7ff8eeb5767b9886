//! The field type `time`: written, filtered, sorted, paged and exported, in columns, custom fields and the panel.

use charter_runtime::openapi::document;
use serde_json::{Value, json};

use super::{expect, ids};
use crate::panel::signed_in;
use crate::support::{Specimens, on_both};

on_both!(
    time_of_day_is_written_with_seconds_and_read_without_them,
    text_that_is_no_time_of_day_is_rejected,
    times_of_day_are_filtered_and_sorted_in_order_of_the_day,
    cursor_pages_follow_the_order_of_times,
    custom_field_can_be_a_time_of_day,
    time_of_day_has_a_pattern_in_the_openapi_document_and_an_input_in_the_panel,
);

/// Sets the times of the first five specimens; the others have none.
async fn open(specimens: &Specimens) {
    let client = specimens.admin();
    for (id, time) in (1..).zip(["14:30:00", "09:00", "00:00:00", "23:59:59", "09:00:01"]) {
        client.patch(&format!("/specimens/{id}"), json!({ "opens_at": time })).await.ok();
    }
}

async fn time_of_day_is_written_with_seconds_and_read_without_them(specimens: Specimens) {
    let client = specimens.admin();
    for (sent, shown) in [("14:30", "14:30:00"), (" 14:30:05 ", "14:30:05"), ("00:00:00", "00:00:00")] {
        let made = client.post("/specimens", json!({ "name": "Shop", "opens_at": sent })).await.created("specimen");
        assert_eq!(made["opens_at"], shown);
        let path = format!("/specimens/{}", made["id"]);
        assert_eq!(client.get(&path).await.record("specimen")["opens_at"], shown);
        assert_eq!(client.patch(&path, json!({ "opens_at": shown })).await.record("specimen"), made, "no change");
        assert_eq!(client.patch(&path, json!({ "opens_at": "" })).await.record("specimen")["opens_at"], Value::Null);
    }
    let stored = match specimens.state.db.dialect() {
        charter_runtime::db::Dialect::Sqlite => "typeof(opens_at) || opens_at = 'text14:30:00'",
        charter_runtime::db::Dialect::Postgres => "opens_at = time '14:30:00'",
    };
    let made = client.post("/specimens", json!({ "name": "Stored", "opens_at": "14:30" })).await.created("specimen");
    specimens.sql(&format!("UPDATE specimens SET name = 'as text' WHERE {stored}")).await;
    assert_eq!(client.get(&format!("/specimens/{}", made["id"])).await.record("specimen")["name"], "as text");
    let entries = client.get("/audit_entries?q[entity_type_eq]=specimens&per_page=100").await.json();
    assert!(entries.to_string().contains("\"opens_at\":{\"new\":null,\"old\":\"00:00:00\"}"), "{entries}");
}

async fn text_that_is_no_time_of_day_is_rejected(specimens: Specimens) {
    let client = specimens.admin();
    for bad in ["24:00:00", "23:59:60", "9:30", "14", "14:30:00.5", "14:30:00Z", "14:30:00+01:00", "noon", "2026-03-21"]
    {
        let problem = client.post("/specimens", json!({ "name": "Shop", "opens_at": bad })).await.invalid("opens_at");
        assert_eq!(problem, "must be a time of day such as 14:30:00", "{bad}");
        client.list("/specimens", &[("q[opens_at_eq]", bad)]).await.invalid("q[opens_at_eq]");
    }
    for value in [json!(1430), json!(true), json!(["14:30"]), json!({})] {
        client.post("/specimens", json!({ "name": "Shop", "opens_at": value })).await.invalid("opens_at");
    }
    client.list("/specimens", &[("q[opens_at_cont]", "14")]).await.invalid("q[opens_at_cont]");
}

async fn times_of_day_are_filtered_and_sorted_in_order_of_the_day(specimens: Specimens) {
    open(&specimens).await;
    let client = specimens.admin();
    let cases: [(&str, &str, &[i64]); 11] = [
        ("q[opens_at_eq]", "09:00", &[2]),
        ("q[opens_at_eq]", " 09:00:00 ", &[2]),
        ("q[opens_at_not_eq]", "09:00", &[1, 3, 4, 5]),
        ("q[opens_at_lt]", "09:00:01", &[2, 3]),
        ("q[opens_at_lteq]", "09:00:01", &[2, 3, 5]),
        ("q[opens_at_gt]", "14:29", &[1, 4]),
        ("q[opens_at_gteq]", "14:30", &[1, 4]),
        ("q[opens_at_in]", "00:00,23:59:59", &[3, 4]),
        ("q[opens_at_not_in][]", "00:00", &[1, 2, 4, 5]),
        ("q[opens_at_null]", "1", &[6, 7, 8, 9, 10]),
        ("q[opens_at_present]", "1", &[1, 2, 3, 4, 5]),
    ];
    expect(&client, &cases).await;
    assert_eq!(ids(&client, &[("sort", "opens_at")]).await, [6, 7, 8, 9, 10, 3, 2, 5, 1, 4]);
    assert_eq!(ids(&client, &[("sort", "-opens_at")]).await, [4, 1, 5, 2, 3, 6, 7, 8, 9, 10]);
    // A long list is bound as one array.
    let many: Vec<String> = (0..40).map(|minute| format!("14:{minute:02}")).collect();
    assert_eq!(ids(&client, &[("q[opens_at_in]", &many.join(","))]).await, [1]);
    let csv = client.with("accept", "text/csv").get("/specimens?fields=id,opens_at&q[id_lt]=4&sort=id").await;
    assert_eq!(csv.text, "id,opens_at\r\n1,14:30:00\r\n2,09:00:00\r\n3,00:00:00\r\n");
}

async fn cursor_pages_follow_the_order_of_times(specimens: Specimens) {
    open(&specimens).await;
    let client = specimens.admin();
    for (sort, expected) in
        [("opens_at", [6, 7, 8, 9, 10, 3, 2, 5, 1, 4]), ("-opens_at", [4, 1, 5, 2, 3, 6, 7, 8, 9, 10])]
    {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = client.list("/specimens", &[("sort", sort), ("per_page", "2"), ("cursor", &cursor)]).await.ok();
            let page_ids = page["specimens"].as_array().expect("a list").iter().filter_map(|one| one["id"].as_i64());
            found.extend(page_ids);
            match page["meta"]["next_cursor"].as_str() {
                Some(next) => cursor = next.to_string(),
                None => break,
            }
        }
        assert_eq!(found, expected, "{sort}");
    }
}

async fn custom_field_can_be_a_time_of_day(specimens: Specimens) {
    let client = specimens.admin();
    let definition = json!({ "entity_type": "specimens", "name": "closes", "field_type": "time" });
    client.post("/custom_fields", definition).await.created("custom_field");
    for (id, time) in [(1, "18:00"), (2, "09:00:30"), (3, "23:59:59")] {
        let body = json!({ "custom_fields": { "closes": time } });
        let changed = client.patch(&format!("/specimens/{id}"), body).await.record("specimen");
        assert_eq!(changed["custom_fields"]["closes"].as_str().map(str::len), Some(8), "{changed}");
    }
    let cases: [(&str, &str, &[i64]); 5] = [
        ("q[cf.closes_eq]", "18:00:00", &[1]),
        ("q[cf.closes_lt]", "18:00", &[2]),
        ("q[cf.closes_gteq]", "18:00", &[1, 3]),
        ("q[cf.closes_in]", "09:00:30,23:59:59", &[2, 3]),
        ("q[cf.closes_not_null]", "1", &[1, 2, 3]),
    ];
    expect(&client, &cases).await;
    assert_eq!(ids(&client, &[("sort", "-cf.closes")]).await[..3], [3, 1, 2]);
    let bad = json!({ "custom_fields": { "closes": "24:00" } });
    client.patch("/specimens/1", bad).await.invalid("custom_fields.closes");
    client.list("/specimens", &[("q[cf.closes_gt]", "soon")]).await.invalid("q[cf.closes_gt]");
}

async fn time_of_day_has_a_pattern_in_the_openapi_document_and_an_input_in_the_panel(specimens: Specimens) {
    open(&specimens).await;
    let document = serde_json::to_value(document(&specimens.state)).expect("JSON");
    let shown = &document["components"]["schemas"]["Specimen"]["properties"]["opens_at"];
    assert_eq!((&shown["format"], &shown["examples"]), (&json!("time-local"), &json!(["14:30:00"])));
    assert!(shown["pattern"].as_str().is_some_and(|pattern| pattern.ends_with(":[0-5][0-9]$")), "{shown}");
    let filters = &document["components"]["parameters"]["q_specimens"]["schema"]["properties"];
    assert_eq!(filters["opens_at_lt"]["format"], "time-local");
    let mut panel = signed_in(&specimens, &json!({ "id": 1 })).await;
    let form = panel.get("/specimens/1/edit").await;
    form.says("input type=\"time\" step=\"1\" id=\"field-opens_at\" name=\"opens_at\" value=\"14:30:00\"");
    panel.submit("/specimens/1", &[("opens_at", "15:45")]).await.status(303);
    panel.get("/specimens/1").await.says("<time datetime=\"15:45:00\">15:45:00</time>");
    let filtered = panel.get("/specimens?q[opens_at_lt]=16:00&tool=filter").await;
    filtered.says("is before").says("type=\"time\"");
    let refused = panel.submit("/specimens/1", &[("opens_at", "25:00")]).await;
    refused.status(422).says("must be a time of day such as 14:30:00");
}
