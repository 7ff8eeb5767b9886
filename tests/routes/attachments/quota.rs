//! The storage limit of a user: 422 beyond it, exact for concurrent uploads, and shown on the account page.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{Form, member, pending_deletions, stored, until};
use crate::panel::signed_in;
use crate::support::{Client, Server, on_both};

on_both!(
    upload_beyond_the_storage_limit_is_422_and_leaves_no_file,
    concurrent_uploads_of_a_user_keep_to_the_storage_limit,
    account_page_shows_the_used_storage,
);

const LIMIT: u64 = 1000;

async fn limited(server: &Server) -> Server {
    server.configured(|config| config.user_storage_limit = Some(LIMIT)).await
}

fn file(member: &Value, size: usize) -> Form {
    Form::default().on(member).file("plan.txt", "a".repeat(size).as_bytes())
}

async fn created(client: &Client, member: &Value, size: usize) -> Value {
    file(member, size).send(client).await.created("attachment")
}

async fn upload_beyond_the_storage_limit_is_422_and_leaves_no_file(server: Server) {
    let server = limited(&server).await;
    let (member, admin) = (member(&server).await, server.admin());
    let first = created(&admin, &member, 700).await;
    let message = file(&member, 301).send(&admin).await.invalid("file");
    assert_eq!(message, "has 301 bytes, but the files that you uploaded have 700 of at most 1000 bytes");
    assert_eq!(stored(&server).len(), 1);
    created(&admin, &member, 300).await;
    file(&member, 1).send(&admin).await.invalid("file");
    // Each user has a limit of their own, and a deleted file is not counted.
    let (_, other) = server.user(&[], &["*"]).await;
    created(&other, &member, 1000).await;
    admin.delete(&format!("/attachments/{}", first["id"])).await.deleted();
    created(&admin, &member, 700).await;
    // Without a limit, the same uploads are stored.
    let unlimited = server.configured(|_| {}).await;
    let member = super::member(&unlimited).await;
    created(&unlimited.admin(), &member, 2000).await;
}

async fn concurrent_uploads_of_a_user_keep_to_the_storage_limit(server: Server) {
    let server = limited(&server).await;
    let (member, admin) = (member(&server).await, server.admin());
    let answers = join_all((0..10).map(|_| file(&member, 300).send(&admin))).await;
    let created = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(created, 3, "{:?}", answers.iter().map(|answer| answer.status).collect::<Vec<_>>());
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.invalid("file");
    }
    let size = server.texts("SELECT CAST(SUM(file_size) AS TEXT) AS text FROM attachments").await;
    assert_eq!(size, ["900"]);
    server.state.clock.advance(std::time::Duration::from_secs(2 * 3600));
    until("the refused files are deleted", async || {
        charter_runtime::attachment::collect_garbage(&server.state).await.expect("the database answers");
        stored(&server).len() == 3 && pending_deletions(&server.state).await == 0
    })
    .await;
}

async fn account_page_shows_the_used_storage(server: Server) {
    let server = limited(&server).await;
    let member = member(&server).await;
    created(&server.admin(), &member, 700).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/panel/account").await.status(200).says("use 700 bytes of at most 1 KB");
    let unlimited = server.configured(|_| {}).await;
    let mut panel = signed_in(&unlimited, &json!({ "id": 1 })).await;
    assert!(!panel.get("/panel/account").await.status(200).text.contains("of at most"));
}
