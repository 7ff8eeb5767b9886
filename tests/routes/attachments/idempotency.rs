//! `POST /attachments` with an `Idempotency-Key`: a repeated upload is executed once.

use std::time::Duration;

use charter_runtime::attachment;
use charter_runtime::db::Dialect;
use reqwest::Method;
use serde_json::Value;

use super::{BOUNDARY, Form, content_type, member, path, pending_deletions, stored};
use crate::support::{Answer, Client, Server, on_both};

on_both!(
    repeated_upload_gets_the_same_response_and_runs_once,
    different_upload_with_the_same_idempotency_key_is_refused,
    concurrent_uploads_with_one_key_create_one_attachment,
    failed_upload_can_be_retried_with_the_same_key,
    stored_upload_response_outlives_the_attachment,
    invalid_idempotency_key_is_refused_before_the_file_arrives,
);

fn keyed(server: &Server) -> Client {
    server.admin().with("idempotency-key", "one")
}

async fn attachments(server: &Server, member: &Value) -> Value {
    server.admin().get(&format!("/members/{}/attachments", member["id"])).await.ok()["meta"]["total"].clone()
}

/// Sends a form with another boundary.
async fn send_otherwise(client: &Client, form: Form) -> Answer {
    let bytes = String::from_utf8(form.bytes()).expect("a form of text").replace(BOUNDARY, "----of-another-time");
    let kind = content_type().replace(BOUNDARY, "----of-another-time");
    client.send_bytes(Method::POST, "/attachments", Some(&kind), bytes).await
}

/// A client that resends a form uses another boundary, and may reorder the parts.
async fn repeated_upload_gets_the_same_response_and_runs_once(server: Server) {
    let member = member(&server).await;
    let form = Form::default().on(&member).field("category", "contract").file("a.txt", b"Hello");
    let first = form.clone().send(&keyed(&server)).await;
    let turned = Form::default().file("a.txt", b"Hello").field("category", "contract").on(&member);
    for again in [form.clone().send(&keyed(&server)).await, send_otherwise(&keyed(&server), turned).await] {
        assert_eq!(again.created("attachment"), first.created("attachment"));
        assert_eq!(again.header("location"), first.header("location"));
        assert_eq!([first.header("idempotent-replayed"), again.header("idempotent-replayed")], [None, Some("true")]);
    }
    assert_eq!((attachments(&server, &member).await, stored(&server).len()), (1.into(), 1));
    assert_eq!(pending_deletions(&server.state).await, 0);
    assert_eq!(server.events("attachment.created").await.len(), 1);
    let link = first.created("attachment")["url"].clone();
    assert_eq!(server.anonymous().get(&path(&link)).await.status(200).text, "Hello");
    // Without the key it is a new upload.
    form.send(&server.admin()).await.created("attachment");
    assert_eq!(attachments(&server, &member).await, 2);
}

async fn different_upload_with_the_same_idempotency_key_is_refused(server: Server) {
    let member = member(&server).await;
    let form = |name: &str, bytes: &[u8]| Form::default().on(&member).file(name, bytes);
    form("a.txt", b"Hello").send(&keyed(&server)).await.created("attachment");
    for other in [
        form("a.txt", b"Hellp"),
        form("a.txt", b""),
        form("b.txt", b"Hello"),
        form("a.txt", b"Hello").field("category", "x"),
        Form::default().on(&member),
    ] {
        let problem = other.send(&keyed(&server)).await.invalid("Idempotency-Key");
        assert_eq!(problem, "was used for another request");
    }
    assert_eq!((attachments(&server, &member).await, stored(&server).len()), (1.into(), 1));
}

async fn concurrent_uploads_with_one_key_create_one_attachment(server: Server) {
    let member = member(&server).await;
    let bytes = vec![b'x'; 1 << 20];
    let post = || {
        let (client, form) = (keyed(&server), Form::default().on(&member).file("a.txt", &bytes));
        async move { form.send(&client).await }
    };
    let answers = futures_util::future::join_all((0..6).map(|_| post())).await;
    let first = answers[0].created("attachment");
    assert!(answers.iter().all(|answer| answer.created("attachment") == first));
    let replayed = answers.iter().filter(|answer| answer.header("idempotent-replayed").is_some()).count();
    assert_eq!(replayed, 5);
    assert_eq!((attachments(&server, &member).await, stored(&server).len()), (1.into(), 1));
    server.state.clock.advance(Duration::from_secs(3600));
    attachment::collect_garbage(&server.state).await.expect("it is collected");
    assert_eq!((stored(&server).len(), pending_deletions(&server.state).await), (1, 0));
}

async fn failed_upload_can_be_retried_with_the_same_key(server: Server) {
    let member = member(&server).await;
    let form = || Form::default().on(&member).field("category", "broken").file("a.txt", b"a");
    let (refuse, allow) = match server.state.db.dialect() {
        Dialect::Postgres => (
            "ALTER TABLE attachments ADD CONSTRAINT broken CHECK (category <> 'broken')",
            "ALTER TABLE attachments DROP CONSTRAINT broken",
        ),
        Dialect::Sqlite => (
            "CREATE TRIGGER broken BEFORE INSERT ON attachments BEGIN SELECT RAISE(ABORT, 'broken'); END",
            "DROP TRIGGER broken",
        ),
    };
    let refused = Form::default().field("attachable_type", "Member").field("attachable_id", 99).file("a.txt", b"a");
    refused.send(&keyed(&server)).await.invalid("attachable_id");
    server.sql(refuse).await;
    let status = form().send(&keyed(&server)).await.status;
    assert!(matches!(status, 409 | 500), "{status}");
    server.sql(allow).await;
    let answer = form().send(&keyed(&server)).await;
    answer.created("attachment");
    assert_eq!(answer.header("idempotent-replayed"), None);
    assert_eq!((attachments(&server, &member).await, stored(&server).len()), (1.into(), 1));
}

async fn stored_upload_response_outlives_the_attachment(server: Server) {
    let member = member(&server).await;
    let form = Form::default().on(&member).file("a.txt", b"a");
    let first = form.clone().send(&keyed(&server)).await.created("attachment");
    server.admin().delete(&format!("/members/{}", member["id"])).await.deleted();
    assert_eq!(form.clone().send(&keyed(&server)).await.created("attachment"), first);
    form.send(&server.admin()).await.invalid("attachable_id");
}

async fn invalid_idempotency_key_is_refused_before_the_file_arrives(server: Server) {
    let member = member(&server).await;
    let client = server.admin().with("idempotency-key", "not a key");
    Form::default().on(&member).file("a.txt", b"a").send(&client).await.invalid("Idempotency-Key");
    assert!(stored(&server).is_empty());
}
