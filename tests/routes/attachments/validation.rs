//! `POST /attachments`: rejected uploads and their errors.

use reqwest::Method;
use serde_json::json;

use super::{Form, content_type, member, pending_deletions, stored};
use crate::support::{Server, on_both};

on_both!(
    all_upload_errors_are_reported_together,
    lengths_are_checked_at_their_edges,
    attachment_needs_an_existing_record,
    unknown_field_is_reported,
    body_of_another_media_type_is_rejected,
    a_broken_form_is_refused,
    file_name_with_invalid_header_characters_is_rejected,
    upload_needs_the_ability_of_its_record,
    rejected_upload_leaves_nothing,
);

async fn all_upload_errors_are_reported_together(server: Server) {
    let admin = server.admin();
    let answer = Form::default().send(&admin).await;
    assert_eq!(answer.invalid_fields(), ["attachable_id", "attachable_type", "file"]);
    let form = Form::default()
        .field("attachable_type", "Spaceship")
        .field("attachable_id", "many")
        .field("category", "x".repeat(51))
        .field("description", "x".repeat(1001))
        .field("colour", "red");
    let answer = form.send(&admin).await;
    let expected = ["attachable_id", "attachable_type", "category", "colour", "description", "file"];
    assert_eq!(answer.invalid_fields(), expected);
    assert_eq!(answer.invalid("attachable_type"), "must be one of Member");
    assert_eq!(answer.invalid("file"), "is required");
    assert!(answer.invalid("colour").contains("is not a field of attachment"), "{}", answer.text);
}

async fn lengths_are_checked_at_their_edges(server: Server) {
    let member = member(&server).await;
    let form = |category: usize, description: usize| {
        let form = Form::default().on(&member).field("category", "é".repeat(category));
        form.field("description", "é".repeat(description)).file("a.txt", b"a")
    };
    let attachment = form(50, 1000).send(&server.admin()).await.created("attachment");
    assert_eq!(attachment["description"].as_str().map(|text| text.chars().count()), Some(1000));
    assert_eq!(form(51, 1000).send(&server.admin()).await.invalid_fields(), ["category"]);
    assert_eq!(form(50, 1001).send(&server.admin()).await.invalid_fields(), ["description"]);
    // Far above the limit of a field.
    assert_eq!(form(1, 300_000).send(&server.admin()).await.invalid_fields(), ["description"]);
    let refused = form(1, 600_000).send(&server.admin()).await;
    assert!(refused.text.contains("The fields of the form are larger than 1048576 bytes"), "{}", refused.text);
    refused.refused(413, "payload_too_large");
}

async fn attachment_needs_an_existing_record(server: Server) {
    let admin = server.admin();
    let form = |kind: &str, id: &str| {
        Form::default().field("attachable_type", kind).field("attachable_id", id).file("a.txt", b"a")
    };
    for id in ["999", "0", "-1", "9223372036854775807"] {
        assert_eq!(
            form("Member", id).send(&admin).await.invalid("attachable_id"),
            "does not refer to an existing member",
            "{id}"
        );
    }
    for id in ["", " ", "x", "1.5", "9223372036854775808"] {
        form("Member", id).send(&admin).await.invalid("attachable_id");
    }
    // Resources without attachments.
    for kind in ["Product", "User", "Attachment", ""] {
        form(kind, "1").send(&admin).await.invalid("attachable_type");
    }
}

async fn unknown_field_is_reported(server: Server) {
    let member = member(&server).await;
    let form = Form::default().on(&member).file("a.txt", b"a").field("catgory", "x");
    assert!(form.send(&server.admin()).await.invalid("catgory").contains("did you mean `category`?"));
    // Read-only fields of a response can be sent back.
    let form = Form::default().on(&member).file("a.txt", b"a").field("id", 7).field("mime_type", "x").field("url", "x");
    let attachment = form.send(&server.admin()).await.created("attachment");
    assert_eq!(attachment["mime_type"], "text/plain");
    let twice = Form::default().on(&member).file("a.txt", b"a").file("b.txt", b"b");
    assert_eq!(twice.send(&server.admin()).await.invalid("file"), "is given more than once");
    let unchosen = Form::default().on(&member).file("", b"");
    assert_eq!(unchosen.send(&server.admin()).await.invalid("file"), "is required");
    let form = Form::default().on(&member).file("a.txt", b"a").part("name=\"category\"", "", b"\xff\xfe");
    assert_eq!(form.send(&server.admin()).await.invalid("category"), "must be UTF-8");
}

async fn body_of_another_media_type_is_rejected(server: Server) {
    let admin = server.admin();
    let body = json!({ "attachable_type": "Member" }).to_string();
    for kind in [Some("application/json"), Some("application/x-www-form-urlencoded"), Some("nonsense"), None] {
        let answer = admin.send_bytes(Method::POST, "/attachments", kind, body.clone()).await;
        let body = answer.refused(415, "unsupported_media_type");
        assert!(body["message"].as_str().is_some_and(|text| text.contains("multipart/form-data")), "{body}");
    }
    let answer = admin.send_bytes(Method::POST, "/attachments", Some("multipart/form-data"), body.clone()).await;
    answer.refused(400, "malformed_request");
    // Compressed bodies are not supported.
    let packed = admin.with("content-encoding", "gzip");
    let answer = packed.send_bytes(Method::POST, "/attachments", Some(&super::content_type()), body).await;
    answer.refused(415, "unsupported_media_type");
    admin.put("/attachments/1", json!({})).await.refused(405, "method_not_allowed");
    let answer = admin.get("/attachments").await;
    answer.refused(405, "method_not_allowed");
    assert_eq!(answer.header("allow"), Some("POST"));
}

async fn a_broken_form_is_refused(server: Server) {
    let member = member(&server).await;
    let whole = Form::default().on(&member).file("a.txt", b"abcdefgh").bytes();
    let send = async |body: Vec<u8>| {
        server.admin().send_bytes(Method::POST, "/attachments", Some(&content_type()), body).await
    };
    for length in [0, 1, 30, whole.len() / 2, whole.len() - 30] {
        send(whole[..length].to_vec()).await.refused(400, "malformed_request");
    }
    let many = (0..100).fold(Form::default(), |form, _| form.field("category", "x"));
    many.send(&server.admin()).await.refused(400, "malformed_request");
    // Endless headers, which would fill the memory.
    let headers = format!("X-Long: {}\r\n", "x".repeat(2 << 20));
    let form = Form::default().part("name=\"category\"", &headers, b"x");
    form.send(&server.admin()).await.refused(400, "malformed_request");
    send(vec![b'-'; 2 << 20]).await.refused(400, "malformed_request");
    assert!(stored(&server).is_empty());
}

/// Other control characters are removed from the name.
async fn file_name_with_invalid_header_characters_is_rejected(server: Server) {
    let member = member(&server).await;
    for control in ["\u{1}", "\0", "\u{1b}", "\u{7f}"] {
        let form = Form::default().on(&member).file(&format!("a{control}b.txt"), b"a");
        form.send(&server.admin()).await.refused(400, "malformed_request");
    }
    assert!(stored(&server).is_empty());
    let form = Form::default().on(&member).file("a\tb\u{85}c\u{202e}.txt", b"a");
    assert_eq!(form.send(&server.admin()).await.created("attachment")["original_name"], "abc.txt");
}

async fn upload_needs_the_ability_of_its_record(server: Server) {
    let member = member(&server).await;
    let form = || Form::default().on(&member).file("a.txt", b"a");
    form().send(&server.anonymous()).await.refused(401, "unauthenticated");
    for ability in ["members:read", "products:write"] {
        form().send(&server.able(&[ability]).await).await.refused(403, "ability_missing");
    }
    // No endpoint needs this ability, which is why no token can have it.
    let token = json!({ "name": "x", "abilities": ["attachments:write"] });
    server.admin().post("/tokens", token).await.invalid("abilities");
    let (user, writer) = server.user(&[], &["members:write"]).await;
    let attachment = form().send(&writer).await.created("attachment");
    assert_eq!(attachment["uploaded_by"], user["id"]);
}

async fn rejected_upload_leaves_nothing(server: Server) {
    let member = member(&server).await;
    Form::default().file("a.txt", b"abc").send(&server.admin()).await.invalid("attachable_id");
    Form::default().on(&member).file("a.txt", b"abc").field("nope", 1).send(&server.admin()).await.invalid("nope");
    assert!(stored(&server).is_empty(), "{:?}", stored(&server));
    assert_eq!(pending_deletions(&server.state).await, 0);
}
