//! Code that changes embedded records, knows the record before a save, runs actions, and emits events of its own.

mod fixture;

use serde_json::{Value, json};

use crate::support::{logged, on_both};
use fixture::Invoices;

on_both!(
    hook_reads_and_sets_embedded_records,
    hook_keeps_embedded_records_that_the_request_leaves_out,
    embedded_value_that_breaks_a_rule_is_a_422_and_an_impossible_one_a_500,
    code_revises_several_fields_and_embedded_records_at_once,
    hooks_after_a_save_know_the_record_before,
    code_runs_an_action_with_its_event_and_its_rules,
    refused_action_of_code_leaves_nothing_and_the_rest_is_stored,
    action_of_code_that_writes_needs_a_transaction,
    concealed_value_of_an_embedded_record_stays_out_of_the_audit_log,
    code_emits_a_declared_event,
    choice_of_a_client_is_read_in_any_case_and_an_unknown_one_is_refused,
);

fn line(text: &str, quantity: i32) -> Value {
    json!({ "text": text, "quantity": quantity })
}

/// The lines without their ids.
fn lines(invoice: &Value) -> Vec<(String, i64)> {
    let lines = invoice["lines"].as_array().expect("a list").iter();
    lines
        .map(|line| (line["text"].as_str().expect("a text").into(), line["quantity"].as_i64().expect("a number")))
        .collect()
}

async fn hook_reads_and_sets_embedded_records(server: Invoices) {
    let admin = server.admin();
    let invoice = json!({ "title": "bonus", "lines": [line("Lamp", 2), line("Chair", 0), line("Tent", 1)] });
    let invoice = admin.post("/invoices", invoice).await.created("invoice");
    assert_eq!(lines(&invoice), [("Lamp".into(), 2), ("Tent".into(), 1), ("Bonus".into(), 1)]);
    assert_eq!(invoice["total"], 4);
    // A record that keeps its place keeps its id.
    let path = format!("/invoices/{}", invoice["id"]);
    let mut changed = invoice["lines"].clone();
    changed[0]["quantity"] = 5.into();
    let after = admin.put(&path, json!({ "lines": changed })).await.record("invoice");
    assert_eq!((&after["lines"][0]["id"], &after["total"]), (&invoice["lines"][0]["id"], &json!(7)));
}

async fn hook_keeps_embedded_records_that_the_request_leaves_out(server: Invoices) {
    let admin = server.admin();
    let invoice = json!({ "title": "Lamps", "lines": [line("Lamp", 2)] });
    let invoice = admin.post("/invoices", invoice).await.created("invoice");
    let path = format!("/invoices/{}", invoice["id"]);
    let after = admin.put(&path, json!({ "title": "bonus" })).await.record("invoice");
    assert_eq!(lines(&after), [("Lamp".into(), 2), ("Bonus".into(), 1)]);
    assert_eq!((&after["lines"][0], &after["total"]), (&invoice["lines"][0], &json!(3)));
}

async fn embedded_value_that_breaks_a_rule_is_a_422_and_an_impossible_one_a_500(server: Invoices) {
    let admin = server.admin();
    let refused = admin.post("/invoices", json!({ "title": "twice", "lines": [line("Lamp", 2)] })).await;
    let errors = &refused.refused(422, "validation_failed")["errors"];
    assert!(errors["lines.1.text"].is_array(), "two lines have the same text: {errors}");
    let refused = admin.post("/invoices", json!({ "title": "too long", "lines": [line("Lamp", 2)] })).await;
    refused.refused(500, "internal_error");
    let log = logged(refused.header("x-request-id").expect("an id"));
    assert!(log.contains("invoice.before_save sets invoice_line.text to a value that "), "{log}");
    assert_eq!(admin.get("/invoices").await.json()["meta"]["total"], 0);
}

async fn code_revises_several_fields_and_embedded_records_at_once(server: Invoices) {
    let admin = server.admin();
    let invoice =
        admin.post("/invoices", json!({ "title": "Lamps", "lines": [line("Lamp", 2)] })).await.created("invoice");
    let path = format!("/invoices/{}", invoice["id"]);
    admin.post("/invoices/round_up", json!({ "to": 10 })).await.status(200);
    let after = admin.get(&path).await.record("invoice");
    assert_eq!(
        (lines(&after), &after["total"], &after["note"]),
        (vec![("Lamp".into(), 10)], &json!(10), &json!("rounded"))
    );
    assert_eq!(server.events("invoice.").await, ["invoice.created", "invoice.updated"]);
}

async fn hooks_after_a_save_know_the_record_before(server: Invoices) {
    let admin = server.admin();
    let invoice = admin.post("/invoices", json!({ "title": "story one", "lines": [] })).await.created("invoice");
    assert_eq!(invoice["history"], "new");
    let path = format!("/invoices/{}", invoice["id"]);
    let after = admin.put(&path, json!({ "title": "story two" })).await.record("invoice");
    assert_eq!(after["history"], "new, story one > story two");
    // After the commit, too.
    let commits = server.events("invoice.").await;
    assert!(commits.iter().all(|event| event != "invoice.sent"), "{commits:?}");
    admin.put(&path, json!({ "title": "send me" })).await.status(200);
    assert_eq!(admin.get(&path).await.record("invoice")["status"], "sent");
}

async fn code_runs_an_action_with_its_event_and_its_rules(server: Invoices) {
    let admin = server.admin();
    let invoice = admin.post("/invoices", json!({ "title": "Lamps", "lines": [] })).await.created("invoice");
    let answer = admin.post("/invoices/send_all", json!({ "copies": 2 })).await.status(200).json();
    assert_eq!(answer["sent"]["numbers"], json!([invoice["id"]]));
    let sent = admin.get(&format!("/invoices/{}", invoice["id"])).await.record("invoice");
    assert_eq!((&sent["status"], &sent["copies"]), (&json!("sent"), &json!(2)));
    assert_eq!(server.events("invoice.").await, ["invoice.created", "invoice.sent"]);
    // The input is checked like a client's.
    admin.post("/invoices", json!({ "title": "Chairs", "lines": [] })).await.created("invoice");
    let refused = admin.post("/invoices/send_all", json!({ "copies": 100 })).await;
    assert!(refused.refused(422, "validation_failed")["errors"]["copies"].is_array());
}

async fn refused_action_of_code_leaves_nothing_and_the_rest_is_stored(server: Invoices) {
    let admin = server.admin();
    let mut paths = Vec::new();
    for title in ["Lamps", "unsendable", "Chairs"] {
        let invoice = admin.post("/invoices", json!({ "title": title, "lines": [] })).await.created("invoice");
        paths.push(format!("/invoices/{}", invoice["id"]));
    }
    let before = admin.get(&paths[1]).await.record("invoice");
    let answer = admin.post("/invoices/try_all", json!({ "copies": 2 })).await.status(200).json();
    assert_eq!(answer["sent"]["numbers"].as_array().map(Vec::len), Some(2), "{answer}");
    // The hook refuses it after the row, the audit entry and the event were written.
    assert_eq!(admin.get(&paths[1]).await.record("invoice"), before);
    for path in [&paths[0], &paths[2]] {
        assert_eq!(admin.get(path).await.record("invoice")["status"], "sent");
    }
    let mut expected = vec!["invoice.created"; 3];
    expected.extend(["invoice.sent"; 2]);
    assert_eq!(server.events("invoice.").await, expected);
    let entries = admin.get("/audit_entries?q[entity_type_eq]=invoices&q[action_eq]=send").await;
    assert_eq!(entries.records("audit_entries").len(), 2);
    // All of them are refused by their input.
    let answer = admin.post("/invoices/try_all", json!({ "copies": 100 })).await.status(200).json();
    assert_eq!(answer["sent"]["numbers"], json!([]));
    assert_eq!(server.events("invoice.").await, expected);
}

async fn action_of_code_that_writes_needs_a_transaction(server: Invoices) {
    let admin = server.admin();
    let invoice = admin.post("/invoices", json!({ "title": "Lamps", "lines": [] })).await.created("invoice");
    let path = format!("/invoices/{}", invoice["id"]);
    // A hook after the commit runs it, and stores the error.
    admin.put(&path, json!({ "title": "send alone" })).await.status(200);
    let after = admin.get(&path).await.record("invoice");
    let history = after["history"].as_str().unwrap_or_default();
    assert!(history.contains("the action invoice.send needs a transaction"), "{after}");
    assert_eq!(after["status"], "draft");
}

async fn concealed_value_of_an_embedded_record_stays_out_of_the_audit_log(server: Invoices) {
    let admin = server.admin();
    // The second request has a line that `before_save` drops from the lines with concealed values.
    for (name, more) in [("Ada", json!([])), ("Eve", json!([line("Nothing", 0)]))] {
        let lines = json!([line(name, 3)]);
        let invoice = admin.post("/invoices", json!({ "title": "Guests", "lines": lines })).await.created("invoice");
        let path = format!("/invoices/{}", invoice["id"]);
        let mut lines = invoice["lines"].as_array().expect("a list").clone();
        lines.extend(more.as_array().expect("a list").clone());
        let after = admin.put(&path, json!({ "title": "forget", "lines": lines })).await.record("invoice");
        assert_eq!(self::lines(&after), [("Nobody".into(), 3)]);
        let query = format!("q[entity_type_eq]=invoices&q[record_id_eq]={}&q[action_eq]=update", invoice["id"]);
        let entry = admin.get(&format!("/audit_entries?{query}")).await.records("audit_entries").remove(0);
        let id = &invoice["lines"][0]["id"];
        let (old, new) = (&entry["changes"]["lines"]["old"], &entry["changes"]["lines"]["new"]);
        assert_eq!(*old, json!([{ "id": id, "text": "[erased]", "quantity": 3 }]), "{entry}");
        assert_eq!(*new, json!([{ "id": id, "text": "Nobody", "quantity": 3 }]), "{entry}");
        assert!(!entry.to_string().contains(name), "{entry}");
    }
}

async fn code_emits_a_declared_event(server: Invoices) {
    let admin = server.admin();
    let invoice = admin.post("/invoices", json!({ "title": "Lamps", "lines": [] })).await.created("invoice");
    admin.put(&format!("/invoices/{}", invoice["id"]), json!({ "title": "late" })).await.status(200);
    assert_eq!(server.events("invoice.").await, ["invoice.created", "invoice.updated", "invoice.overdue"]);
    assert!(server.state.catalog.events().iter().any(|event| event == "invoice.overdue"));
    let document = admin.get("~/api/v1/openapi.json").await.json();
    assert!(document["webhooks"]["invoice.overdue"].is_object());
}

async fn choice_of_a_client_is_read_in_any_case_and_an_unknown_one_is_refused(server: Invoices) {
    let admin = server.admin();
    let invoice = json!({ "title": "Lamps", "status": "SENT", "priority": 2, "lines": [] });
    let invoice = admin.post("/invoices", invoice).await.created("invoice");
    assert_eq!((&invoice["status"], &invoice["priority"]), (&json!("sent"), &json!(2)));
    let refused =
        admin.post("/invoices", json!({ "title": "Lamps", "status": "lost", "priority": 7, "lines": [] })).await;
    let errors = &refused.refused(422, "validation_failed")["errors"];
    // The hook `check` saw neither value, and adds its own error.
    assert!(errors["status"].is_array() && errors["priority"].is_array() && errors["title"].is_array(), "{errors}");
}
