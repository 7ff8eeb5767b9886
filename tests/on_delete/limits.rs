//! The most records that the deletions of one request change or delete.

use serde_json::{Value, json};

use super::shelves::Shelves;
use super::{made, total};
use crate::support::{Client, on_both};

on_both!(deletion_of_a_thousand_others_is_the_limit, limit_counts_the_deletions_of_one_request,);

async fn bins(client: &Client, shelf: i64, count: usize) {
    let create = |n: usize| json!({ "method": "create", "bin": { "name": n.to_string(), "shelf_id": shelf } });
    let operations: Vec<Value> = (0..count).map(create).collect();
    client.post("/bins/bulk", json!({ "operations": operations })).await.ok();
}

const REFUSAL: &str = "The deletion would change or delete more than 1000 other records. Delete some of those that refer \
    to this record first.";

async fn deletion_of_a_thousand_others_is_the_limit(server: Shelves) {
    let admin = server.admin();
    let shelf = made(&admin, "shelf", "shelves", json!({ "name": "S" })).await;
    bins(&admin, shelf, 1000).await;
    let one_more = made(&admin, "bin", "bins", json!({ "name": "more", "shelf_id": shelf })).await;
    let refused = admin.delete(&format!("/shelves/{shelf}")).await.refused(409, "conflict");
    assert_eq!(refused["message"], REFUSAL);
    assert_eq!(total(&admin, "bins").await, 1001);
    admin.delete(&format!("/bins/{one_more}")).await.deleted();
    admin.delete(&format!("/shelves/{shelf}")).await.deleted();
    assert_eq!(total(&admin, "bins").await, 0);
}

async fn limit_counts_the_deletions_of_one_request(server: Shelves) {
    let admin = server.admin();
    let mut operations = Vec::new();
    // A refused deletion does not count.
    for count in [600, 401, 400] {
        let shelf = made(&admin, "shelf", "shelves", json!({ "name": "S" })).await;
        bins(&admin, shelf, count).await;
        operations.push(json!({ "method": "delete", "id": shelf }));
    }
    let body = json!({ "atomic": false, "operations": operations });
    let answer = admin.post("/shelves/bulk", body).await.ok();
    let status = |at: usize| answer["results"][at]["status"].clone();
    assert_eq!([status(0), status(1), status(2)], [204, 409, 204]);
    assert_eq!(answer["results"][1]["error"]["message"], REFUSAL);
    assert_eq!(total(&admin, "bins").await, 401);
}
