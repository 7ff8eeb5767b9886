//! `POST /attachments`: stored files and their metadata.

use serde_json::{Value, json};

use super::{Form, member, path, pending_deletions, stored};
use crate::support::{Server, is_offset_time, keys, on_both};

on_both!(
    upload_returns_the_attachment,
    upload_fields_can_have_any_order,
    upload_fields_can_be_under_the_singular_key,
    content_type_of_an_upload_is_detected_from_its_bytes,
    file_name_of_an_upload_is_sanitized,
    file_name_keeps_joiners_and_loses_direction_marks,
    optional_upload_fields_can_be_empty,
    empty_file_can_be_uploaded,
    attachable_type_is_case_insensitive,
    upload_emits_an_event,
);

async fn upload_returns_the_attachment(server: Server) {
    let member = member(&server).await;
    let form = Form::default().on(&member).field("category", "contract").field("description", "Signed\nby Ada");
    let answer = form.file("contract.txt", "Hello, wörld".as_bytes()).send(&server.admin()).await;
    let attachment = answer.created("attachment");
    let fields = [
        "category",
        "created_at",
        "description",
        "file_size",
        "id",
        "mime_type",
        "original_name",
        "thumb_url",
        "updated_at",
        "uploaded_by",
        "url",
        "uuid",
    ];
    assert_eq!(keys(&attachment), fields);
    assert_eq!(answer.header("location"), Some(format!("/api/v1/attachments/{}", attachment["id"]).as_str()));
    assert_eq!(attachment["original_name"], "contract.txt");
    assert_eq!(attachment["mime_type"], "text/plain");
    assert_eq!(attachment["file_size"], 13);
    assert_eq!(attachment["category"], "contract");
    assert_eq!(attachment["description"], "Signed\nby Ada");
    assert_eq!(attachment["thumb_url"], Value::Null);
    assert_eq!(attachment["uploaded_by"], 1);
    assert!(is_offset_time(&attachment["created_at"]) && is_offset_time(&attachment["updated_at"]), "{attachment}");
    assert_eq!(attachment["uuid"].as_str().map(str::len), Some(36));
    assert_eq!(server.anonymous().get(&path(&attachment["url"])).await.status(200).text, "Hello, wörld");
    assert_eq!(stored(&server).len(), 1);
    assert_eq!(pending_deletions(&server.state).await, 0);
}

async fn upload_fields_can_have_any_order(server: Server) {
    let member = member(&server).await;
    let first = Form::default().file("a.txt", b"a").field("category", "x").on(&member);
    let last = Form::default().on(&member).field("category", "x").file("a.txt", b"a");
    let between = Form::default()
        .field("attachable_id", &member["id"])
        .file("a.txt", b"a")
        .field("category", "x")
        .field("attachable_type", "Member");
    for form in [first, last, between] {
        let attachment = form.send(&server.admin()).await.created("attachment");
        assert_eq!([&attachment["category"], &attachment["file_size"]], [&json!("x"), &json!(1)]);
    }
}

async fn upload_fields_can_be_under_the_singular_key(server: Server) {
    let member = member(&server).await;
    let form = Form::default()
        .field("attachment[attachable_type]", "Member")
        .field("attachment[attachable_id]", &member["id"])
        .part("name=\"attachment[file]\"; filename=\"a.txt\"", "", b"abc");
    assert_eq!(form.send(&server.admin()).await.created("attachment")["file_size"], 3);
}

async fn content_type_of_an_upload_is_detected_from_its_bytes(server: Server) {
    let member = member(&server).await;
    for (name, declared, bytes, found) in [
        ("a.png", "image/png", &b"<html><script>alert(1)</script>"[..], "text/html"),
        ("a.txt", "text/plain", b"%PDF-1.7\nx", "application/pdf"),
        ("a.pdf", "application/pdf", b"plain text", "text/plain"),
        ("a.bin", "text/plain", b"\0\x01\x02\xff", "application/octet-stream"),
        ("a", "image/svg+xml", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "text/plain"),
    ] {
        let form = Form::default().on(&member).declared(name, declared, bytes);
        let attachment = form.send(&server.admin()).await.created("attachment");
        assert_eq!(attachment["mime_type"], found, "{name}");
    }
}

async fn file_name_of_an_upload_is_sanitized(server: Server) {
    let member = member(&server).await;
    for (given, kept) in [
        ("../../etc/passwd", "passwd"),
        ("C:\\\\Temp\\\\report.txt", "report.txt"),
        ("Größe 1.txt", "Größe 1.txt"),
        ("a\\\"b.txt", "a\"b.txt"),
    ] {
        let attachment = super::attach(&server, &member, given, "x").await;
        assert_eq!(attachment["original_name"], kept, "{given}");
    }
    let long = super::attach(&server, &member, &format!("{}.pdf", "é".repeat(400)), "x").await;
    let name = long["original_name"].as_str().expect("a name");
    assert_eq!(name.chars().count(), 255);
    assert!(name.ends_with("é.pdf"), "{name}");
    let nameless = Form::default().on(&member).part("name=\"file\"", "", b"x").send(&server.admin()).await;
    assert_eq!(nameless.created("attachment")["original_name"], "file");
}

async fn file_name_keeps_joiners_and_loses_direction_marks(server: Server) {
    let member = member(&server).await;
    for (given, kept, encoded) in [
        ("می\u{200c}خواهم\u{200f}.txt", "می\u{200c}خواهم.txt", "%E2%80%8C"),
        ("\u{202b}👩\u{200d}🚀\u{61c}.txt", "👩\u{200d}🚀.txt", "%E2%80%8D"),
    ] {
        let attachment = super::attach(&server, &member, given, "x").await;
        assert_eq!(attachment["original_name"], kept, "{given:?}");
        let answer = server.anonymous().get(&path(&attachment["url"])).await;
        let saved = answer.header("content-disposition").expect("a header").to_string();
        assert!(saved.contains(encoded) && !saved.contains("%D8%9C") && !saved.contains("%E2%80%AB"), "{saved}");
    }
    // macOS sends decomposed letters.
    let attachment = super::attach(&server, &member, "Cafe\u{301}.txt", "x").await;
    assert_eq!(attachment["original_name"], "Café.txt");
    let found = format!("/members/{}/attachments?q[original_name_cont]=Caf%C3%A9", member["id"]);
    assert_eq!(server.admin().get(&found).await.records("attachments").len(), 1);
}

async fn optional_upload_fields_can_be_empty(server: Server) {
    let member = member(&server).await;
    let form = Form::default().on(&member).field("category", "").field("description", "").file("a.txt", b"a");
    let attachment = form.send(&server.admin()).await.created("attachment");
    assert_eq!([&attachment["category"], &attachment["description"]], [&Value::Null, &Value::Null]);
}

async fn empty_file_can_be_uploaded(server: Server) {
    let member = member(&server).await;
    let attachment = super::attach(&server, &member, "empty.txt", "").await;
    assert_eq!([&attachment["file_size"], &attachment["mime_type"]], [&json!(0), &json!("application/octet-stream")]);
    assert_eq!(server.anonymous().get(&path(&attachment["url"])).await.status(200).text, "");
}

async fn attachable_type_is_case_insensitive(server: Server) {
    let member = member(&server).await;
    for name in ["Member", "member", "MEMBER", " Member "] {
        let form = Form::default().field("attachable_type", name).field("attachable_id", &member["id"]);
        form.file("a.txt", b"a").send(&server.admin()).await.created("attachment");
    }
    let list = server.admin().get(&format!("/members/{}/attachments", member["id"])).await;
    assert_eq!(list.records("attachments").len(), 4);
}

async fn upload_emits_an_event(server: Server) {
    let member = member(&server).await;
    let attachment = super::attach(&server, &member, "a.txt", "a").await;
    server.admin().delete(&format!("/attachments/{}", attachment["id"])).await.deleted();
    let sql = "SELECT \"name\", \"body\" FROM \"events\" WHERE \"name\" LIKE 'attachment.%' ORDER BY \"id\"";
    let sql = charter_runtime::db::Sql::new(server.state.db.dialect(), sql);
    let rows = sql.all(server.state.db.reader()).await.expect("the outbox is there");
    let names: Vec<String> = rows.iter().map(|row| row.try_get("", "name").expect("a name")).collect();
    assert_eq!(names, ["attachment.created", "attachment.deleted"]);
    let body: String = rows[0].try_get("", "body").expect("a body");
    let body: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(body["data"]["attachment"]["uuid"], attachment["uuid"]);
}
