//! Values that hooks and actions set are validated like a client's: an invalid one is never stored, and a log line
//! names the hook.

use serde_json::{Value, json};

use super::Behaviours;
use super::gauge::{CONTRADICTING, WRONG};
use crate::support::{logged, on_both};

on_both!(
    invalid_value_set_by_before_save_is_a_500_and_is_not_stored,
    invalid_value_set_by_check_is_a_500_and_is_not_stored,
    invalid_value_set_by_an_action_is_a_500_and_is_not_stored,
    hook_value_that_violates_a_rule_between_fields_is_a_422_and_is_not_stored,
    hook_value_is_normalized_like_a_clients_value,
    field_that_must_match_another_is_checked_on_create_and_on_update,
    validation_error_of_the_request_takes_precedence_over_a_hook_error,
);

async fn invalid_value_set_by_before_save_is_a_500_and_is_not_stored(server: Behaviours) {
    on_create(&server, "before_save").await;
}

async fn invalid_value_set_by_check_is_a_500_and_is_not_stored(server: Behaviours) {
    on_create(&server, "check").await;
}

async fn on_create(server: &Behaviours, place: &str) {
    let admin = server.admin();
    for (wish, field) in WRONG {
        let answer = admin.post("/gauges", json!({ "title": "Gauge", "wish": wish, "place": place })).await;
        answer.refused(500, "internal_error");
        names_the_place(&answer, place, field);
        assert_eq!(admin.get("/gauges").await.json()["meta"]["total"], 0, "{wish}");
    }
    assert!(server.events("gauge.").await.is_empty());
}

async fn invalid_value_set_by_an_action_is_a_500_and_is_not_stored(server: Behaviours) {
    let admin = server.admin();
    for (wish, field) in WRONG {
        let gauge = json!({ "title": "Gauge", "wish": wish, "place": "spoil" });
        let gauge = admin.post("/gauges", gauge).await.created("gauge");
        let path = format!("/gauges/{}", gauge["id"]);
        let answer = admin.post(&format!("{path}/spoil"), json!({})).await;
        answer.refused(500, "internal_error");
        names_the_place(&answer, "spoil", field);
        assert_eq!(admin.get(&path).await.record("gauge"), gauge, "{wish}");
    }
    assert!(server.events("gauge.").await.iter().all(|name| name == "gauge.created"));
}

fn names_the_place(answer: &crate::support::Answer, hook: &str, field: &str) {
    let line = logged(answer.header("x-request-id").expect("an id"));
    assert!(line.contains(&format!("gauge.{hook} sets gauge.{field} to a value that ")), "{line}");
    for value in ["bogus", "abcdef", "nobody", "ftp:"] {
        assert!(!line.contains(value), "a value may be a secret: {line}");
    }
}

async fn hook_value_that_violates_a_rule_between_fields_is_a_422_and_is_not_stored(server: Behaviours) {
    let admin = server.admin();
    for (wish, field) in CONTRADICTING {
        for place in ["check", "before_save"] {
            let gauge = json!({ "title": "Gauge", "wish": wish, "place": place });
            admin.post("/gauges", gauge).await.invalid(field);
        }
        let gauge = json!({ "title": "Gauge", "wish": wish, "place": "spoil" });
        let gauge = admin.post("/gauges", gauge).await.created("gauge");
        let path = format!("/gauges/{}", gauge["id"]);
        admin.post(&format!("{path}/spoil"), json!({})).await.invalid(field);
        assert_eq!(admin.get(&path).await.record("gauge"), gauge, "{wish}");
    }
}

async fn hook_value_is_normalized_like_a_clients_value(server: Behaviours) {
    let admin = server.admin();
    let gauge = json!({ "title": "Gauge", "wish": "another form", "place": "before_save" });
    let gauge = admin.post("/gauges", gauge).await.created("gauge");
    assert_eq!([&gauge["size"], &gauge["story"]], [&json!("large"), &Value::Null]);
    let begun = gauge["begins_at"].as_str().expect("a time").to_string();
    assert_eq!(admin.get(&format!("/gauges?q[begins_at_eq]={begun}")).await.records("gauges").len(), 1);
}

async fn validation_error_of_the_request_takes_precedence_over_a_hook_error(server: Behaviours) {
    let gauge = json!({ "title": "Gauge", "wish": "unknown word", "place": "check", "count": 100 });
    server.admin().post("/gauges", gauge).await.invalid("count");
}

async fn field_that_must_match_another_is_checked_on_create_and_on_update(server: Behaviours) {
    let admin = server.admin();
    let (one, two) = ("one@example.com", "two@example.com");
    let problem = admin.post("/gauges", json!({ "title": "Gauge", "mail": one, "mail_again": two })).await;
    assert_eq!(problem.invalid("mail_again"), "must equal mail");
    // A value needs one to match; without a value there is nothing to compare.
    admin.post("/gauges", json!({ "title": "Gauge", "mail_again": one })).await.invalid("mail_again");
    admin.post("/gauges", json!({ "title": "Gauge", "mail": one })).await.created("gauge");
    let gauge = admin.post("/gauges", json!({ "title": "Gauge", "mail": one, "mail_again": one })).await;
    let path = format!("/gauges/{}", gauge.created("gauge")["id"]);
    // The stored value of the other field counts if only one is sent.
    admin.patch(&path, json!({ "mail_again": two })).await.invalid("mail_again");
    admin.patch(&path, json!({ "mail": two })).await.invalid("mail_again");
    admin.patch(&path, json!({ "mail": "" })).await.invalid("mail_again");
    admin.patch(&path, json!({ "title": "Other" })).await.ok();
    let changed = admin.patch(&path, json!({ "mail": two, "mail_again": two })).await.record("gauge");
    assert_eq!([&changed["mail"], &changed["mail_again"]], [two, two]);
    admin.patch(&path, json!({ "mail_again": "", "mail": one })).await.ok();
    // An invalid value is reported by itself.
    let both = json!({ "title": "Gauge", "mail": "nobody", "mail_again": one });
    assert_eq!(admin.post("/gauges", both).await.invalid_fields(), ["mail"]);
}
