//! The matrix of rights: every route of the server × role of the caller × record × field. It is made from the routes and the
//! metadata, so that a new resource, field or operation is in it without an edit.

mod callers;
mod exceptions;
mod fixture;
mod marker;
mod oracle;
mod platform;
mod reads;
mod request;
mod world;

use self::fixture::Vaults;
use self::marker::Variant;
use self::oracle::{Tally, problems};
use self::reads::Probes;
use self::world::World;
use crate::support::on_both;

on_both!(no_answer_tells_of_what_its_caller_may_not_see,);

async fn no_answer_tells_of_what_its_caller_may_not_see(server: Vaults) {
    let (one, other) = tokio::join!(World::new(server.database, Variant::One), World::new(server.database, Variant::Other));
    assert_eq!(one.rows, other.rows, "the worlds have the same ids");
    let worlds = [&one, &other];
    let requests = reads::requests(&Probes::new(worlds));
    let (mut tally, mut found) = (Tally::default(), String::new());
    for position in 0..one.callers.len() {
        let begun = std::time::Instant::now();
        found += &problems(worlds, position, &requests, &mut tally).await;
        eprintln!("{} {:?} {}", one.callers[position].name, begun.elapsed(), tally.requests);
    }
    let quiet: Vec<_> = tally.doors.difference(&tally.telling).collect();
    assert!(found.is_empty(), "{found}");
    assert!(quiet.is_empty(), "{quiet:?}");
}
