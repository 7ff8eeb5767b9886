//! S3 errors at every step: nothing is left in the bucket, and other requests are not blocked.

use std::time::Duration;

use charter_runtime::attachment;
use charter_runtime::db::Dialect;
use serde_json::{Value, json};

use super::s3::Bucketed;
use super::{Form, member, pending_deletions, stored, thumbnails, until};
use crate::support::{Answer, Fault, on_both};

on_both!(
    transient_storage_errors_are_retried,
    permanent_storage_errors_are_reported_and_leave_nothing,
    a_thumbnail_that_cannot_be_stored_leaves_no_file,
    file_stored_without_a_response_is_collected,
    a_database_that_fails_leaves_nothing_in_the_bucket,
    failed_deletion_is_retried,
    hanging_storage_does_not_block_other_requests,
    unreachable_storage_gets_503,
);

const HOUR: Duration = Duration::from_secs(3600);

async fn upload(server: &Bucketed, member: &Value) -> Answer {
    Form::default().on(member).file("a.png", &thumbnails::png(200, 200)).send(&server.admin()).await
}

/// Number of attachments.
async fn attachments(server: &Bucketed, member: &Value) -> Value {
    server.admin().get(&format!("/members/{}/attachments", member["id"])).await.ok()["meta"]["total"].clone()
}

/// Nothing is stored, and nothing is left to delete after an hour.
async fn nothing_is_left(server: &Bucketed, member: &Value) {
    assert_eq!(attachments(server, member).await, 0);
    assert!(stored(server).is_empty(), "{:?}", stored(server));
    server.state.clock.advance(HOUR);
    attachment::collect_garbage(&server.state).await.expect("it is collected");
    let names: Vec<String> = server.bucket.objects().into_keys().collect();
    assert!(names.is_empty(), "{names:?}");
    assert_eq!(pending_deletions(&server.state).await, 0);
}

async fn transient_storage_errors_are_retried(server: Bucketed) {
    let member = member(&server).await;
    for faults in [
        vec![Fault::Status(500)],
        vec![Fault::Status(503), Fault::Midway(500)],
        vec![Fault::Cut, Fault::Cut],
        vec![Fault::Unanswered, Fault::Status(429)],
    ] {
        server.bucket.fail("PUT", faults.clone());
        let answer = upload(&server, &member).await;
        assert_eq!(answer.status, 201, "{faults:?}: {}", answer.text);
    }
    assert_eq!(server.bucket.objects().len(), 8);
    assert_eq!(pending_deletions(&server.state).await, 0);
}

async fn permanent_storage_errors_are_reported_and_leave_nothing(server: Bucketed) {
    let member = member(&server).await;
    for fault in [Fault::Status(500), Fault::Midway(503), Fault::Cut] {
        server.bucket.fail("PUT", [fault; 3]);
        let body = upload(&server, &member).await.refused(503, "unavailable");
        assert!(!body.to_string().contains("OfTheTest"), "{body}");
    }
    // A permanent error is not retried.
    let before = server.bucket.requests("PUT").len();
    for status in [400, 403, 404] {
        server.bucket.fail("PUT", [Fault::Status(status)]);
        upload(&server, &member).await.refused(503, "unavailable");
    }
    assert_eq!(server.bucket.requests("PUT").len(), before + 3);
    assert!(server.bucket.objects().is_empty());
    nothing_is_left(&server, &member).await;
}

async fn a_thumbnail_that_cannot_be_stored_leaves_no_file(server: Bucketed) {
    let member = member(&server).await;
    server.bucket.fail("PUT thumb", [Fault::Status(500), Fault::Midway(500), Fault::Cut]);
    upload(&server, &member).await.refused(503, "unavailable");
    assert_eq!(server.bucket.requests("PUT").iter().filter(|line| line.ends_with("/file 200")).count(), 1);
    assert!(server.bucket.objects().is_empty(), "the file was deleted again");
    nothing_is_left(&server, &member).await;
}

/// The response to the upload is lost and the deletion fails: the scheduled deletion remains.
async fn file_stored_without_a_response_is_collected(server: Bucketed) {
    let member = member(&server).await;
    server.bucket.fail("PUT", [Fault::Unanswered; 3]);
    server.bucket.fail("DELETE", [Fault::Status(500); 3]);
    upload(&server, &member).await.refused(503, "unavailable");
    assert_eq!((server.bucket.objects().len(), pending_deletions(&server.state).await), (1, 1));
    // Not before it is due, because the upload could still be in progress.
    attachment::collect_garbage(&server.state).await.expect("it is collected");
    assert_eq!(server.bucket.objects().len(), 1);
    nothing_is_left(&server, &member).await;
}

async fn a_database_that_fails_leaves_nothing_in_the_bucket(server: Bucketed) {
    let member = member(&server).await;
    let refuse = match server.state.db.dialect() {
        Dialect::Postgres => "ALTER TABLE attachments ADD CHECK (original_name <> 'a.png')",
        Dialect::Sqlite => {
            "CREATE TRIGGER broken BEFORE INSERT ON attachments BEGIN SELECT RAISE(ABORT, 'broken'); END"
        }
    };
    server.sql(refuse).await;
    let status = upload(&server, &member).await.status;
    assert!(matches!(status, 409 | 500), "{status}");
    assert!(server.bucket.objects().is_empty());
    assert_eq!(server.bucket.requests("PUT").iter().filter(|line| line.contains("/file ")).count(), 1);
    nothing_is_left(&server, &member).await;
}

async fn failed_deletion_is_retried(server: Bucketed) {
    let member = member(&server).await;
    let attachment = upload(&server, &member).await.created("attachment");
    let before = server.bucket.requests("DELETE").len();
    server.bucket.fail("DELETE", [Fault::Status(503); 3]);
    server.admin().delete(&format!("/attachments/{}", attachment["id"])).await.deleted();
    until("it was tried", async || server.bucket.requests("DELETE").len() == before + 3).await;
    assert_eq!((server.bucket.objects().len(), pending_deletions(&server.state).await), (2, 1));
    nothing_is_left(&server, &member).await;
}

/// No transaction is open during an upload to storage.
async fn hanging_storage_does_not_block_other_requests(server: Bucketed) {
    let member = member(&server).await;
    server.bucket.fail("PUT", [Fault::Silence; 12]);
    let before = server.bucket.requests("PUT").len();
    let mut uploads = Vec::new();
    for _ in 0..12 {
        let (client, form) = (server.admin(), Form::default().on(&member).file("a.txt", b"a"));
        uploads.push(tokio::spawn(async move { form.send(&client).await }));
    }
    until("eight are sent at once", async || server.bucket.requests("PUT").len() == before + 8).await;
    let others = async {
        server.admin().post("/members", json!({ "name": "Grace" })).await.created("member");
        server.admin().get("/members").await.ok();
    };
    tokio::time::timeout(Duration::from_secs(5), others).await.expect("others are served");
    // The clients disconnect, which ends their uploads.
    uploads.iter().for_each(|upload| upload.abort());
    until("what they sent is gone", async || stored(&server).is_empty()).await;
    assert_eq!(pending_deletions(&server.state).await, 12);
    nothing_is_left(&server, &member).await;
}

async fn unreachable_storage_gets_503(server: Bucketed) {
    let Bucketed { server, bucket } = server;
    let member = member(&server).await;
    drop(bucket);
    let form = Form::default().on(&member).file("a.txt", b"a");
    form.send(&server.admin()).await.refused(503, "unavailable");
    assert!(stored(&server).is_empty());
    assert_eq!(pending_deletions(&server.state).await, 1);
}
