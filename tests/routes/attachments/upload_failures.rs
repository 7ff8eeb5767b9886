//! Failed uploads leave nothing behind, at any step.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use charter_runtime::attachment;
use charter_runtime::db::Dialect;
use chrono::{TimeDelta, Utc};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::{Form, attach, content_type, member, pending_deletions, stored, until};
use crate::support::{Server, on_both};

on_both!(
    upload_of_a_disconnected_client_leaves_no_file,
    upload_during_a_database_failure_leaves_no_file,
    upload_to_a_record_deleted_meanwhile_leaves_no_file,
    file_left_by_a_crash_is_deleted_after_an_hour,
    received_file_of_an_aborted_upload_is_deleted_after_an_hour,
    pending_file_deletion_is_completed_at_the_next_start,
    undeletable_file_does_not_block_the_deletion_of_others,
);

async fn upload_of_a_disconnected_client_leaves_no_file(server: Server) {
    let member = member(&server).await;
    let token = server.token(&["members:write"]).await;
    let body = Form::default().on(&member).file("a.bin", &vec![7; 1 << 20]).bytes();
    let mut stream = TcpStream::connect(server.address).await.expect("the server listens");
    let head = format!(
        "POST /api/v1/attachments HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {token}\r\nContent-Type: {}\r\n\
         Content-Length: {}\r\n\r\n",
        content_type(),
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("the server reads");
    stream.write_all(&body[..body.len() / 2]).await.expect("the server reads");
    until("the upload has begun", async || !stored(&server).is_empty()).await;
    drop(stream);
    until("what was received is deleted", async || stored(&server).is_empty()).await;
    assert_eq!(pending_deletions(&server.state).await, 0);
}

async fn upload_during_a_database_failure_leaves_no_file(server: Server) {
    let member = member(&server).await;
    let refuse = match server.state.db.dialect() {
        Dialect::Postgres => "ALTER TABLE attachments ADD CHECK (category <> 'broken')",
        Dialect::Sqlite => {
            "CREATE TRIGGER broken BEFORE INSERT ON attachments WHEN NEW.category = 'broken' \
             BEGIN SELECT RAISE(ABORT, 'broken'); END"
        }
    };
    server.sql(refuse).await;
    let form = Form::default().on(&member).field("category", "broken").file("a.txt", b"a");
    let status = form.send(&server.admin()).await.status;
    assert!(matches!(status, 409 | 500), "{status}");
    assert!(stored(&server).is_empty(), "{:?}", stored(&server));
    let form = Form::default().on(&member).field("category", "sound").file("a.txt", b"a");
    form.send(&server.admin()).await.created("attachment");
    assert_eq!(stored(&server).len(), 1);
}

/// The record exists during validation and is deleted before the file is stored.
async fn upload_to_a_record_deleted_meanwhile_leaves_no_file(server: Server) {
    let member = member(&server).await;
    let mut uploads = Vec::new();
    for _ in 0..4 {
        let (client, form) = (server.admin(), Form::default().on(&member).file("a.txt", b"a"));
        uploads.push(tokio::spawn(async move { form.send(&client).await.status }));
    }
    server.admin().delete(&format!("/members/{}", member["id"])).await.deleted();
    for upload in uploads {
        let status = upload.await.expect("it is answered");
        assert!(matches!(status, 201 | 422), "{status}");
    }
    server.state.clock.advance(Duration::from_secs(7200));
    attachment::collect_garbage(&server.state).await.expect("it is collected");
    assert!(stored(&server).is_empty(), "{:?}", stored(&server));
    assert_eq!(pending_deletions(&server.state).await, 0);
}

/// Schedules the deletion of a file. The folder is filled first by `fill`, because the server may collect a due file at
/// once.
async fn schedule_deletion(server: &Server, uuid: &str, after: TimeDelta, fill: impl FnOnce(&Path)) -> PathBuf {
    let folder = server.state.config.data_dir.join("attachments").join(&uuid[..2]).join(uuid);
    std::fs::create_dir_all(&folder).expect("the folder can be written");
    fill(&folder);
    let blob = match server.state.db.dialect() {
        Dialect::Postgres => format!("'{uuid}'"),
        Dialect::Sqlite => format!("x'{}'", uuid.replace('-', "")),
    };
    let due = (Utc::now() + after).format("%Y-%m-%dT%H:%M:%S%.3f+00:00");
    server.sql(&format!("INSERT INTO attachment_pending_deletions (uuid, due_at) VALUES ({blob}, '{due}')")).await;
    folder
}

fn stray(folder: &Path) {
    std::fs::write(folder.join("file"), b"stray").expect("the folder can be written");
}

async fn undeletable_file_does_not_block_the_deletion_of_others(server: Server) {
    // A folder in place of the file cannot be deleted as a file.
    let in_the_way = |folder: &Path| std::fs::create_dir(folder.join("file")).expect("the folder can be written");
    let first =
        schedule_deletion(&server, "0a0a0a0a-0000-4000-8000-000000000000", TimeDelta::minutes(-2), in_the_way).await;
    let second =
        schedule_deletion(&server, "0b0b0b0b-0000-4000-8000-000000000000", TimeDelta::minutes(-1), stray).await;
    attachment::collect_garbage(&server.state).await.expect("it is collected");
    assert!(!second.join("file").exists());
    assert_eq!(pending_deletions(&server.state).await, 1);
    std::fs::remove_dir(first.join("file")).expect("the folder can be written");
    server.state.clock.advance(Duration::from_secs(15 * 60));
    attachment::collect_garbage(&server.state).await.expect("it is collected");
    assert_eq!(pending_deletions(&server.state).await, 0);
}

/// As after a crash between scheduling the deletion and creating the attachment.
async fn file_left_by_a_crash_is_deleted_after_an_hour(server: Server) {
    let member = member(&server).await;
    let attachment = attach(&server, &member, "a.txt", "a").await;
    let uuid = attachment["uuid"].as_str().expect("a UUID");
    schedule_deletion(&server, "0b0b0b0b-0000-4000-8000-000000000000", TimeDelta::hours(1), stray).await;
    server.state.clock.advance(Duration::from_secs(59 * 60));
    attachment::collect_garbage(&server.state).await.expect("it is collected");
    assert_eq!(stored(&server).len(), 2);
    server.state.clock.advance(Duration::from_secs(2 * 60));
    attachment::collect_garbage(&server.state).await.expect("it is collected");
    let left = stored(&server);
    assert!(left.len() == 1 && left[0].display().to_string().contains(uuid), "{left:?}");
    assert_eq!(pending_deletions(&server.state).await, 0);
}

async fn received_file_of_an_aborted_upload_is_deleted_after_an_hour(server: Server) {
    let uploads = server.state.config.data_dir.join("uploads");
    for (name, minutes) in [("old", 61), ("new", 59)] {
        let file = std::fs::File::create(uploads.join(name)).expect("the folder can be written");
        let modified = SystemTime::now() - Duration::from_secs(minutes * 60);
        file.set_modified(modified).expect("the time can be set");
    }
    attachment::collect_garbage(&server.state).await.expect("it is collected");
    assert_eq!(stored(&server), [uploads.join("new")]);
}

async fn pending_file_deletion_is_completed_at_the_next_start(server: Server) {
    let member = member(&server).await;
    attach(&server, &member, "a.txt", "a").await;
    // As after a crash between committing the deletion and deleting the file.
    server
        .sql("INSERT INTO attachment_pending_deletions (uuid, due_at) SELECT uuid, created_at FROM attachments")
        .await;
    server.sql("DELETE FROM attachments").await;
    assert_eq!(stored(&server).len(), 1);
    let again = server.beside().await;
    until("the bytes are deleted", async || stored(&again).is_empty() && pending_deletions(&again.state).await == 0)
        .await;
}
