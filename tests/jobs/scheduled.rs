//! Jobs that run once in each interval.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::{Depot, Parcels};
use crate::panel::signed_in;
use crate::support::{Server, on_both};

on_both!(
    processes_on_one_database_run_a_job_once_in_each_interval,
    interval_without_a_server_is_not_made_up_for,
    scheduled_run_is_repeated_by_hand_unless_another_has_not_ended,
    administrator_sees_the_runs_in_the_panel,
);

const HOUR: Duration = Duration::from_secs(3600);

/// The times for which the job ran, once there are this many.
async fn slots(server: &Server, count: usize) -> Vec<String> {
    for _ in 0..400 {
        let runs = server.admin().get("/background_jobs?q[name_eq]=sweep_depot&sort=scheduled_for").await;
        let runs = runs.records("background_jobs");
        if runs.len() >= count && runs.iter().all(|run| run["status"] == "done") {
            return runs.iter().map(|run| run["scheduled_for"].as_str().expect("a time").to_string()).collect();
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("the job has not run {count} times")
}

fn swept(server: &Server) -> usize {
    server.state.extension::<Depot>().expect("it is added").swept.load(Ordering::Relaxed)
}

async fn processes_on_one_database_run_a_job_once_in_each_interval(parcels: Parcels) {
    let second = parcels.0.second_node_of(Parcels::app()).await;
    for round in 1..=3 {
        let slots = slots(&parcels.0, round).await;
        // Time for a second run, which there must not be.
        sleep(Duration::from_millis(1500)).await;
        assert_eq!((slots.len(), swept(&parcels.0) + swept(&second)), (round, round), "{slots:?}");
        parcels.0.state.clock.advance(HOUR);
        second.state.clock.advance(HOUR);
    }
}

async fn interval_without_a_server_is_not_made_up_for(parcels: Parcels) {
    slots(&parcels.0, 1).await;
    parcels.0.state.clock.advance(5 * HOUR);
    let slots = slots(&parcels.0, 2).await;
    assert_eq!((slots.len(), swept(&parcels.0)), (2, 2), "{slots:?}");
    assert!(slots.iter().all(|slot| slot.contains(":00:00")), "intervals begin at full hours: {slots:?}");
}

async fn scheduled_run_is_repeated_by_hand_unless_another_has_not_ended(parcels: Parcels) {
    slots(&parcels.0, 1).await;
    let admin = parcels.0.admin();
    let first = parcels.run_in("sweep_depot", "done").await;
    let path = format!("/background_jobs/{}/run", first["id"]);
    admin.post(&path, json!({})).await.status(200);
    while swept(&parcels.0) < 2 {
        sleep(Duration::from_millis(20)).await;
    }
    slots(&parcels.0, 1).await;
    parcels.0.state.clock.advance(HOUR);
    slots(&parcels.0, 2).await;
    let leased = "\"status\" = 'running', \"lease_until\" = '2999-01-01 00:00:00+00:00'";
    parcels
        .0
        .sql(&format!(
            "UPDATE \"background_jobs\" SET {leased} WHERE \"name\" = 'sweep_depot' AND \"id\" > {}",
            first["id"]
        ))
        .await;
    admin.post(&path, json!({})).await.refused(409, "conflict");
}

async fn administrator_sees_the_runs_in_the_panel(parcels: Parcels) {
    let run = parcels.run_in("sweep_depot", "done").await;
    let (administrator, _) = parcels.0.user(&["jobs.read", "jobs.run"], &["*"]).await;
    let mut panel = signed_in(&parcels.0, &administrator).await;
    let list = panel.get("/background_jobs").await;
    assert!(list.text.contains("sweep_depot") && list.text.contains("Background jobs"), "{}", list.text);
    let page = panel.get(&format!("/background_jobs/{}", run["id"])).await;
    assert!(page.text.contains(&format!("/background_jobs/{}/run", run["id"])), "{}", page.text);
}
