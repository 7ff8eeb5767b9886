//! What a hook or an action sets is checked as if a client had sent it: never a wrong row, and a log line that names the place.

use serde_json::{Value, json};

use super::Behaviours;
use super::gauge::{CONTRADICTING, WRONG};
use crate::support::{logged, on_both};

on_both!(
    a_wrong_value_of_before_save_is_a_fault_and_never_stored,
    a_wrong_value_of_check_is_a_fault_and_never_stored,
    a_wrong_value_of_an_action_is_a_fault_and_never_stored,
    two_values_that_contradict_each_other_are_422_and_never_stored,
    a_value_in_another_form_is_stored_as_a_clients,
    a_problem_of_the_request_comes_before_a_fault,
);

async fn a_wrong_value_of_before_save_is_a_fault_and_never_stored(server: Behaviours) {
    on_create(&server, "before_save").await;
}

async fn a_wrong_value_of_check_is_a_fault_and_never_stored(server: Behaviours) {
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

async fn a_wrong_value_of_an_action_is_a_fault_and_never_stored(server: Behaviours) {
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

async fn two_values_that_contradict_each_other_are_422_and_never_stored(server: Behaviours) {
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

async fn a_value_in_another_form_is_stored_as_a_clients(server: Behaviours) {
    let admin = server.admin();
    let gauge = json!({ "title": "Gauge", "wish": "another form", "place": "before_save" });
    let gauge = admin.post("/gauges", gauge).await.created("gauge");
    assert_eq!([&gauge["size"], &gauge["story"]], [&json!("large"), &Value::Null]);
    let begun = gauge["begins_at"].as_str().expect("a time").to_string();
    assert_eq!(admin.get(&format!("/gauges?q[begins_at_eq]={begun}")).await.records("gauges").len(), 1);
}

async fn a_problem_of_the_request_comes_before_a_fault(server: Behaviours) {
    let gauge = json!({ "title": "Gauge", "wish": "unknown word", "place": "check", "count": 100 });
    server.admin().post("/gauges", gauge).await.invalid("count");
}
