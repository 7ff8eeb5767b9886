//! Jobs that a write queues in its transaction.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::{Parcels, eventually};
use crate::support::{logged, on_both};

on_both!(
    job_that_a_hook_queues_writes_with_event_and_audit_entry,
    job_of_a_write_that_fails_does_not_exist,
    unknown_job_and_missing_state_are_errors_that_name_them,
    failed_attempts_are_rolled_back_and_repeated_up_to_the_limit,
    failed_run_is_repeated_by_hand,
    panic_of_a_job_is_a_failed_attempt,
    run_of_a_process_that_died_is_taken_over_after_its_lease,
    run_that_kills_its_process_fails_after_its_attempts,
    worker_that_lost_its_lease_changes_nothing,
    external_job_writes_in_a_transaction_of_its_own,
    attempt_that_takes_too_long_has_failed,
    stopping_server_waits_for_the_running_job,
    history_needs_the_permission_and_shows_no_arguments,
    runs_that_ended_are_deleted_after_30_days,
    attempts_are_counted_by_job_and_outcome,
);

async fn job_that_a_hook_queues_writes_with_event_and_audit_entry(parcels: Parcels) {
    let parcel = parcels.pack("1 High Street").await;
    let run = parcels.run_in("send_parcel", "done").await;
    assert_eq!((&run["attempts"], &run["error"], &run["scheduled_for"]), (&json!(1), &json!(null), &json!(null)));
    assert!(run["user_id"].is_i64() && run["finished_at"].is_string(), "{run}");
    assert_eq!(parcels.status_of(&parcel).await, "sent");
    assert_eq!(parcels.0.events("parcel").await, ["parcel.created", "parcel.updated"]);
    let request = format!("job-{}", run["id"]);
    let audit = parcels.0.admin().list("/audit_entries", &[("q[request_id_eq]", &request)]).await;
    let entries = audit.records("audit_entries");
    assert_eq!((entries.len(), &entries[0]["record_id"], &entries[0]["user_id"]), (1, &parcel["id"], &json!(null)));
}

async fn job_of_a_write_that_fails_does_not_exist(parcels: Parcels) {
    parcels.0.admin().post("/parcels", json!({ "address": "nowhere" })).await.refused(409, "conflict");
    let runs = parcels.0.admin().get("/background_jobs?q[name_eq]=send_parcel").await.records("background_jobs");
    assert_eq!(runs.len(), 0);
}

async fn unknown_job_and_missing_state_are_errors_that_name_them(parcels: Parcels) {
    for (address, cause) in [
        ("unregistered", "the application has no job `forgotten`: add it with App::job"),
        ("stateless", "Mutex<u128>: add it with App::with"),
    ] {
        let answer = parcels.0.admin().post("/parcels", json!({ "address": address })).await;
        let lines = logged(answer.status(500).header("x-request-id").expect("an id"));
        assert!(lines.contains(cause), "{lines}");
    }
}

async fn failed_attempts_are_rolled_back_and_repeated_up_to_the_limit(parcels: Parcels) {
    parcels.depot().fails.store(true, Ordering::Relaxed);
    let parcel = parcels.pack("1 High Street").await;
    let admin = parcels.0.admin();
    let first = eventually(&admin, "send_parcel", |run| run["status"] == "waiting" && run["attempts"] == 1).await;
    assert!(first["due_at"].as_str() > first["started_at"].as_str(), "{first}");
    assert_eq!(parcels.status_of(&parcel).await, "packed", "the attempt was rolled back");
    // The second attempt is due after 30 seconds.
    parcels.0.state.clock.advance(Duration::from_secs(31));
    let failed = parcels.run_in("send_parcel", "failed").await;
    assert_eq!(failed["attempts"], 2);
    let error = failed["error"].as_str().expect("a text");
    assert_eq!(error, "An internal error occurred. The log of the server has the cause.");
    assert!(logged(&format!("job-{}", failed["id"])).contains("no van for"), "the log has the cause");
    assert_eq!((parcels.depot().sent.load(Ordering::Relaxed), parcels.status_of(&parcel).await), (2, json!("packed")));
}

async fn failed_run_is_repeated_by_hand(parcels: Parcels) {
    parcels.depot().fails.store(true, Ordering::Relaxed);
    let parcel = parcels.pack("1 High Street").await;
    let admin = parcels.0.admin();
    let run = eventually(&admin, "send_parcel", |run| run["status"] == "waiting" && run["attempts"] == 1).await;
    parcels.depot().fails.store(false, Ordering::Relaxed);
    let path = format!("/background_jobs/{}/run", run["id"]);
    assert_eq!(admin.post(&path, json!({})).await.record("background_job")["status"], "waiting");
    let done = parcels.run_in("send_parcel", "done").await;
    assert_eq!((&done["attempts"], &done["error"]), (&json!(1), &json!(null)));
    assert_eq!(parcels.status_of(&parcel).await, "sent");
    let (_, other) = parcels.0.user(&["jobs.read"], &["background_jobs:read", "background_jobs:write"]).await;
    other.post(&path, json!({})).await.status(403);
}

async fn panic_of_a_job_is_a_failed_attempt(parcels: Parcels) {
    parcels.depot().panics.store(true, Ordering::Relaxed);
    let parcel = parcels.pack("1 High Street").await;
    eventually(&parcels.0.admin(), "send_parcel", |run| run["status"] == "waiting" && run["attempts"] == 1).await;
    assert_eq!(parcels.status_of(&parcel).await, "packed");
    parcels.depot().panics.store(false, Ordering::Relaxed);
    parcels.0.state.clock.advance(Duration::from_secs(31));
    parcels.run_in("send_parcel", "done").await;
}

/// Leaves the run of a new parcel to another process, which has begun `attempts` attempts.
async fn run_of_another_process(parcels: &Parcels, attempts: u32) {
    parcels.pack("1 High Street").await;
    let run = parcels.run_in("send_parcel", "done").await;
    let until = "(SELECT \"due_at\" FROM \"background_jobs\" WHERE \"name\" = 'sweep_depot')";
    parcels.run_in("sweep_depot", "done").await;
    parcels.0.sql("UPDATE \"background_jobs\" SET \"due_at\" = \"created_at\" WHERE \"name\" = 'sweep_depot'").await;
    let set = format!("\"status\" = 'running', \"attempts\" = {attempts}, \"lease_owner\" = 'another'");
    let set = format!("{set}, \"finished_at\" = NULL, \"lease_until\" = {until}");
    parcels.0.sql(&format!("UPDATE \"background_jobs\" SET {set} WHERE \"id\" = {}", run["id"])).await;
}

async fn run_of_a_process_that_died_is_taken_over_after_its_lease(parcels: Parcels) {
    run_of_another_process(&parcels, 1).await;
    let done = parcels.run_in("send_parcel", "done").await;
    assert_eq!((&done["attempts"], parcels.depot().sent.load(Ordering::Relaxed)), (&json!(2), 2));
}

async fn run_that_kills_its_process_fails_after_its_attempts(parcels: Parcels) {
    run_of_another_process(&parcels, 2).await;
    let failed = parcels.run_in("send_parcel", "failed").await;
    assert_eq!(failed["error"], "The server stopped during each of 2 attempts.");
    assert_eq!(parcels.depot().sent.load(Ordering::Relaxed), 1, "only the attempt before");
}

async fn worker_that_lost_its_lease_changes_nothing(parcels: Parcels) {
    parcels.depot().usurps.store(true, Ordering::Relaxed);
    let parcel = parcels.pack("1 High Street").await;
    while parcels.depot().sent.load(Ordering::Relaxed) == 0 {
        sleep(Duration::from_millis(20)).await;
    }
    // Longer than the end of an attempt takes.
    sleep(Duration::from_millis(500)).await;
    assert_eq!(parcels.status_of(&parcel).await, "packed");
    assert_eq!(parcels.0.events("parcel").await, ["parcel.created"]);
    assert_eq!(parcels.run_in("send_parcel", "running").await["attempts"], 1);
    parcels.depot().usurps.store(false, Ordering::Relaxed);
    parcels.0.state.clock.advance(Duration::from_secs(16));
    assert_eq!(parcels.run_in("send_parcel", "done").await["attempts"], 2);
    assert_eq!(parcels.0.events("parcel").await, ["parcel.created", "parcel.updated"]);
}

async fn external_job_writes_in_a_transaction_of_its_own(parcels: Parcels) {
    let parcel = parcels.pack("abroad").await;
    let run = parcels.run_in("export_parcel", "done").await;
    assert_eq!(parcels.status_of(&parcel).await, "sent");
    let request = format!("job-{}", run["id"]);
    let audit = parcels.0.admin().list("/audit_entries", &[("q[request_id_eq]", &request)]).await;
    assert_eq!(audit.column("audit_entries", "record_id"), [parcel["id"].clone()]);
}

async fn attempt_that_takes_too_long_has_failed(parcels: Parcels) {
    parcels.pack("the end").await;
    let run = eventually(&parcels.0.admin(), "wait_long", |run| run["error"].is_string()).await;
    assert_eq!(
        (&run["status"], &run["error"]),
        (&json!("waiting"), &json!("The attempt took longer than its timeout of 1 s."))
    );
}

async fn stopping_server_waits_for_the_running_job(parcels: Parcels) {
    parcels.close_gate();
    parcels.pack("1 High Street").await;
    parcels.run_in("send_parcel", "running").await;
    let state = parcels.0.state.clone();
    let depot = || state.extension::<super::Depot>().expect("it is added");
    let opened = async {
        sleep(Duration::from_millis(500)).await;
        depot().gate.add_permits(1);
    };
    tokio::join!(parcels.0.stop(), opened);
    assert_eq!(depot().sent.load(Ordering::Relaxed), 1);
}

async fn history_needs_the_permission_and_shows_no_arguments(parcels: Parcels) {
    parcels.pack("1 High Street").await;
    let run = parcels.run_in("send_parcel", "done").await;
    assert!(run.get("arguments").is_none(), "{run}");
    let path = format!("/background_jobs/{}", run["id"]);
    let (_, reader) = parcels.0.user(&["jobs.read"], &["background_jobs:read"]).await;
    assert!(!reader.get(&path).await.status(200).text.contains("hunter2"));
    let (_, other) = parcels.0.user(&[], &["background_jobs:read"]).await;
    other.get(&path).await.status(403);
}

async fn runs_that_ended_are_deleted_after_30_days(parcels: Parcels) {
    parcels.pack("1 High Street").await;
    let run = parcels.run_in("send_parcel", "done").await;
    let state = &parcels.0.state.state;
    charter_runtime::job::prune(state).await.expect("the database is there");
    parcels.0.admin().get(&format!("/background_jobs/{}", run["id"])).await.status(200);
    state.clock.advance(Duration::from_secs(31 * 24 * 60 * 60));
    charter_runtime::job::prune(state).await.expect("the database is there");
    parcels.0.admin().get(&format!("/background_jobs/{}", run["id"])).await.status(404);
}

async fn attempts_are_counted_by_job_and_outcome(parcels: Parcels) {
    parcels.pack("1 High Street").await;
    parcels.run_in("send_parcel", "done").await;
    let metrics = parcels.0.anonymous().get("~/health/metrics").await;
    let text = &metrics.status(200).text;
    assert!(text.contains("charter_job_attempts_total{job=\"send_parcel\",outcome=\"done\"} 1"), "{text}");
    assert!(text.contains("charter_job_last_success_timestamp_seconds{job=\"send_parcel\"}"), "{text}");
    assert!(text.contains("charter_task_running{task=\"jobs\"} 1"), "{text}");
}
