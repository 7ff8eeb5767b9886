//! `GET /search`: records of all resources that the caller may read.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Client, Folders, Server, on_both};
use crate::visibility::{SECRET, World};

on_both!(
    search_finds_records_of_all_resources,
    titles_that_begin_with_the_text_come_first,
    search_covers_what_the_caller_may_list,
    hidden_record_is_not_found,
    number_of_records_is_limited,
    invalid_parameters_are_reported_together,
    search_needs_a_token_and_has_no_other_method,
);

/// Resource and title of each record that a query finds.
async fn found(client: &Client, parameters: &[(&str, &str)]) -> Vec<(String, String)> {
    let body = client.list("/search", parameters).await.ok();
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    body["data"].as_array().expect("records").iter().map(|one| (text(&one["resource"]), text(&one["title"]))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(resource, title)| ((*resource).to_string(), (*title).to_string())).collect()
}

async fn records(server: &Server) -> Client {
    let admin = server.admin();
    admin.post("/products", json!({ "name": "Desk video", "sku": "video-1" })).await.created("product");
    admin.post("/products", json!({ "name": "Video camera" })).await.created("product");
    admin.post("/products", json!({ "name": "Tripod", "sku": "VID-3" })).await.created("product");
    admin.post("/members", json!({ "name": "Video Friends" })).await.created("member");
    admin.post("/product_groups", json!({ "name": "Old videos" })).await.created("product_group");
    admin
}

async fn search_finds_records_of_all_resources(server: Server) {
    let admin = records(&server).await;
    let body = admin.get("/search?q=tripod").await.ok();
    let expected = json!({
        "resource": "products", "id": 3, "title": "Tripod", "field": "name", "text": "Tripod", "url": "/api/v1/products/3",
    });
    assert_eq!(body, json!({ "data": [expected], "meta": { "incomplete": [] } }));
    let body = admin.get("/search?q=vid-3").await.ok();
    assert_eq!((&body["data"][0]["field"], &body["data"][0]["text"]), (&json!("sku"), &json!("VID-3")));
    let url = body["data"][0]["url"].as_str().expect("a path").to_string();
    assert_eq!(admin.get(&format!("~{url}")).await.record("product")["name"], "Tripod");
    // Several words, in different fields.
    assert_eq!(found(&admin, &[("q", "desk video-1")]).await, pairs(&[("products", "Desk video")]));
    // A deleted record is not found.
    admin.delete("/products/3").await.deleted();
    assert_eq!(found(&admin, &[("q", "tripod")]).await, []);
}

async fn titles_that_begin_with_the_text_come_first(server: Server) {
    let admin = records(&server).await;
    let everywhere = pairs(&[
        ("members", "Video Friends"),
        ("products", "Video camera"),
        ("products", "Desk video"),
        ("product_groups", "Old videos"),
    ]);
    assert_eq!(found(&admin, &[("q", " VIDEO ")]).await, everywhere);
    let named = found(&admin, &[("q", "video"), ("resources", "products,members")]).await;
    assert_eq!(named, everywhere[..3]);
    assert_eq!(found(&admin, &[("q", "video"), ("limit", "1")]).await, everywhere[..1]);
}

async fn search_covers_what_the_caller_may_list(server: Server) {
    let admin = records(&server).await;
    let reader = server.able(&["members:read"]).await;
    assert_eq!(found(&reader, &[("q", "video")]).await, pairs(&[("members", "Video Friends")]));
    let refused = reader.list("/search", &[("q", "video"), ("resources", "products")]).await.invalid("resources");
    assert!(refused.contains("is no resource that you can search"), "{refused}");
    let nobody = server.able(&["exchange_rates:read"]).await;
    assert_eq!(found(&nobody, &[("q", "video")]).await, []);
    // Platform resources come after those of the application. Tokens are visible to their owner only.
    let user = json!({ "name": "Video Vera", "email": "vera@example.com" });
    admin.post("/users", user).await.created("user");
    let all = found(&admin, &[("q", "video")]).await;
    assert_eq!(all[2], ("users".to_string(), "Video Vera".to_string()), "{all:?}");
    // The audit log has the names of resources, and is no list of names.
    assert_eq!(found(&admin, &[("q", "product_group")]).await, []);
}

async fn hidden_record_is_not_found(server: Folders) {
    let world = World::new(server).await;
    for _ in 0..2 {
        for (who, client, sees) in world.callers() {
            let folders = client.list("/search", &[("q", "private"), ("resources", "folders")]).await.ok();
            assert_eq!(folders["data"].as_array().map(Vec::len), Some(usize::from(sees)), "as {who}: {folders}");
            let notes = client.list("/search", &[("q", "mirror"), ("resources", "notes")]).await.ok();
            assert_eq!(notes.to_string().contains(SECRET), sees, "as {who}: {notes}");
            let path = format!("/api/v1{}", world.path());
            let expected = if sees { json!([path]) } else { json!([]) };
            let urls: Value = notes["data"].as_array().expect("records").iter().map(|one| one["url"].clone()).collect();
            assert_eq!(urls, expected, "as {who}");
        }
    }
}

async fn number_of_records_is_limited(server: Server) {
    let admin = server.admin();
    for number in 0..12 {
        admin.post("/products", json!({ "name": format!("Lamp {number}") })).await.created("product");
        admin.post("/members", json!({ "name": format!("The lamp {number}") })).await.created("member");
    }
    let all = found(&admin, &[("q", "lamp"), ("limit", "1000")]).await;
    assert_eq!(all.len(), 20, "ten of each: {all:?}");
    assert!(all[..10].iter().all(|(resource, _)| resource == "products"), "{all:?}");
    assert_eq!(found(&admin, &[("q", "lamp"), ("limit", "3")]).await.len(), 3);
}

async fn invalid_parameters_are_reported_together(server: Server) {
    let admin = server.admin();
    for short in ["", " ", "a", " a ", "ß"] {
        let refused = admin.list("/search", &[("q", short)]).await.invalid("q");
        assert!(refused.contains("at least 2 characters"), "{short:?}: {refused}");
    }
    admin.get("/search").await.invalid("q");
    admin.list("/search", &[("q", "a\0b")]).await.invalid("q");
    admin.list("/search", &[("q", &["a"; 11].join(" "))]).await.invalid("q");
    let wrong = [("q", "a"), ("limit", "0"), ("resources", "prodcts")];
    let refused = admin.list("/search", &wrong).await;
    assert_eq!(refused.invalid_fields(), ["limit", "q", "resources"]);
    assert!(refused.invalid("resources").contains("did you mean `products`?"), "{}", refused.text);
    assert_eq!(found(&admin, &[("q", "zzz"), ("resources", "")]).await, []);
}

async fn search_needs_a_token_and_has_no_other_method(server: Server) {
    server.anonymous().get("/search?q=lamp").await.refused(401, "unauthenticated");
    for method in [Method::POST, Method::PUT, Method::DELETE] {
        let answer = server.admin().send(method, "/search", None).await;
        answer.refused(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some("GET, HEAD"));
    }
}
