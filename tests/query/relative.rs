//! Relative values in conditions: words for days, periods and instants, and `me` for the caller.

use std::time::Duration;

use chrono::{DateTime, NaiveDate, SecondsFormat, Utc};
use serde_json::{Value, json};

use super::{expect, ids};
use crate::support::{Client, Specimens, on_both};

on_both!(
    dates_are_compared_with_days_and_periods,
    timestamps_are_compared_with_the_days_of_the_company_time_zone,
    day_of_a_clock_change_has_its_own_length,
    lists_of_values_can_contain_relative_times,
    custom_fields_are_compared_with_relative_times,
    me_is_the_caller,
    texts_that_look_like_relative_values_stay_texts,
    invalid_relative_values_are_rejected,
    view_stores_the_word_and_resolves_it_at_each_request,
    cached_pages_totals_and_summaries_move_with_the_clock,
    pages_of_a_cursor_keep_the_time_of_the_first_page,
    explain_describes_the_resolved_condition,
);

/// Advances the clock to a later time.
fn set_clock(specimens: &Specimens, time: &str) {
    let time: DateTime<Utc> = time.parse().expect("a time");
    let by = (time - specimens.state.clock.now()).to_std().expect("the clock advances only");
    specimens.state.clock.advance(by);
}

/// A Saturday in the future of the system clock, so that the clock can be advanced to it.
const NOW: &str = "2043-11-28T11:10:00Z";

async fn set_zone(client: &Client, zone: &str) {
    client.put("/settings", json!({ "timezone": zone })).await.record("settings");
}

/// Advances the clock and sets dates of the first specimens; the others have none.
async fn with_dates(specimens: &Specimens, dates: &[&str]) -> Client {
    set_clock(specimens, NOW);
    let client = specimens.admin();
    for (id, date) in (1..).zip(dates) {
        client.patch(&format!("/specimens/{id}"), json!({ "bought_on": date })).await.ok();
    }
    client
}

/// Sets the creation times of the first specimens.
async fn set_times(specimens: &Specimens, times: &[&str]) {
    for (id, time) in (1..).zip(times) {
        let time: DateTime<Utc> = time.parse().expect("a time");
        let stored = time.to_rfc3339_opts(SecondsFormat::AutoSi, false);
        specimens.sql(&format!("UPDATE specimens SET created_at = '{stored}' WHERE id = {id}")).await;
    }
}

async fn dates_are_compared_with_days_and_periods(specimens: Specimens) {
    let dates = ["2043-11-27", "2043-11-28", "2043-11-30", "2043-11-23", "2043-11-22", "2043-12-01", "2043-10-31"];
    let client = with_dates(&specimens, &dates).await;
    let cases: [(&str, &str, &[i64]); 24] = [
        ("q[bought_on_eq]", "today", &[2]),
        ("q[bought_on_eq]", " Yesterday ", &[1]),
        ("q[bought_on_not_eq]", "today", &[1, 3, 4, 5, 6, 7]),
        ("q[bought_on_lt]", "today", &[1, 4, 5, 7]),
        ("q[bought_on_lteq]", "today", &[1, 2, 4, 5, 7]),
        ("q[bought_on_gt]", "today", &[3, 6]),
        ("q[bought_on_gteq]", "today", &[2, 3, 6]),
        ("q[bought_on_eq]", "this_week", &[1, 2, 4]),
        ("q[bought_on_eq]", "last_week", &[5]),
        ("q[bought_on_eq]", "next_week", &[3, 6]),
        ("q[bought_on_eq]", "this_month", &[1, 2, 3, 4, 5]),
        ("q[bought_on_not_eq]", "this_month", &[6, 7]),
        ("q[bought_on_lt]", "this_month", &[7]),
        ("q[bought_on_lteq]", "this_month", &[1, 2, 3, 4, 5, 7]),
        ("q[bought_on_gt]", "this_month", &[6]),
        ("q[bought_on_gteq]", "this_month", &[1, 2, 3, 4, 5, 6]),
        ("q[bought_on_eq]", "next_month", &[6]),
        ("q[bought_on_eq]", "this_quarter", &[1, 2, 3, 4, 5, 6, 7]),
        ("q[bought_on_eq]", "last_quarter", &[]),
        ("q[bought_on_eq]", "-6d", &[5]),
        ("q[bought_on_eq]", "+2d", &[3]),
        ("q[bought_on_gteq]", "-1w", &[1, 2, 3, 4, 5, 6]),
        ("q[bought_on_lt]", "-3mo", &[]),
        ("q[bought_on_lt]", "1y", &[1, 2, 3, 4, 5, 6, 7]),
    ];
    expect(&client, &cases).await;
    let filters = json!([{ "field": "bought_on", "predicate": "eq", "value": "next_month" },
        { "field": "bought_on", "predicate": "eq", "value": "today", "logic": "or" }]);
    assert_eq!(ids(&client, &[("filters", &filters.to_string())]).await, [2, 6]);
}

async fn timestamps_are_compared_with_the_days_of_the_company_time_zone(specimens: Specimens) {
    set_clock(&specimens, NOW);
    let client = specimens.admin();
    let times = [
        "2043-11-27T14:59:59.999Z",
        "2043-11-27T15:00:00Z",
        "2043-11-28T11:10:00Z",
        "2043-11-28T14:59:59.999Z",
        "2043-11-28T15:00:00Z",
        "2043-11-30T15:00:00Z",
    ];
    set_times(&specimens, &times).await;
    set_zone(&client, "Asia/Tokyo").await;
    let since = |value| [("q[created_at_gteq]", "2043-01-01T00:00:00Z"), value];
    let cases: [(&str, &str, &[i64]); 12] = [
        ("q[created_at_eq]", "today", &[2, 3, 4]),
        ("q[created_at_not_eq]", "today", &[1, 5, 6]),
        ("q[created_at_lt]", "today", &[1]),
        ("q[created_at_lteq]", "today", &[1, 2, 3, 4]),
        ("q[created_at_gt]", "today", &[5, 6]),
        ("q[created_at_eq]", "yesterday", &[1]),
        ("q[created_at_eq]", "this_month", &[1, 2, 3, 4, 5]),
        ("q[created_at_eq]", "next_month", &[6]),
        ("q[created_at_gteq]", "+1d", &[5, 6]),
        ("q[created_at_lt]", "-1h", &[1, 2]),
        ("q[created_at_gt]", "+4h", &[6]),
        ("q[created_at_lteq]", "-20h", &[1, 2]),
    ];
    for (name, value, expected) in cases {
        assert_eq!(ids(&client, &since((name, value))).await, expected, "{name}={value}");
    }
    set_zone(&client, "UTC").await;
    assert_eq!(ids(&client, &[("q[created_at_eq]", "today")]).await, [3, 4, 5]);
}

async fn day_of_a_clock_change_has_its_own_length(specimens: Specimens) {
    // The clocks of Berlin are set forward: the day has 23 hours.
    set_clock(&specimens, "2043-03-29T12:00:00Z");
    let client = specimens.admin();
    set_zone(&client, "Europe/Berlin").await;
    let times = ["2043-03-28T22:59:59Z", "2043-03-28T23:00:00Z", "2043-03-29T21:59:59Z", "2043-03-29T22:00:00Z"];
    set_times(&specimens, &times).await;
    assert_eq!(ids(&client, &[("q[created_at_eq]", "today")]).await, [2, 3]);
    assert_eq!(ids(&client, &[("q[created_at_eq]", "tomorrow")]).await, [4]);
    // They are set back: the day has 25 hours.
    set_clock(&specimens, "2043-10-25T23:30:00Z");
    let times = ["2043-10-24T21:59:59Z", "2043-10-24T22:00:00Z", "2043-10-25T22:59:59Z", "2043-10-25T23:00:00Z"];
    set_times(&specimens, &times).await;
    assert_eq!(ids(&client, &[("q[created_at_eq]", "yesterday")]).await, [2, 3]);
    assert_eq!(ids(&client, &[("q[created_at_eq]", "today")]).await, [4]);
}

async fn lists_of_values_can_contain_relative_times(specimens: Specimens) {
    let client = with_dates(&specimens, &["2043-11-27", "2043-11-28", "2043-12-31", "2043-10-01"]).await;
    let cases: [(&str, &str, &[i64]); 5] = [
        ("q[bought_on_in]", "today,yesterday", &[1, 2]),
        ("q[bought_on_in]", "next_month,2043-10-01,today", &[2, 3, 4]),
        ("q[bought_on_not_in]", "next_month,2043-10-01", &[1, 2]),
        ("q[bought_on_not_in]", "this_month,last_month", &[3]),
        ("q[created_at_in]", "today,-3mo", &[]),
    ];
    expect(&client, &cases).await;
    let many: Vec<String> = (0..60).map(|number| format!("-{number}d")).collect();
    let refused = client.list("/specimens", &[("q[created_at_in]", &many.join(","))]).await;
    assert_eq!(refused.invalid("q[created_at_in]"), "must have at most 50 relative times");
}

async fn custom_fields_are_compared_with_relative_times(specimens: Specimens) {
    let client = with_dates(&specimens, &[]).await;
    for (name, field_type) in [("due", "date"), ("seen", "timestamp"), ("word", "string")] {
        let definition = json!({ "entity_type": "specimens", "name": name, "field_type": field_type });
        client.post("/custom_fields", definition).await.created("custom_field");
    }
    for (id, due, seen, word) in [
        (1, "2043-11-28", "2043-11-28T09:00:00Z", "today"),
        (2, "2043-11-30", "2043-11-28T12:00:00Z", "tomorrow"),
        (3, "2043-12-01", "2043-12-01T00:00:00Z", "me"),
    ] {
        let body = json!({ "custom_fields": { "due": due, "seen": seen, "word": word } });
        client.patch(&format!("/specimens/{id}"), body).await.ok();
    }
    let cases: [(&str, &str, &[i64]); 6] = [
        ("q[cf.due_eq]", "today", &[1]),
        ("q[cf.due_eq]", "this_month", &[1, 2]),
        ("q[cf.due_gt]", "this_month", &[3]),
        ("q[cf.seen_eq]", "today", &[1, 2]),
        ("q[cf.seen_lt]", "now", &[1]),
        ("q[cf.word_eq]", "today", &[1]),
    ];
    expect(&client, &cases).await;
}

async fn me_is_the_caller(specimens: Specimens) {
    let admin = specimens.admin();
    let (_, other) = specimens.user(&["users.manage"], &["*"]).await;
    let me = async |client: &Client| {
        let tokens = client.list("/tokens", &[("q[user_id_eq]", "me"), ("per_page", "100")]).await;
        tokens.column("tokens", "user_id")
    };
    for _ in 0..3 {
        let of_admin = me(&admin).await;
        assert!(!of_admin.is_empty() && of_admin.iter().all(|id| *id == 1), "{of_admin:?}");
    }
    let all = admin.list("/tokens", &[("per_page", "100")]).await.column("tokens", "user_id");
    let others = admin.list("/tokens", &[("q[user_id_not_eq]", "ME"), ("per_page", "100")]).await;
    let others = others.column("tokens", "user_id");
    assert_eq!(others.len(), all.iter().filter(|id| **id != 1).count());
    let listed = admin.list("/tokens", &[("q[user_id_in]", "me,999")]).await.column("tokens", "user_id");
    assert!(listed.iter().all(|id| *id == 1) && !listed.is_empty());
    let own = me(&other).await;
    assert!(own.iter().all(|id| *id != 1), "a cached page of another user is not served: {own:?}");
    assert_eq!(
        admin.list("/specimens", &[("q[group_id_eq]", "me")]).await.invalid("q[group_id_eq]"),
        "must be an integer"
    );
}

async fn texts_that_look_like_relative_values_stay_texts(specimens: Specimens) {
    let client = specimens.admin();
    for (id, name) in [(1, "today"), (2, "me"), (3, "-7d")] {
        client.patch(&format!("/specimens/{id}"), json!({ "name": name })).await.ok();
    }
    let cases: [(&str, &str, &[i64]); 4] = [
        ("q[name_eq]", "today", &[1]),
        ("q[name_in]", "me,-7d", &[2, 3]),
        ("q[name_start]", "to", &[1]),
        ("q[name_or_sku_eq]", "me", &[2]),
    ];
    expect(&client, &cases).await;
}

async fn invalid_relative_values_are_rejected(specimens: Specimens) {
    let client = specimens.admin();
    for (name, value) in [
        ("q[bought_on_eq]", "now"),
        ("q[bought_on_gt]", "-12h"),
        ("q[bought_on_eq]", "soon"),
        ("q[bought_on_eq]", "this_day"),
        ("q[bought_on_gt]", "-9999y"),
        ("q[created_at_gt]", "99999y"),
        ("q[created_at_gt]", "99999mo"),
        ("q[created_at_eq]", "me"),
        ("q[created_at_in]", "today,soon"),
        ("q[opens_at_gt]", "now"),
        ("q[qty_eq]", "today"),
    ] {
        let refused = client.list("/specimens", &[(name, value)]).await;
        assert!(!refused.invalid(name).is_empty(), "{name}={value}");
    }
    let view = json!({ "name": "Mine", "entity_type": "specimens", "columns": ["name"],
        "filters": [{ "field": "bought_on", "predicate": "eq", "value": "now" }] });
    client.post("/custom_views", view).await.status(422);
}

async fn view_stores_the_word_and_resolves_it_at_each_request(specimens: Specimens) {
    let client = with_dates(&specimens, &["2043-11-28", "2043-11-29"]).await;
    let filters = json!([{ "field": "bought_on", "predicate": "eq", "value": "today" }]);
    let view = json!({ "name": "Due", "entity_type": "specimens", "columns": ["name"], "filters": filters });
    let view = client.post("/custom_views", view).await.created("custom_view");
    assert_eq!(view["filters"][0]["value"], "today");
    let id = view["id"].to_string();
    assert_eq!(ids(&client, &[("view_id", &id)]).await, [1]);
    specimens.state.clock.advance(Duration::from_secs(24 * 3600));
    assert_eq!(ids(&client, &[("view_id", &id)]).await, [2]);
}

async fn cached_pages_totals_and_summaries_move_with_the_clock(specimens: Specimens) {
    let client = with_dates(&specimens, &["2043-11-28", "2043-11-29"]).await;
    set_times(&specimens, &["2043-11-28T11:09:00Z", "2043-11-28T11:40:00Z", "2043-11-29T11:40:00Z"]).await;
    let found = async |name: &str, value: &str| {
        let mut last = (Vec::new(), Value::Null, Value::Null);
        for _ in 0..3 {
            let list = client.list("/specimens", &[(name, value), ("q[created_at_gt]", "2043-01-01T00:00:00Z")]).await;
            let total = list.ok()["meta"]["total"].clone();
            let summary = client
                .list("/specimens/summary", &[(name, value), ("q[created_at_gt]", "2043-01-01T00:00:00Z")])
                .await
                .ok();
            last = (list.column("specimens", "id"), total, summary["summary"][0]["count"].clone());
        }
        last
    };
    assert_eq!(found("q[bought_on_eq]", "today").await, (vec![json!(1)], json!(1), json!(1)));
    assert_eq!(found("q[created_at_lt]", "now").await, (vec![json!(1)], json!(1), json!(1)));
    let page = "/specimens?q[bought_on_eq]=today";
    let tag = client.get(page).await.header("etag").expect("a tag").to_string();
    client.with("if-none-match", &tag).get(page).await.status(304);
    assert!(client.get("/specimens?q[created_at_lt]=now").await.header("etag").is_none(), "it changes with the time");
    specimens.state.clock.advance(Duration::from_secs(3600));
    assert_eq!(found("q[bought_on_eq]", "today").await, (vec![json!(1)], json!(1), json!(1)));
    assert_eq!(found("q[created_at_lt]", "now").await, (vec![json!(1), json!(2)], json!(2), json!(2)));
    specimens.state.clock.advance(Duration::from_secs(23 * 3600));
    assert_eq!(found("q[bought_on_eq]", "today").await, (vec![json!(2)], json!(1), json!(1)));
    client.with("if-none-match", &tag).get(page).await.status(200);
}

async fn pages_of_a_cursor_keep_the_time_of_the_first_page(specimens: Specimens) {
    let client = with_dates(&specimens, &["2043-11-28", "2043-11-28", "2043-11-28", "2043-11-29"]).await;
    for (name, value, expected) in [("q[bought_on_eq]", "today", 3), ("q[created_at_lt]", "now", 10)] {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = client.list("/specimens", &[(name, value), ("per_page", "1"), ("cursor", &cursor)]).await;
            found.extend(page.column("specimens", "id"));
            match page.ok()["meta"]["next_cursor"].as_str() {
                Some(next) => cursor = next.to_string(),
                None => break,
            }
            // Midnight passes between the pages.
            specimens.state.clock.advance(Duration::from_secs(24 * 3600));
        }
        assert_eq!(found.len(), expected, "{name}: {found:?}");
        if name == "q[bought_on_eq]" {
            assert_eq!(ids(&client, &[(name, value)]).await, [0; 0], "a request without a cursor resolves it again");
            client.list("/specimens", &[(name, "tomorrow"), ("cursor", &cursor)]).await.invalid("cursor");
        }
    }
}

async fn explain_describes_the_resolved_condition(specimens: Specimens) {
    let client = with_dates(&specimens, &[]).await;
    let plan = client.list("/specimens", &[("q[bought_on_eq]", "this_month"), ("explain", "1")]).await.ok();
    let conditions = plan["plan"]["conditions"].as_str().unwrap_or_default().to_string();
    assert!(conditions.contains("bought_on >= ?") && conditions.contains("bought_on < ?"), "{conditions}");
    let today: NaiveDate = NOW[..10].parse().expect("a date");
    assert!(!plan.to_string().contains(&today.to_string()), "a plan has no values");
}
