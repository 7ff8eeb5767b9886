//! Attachments of several resources: each has the abilities and visibility of its record.

use serde_json::{Value, json};

use super::{Form, path};
use crate::support::{Gatherings, on_both};

on_both!(
    each_is_listed_under_its_own_record,
    attachments_are_limited_by_the_abilities_of_their_records,
    attachments_of_a_hidden_record_are_hidden,
);

/// A gathering and a member with the same id, and an attachment to each.
async fn both(server: &Gatherings) -> (Value, Value) {
    let admin = server.admin();
    let member = admin.post("/members", json!({ "name": "Ada" })).await.created("member");
    let gathering = admin.post("/gatherings", json!({ "subject": "x", "code": "a" })).await.created("gathering");
    assert_eq!(member["id"], gathering["id"]);
    let form = |kind: &str, name: &str| {
        let form = Form::default().field("attachable_type", kind).field("attachable_id", &member["id"]);
        form.file(name, b"x")
    };
    let on_member = form("Member", "member.txt").send(&admin).await.created("attachment");
    let on_gathering = form("gathering", "gathering.txt").send(&admin).await.created("attachment");
    (on_member, on_gathering)
}

async fn each_is_listed_under_its_own_record(server: Gatherings) {
    both(&server).await;
    let admin = server.admin();
    let names = async |list: &str| admin.get(list).await.column("attachments", "original_name");
    assert_eq!(names("/members/1/attachments").await, ["member.txt"]);
    assert_eq!(names("/gatherings/1/attachments").await, ["gathering.txt"]);
    let form = Form::default().field("attachable_type", "x").field("attachable_id", 1).file("a", b"a");
    assert_eq!(form.send(&admin).await.invalid("attachable_type"), "must be one of Member, Gathering");
}

async fn attachments_are_limited_by_the_abilities_of_their_records(server: Gatherings) {
    let (on_member, on_gathering) = both(&server).await;
    let of = |attachment: &Value| format!("/attachments/{}", attachment["id"]);
    let reader = server.able(&["members:read"]).await;
    reader.get(&of(&on_member)).await.record("attachment");
    reader.get(&of(&on_gathering)).await.refused(404, "not_found");
    reader.get("/gatherings/1/attachments").await.refused(403, "ability_missing");
    reader.delete(&of(&on_member)).await.refused(403, "ability_missing");
    let writer = server.able(&["members:write"]).await;
    let form = |kind: &str| Form::default().field("attachable_type", kind).field("attachable_id", 1).file("a", b"a");
    form("Member").send(&writer).await.created("attachment");
    form("Gathering").send(&writer).await.refused(403, "ability_missing");
    writer.delete(&of(&on_gathering)).await.refused(404, "not_found");
    writer.delete(&of(&on_member)).await.deleted();
    server.able(&["products:read"]).await.get(&of(&on_gathering)).await.refused(403, "ability_missing");
    let routes = charter_runtime::ops::routes(&server.state);
    let show = routes.iter().find(|route| route.path == "/api/v1/attachments/{id}").expect("it is listed");
    assert_eq!(show.ability, "gatherings:read or members:read");
}

/// Gatherings are visible to their owner only.
async fn attachments_of_a_hidden_record_are_hidden(server: Gatherings) {
    let (_, on_gathering) = both(&server).await;
    let (_, other) = server.user(&[], &["*"]).await;
    let record = format!("/attachments/{}", on_gathering["id"]);
    other.get(&record).await.refused(404, "not_found");
    other.delete(&record).await.refused(404, "not_found");
    other.get("/gatherings/1/attachments").await.refused(404, "not_found");
    let form = Form::default().field("attachable_type", "Gathering").field("attachable_id", 1).file("a", b"a");
    assert_eq!(form.send(&other).await.invalid("attachable_id"), "does not refer to an existing gathering");
    // A link works for anyone.
    server.anonymous().get(&path(&on_gathering["url"])).await.status(200);
}
