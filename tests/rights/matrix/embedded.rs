//! Fields of embedded records that need a right, and entity tags, which cover what their caller may read.

use serde_json::{Value, json};

use super::fixture::{RIGHT, Vaults};
use crate::rights::{client_of, user_with};
use crate::support::{Client, on_both};

on_both!(
    field_of_an_embedded_record_needs_its_right_to_be_set,
    write_without_the_right_keeps_the_field_of_an_embedded_record,
    tag_covers_the_fields_that_its_caller_may_read,
);

/// A vault of a user without the right, and the user's client.
async fn vault(server: &Vaults) -> (Client, Value) {
    let user = user_with(server, &["*"], &[]).await;
    let client = client_of(server, &user).await.undescribed();
    let vault = client.post("/vaults", json!({ "name": "North" })).await.created("vault");
    (client, vault)
}

async fn field_of_an_embedded_record_needs_its_right_to_be_set(server: Vaults) {
    let (client, vault) = vault(&server).await;
    let drawers = format!("/vaults/{}/drawers", vault["id"]);
    let with_worth = json!({ "label": "Top", "coins": [{ "motto": "One" }, { "motto": "Two", "worth": 7 }] });
    let refused = client.post(&drawers, with_worth).await.refused(403, "permission_missing");
    assert_eq!(refused["errors"], json!({ "coins.1.worth": [format!("requires the permission `{RIGHT}`")] }));
    client.post(&drawers, json!({ "label": "Top", "coins": [{ "motto": "One" }] })).await.created("drawer");
}

async fn write_without_the_right_keeps_the_field_of_an_embedded_record(server: Vaults) {
    let (client, vault) = vault(&server).await;
    let admin = server.admin().undescribed();
    let drawers = format!("/vaults/{}/drawers", vault["id"]);
    let drawer = json!({ "label": "Top", "coins": [{ "motto": "One", "worth": 7 }] });
    let drawer = admin.post(&drawers, drawer).await.created("drawer");
    let path = format!("{drawers}/{}", drawer["id"]);
    let shown = client.get(&path).await.record("drawer");
    assert_eq!(shown["coins"], json!([{ "id": 1, "motto": "One" }]));
    // A client can send back the record that it read, with a change.
    let changed = json!({ "coins": [{ "id": 1, "motto": "Two" }] });
    assert_eq!(client.put(&path, changed).await.record("drawer")["coins"], json!([{ "id": 1, "motto": "Two" }]));
    let whole = json!([{ "id": 1, "motto": "Two", "worth": 7 }]);
    assert_eq!(admin.get(&path).await.record("drawer")["coins"], whole);
    // Webhooks of users with the right receive all of it.
    let event = server.event_bodies(0).await.pop().expect("an event");
    assert_eq!(event["data"]["drawer"]["coins"], whole);
}

async fn tag_covers_the_fields_that_its_caller_may_read(server: Vaults) {
    let (client, vault) = vault(&server).await;
    let (admin, path) = (server.admin().undescribed(), format!("/vaults/{}", vault["id"]));
    let tags = async || {
        let of = async |client: &Client| client.get(&path).await.header("etag").expect("a tag").to_string();
        (of(&client).await, of(&admin).await)
    };
    let before = tags().await;
    let sealed = format!("UPDATE vaults SET memo = 'Sealed' WHERE id = {}", vault["id"]);
    server.sql(&sealed).await;
    let after = tags().await;
    assert_eq!(before.0, after.0, "from a tag over it, the hidden value could be guessed");
    assert_ne!(before.1, after.1);
    admin.with("if-match", &before.1).put(&path, json!({ "name": "South" })).await.refused(412, "precondition_failed");
    client.with("if-match", &before.0).put(&path, json!({ "name": "South" })).await.record("vault");
    client.with("if-match", &before.0).put(&path, json!({ "name": "West" })).await.refused(412, "precondition_failed");
}
