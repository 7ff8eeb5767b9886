//! Who goes away in the middle of a request takes nothing with it that others were told is stored.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;

use crate::support::{Client, Server, on_both, poll_times};

on_both!(
    who_leaves_while_a_transaction_begins_leaves_none_behind,
    what_was_acknowledged_stays_whoever_hangs_up_meanwhile,
);

/// The names of the members that are stored.
async fn stored(other: &Server) -> BTreeSet<String> {
    other.texts("SELECT name AS text FROM members").await.into_iter().collect()
}

async fn create(admin: &Client, name: String) -> String {
    admin.post("/members", json!({ "name": name })).await.created("member");
    name
}

async fn who_leaves_while_a_transaction_begins_leaves_none_behind(server: Server) {
    let (admin, other) = (server.admin(), server.second_node().await);
    for waits in 0..5 {
        // Every connection of the pool is left so once.
        for turn in 0..10 {
            drop(poll_times(server.state.db.begin(), waits).await);
            let name = create(&admin, format!("After {waits} waits, {turn}")).await;
            assert!(stored(&other).await.contains(&name), "{name}: answered with 201, and seen by nobody else");
        }
    }
}

async fn what_was_acknowledged_stays_whoever_hangs_up_meanwhile(server: Server) {
    let (admin, other) = (server.admin(), server.second_node().await);
    let (leaving, runtime) = (server.admin(), tokio::runtime::Handle::current());
    // On a thread of its own, whose clock is finer than the runtime's.
    let hanging_up = tokio::task::spawn_blocking(move || {
        for turn in 0..1_000 {
            let stream = runtime.block_on(leaving.begin_by("DELETE", "HTTP/1.1", "/tax_classes/999999"));
            std::thread::sleep(Duration::from_micros(turn * 97 % 4_000));
            drop(stream);
        }
    });
    let mut told = BTreeSet::new();
    for n in 0.. {
        if hanging_up.is_finished() {
            break;
        }
        told.insert(create(&admin, format!("Member {n}")).await);
    }
    hanging_up.await.expect("all were sent");
    let seen = stored(&other).await;
    assert!(told.is_subset(&seen), "lost: {:?}", told.difference(&seen).collect::<Vec<_>>());
}
