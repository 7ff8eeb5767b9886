//! Links to records that count them: writers of the same tags at the same time, and tags of tickets in the trash.

use serde_json::{Value, json};

use super::made;
use super::tickets::Tickets;
use crate::support::{Client, on_both};

on_both!(
    writers_of_the_same_links_in_opposite_orders_all_succeed,
    writers_that_replace_links_all_succeed,
    writers_of_embedded_records_in_opposite_orders_all_succeed,
    bulk_and_single_writers_of_two_counting_records_all_succeed,
    links_to_a_record_that_is_being_deleted_are_refused_or_deleted,
    linked_record_of_a_ticket_in_the_trash_can_be_deleted,
    embedded_record_of_a_ticket_in_the_trash_still_forbids_a_deletion,
);

const WRITERS: usize = 8;
const ROUNDS: usize = 6;

async fn tags(client: &Client, names: &[&str]) -> Vec<i64> {
    let mut ids = Vec::new();
    for name in names {
        ids.push(made(client, "tag", json!({ "name": name })).await);
    }
    ids
}

/// The values of a rollup of all tags.
async fn of_tags(client: &Client, rollup: &str) -> Vec<Value> {
    client.get("/tags?sort=id").await.column("tags", rollup)
}

/// Runs writers at the same time, each with its number.
async fn at_once<W: Future<Output = ()> + Send + 'static>(writer: impl Fn(usize) -> W) {
    let writers: Vec<_> = (0..WRITERS).map(|number| tokio::spawn(writer(number))).collect();
    for writer in writers {
        writer.await.expect("a writer");
    }
}

/// The ids in the order of one of two kinds of writers.
fn ordered(ids: &[i64], number: usize) -> Vec<i64> {
    if number.is_multiple_of(2) { ids.to_vec() } else { ids.iter().rev().copied().collect() }
}

async fn writers_of_the_same_links_in_opposite_orders_all_succeed(server: Tickets) {
    let admin = server.admin();
    let ids = tags(&admin, &["one", "two", "three"]).await;
    at_once(|number| {
        let (client, ids) = (server.admin(), ordered(&ids, number));
        async move {
            for _ in 0..ROUNDS {
                client.post("/tickets", json!({ "subject": "A", "tag_ids": ids })).await.created("ticket");
            }
        }
    })
    .await;
    assert_eq!(of_tags(&admin, "tickets").await, [WRITERS * ROUNDS; 3]);
}

async fn writers_that_replace_links_all_succeed(server: Tickets) {
    let admin = server.admin();
    let ids = tags(&admin, &["one", "two"]).await;
    at_once(|number| {
        let (client, ids) = (server.admin(), ordered(&ids, number));
        async move {
            let ticket = made(&client, "ticket", json!({ "subject": "A", "tag_ids": [ids[0]] })).await;
            let path = format!("/tickets/{ticket}");
            // An even number of times: the last list has the second tag.
            for round in 1..=ROUNDS * 2 + 1 {
                client.put(&path, json!({ "tag_ids": [ids[round % 2]] })).await.ok();
            }
        }
    })
    .await;
    assert_eq!(of_tags(&admin, "tickets").await, [WRITERS / 2; 2]);
}

async fn writers_of_embedded_records_in_opposite_orders_all_succeed(server: Tickets) {
    let admin = server.admin();
    let ids = tags(&admin, &["one", "two", "three"]).await;
    at_once(|number| {
        let (client, ids) = (server.admin(), ordered(&ids, number));
        async move {
            for _ in 0..ROUNDS {
                let lines = |minutes: i64| -> Value {
                    ids.iter().map(|tag| json!({ "tag_id": tag, "minutes": minutes })).collect()
                };
                let body = json!({ "subject": "A", "lines": lines(2) });
                let ticket = made(&client, "ticket", body).await;
                client.put(&format!("/tickets/{ticket}"), json!({ "lines": lines(3) })).await.ok();
            }
        }
    })
    .await;
    assert_eq!(of_tags(&admin, "minutes").await, [WRITERS * ROUNDS * 3; 3]);
}

async fn bulk_and_single_writers_of_two_counting_records_all_succeed(server: Tickets) {
    let admin = server.admin();
    let team = made(&admin, "team", json!({ "name": "T" })).await;
    let shop = made(&admin, "shop", json!({ "name": "S" })).await;
    let ticket = json!({ "subject": "A", "team_id": team, "shop_id": shop });
    at_once(|number| {
        let (client, ticket) = (server.admin(), ticket.clone());
        async move {
            for _ in 0..ROUNDS {
                if number.is_multiple_of(2) {
                    client.post("/tickets", ticket.clone()).await.status(201);
                    continue;
                }
                let operation = json!({ "method": "create", "ticket": ticket });
                let body = json!({ "operations": [operation, operation] });
                client.post("/tickets/bulk", body).await.status(200);
            }
        }
    })
    .await;
    let counted = WRITERS / 2 * ROUNDS * 3;
    assert_eq!(admin.get(&format!("/teams/{team}")).await.record("team")["tickets"], counted);
    assert_eq!(admin.get(&format!("/shops/{shop}")).await.record("shop")["tickets"], counted);
}

async fn links_to_a_record_that_is_being_deleted_are_refused_or_deleted(server: Tickets) {
    let admin = server.admin();
    for _ in 0..ROUNDS {
        let ids = tags(&admin, &["one", "two"]).await;
        let create = |ids: Vec<i64>| admin.post("/tickets", json!({ "subject": "A", "tag_ids": ids }));
        let path = format!("/tags/{}", ids[0]);
        let (one, deleted, other) = tokio::join!(create(ids.clone()), admin.delete(&path), create(ordered(&ids, 1)),);
        deleted.deleted();
        let mut created = 0;
        for answer in [one, other] {
            if answer.status == 201 {
                created += 1;
            } else {
                let problem = answer.invalid("tag_ids");
                assert_eq!(problem, format!("does not refer to an existing tag: {}", ids[0]));
            }
        }
        assert_eq!(admin.get(&format!("/tags/{}", ids[1])).await.record("tag")["tickets"], created);
    }
}

async fn linked_record_of_a_ticket_in_the_trash_can_be_deleted(server: Tickets) {
    let admin = server.admin();
    let ids = tags(&admin, &["one", "two"]).await;
    let ticket = made(&admin, "ticket", json!({ "subject": "A", "tag_ids": ids })).await;
    let path = format!("/tickets/{ticket}");
    admin.delete(&path).await.deleted();
    // The links of a ticket in the trash are there, and count.
    assert_eq!(of_tags(&admin, "tickets").await, [1, 1]);
    admin.delete(&format!("/tags/{}", ids[0])).await.deleted();
    let log = admin.get("/audit_entries?q[entity_type_eq]=ticket_tags").await.column("audit_entries", "action");
    assert_eq!(log, ["delete"]);
    let restored = admin.post(&format!("{path}/restore"), json!({})).await.record("ticket");
    assert_eq!(restored["tag_ids"], json!([ids[1]]));
}

async fn embedded_record_of_a_ticket_in_the_trash_still_forbids_a_deletion(server: Tickets) {
    let admin = server.admin();
    let ids = tags(&admin, &["one"]).await;
    let line = json!({ "tag_id": ids[0], "minutes": 5 });
    let ticket = made(&admin, "ticket", json!({ "subject": "A", "lines": [line] })).await;
    admin.delete(&format!("/tickets/{ticket}")).await.deleted();
    admin.delete(&format!("/tags/{}", ids[0])).await.refused(409, "conflict");
}
