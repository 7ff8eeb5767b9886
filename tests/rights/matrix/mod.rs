//! The matrix of rights: every route of the server × role of the caller × record × field. It is made from the routes and the
//! metadata, so that a new resource, field or operation is in it without an edit.

mod callers;
mod deliveries;
mod doors;
mod exceptions;
mod fixture;
mod marker;
mod oracle;
mod panel;
mod platform;
mod reads;
mod request;
mod tools;
mod world;
mod writes;

use self::fixture::Vaults;
use self::marker::Variant;
use self::oracle::{Tally, problems};
use self::reads::Probes;
use self::request::Request;
use self::world::World;
use crate::support::on_both;

on_both!(no_answer_tells_of_what_its_caller_may_not_see,);

async fn no_answer_tells_of_what_its_caller_may_not_see(server: Vaults) {
    let (one, other) =
        tokio::join!(World::new(server.database, Variant::One), World::new(server.database, Variant::Other));
    assert_eq!(one.rows, other.rows, "the worlds have the same ids");
    let unknown = doors::unknown(&one).await;
    assert!(unknown.is_empty(), "{unknown:#?}");
    let worlds = [&one, &other];
    let probes = Probes::new(worlds);
    let mut requests = reads::requests(&probes);
    requests.extend(panel::requests(&probes));
    requests.extend(tools::requests(&probes).await);
    let (exports, reads): (Vec<Request>, Vec<Request>) =
        requests.into_iter().partition(|request| exceptions::is_export(request.door));
    let (mut tally, mut found) = (Tally::default(), String::new());
    if std::env::var("COUNT").is_ok() {
        let mut counts = std::collections::BTreeMap::new();
        reads.iter().chain(&exports).for_each(|r| *counts.entry(r.door).or_insert(0) += 1);
        eprintln!("{counts:#?}");
    }
    for batch in [reads, exports] {
        for position in 0..one.callers.len() {
            let begun = std::time::Instant::now();
            found += &problems(worlds, position, &batch, &mut tally).await;
            eprintln!("{} {:?} {}", one.callers[position].name, begun.elapsed(), tally.requests);
        }
    }
    let quiet: Vec<&str> =
        tally.doors.difference(&tally.telling).copied().filter(|door| !exceptions::is_silent(door)).collect();
    eprintln!("{quiet:?}");
    for position in 1..one.callers.len() {
        let writes = writes::requests(&probes, 900 + position);
        found += &problems(worlds, position, &writes, &mut tally).await;
    }
    for world in worlds {
        found += &deliveries::problems(world).await;
    }
    assert!(found.is_empty(), "{found}");
    assert!(quiet.is_empty(), "{quiet:?}");
}
