//! `GET` and `DELETE /attachments/{id}`, and deletion with the record.

use charter_runtime::attachment;

use super::{attach, member, path, pending_deletions, stored, until};
use crate::support::{Server, on_both};

on_both!(
    showing_an_attachment_returns_new_links,
    deleting_an_attachment_deletes_its_file,
    deleting_a_record_deletes_its_attachments,
    cascade_delete_of_a_record_deletes_its_attachments,
    attachments_require_the_abilities_of_their_record,
);

async fn showing_an_attachment_returns_new_links(server: Server) {
    let member = member(&server).await;
    let made = attach(&server, &member, "a.txt", "a").await;
    let shown = server.admin().get(&format!("/attachments/{}", made["id"])).await.record("attachment");
    let without_link = |mut attachment: serde_json::Value| {
        attachment.as_object_mut().expect("an object").remove("url").expect("a link");
        attachment
    };
    assert_eq!(server.anonymous().get(&path(&shown["url"])).await.status(200).text, "a");
    assert_eq!(without_link(shown), without_link(made));
    server.admin().get("/attachments/999").await.refused(404, "not_found");
}

async fn deleting_an_attachment_deletes_its_file(server: Server) {
    let member = member(&server).await;
    let (gone, kept) = (attach(&server, &member, "a.txt", "a").await, attach(&server, &member, "b.txt", "b").await);
    let record = format!("/attachments/{}", gone["id"]);
    server.admin().delete(&record).await.deleted();
    server.admin().get(&record).await.refused(404, "not_found");
    server.admin().delete(&record).await.refused(404, "not_found");
    server.anonymous().get(&path(&gone["url"])).await.refused(404, "not_found");
    until("the bytes are deleted", async || stored(&server).len() == 1 && pending_deletions(&server.state).await == 0)
        .await;
    assert_eq!(server.anonymous().get(&path(&kept["url"])).await.status(200).text, "b");
}

async fn deleting_a_record_deletes_its_attachments(server: Server) {
    let (gone, kept) = (member(&server).await, member(&server).await);
    let attachment = attach(&server, &gone, "a.txt", "a").await;
    attach(&server, &kept, "b.txt", "b").await;
    server.admin().delete(&format!("/members/{}", gone["id"])).await.deleted();
    server.admin().get(&format!("/attachments/{}", attachment["id"])).await.refused(404, "not_found");
    server.anonymous().get(&path(&attachment["url"])).await.refused(404, "not_found");
    until("the bytes are deleted", async || stored(&server).len() == 1 && pending_deletions(&server.state).await == 0)
        .await;
    // An event is emitted for each, as for a separate deletion.
    let told = server.events("").await;
    let ended: Vec<&str> = told.iter().map(String::as_str).filter(|name| name.ends_with(".deleted")).collect();
    assert!(ended.starts_with(&["attachment.deleted"]) && ended.contains(&"member.deleted"), "{ended:?}");
    let trail = server.admin().get("/audit_entries?q[entity_type_eq]=attachments&q[action_eq]=delete").await;
    assert!(!trail.records("audit_entries").is_empty());
}

/// As in a cascade of the database, which bypasses the application.
async fn cascade_delete_of_a_record_deletes_its_attachments(server: Server) {
    let member = member(&server).await;
    let attachment = attach(&server, &member, "a.txt", "a").await;
    server.sql(&format!("DELETE FROM members WHERE id = {}", member["id"])).await;
    server.admin().get(&format!("/attachments/{}", attachment["id"])).await.refused(404, "not_found");
    server.anonymous().get(&path(&attachment["url"])).await.refused(404, "not_found");
    assert_eq!(stored(&server).len(), 1);
    attachment::collect_garbage(&server.state).await.expect("it is collected");
    assert!(stored(&server).is_empty());
}

async fn attachments_require_the_abilities_of_their_record(server: Server) {
    let member = member(&server).await;
    let record = format!("/attachments/{}", attach(&server, &member, "a.txt", "a").await["id"]);
    let (reader, writer) = (server.able(&["members:read"]).await, server.able(&["members:write"]).await);
    server.anonymous().get(&record).await.refused(401, "unauthenticated");
    writer.get(&record).await.refused(403, "ability_missing");
    reader.delete(&record).await.refused(403, "ability_missing");
    server.able(&["products:read"]).await.get(&record).await.refused(403, "ability_missing");
    reader.get(&record).await.record("attachment");
    writer.delete(&record).await.deleted();
}
