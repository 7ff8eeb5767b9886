//! Lifecycles: transitions of a state, and every other way to change it, on both databases.

mod fixture;
mod panel;

use reqwest::Method;
use serde_json::{Value, json};

use crate::routes::imports;
use crate::support::{Client, on_both};
use fixture::Tickets;

on_both!(
    transition_changes_the_state_and_sets_other_fields,
    transition_from_another_state_is_refused_with_the_current_state,
    guard_refuses_a_record_for_which_it_does_not_hold,
    transition_refuses_fields,
    transition_needs_its_own_permission,
    no_other_write_changes_the_state,
    row_of_an_import_in_another_state_is_refused,
    record_can_be_sent_back_with_its_state,
    rules_and_hooks_of_the_record_run_with_a_transition,
    transition_emits_its_event_and_has_its_audit_entry,
    of_two_concurrent_transitions_one_is_refused,
    stale_version_is_refused_before_the_transition,
    can_lists_the_transitions_that_the_caller_may_run,
    can_of_a_list_has_the_rights_of_each_caller,
    row_rule_of_writes_limits_transitions,
    code_of_the_application_runs_a_transition,
    openapi_document_describes_the_lifecycle,
);

async fn ticket(client: &Client, more: Value) -> (i64, String) {
    let mut ticket = json!({ "title": "Leak" });
    ticket.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let id = client.post("/tickets", ticket).await.created("ticket")["id"].as_i64().expect("an id");
    (id, format!("/tickets/{id}"))
}

async fn run(client: &Client, path: &str, name: &str) -> crate::support::Answer {
    client.post(&format!("{path}/{name}"), json!({})).await
}

async fn transition_changes_the_state_and_sets_other_fields(server: Tickets) {
    let admin = server.admin();
    let (_, path) = ticket(&admin, json!({ "hours": 2, "note": "Wet" })).await;
    let solved = run(&admin, &path, "solve").await.record("ticket");
    // The administrator.
    assert_eq!((&solved["status"], &solved["agent_id"]), (&json!("solved"), &json!(1)));
    assert_eq!((&solved["note"], &solved["source"]), (&Value::Null, &json!("it's \"now\"")));
    assert_eq!(solved["solved_at"], solved["updated_at"]);
    assert!(solved["solved_on"].as_str().is_some_and(|day| day.len() == 10), "{solved}");
    assert_eq!(admin.get(&path).await.record("ticket"), solved);
    let reopened = run(&admin, &path, "reopen").await.record("ticket");
    assert_eq!((&reopened["status"], &reopened["solved_at"]), (&json!("open"), &Value::Null));
}

async fn transition_from_another_state_is_refused_with_the_current_state(server: Tickets) {
    let admin = server.admin();
    let (_, path) = ticket(&admin, json!({ "hours": 2 })).await;
    let refused = run(&admin, &path, "reopen").await.refused(409, "transition_refused");
    assert_eq!(refused["message"], "only a solved ticket can be reopened");
    assert_eq!(refused["state"], "open");
    run(&admin, &path, "solve").await.ok();
    let refused = run(&admin, &path, "solve").await.refused(409, "transition_refused");
    assert_eq!(refused["message"], "The status must be open or pending, and it is solved.");
    assert_eq!(refused["state"], "solved");
    run(&admin, "/tickets/999999", "solve").await.refused(404, "not_found");
}

async fn guard_refuses_a_record_for_which_it_does_not_hold(server: Tickets) {
    let admin = server.admin();
    let (_, path) = ticket(&admin, json!({})).await;
    // Without hours, the condition is neither true nor false.
    let guard = "hours > 0 and hours < 100";
    let reason = format!("This is possible only if {guard}.");
    for hours in [Value::Null, json!(0), json!(100)] {
        admin.put(&path, json!({ "hours": hours })).await.ok();
        let refused = run(&admin, &path, "solve").await.refused(409, "transition_refused");
        assert_eq!(refused["message"], reason);
        assert_eq!(refused["state"], "open");
    }
    assert_eq!(admin.get(&path).await.record("ticket")["status"], "open");
    admin.put(&path, json!({ "hours": 1 })).await.ok();
    run(&admin, &path, "solve").await.ok();
}

async fn transition_refuses_fields(server: Tickets) {
    let admin = server.admin();
    let (_, path) = ticket(&admin, json!({ "hours": 2 })).await;
    // The fields are refused first: the guard may need them in the record.
    for fields in [json!({ "note": "Wet", "a": 1 }), json!({ "solve": { "note": "Wet" }, "a": null })] {
        for action in ["solve", "reopen"] {
            let answer = admin.post(&format!("{path}/{action}"), fields.clone()).await;
            assert_eq!(answer.invalid("a"), format!("is not a field of the action {action}"));
        }
    }
    let answer = admin.post(&format!("{path}/solve"), json!({ "note": "Wet" })).await;
    assert_eq!(answer.invalid("note"), "is not a field of the action solve");
    assert_eq!(admin.get(&path).await.record("ticket")["status"], "open");
    admin.post("/tickets/999999/solve", json!({ "note": "Wet" })).await.refused(404, "not_found");
    for body in ["", " ", "{}", r#"{"solve":{}}"#] {
        admin.send_bytes(Method::POST, &format!("{path}/solve"), Some("application/json"), body).await.ok();
        run(&admin, &path, "reopen").await.ok();
    }
    // A record can be sent back with the include.
    let shown = admin.get(&format!("{path}?include=can")).await.record("ticket");
    admin.put(&path, shown).await.ok();
    assert_eq!(admin.put(&path, json!({ "can": 1 })).await.invalid("can"), "is not a field of ticket");
}

async fn transition_needs_its_own_permission(server: Tickets) {
    let admin = server.admin();
    let (_, path) = ticket(&admin, json!({})).await;
    let (_, plain) = server.user(&[], &["*"]).await;
    let (_, merger) = server.user(&["tickets.merge"], &["tickets:read", "tickets:merge"]).await;
    let refused = run(&plain, &path, "merge").await.refused(403, "permission_missing");
    assert!(refused["message"].as_str().unwrap().contains("tickets.merge"), "{refused}");
    run(&plain, &path, "wait").await.ok();
    run(&merger, &path, "wait").await.refused(403, "ability_missing");
    assert_eq!(run(&merger, &path, "merge").await.record("ticket")["status"], "merged");
}

async fn no_other_write_changes_the_state(server: Tickets) {
    let admin = server.admin();
    let created = admin.post("/tickets", json!({ "title": "Leak", "status": "solved" })).await;
    let actions = "the actions wait, solve, reopen, merge and touch change it";
    assert_eq!(created.invalid("status"), format!("must be open in a new record: {actions}"));
    let (id, path) = ticket(&admin, json!({ "status": "open" })).await;
    for answer in [
        admin.put(&path, json!({ "status": "solved" })).await,
        admin.patch(&path, json!({ "ticket": { "status": "merged", "title": "Other" } })).await,
    ] {
        assert_eq!(answer.invalid("status"), format!("cannot be set: {actions}"));
    }
    let update = json!({ "method": "update", "id": id, "ticket": { "status": "pending" } });
    let create = json!({ "method": "create", "ticket": { "title": "Two", "status": "merged" } });
    for operation in [update, create] {
        let refused = admin.post("/tickets/bulk", json!({ "operations": [operation] })).await;
        assert!(refused.invalid("operations.0.status").ends_with(actions));
    }
    assert_eq!(admin.get(&path).await.record("ticket")["status"], "open");
    assert_eq!(admin.get("/tickets").await.ok()["meta"]["total"], 1);
}

async fn row_of_an_import_in_another_state_is_refused(server: Tickets) {
    let admin = server.admin();
    let import = imports::uploaded(&admin, "tickets", "title,status\nOne,open\nTwo,solved\nThree,\n").await;
    let import = imports::finished(&admin, &import, "run").await;
    assert_eq!((&import["created_count"], &import["refused_count"]), (&json!(2), &json!(1)));
    let refused = admin.get(&format!("/imports/{}/rows?q[number_eq]=3", import["id"])).await.records("import_rows");
    assert!(
        refused[0]["errors"]["status"][0].as_str().is_some_and(|text| text.starts_with("must be open")),
        "{refused:?}"
    );
}

async fn record_can_be_sent_back_with_its_state(server: Tickets) {
    let admin = server.admin();
    let (_, path) = ticket(&admin, json!({ "hours": 1 })).await;
    let mut solved = run(&admin, &path, "solve").await.record("ticket");
    solved["title"] = json!("Leak in the roof");
    let answer = admin.put(&path, json!({ "ticket": solved })).await.record("ticket");
    assert_eq!((&answer["status"], &answer["title"]), (&json!("solved"), &json!("Leak in the roof")));
}

async fn rules_and_hooks_of_the_record_run_with_a_transition(server: Tickets) {
    let admin = server.admin();
    let (_, path) = ticket(&admin, json!({ "hours": 1, "title": "refuse" })).await;
    // The hook `check` of the fixture refuses solved tickets of this title.
    assert_eq!(run(&admin, &path, "solve").await.invalid("title"), "says no");
    assert_eq!(admin.get(&path).await.record("ticket")["status"], "open");
    // `required_when` of the fixture.
    let problem = run(&admin, &path, "wait").await;
    assert_eq!(problem.status, 200);
    let (_, path) = ticket(&admin, json!({ "priority": "high" })).await;
    let refused = run(&admin, &path, "wait").await.refused(422, "validation_failed");
    assert_eq!(refused["errors"], json!({ "note": ["is required when status = pending and priority = high"] }));
}

async fn transition_emits_its_event_and_has_its_audit_entry(server: Tickets) {
    let admin = server.admin();
    let (id, path) = ticket(&admin, json!({ "hours": 1 })).await;
    run(&admin, &path, "wait").await.ok();
    run(&admin, &path, "solve").await.ok();
    assert_eq!(server.events("ticket.").await, ["ticket.created", "ticket.updated", "ticket.solved"]);
    let entries = admin.get(&format!("/audit_entries?q[entity_type_eq]=tickets&q[record_id_eq]={id}&sort=id")).await;
    assert_eq!(entries.column("audit_entries", "action"), ["create", "wait", "solve"]);
}

async fn of_two_concurrent_transitions_one_is_refused(server: Tickets) {
    let admin = server.admin();
    let (_, path) = ticket(&admin, json!({ "hours": 1 })).await;
    let answers = futures_util::future::join_all((0..8).map(|_| run(&admin, &path, "solve"))).await;
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| matches!(status, 200 | 409)), "{statuses:?}");
}

async fn stale_version_is_refused_before_the_transition(server: Tickets) {
    let admin = server.admin();
    let (_, path) = ticket(&admin, json!({ "hours": 1 })).await;
    let tag = admin.get(&path).await.header("etag").expect("a tag").to_string();
    admin.put(&path, json!({ "title": "Other" })).await.ok();
    run(&admin.with("if-match", &tag), &path, "solve").await.refused(412, "precondition_failed");
    assert_eq!(admin.get(&path).await.record("ticket")["status"], "open");
}

/// The allowed transitions of a record, and the reasons of the others.
fn can(record: &Value) -> (Vec<&str>, Value) {
    let can = record["can"].as_array().expect("a list");
    let name = |one: &'_ Value| one["action"].as_str().map(String::from).expect("a name");
    let allowed = can.iter().filter(|one| one["allowed"] == true).map(|one| {
        assert_eq!(one["why"], Value::Null);
        one["action"].as_str().expect("a name")
    });
    let refused = can.iter().filter(|one| one["allowed"] == false).map(|one| (name(one), one["why"].clone()));
    (allowed.collect(), Value::Object(refused.collect()))
}

async fn can_lists_the_transitions_that_the_caller_may_run(server: Tickets) {
    let admin = server.admin();
    let (_, path) = ticket(&admin, json!({})).await;
    assert_eq!(admin.get(&path).await.record("ticket").get("can"), None);
    let query = format!("{path}?include=can");
    let record = admin.get(&query).await.record("ticket");
    let reasons = json!({
        "solve": "This is possible only if hours > 0 and hours < 100.",
        "reopen": "only a solved ticket can be reopened",
    });
    assert_eq!(can(&record), (vec!["wait", "merge", "touch"], reasons));
    admin.put(&path, json!({ "hours": 1 })).await.ok();
    run(&admin, &path, "solve").await.ok();
    let record = admin.get(&format!("{query}&fields=id")).await.record("ticket");
    assert_eq!(can(&record).0, ["reopen", "touch"]);
    assert_eq!(record.as_object().unwrap().keys().collect::<Vec<_>>(), ["can", "id"]);
    let reader = server.able(&["tickets:read"]).await;
    let (allowed, reasons) = (can(&reader.get(&query).await.record("ticket")).0.len(), reader.get(&query).await);
    let reasons = can(&reasons.record("ticket")).1;
    assert_eq!(allowed, 0);
    assert!(reasons["reopen"].as_str().unwrap().contains("tickets:write"), "{reasons}");
}

async fn can_of_a_list_has_the_rights_of_each_caller(server: Tickets) {
    let admin = server.admin();
    let (_, path) = ticket(&admin, json!({ "hours": 1 })).await;
    ticket(&admin, json!({ "hours": 1 })).await;
    let (_, plain) = server.user(&[], &["*"]).await;
    for _ in 0..2 {
        let list = admin.get("/tickets?include=can&sort=id").await;
        assert_eq!(list.header("etag"), None);
        let records = list.records("tickets");
        assert_eq!(can(&records[0]).0, ["wait", "solve", "merge", "touch"]);
        assert_eq!(can(&records[1]).0, ["wait", "solve", "merge", "touch"]);
        let records = plain.get("/tickets?include=can&sort=id").await.records("tickets");
        let (allowed, reasons) = can(&records[0]);
        assert_eq!(allowed, ["wait", "solve", "touch"]);
        assert_eq!(reasons["merge"], "This requires the permission `tickets.merge`.");
    }
    run(&admin, &path, "solve").await.ok();
    let records = plain.get("/tickets?include=can&sort=id").await.records("tickets");
    assert_eq!((can(&records[0]).0, can(&records[1]).0), (vec!["reopen", "touch"], vec!["wait", "solve", "touch"]));
}

async fn row_rule_of_writes_limits_transitions(server: Tickets) {
    let (_, path) = ticket(&server.admin(), json!({ "title": "locked" })).await;
    ticket(&server.admin(), json!({})).await;
    let (_, plain) = server.user(&[], &["*"]).await;
    let records = plain.get("/tickets?include=can&sort=id").await.records("tickets");
    let (allowed, reasons) = can(&records[0]);
    assert_eq!((allowed.len(), &reasons["wait"]), (0, &json!("You may read this record, but not change it.")));
    assert_eq!(can(&records[1]).0, ["wait", "touch"]);
    run(&plain, &path, "wait").await.refused(403, "permission_missing");
    let (_, keeper) = server.user(&["tickets.unlock"], &["*"]).await;
    assert!(can(&keeper.get(&format!("{path}?include=can")).await.record("ticket")).0.contains(&"wait"));
    run(&keeper, &path, "wait").await.ok();
}

async fn code_of_the_application_runs_a_transition(server: Tickets) {
    let admin = server.admin();
    let (first, path) = ticket(&admin, json!({ "hours": 1 })).await;
    // The hook `after_save` of the fixture solves the ticket that a new one follows.
    ticket(&admin, json!({ "follows": first })).await;
    assert_eq!(admin.get(&path).await.record("ticket")["status"], "solved");
    let refused = admin.post("/tickets", json!({ "title": "Third", "follows": first })).await;
    assert_eq!(refused.refused(409, "transition_refused")["state"], "solved");
    assert_eq!(admin.get("/tickets").await.ok()["meta"]["total"], 2);
}

async fn openapi_document_describes_the_lifecycle(server: Tickets) {
    let document = server.admin().get("/openapi.json").await.ok();
    let merge = &document["paths"]["/api/v1/tickets/{id}/merge"]["post"];
    assert_eq!(merge["x-permission"], "tickets.merge");
    let schemas = &document["components"]["schemas"];
    let status = &schemas["TicketCreate"]["properties"]["status"];
    assert!(status.to_string().contains("Changed only by the actions `wait`, `solve`"), "{status}");
    assert_eq!(status["anyOf"][0]["enum"], json!(["open"]));
    let can = &schemas["Ticket"]["properties"]["can"];
    assert_eq!(can["items"]["properties"]["action"]["enum"], json!(["wait", "solve", "reopen", "merge", "touch"]));
    assert!(schemas["Ticket"]["description"].as_str().unwrap().contains("stateDiagram-v2"), "{schemas}");
}
