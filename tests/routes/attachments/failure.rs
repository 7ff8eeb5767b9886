//! Uploads that fail, wherever they fail, leave nothing.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use charter_runtime::attachment;
use charter_runtime::db::Dialect;
use chrono::{TimeDelta, Utc};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::{Form, attach, content_type, member, promised, stored, until};
use crate::support::{Server, on_both};

on_both!(
    a_client_that_goes_away_leaves_nothing,
    a_database_that_fails_leaves_nothing,
    a_record_that_goes_meanwhile_leaves_nothing,
    what_a_crash_leaves_is_swept_after_an_hour,
    a_received_file_that_nobody_receives_is_swept_after_an_hour,
    a_deletion_that_stands_is_carried_out_at_the_next_start,
    a_file_that_cannot_be_deleted_keeps_no_other,
);

async fn a_client_that_goes_away_leaves_nothing(server: Server) {
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
    assert_eq!(promised(&server.state).await, 0);
}

async fn a_database_that_fails_leaves_nothing(server: Server) {
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

/// The record is there when the upload is judged, and not when it is stored.
async fn a_record_that_goes_meanwhile_leaves_nothing(server: Server) {
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
    server.state.clock.turn(Duration::from_secs(7200));
    attachment::sweep_once(&server.state).await.expect("it is swept");
    assert!(stored(&server).is_empty(), "{:?}", stored(&server));
    assert_eq!(promised(&server.state).await, 0);
}

/// Makes the folder of a file, and promises that the file is deleted. What is due already the server's own sweeper may look
/// at right away, so that the folder is there first, with what `fill` puts into it.
async fn promise(server: &Server, uuid: &str, after: TimeDelta, fill: impl FnOnce(&Path)) -> PathBuf {
    let folder = server.state.config.data_dir.join("attachments").join(&uuid[..2]).join(uuid);
    std::fs::create_dir_all(&folder).expect("the folder can be written");
    fill(&folder);
    let blob = match server.state.db.dialect() {
        Dialect::Postgres => format!("'{uuid}'"),
        Dialect::Sqlite => format!("x'{}'", uuid.replace('-', "")),
    };
    let due = (Utc::now() + after).format("%Y-%m-%dT%H:%M:%S%.3f+00:00");
    server.sql(&format!("INSERT INTO attachment_leftovers (uuid, due_at) VALUES ({blob}, '{due}')")).await;
    folder
}

fn stray(folder: &Path) {
    std::fs::write(folder.join("file"), b"stray").expect("the folder can be written");
}

async fn a_file_that_cannot_be_deleted_keeps_no_other(server: Server) {
    // A folder where a file should be is not deleted as one.
    let in_the_way = |folder: &Path| std::fs::create_dir(folder.join("file")).expect("the folder can be written");
    let first = promise(&server, "0a0a0a0a-0000-4000-8000-000000000000", TimeDelta::minutes(-2), in_the_way).await;
    let second = promise(&server, "0b0b0b0b-0000-4000-8000-000000000000", TimeDelta::minutes(-1), stray).await;
    attachment::sweep_once(&server.state).await.expect("it is swept");
    assert!(!second.join("file").exists());
    assert_eq!(promised(&server.state).await, 1);
    std::fs::remove_dir(first.join("file")).expect("the folder can be written");
    server.state.clock.turn(Duration::from_secs(15 * 60));
    attachment::sweep_once(&server.state).await.expect("it is swept");
    assert_eq!(promised(&server.state).await, 0);
}

/// The state in which a process that ends between promise and attachment leaves things.
async fn what_a_crash_leaves_is_swept_after_an_hour(server: Server) {
    let member = member(&server).await;
    let attachment = attach(&server, &member, "a.txt", "a").await;
    let uuid = attachment["uuid"].as_str().expect("a UUID");
    promise(&server, "0b0b0b0b-0000-4000-8000-000000000000", TimeDelta::hours(1), stray).await;
    server.state.clock.turn(Duration::from_secs(59 * 60));
    attachment::sweep_once(&server.state).await.expect("it is swept");
    assert_eq!(stored(&server).len(), 2);
    server.state.clock.turn(Duration::from_secs(2 * 60));
    attachment::sweep_once(&server.state).await.expect("it is swept");
    let left = stored(&server);
    assert!(left.len() == 1 && left[0].display().to_string().contains(uuid), "{left:?}");
    assert_eq!(promised(&server.state).await, 0);
}

async fn a_received_file_that_nobody_receives_is_swept_after_an_hour(server: Server) {
    let uploads = server.state.config.data_dir.join("uploads");
    for (name, minutes) in [("old", 61), ("new", 59)] {
        let file = std::fs::File::create(uploads.join(name)).expect("the folder can be written");
        let modified = SystemTime::now() - Duration::from_secs(minutes * 60);
        file.set_modified(modified).expect("the time can be set");
    }
    attachment::sweep_once(&server.state).await.expect("it is swept");
    assert_eq!(stored(&server), [uploads.join("new")]);
}

async fn a_deletion_that_stands_is_carried_out_at_the_next_start(server: Server) {
    let member = member(&server).await;
    attach(&server, &member, "a.txt", "a").await;
    // The deletion without its process: as the hook of the transaction leaves it.
    server.sql("INSERT INTO attachment_leftovers (uuid, due_at) SELECT uuid, created_at FROM attachments").await;
    server.sql("DELETE FROM attachments").await;
    assert_eq!(stored(&server).len(), 1);
    let again = server.second_node().await;
    until("the bytes are deleted", async || stored(&again).is_empty() && promised(&again.state).await == 0).await;
}
