//! `ETag` of a list, from the versions of the tables that its page is read from.

use serde_json::json;

use super::total::{disable_triggers, enable_triggers};
use crate::support::{Answer, Client, Server, Specimens, on_both};

on_both!(
    unchanged_page_is_304_without_reading_rows,
    page_etag_changes_with_any_shown_data,
    etags_differ_by_page_and_caller,
    compressed_page_has_its_own_etag,
    page_with_data_from_outside_the_database_has_no_etag,
    invalid_query_is_rejected_before_its_etag_is_compared,
);

#[track_caller]
fn tag(answer: &Answer) -> String {
    answer.status(200).header("etag").expect("a tag").to_string()
}

async fn get_if_none_match(client: &Client, tag: &str, path: &str) -> Answer {
    client.with("if-none-match", tag).get(path).await
}

async fn unchanged_page_is_304_without_reading_rows(specimens: Specimens) {
    let client = specimens.admin();
    for path in [
        "/specimens?per_page=2",
        "/specimens?q[name_present]=1&sort=-id",
        "/specimens?count=none",
        "/specimens?cursor=",
        "/specimens?include=productGroup",
        "/specimens?q[name_eq]=nobody",
    ] {
        let tag = tag(&client.get(path).await);
        // A change without triggers goes unnoticed: no rows are read.
        disable_triggers(&specimens).await;
        specimens.sql("UPDATE specimens SET name = 'untold'").await;
        enable_triggers(&specimens).await;
        let unchanged = get_if_none_match(&client, &tag, path).await;
        assert_eq!((unchanged.status(304).header("etag"), unchanged.text.as_str()), (Some(tag.as_str()), ""), "{path}");
        assert_eq!(get_if_none_match(&client, &format!("\"x\", W/{tag}"), path).await.status, 304);
        let head = client.with("if-none-match", &tag).send(reqwest::Method::HEAD, path, None).await;
        assert_eq!(head.status, 304);
        specimens.sql("UPDATE specimens SET qty = 1 WHERE id = 9").await;
        assert_ne!(self::tag(&get_if_none_match(&client, &tag, path).await), tag, "{path}");
    }
}

async fn page_etag_changes_with_any_shown_data(server: Server) {
    let admin = server.admin();
    let group = admin.post("/product_groups", json!({ "name": "Lamps" })).await.created("product_group");
    let of_group = json!({ "name": "Spot", "product_type": "rental", "product_group_id": group["id"] });
    let product = admin.post("/products", of_group).await.created("product");
    let path = "/products?include=stockLevels";
    let mut last = tag(&admin.get(path).await);
    let mut changed = async || {
        let now = tag(&get_if_none_match(&admin, &last, path).await);
        assert_ne!(now, last);
        assert_eq!(get_if_none_match(&admin, &now, path).await.status, 304);
        last = now;
    };
    admin.put(&format!("/products/{}", product["id"]), json!({ "name": "Flood" })).await.ok();
    changed().await;
    // Changes in other tables: a derived field and an include.
    admin.put(&format!("/product_groups/{}", group["id"]), json!({ "name": "Lights" })).await.ok();
    changed().await;
    admin
        .post("/stock_levels", json!({ "product_id": product["id"], "quantity_held": 1 }))
        .await
        .created("stock_level");
    changed().await;
    // A write of another process changes the tag at once.
    let second = server.second_node().await;
    second.admin().put(&format!("/products/{}", product["id"]), json!({ "name": "Wash" })).await.ok();
    changed().await;
    // A change that the page does not show keeps the tag.
    admin.post("/roles", json!({ "name": "Office" })).await.created("role");
    assert_eq!(get_if_none_match(&admin, &tag(&admin.get(path).await), path).await.status, 304);
}

async fn etags_differ_by_page_and_caller(server: Server) {
    let admin = server.admin();
    let (_, other) = server.user(&[], &["*"]).await;
    let paths = ["/tokens", "/tokens?per_page=1", "/tokens?page=2", "/tokens?fields=id", "/tokens?sort=-id"];
    let mut tags = Vec::new();
    for path in paths {
        for client in [&admin, &other] {
            tags.push(tag(&client.get(path).await));
        }
    }
    let count = tags.len();
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), count);
    assert_eq!(get_if_none_match(&other, &tag(&admin.get("/tokens").await), "/tokens").await.status, 200);
}

async fn compressed_page_has_its_own_etag(server: Server) {
    let admin = server.admin();
    let coded = admin.with("accept-encoding", "gzip");
    let (plain, less) = (tag(&admin.get("/currencies").await), tag(&coded.get("/currencies").await));
    assert_ne!(plain, less);
    for known in [&plain, &less] {
        assert_eq!(get_if_none_match(&coded, known, "/currencies").await.status, 304);
        assert_eq!(get_if_none_match(&admin, known, "/currencies").await.status, 304);
    }
}

async fn page_with_data_from_outside_the_database_has_no_etag(server: Server) {
    let admin = server.admin();
    let member = admin.post("/members", json!({ "name": "Ada" })).await.created("member");
    // Download links are signed for an hour.
    for path in [format!("/members/{}/attachments", member["id"]), "/members?count=estimate".into()] {
        assert_eq!(admin.get(&path).await.status(200).header("etag"), None, "{path}");
    }
    for accept in ["text/csv", "application/x-ndjson"] {
        assert_eq!(admin.with("accept", accept).get("/members").await.status(200).header("etag"), None);
    }
}

async fn invalid_query_is_rejected_before_its_etag_is_compared(server: Server) {
    let admin = server.admin();
    let tag = tag(&admin.get("/members").await);
    get_if_none_match(&admin, &tag, "/members?q[colour_eq]=red").await.refused(422, "validation_failed");
    get_if_none_match(&admin, "no tag", "/members").await.refused(400, "malformed_request");
    get_if_none_match(&server.able(&["users:read"]).await, &tag, "/members").await.refused(403, "ability_missing");
}
