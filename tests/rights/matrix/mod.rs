//! The matrix of rights: every route of the server × role of the caller × record × field. It is made from the routes and the
//! metadata, so that a new resource, field or operation is in it without an edit. See `docs/decisions/0065-matrix-of-rights.md`.

mod callers;
mod deliveries;
mod doors;
mod embedded;
mod exceptions;
mod fixture;
mod linked;
mod marker;
mod oracle;
mod panel;
mod platform;
mod reads;
mod replays;
mod request;
mod to_many;
mod tools;
mod valid;
mod world;
mod writes;

use std::process::Command;

use self::exceptions::is_export;
use self::fixture::Vaults;
use self::marker::Variant;
use self::oracle::{CONCURRENCY, Tally, problems};
use self::reads::Probes;
use self::request::Request;
use self::world::World;
use crate::support::on_both;

on_both!(no_answer_tells_of_what_its_caller_may_not_see, every_door_of_the_server_is_in_the_matrix);

/// Values in the requests of the callers that write, which no record has.
const OWN_VALUES: usize = 900;

#[test]
fn planted_leaks_apply_to_the_code() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let patch = "tests/rights/matrix/planted.patch";
    let output = Command::new("git").args(["apply", "--check", patch]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

async fn every_door_of_the_server_is_in_the_matrix(server: Vaults) {
    let unknown = doors::unknown(&server).await;
    assert!(unknown.is_empty(), "{unknown:#?}");
}

async fn no_answer_tells_of_what_its_caller_may_not_see(server: Vaults) {
    let worlds = async |variant| World::new(server.database, variant).await;
    let (one, other) = tokio::join!(worlds(Variant::One), worlds(Variant::Other));
    assert_eq!(one.rows, other.rows, "the worlds have the same ids");
    let worlds = [&one, &other];
    let probes = Probes::new(worlds);
    let mut requests = reads::requests(&probes);
    requests.extend(panel::requests(&probes));
    requests.extend(tools::requests(&probes).await);
    let (exports, reads): (Vec<Request>, Vec<Request>) =
        requests.into_iter().partition(|request| is_export(request.door));
    let (mut tally, mut found) = (Tally::default(), String::new());
    for batch in [reads, exports] {
        for position in 0..one.callers.len() {
            found += &problems(worlds, position, &batch, CONCURRENCY, &mut tally).await;
        }
    }
    found += &tally.blind(&one);
    for position in 1..one.callers.len() {
        let valid = valid::requests(&probes, OWN_VALUES + position, one.callers[position].owns_hidden());
        found += &problems(worlds, position, &valid, 1, &mut tally).await;
    }
    for position in 1..one.callers.len() {
        let writes = writes::requests(&probes, OWN_VALUES + position);
        found += &problems(worlds, position, &writes, CONCURRENCY, &mut tally).await;
    }
    // The owner of the hidden records does not see these.
    for position in (1..one.callers.len()).filter(|position| !one.callers[*position].owns_hidden()) {
        found += &problems(worlds, position, &valid::deletions(&probes), 1, &mut tally).await;
    }
    let untried: Vec<&str> =
        valid::DOORS.iter().copied().filter(|door| !tally.passed.iter().any(|(passed, _)| passed == door)).collect();
    if !untried.is_empty() {
        found += &format!("no caller could write through {untried:?}\n");
    }
    for world in worlds {
        found += &replays::problems(world, OWN_VALUES).await;
        found += &replays::rehearsals(world, OWN_VALUES).await;
        found += &deliveries::problems(world).await;
    }
    assert!(found.is_empty(), "{found}");
}
