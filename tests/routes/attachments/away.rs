//! A bucket that fails, whenever it fails: nothing is left in it, and nobody else has to wait.

use std::time::Duration;

use charter_runtime::attachment;
use charter_runtime::db::Dialect;
use serde_json::{Value, json};

use super::bucket::Bucketed;
use super::{Form, member, promised, stored, thumbnails, until};
use crate::support::{Answer, Fault, on_both};

on_both!(
    what_passes_is_tried_again,
    what_does_not_pass_is_told_and_leaves_nothing,
    a_thumbnail_that_cannot_be_stored_leaves_no_file,
    what_was_stored_without_an_answer_is_swept,
    a_database_that_fails_leaves_nothing_in_the_bucket,
    a_deletion_that_fails_is_made_up_for,
    a_service_that_hangs_holds_nobody_up,
    a_service_that_is_gone_is_503,
);

const HOUR: Duration = Duration::from_secs(3600);

async fn upload(server: &Bucketed, member: &Value) -> Answer {
    Form::default().on(member).file("a.png", &thumbnails::png(200, 200)).send(&server.admin()).await
}

/// How many attachments there are.
async fn attachments(server: &Bucketed, member: &Value) -> Value {
    server.admin().get(&format!("/members/{}/attachments", member["id"])).await.ok()["meta"]["total"].clone()
}

/// Nothing is there, and after an hour and the next sweep nothing is to be done either.
async fn nothing_is_left(server: &Bucketed, member: &Value) {
    assert_eq!(attachments(server, member).await, 0);
    assert!(stored(server).is_empty(), "{:?}", stored(server));
    server.state.clock.turn(HOUR);
    attachment::sweep_once(&server.state).await.expect("it is swept");
    let names: Vec<String> = server.bucket.objects().into_keys().collect();
    assert!(names.is_empty(), "{names:?}");
    assert_eq!(promised(&server.state).await, 0);
}

async fn what_passes_is_tried_again(server: Bucketed) {
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
    assert_eq!(promised(&server.state).await, 0);
}

async fn what_does_not_pass_is_told_and_leaves_nothing(server: Bucketed) {
    let member = member(&server).await;
    for fault in [Fault::Status(500), Fault::Midway(503), Fault::Cut] {
        server.bucket.fail("PUT", [fault; 3]);
        let body = upload(&server, &member).await.refused(503, "unavailable");
        assert!(!body.to_string().contains("OfTheTest"), "{body}");
    }
    // What the service refuses once it refuses again.
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

/// The answer is lost, and so is the deletion that follows: what is left stands in the promise.
async fn what_was_stored_without_an_answer_is_swept(server: Bucketed) {
    let member = member(&server).await;
    server.bucket.fail("PUT", [Fault::Unanswered; 3]);
    server.bucket.fail("DELETE", [Fault::Status(500); 3]);
    upload(&server, &member).await.refused(503, "unavailable");
    assert_eq!((server.bucket.objects().len(), promised(&server.state).await), (1, 1));
    // Before its time a promise is not kept: the upload could still be under way.
    attachment::sweep_once(&server.state).await.expect("it is swept");
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

async fn a_deletion_that_fails_is_made_up_for(server: Bucketed) {
    let member = member(&server).await;
    let attachment = upload(&server, &member).await.created("attachment");
    let before = server.bucket.requests("DELETE").len();
    server.bucket.fail("DELETE", [Fault::Status(503); 3]);
    server.admin().delete(&format!("/attachments/{}", attachment["id"])).await.deleted();
    until("it was tried", async || server.bucket.requests("DELETE").len() == before + 3).await;
    assert_eq!((server.bucket.objects().len(), promised(&server.state).await), (2, 1));
    nothing_is_left(&server, &member).await;
}

/// No transaction is open while a file is sent.
async fn a_service_that_hangs_holds_nobody_up(server: Bucketed) {
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
    // Their clients go away, and what they sent goes with them.
    uploads.iter().for_each(|upload| upload.abort());
    until("what they sent is gone", async || stored(&server).is_empty()).await;
    assert_eq!(promised(&server.state).await, 12);
    nothing_is_left(&server, &member).await;
}

async fn a_service_that_is_gone_is_503(server: Bucketed) {
    let Bucketed { server, bucket } = server;
    let member = member(&server).await;
    drop(bucket);
    let form = Form::default().on(&member).file("a.txt", b"a");
    form.send(&server.admin()).await.refused(503, "unavailable");
    assert!(stored(&server).is_empty());
    assert_eq!(promised(&server.state).await, 1);
}
