//! `GET /members/{id}/attachments`.

use serde_json::json;

use super::{Form, attach, member, path};
use crate::support::{Server, on_both};

on_both!(
    attachment_list_contains_only_those_of_its_record,
    attachment_list_supports_the_specified_filters_and_sorts,
    attachment_list_follows_the_list_conventions,
    attachment_list_accepts_a_saved_view,
    attachment_list_of_a_missing_record_returns_404,
    attachment_list_requires_the_ability_of_its_record,
);

async fn attachment_list_contains_only_those_of_its_record(server: Server) {
    let (one, other) = (member(&server).await, member(&server).await);
    let first = attach(&server, &one, "a.txt", "a").await;
    attach(&server, &other, "b.txt", "b").await;
    let third = attach(&server, &one, "c.txt", "c").await;
    let answer = server.admin().get(&format!("/members/{}/attachments", one["id"])).await;
    assert_eq!(answer.ok()["meta"], json!({ "total": 2, "per_page": 20, "page": 1 }));
    let ids: Vec<_> = answer.column("attachments", "id");
    assert_eq!(ids, [first["id"].clone(), third["id"].clone()]);
    for attachment in answer.records("attachments") {
        let text = server.anonymous().get(&path(&attachment["url"])).await.status(200).text.clone();
        assert_eq!(format!("{text}.txt"), attachment["original_name"].as_str().expect("a name"));
    }
}

async fn attachment_list_supports_the_specified_filters_and_sorts(server: Server) {
    let member = member(&server).await;
    attach(&server, &member, "beta.txt", "1").await;
    let form = Form::default().on(&member).field("category", "legal").file("Alpha.pdf", b"%PDF-1.7 longer than that");
    form.send(&server.admin()).await.created("attachment");
    let names = async |query: &str| {
        let answer = server.admin().get(&format!("/members/{}/attachments?{query}", member["id"])).await;
        answer.column("attachments", "original_name")
    };
    assert_eq!(names("q[mime_type_eq]=application/pdf").await, ["Alpha.pdf"]);
    assert_eq!(names("q[category_eq]=legal").await, ["Alpha.pdf"]);
    assert_eq!(names("q[category_null]=1").await, ["beta.txt"]);
    assert_eq!(names("q[original_name_cont]=ALPH").await, ["Alpha.pdf"]);
    assert_eq!(names("q[file_size_gt]=5").await, ["Alpha.pdf"]);
    assert_eq!(names("sort=original_name").await, ["Alpha.pdf", "beta.txt"]);
    assert_eq!(names("sort=-original_name").await, ["beta.txt", "Alpha.pdf"]);
    assert_eq!(names("sort=-file_size").await, ["Alpha.pdf", "beta.txt"]);
    server.reverse_creation_times("attachments").await;
    assert_eq!(names("sort=created_at").await, ["Alpha.pdf", "beta.txt"]);
    // Unsupported sort parameters are ignored.
    assert_eq!(names("sort=url").await, ["beta.txt", "Alpha.pdf"]);
}

async fn attachment_list_follows_the_list_conventions(server: Server) {
    let member = member(&server).await;
    for name in ["a.txt", "b.txt", "c.txt"] {
        attach(&server, &member, name, "x").await;
    }
    let list = format!("/members/{}/attachments", member["id"]);
    let page = server.admin().get(&format!("{list}?per_page=2&page=2")).await;
    assert_eq!(page.column("attachments", "original_name"), ["c.txt"]);
    assert_eq!(page.ok()["meta"], json!({ "total": 3, "per_page": 2, "page": 2 }));
    server.admin().get(&format!("{list}?page=0")).await.invalid("page");
    server.admin().get(&format!("{list}?q[url_eq]=x")).await.invalid("q[url_eq]");
    server.admin().get(&format!("{list}?q[attachable_id_eq]=1")).await.invalid("q[attachable_id_eq]");
    server.admin().get(&format!("{list}?q[thumb_type_eq]=x")).await.invalid("q[thumb_type_eq]");
    server.admin().get(&format!("{list}?include=member")).await.invalid("include");
    server.admin().get(&format!("{list}/")).await.ok();
    server.admin().post(&list, json!({})).await.refused(405, "method_not_allowed");
}

async fn attachment_list_accepts_a_saved_view(server: Server) {
    let (admin, member) = (server.admin(), member(&server).await);
    attach(&server, &member, "a.txt", "a").await;
    attach(&server, &member, "b.txt", "b").await;
    let view = json!({
        "name": "Names",
        "entity_type": "attachments",
        "columns": ["original_name", "url"],
        "filters": [{ "field": "original_name", "predicate": "start", "value": "b" }]
    });
    let view = admin.post("/custom_views", view).await.created("custom_view");
    let answer = admin.get(&format!("/members/{}/attachments?view_id={}", member["id"], view["id"])).await;
    let records = answer.records("attachments");
    assert_eq!(crate::support::keys(&records[0]), ["id", "original_name", "url"]);
    assert_eq!(records.len(), 1);
    assert_eq!(server.anonymous().get(&path(&records[0]["url"])).await.status(200).text, "b");
}

async fn attachment_list_of_a_missing_record_returns_404(server: Server) {
    for id in ["999", "0", "x", "1x"] {
        server.admin().get(&format!("/members/{id}/attachments")).await.refused(404, "not_found");
    }
    // Products have no attachments.
    server.admin().get("/products/1/attachments").await.refused(404, "not_found");
}

async fn attachment_list_requires_the_ability_of_its_record(server: Server) {
    let member = member(&server).await;
    let list = format!("/members/{}/attachments", member["id"]);
    server.anonymous().get(&list).await.refused(401, "unauthenticated");
    server.able(&["members:write"]).await.get(&list).await.refused(403, "ability_missing");
    server.able(&["members:read"]).await.get(&list).await.ok();
}
