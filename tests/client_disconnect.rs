//! Disconnects in the middle of a request do not undo acknowledged writes of other clients.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;

use crate::support::{Client, Server, on_both, poll_times};

on_both!(
    disconnect_while_a_transaction_begins_leaves_no_open_transaction,
    acknowledged_writes_survive_disconnects_of_other_clients,
);

/// The names of the stored members.
async fn stored(other: &Server) -> BTreeSet<String> {
    other.texts("SELECT name AS text FROM members").await.into_iter().collect()
}

async fn create(admin: &Client, name: String) -> String {
    admin.post("/members", json!({ "name": name })).await.created("member");
    name
}

async fn disconnect_while_a_transaction_begins_leaves_no_open_transaction(server: Server) {
    let (admin, other) = (server.admin(), server.second_node().await);
    for waits in 0..5 {
        // More often than the pool has connections.
        for turn in 0..10 {
            drop(poll_times(server.state.db.begin(), waits).await);
            let name = create(&admin, format!("After {waits} waits, {turn}")).await;
            assert!(stored(&other).await.contains(&name), "{name}: answered 201, but not visible to others");
        }
    }
}

async fn acknowledged_writes_survive_disconnects_of_other_clients(server: Server) {
    let (admin, other) = (server.admin(), server.second_node().await);
    let (leaving, runtime) = (server.admin(), tokio::runtime::Handle::current());
    // On a thread, whose timer is finer than the runtime's.
    let hanging_up = tokio::task::spawn_blocking(move || {
        for turn in 0..1_000 {
            let stream = runtime.block_on(leaving.begin_by("DELETE", "HTTP/1.1", "/tax_classes/999999"));
            std::thread::sleep(Duration::from_micros(turn * 97 % 4_000));
            drop(stream);
        }
    });
    let mut acknowledged = BTreeSet::new();
    for n in 0.. {
        if hanging_up.is_finished() {
            break;
        }
        acknowledged.insert(create(&admin, format!("Member {n}")).await);
    }
    hanging_up.await.expect("all were sent");
    let seen = stored(&other).await;
    assert!(acknowledged.is_subset(&seen), "lost: {:?}", acknowledged.difference(&seen).collect::<Vec<_>>());
}
