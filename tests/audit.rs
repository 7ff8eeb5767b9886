//! The audit log at `/audit_entries`.

use serde_json::{Value, json};

use crate::routes::attachments::Form;
use crate::support::{Gatherings, Server, keys, on_both};

on_both!(
    every_change_is_audited_with_old_and_new_values,
    update_without_a_difference_is_not_audited,
    action_is_audited_under_its_name,
    changes_caused_by_another_change_are_audited,
    settings_and_saved_views_are_audited,
    secrets_are_never_in_the_audit_log,
    write_only_fields_are_audited,
    operator_commands_are_audited_without_a_user,
    audit_log_follows_the_list_conventions,
    reading_the_audit_log_requires_the_ability_and_the_permission,
    token_of_an_administrator_reads_the_entries_of_what_it_may_read,
    audit_log_cannot_be_written,
    audit_entries_outlive_their_record,
);

/// Entries of one resource, oldest first, without values that vary between runs.
async fn entries(server: &Server, entity_type: &str) -> Vec<Value> {
    let path = format!("/audit_entries?q[entity_type_eq]={entity_type}&per_page=100");
    server.admin().get(&path).await.records("audit_entries")
}

async fn every_change_is_audited_with_old_and_new_values(server: Server) {
    let admin = server.admin();
    let created = admin.with("x-request-id", "of the test").post("/members", json!({ "name": "Ada" })).await;
    let request_id = created.header("x-request-id").map(str::to_string);
    let member = created.created("member");
    let path = format!("/members/{}", member["id"]);
    admin.put(&path, json!({ "name": "Grace" })).await.record("member");
    admin.delete(&path).await.deleted();
    let entries = entries(&server, "members").await;
    assert_eq!(entries.len(), 3);
    let expected = [
        "action",
        "address",
        "changes",
        "created_at",
        "entity_type",
        "id",
        "import_id",
        "record_id",
        "request_id",
        "token_id",
        "user_id",
    ];
    for (entry, action) in entries.iter().zip(["create", "update", "delete"]) {
        assert_eq!(keys(entry), expected);
        assert_eq!([&entry["action"], &entry["record_id"]], [&json!(action), &member["id"]]);
        assert_eq!([&entry["user_id"], &entry["token_id"]], [&json!(1), &json!(1)], "the first administrator");
        assert_eq!(entry["address"], "127.0.0.1");
    }
    assert_eq!(entries[0]["request_id"].as_str().map(str::to_string), request_id);
    assert!(request_id.is_some());
    assert_eq!(entries[0]["changes"]["name"], json!({ "old": null, "new": "Ada" }));
    assert_eq!(entries[1]["changes"], json!({ "name": { "old": "Ada", "new": "Grace" } }));
    assert_eq!(entries[2]["changes"]["name"], json!({ "old": "Grace", "new": null }));
}

async fn update_without_a_difference_is_not_audited(server: Server) {
    let admin = server.admin();
    let member = admin.post("/members", json!({ "name": "Ada" })).await.created("member");
    let path = format!("/members/{}", member["id"]);
    admin.put(&path, member.clone()).await.record("member");
    admin.put(&path, json!({ "name": "" })).await.invalid("name");
    admin.post("/members", json!({})).await.invalid("name");
    assert_eq!(entries(&server, "members").await.len(), 1);
}

async fn action_is_audited_under_its_name(server: Server) {
    let admin = server.admin();
    let (user, _) = server.user(&[], &["*"]).await;
    for _ in 0..2 {
        admin.post(&format!("/users/{}/deactivate", user["id"]), json!({})).await.ok();
    }
    let entries = entries(&server, "users").await;
    let last = entries.last().expect("an entry");
    assert_eq!(last["action"], "deactivate");
    assert_eq!(last["changes"], json!({ "is_active": { "old": true, "new": false } }));
    assert_eq!(entries.iter().filter(|entry| entry["action"] == "deactivate").count(), 1);
}

async fn changes_caused_by_another_change_are_audited(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let role = &user["role_ids"][0];
    server.admin().delete(&format!("/roles/{role}")).await.deleted();
    let entries = entries(&server, "users").await;
    let last = entries.last().expect("an entry");
    assert_eq!([&last["action"], &last["record_id"]], [&json!("update"), &user["id"]]);
    assert_eq!(last["changes"], json!({ "role_ids": { "old": [role], "new": [] } }));
}

async fn settings_and_saved_views_are_audited(server: Server) {
    let admin = server.admin();
    admin.put("/settings", json!({ "base_currency": "EUR" })).await.ok();
    let settings = entries(&server, "settings").await;
    assert_eq!(settings.len(), 1);
    assert_eq!(settings[0]["changes"], json!({ "base_currency": { "old": "GBP", "new": "EUR" } }));
    assert_eq!(settings[0]["record_id"], 1);
    let view = json!({ "name": "Mine", "entity_type": "products", "columns": ["name"] });
    let view = admin.post("/custom_views", view).await.created("custom_view");
    let copy = admin.post(&format!("/custom_views/{}/clone", view["id"]), json!({})).await.created("custom_view");
    let views = entries(&server, "custom_views").await;
    assert_eq!([&views[1]["action"], &views[1]["record_id"]], [&json!("clone"), &copy["id"]]);
    assert_eq!(views[1]["changes"]["name"]["new"], "Mine (Copy)");
}

async fn secrets_are_never_in_the_audit_log(server: Server) {
    let admin = server.admin();
    let token = admin.post("/tokens", json!({ "name": "CI", "abilities": ["*"] })).await.created("token");
    admin.delete(&format!("/tokens/{}", token["id"])).await.deleted();
    let text = json!(entries(&server, "tokens").await).to_string();
    assert!(text.contains("CI"));
    let value = token["value"].as_str().expect("a secret");
    let digest = charter_runtime::auth::Secret::parse(value).expect("a token").digest_hex();
    assert!(!text.contains(value) && !text.contains(&digest) && !text.contains("token_hash"), "{text}");
}

/// The record of an attachment is write-only but not secret.
async fn write_only_fields_are_audited(server: Server) {
    let admin = server.admin();
    let member = admin.post("/members", json!({ "name": "Ada" })).await.created("member");
    let form = Form::default().on(&member).file("a.txt", b"a");
    let attachment = form.send(&admin).await.created("attachment");
    admin.delete(&format!("/attachments/{}", attachment["id"])).await.deleted();
    let entries = entries(&server, "attachments").await;
    let of = |entry: &Value, side: &str| {
        let changes = &entry["changes"];
        [changes["attachable_type"][side].clone(), changes["attachable_id"][side].clone()]
    };
    let target = [json!("Member"), member["id"].clone()];
    assert_eq!([of(&entries[0], "new"), of(&entries[1], "old")], [target.clone(), target]);
}

async fn operator_commands_are_audited_without_a_user(server: Server) {
    crate::support::create(&server.state, "user", &json!({ "name": "Ada", "email": "ada@example.com" })).await;
    let last = entries(&server, "users").await.pop().expect("an entry");
    assert_eq!([&last["action"], &last["changes"]["name"]["new"]], [&json!("create"), &json!("Ada")]);
    assert_eq!([&last["user_id"], &last["token_id"], &last["request_id"], &last["address"]], [&Value::Null; 4]);
}

async fn audit_log_follows_the_list_conventions(server: Server) {
    let admin = server.admin();
    let (user, client) = server.user(&["users.manage"], &["*"]).await;
    client.post("/members", json!({ "name": "Ada" })).await.created("member");
    admin.post("/members", json!({ "name": "Grace" })).await.created("member");
    let list = async |query: &str| admin.get(&format!("/audit_entries?{query}")).await.records("audit_entries");
    let theirs = list(&format!("q[user_id_eq]={}&q[entity_type_eq]=members", user["id"])).await;
    assert_eq!(theirs.len(), 1);
    let by_token = format!("q[token_id_eq]={}&q[address_eq]=127.0.0.1&q[action_eq]=create", theirs[0]["token_id"]);
    assert_eq!(list(&by_token).await, theirs);
    let of_one = list("q[entity_type_eq]=members&q[record_id_eq]=2").await;
    assert_eq!(of_one[0]["changes"]["name"]["new"], "Grace");
    let newest = list("q[s]=created_at desc,id desc&q[action_eq]=create&per_page=1").await;
    assert_eq!(newest, of_one);
    assert_eq!(list("sort=-id&per_page=1&q[entity_type_eq]=members").await, of_one);
    assert!(list("q[created_at_gt]=2999-01-01T00:00:00Z").await.is_empty());
    let one = admin.get(&format!("/audit_entries/{}", of_one[0]["id"])).await.record("audit_entry");
    assert_eq!(one, of_one[0]);
    admin.get("/audit_entries?q[changes_cont]=x").await.refused(422, "validation_failed");
}

async fn reading_the_audit_log_requires_the_ability_and_the_permission(server: Server) {
    let (_, without) = server.user(&["users.manage"], &["*"]).await;
    without.get("/audit_entries").await.refused(403, "permission_missing");
    without.get("/audit_entries/1").await.refused(403, "permission_missing");
    let (_, auditor) = server.user(&["audit.read"], &["audit_entries:read"]).await;
    auditor.get("/audit_entries").await.ok();
    server.able(&["users:read"]).await.get("/audit_entries").await.refused(403, "ability_missing");
}

async fn token_of_an_administrator_reads_the_entries_of_what_it_may_read(server: Server) {
    let admin = server.admin();
    admin.post("/products", json!({ "name": "Lamp" })).await.created("product");
    admin.post("/members", json!({ "name": "Ada" })).await.created("member");
    let types = async |abilities: &[&str]| {
        let entries = server.able(abilities).await.get("/audit_entries?sort=id").await;
        let mut types = entries.column("audit_entries", "entity_type");
        types.retain(|of| of == "products" || of == "members");
        types
    };
    assert_eq!(types(&["audit_entries:read"]).await, Vec::<Value>::new());
    assert_eq!(types(&["audit_entries:read", "members:read"]).await, ["members"]);
    assert_eq!(types(&["*"]).await, ["products", "members"]);
}

async fn audit_log_cannot_be_written(server: Server) {
    let admin = server.admin();
    admin.post("/audit_entries", json!({})).await.refused(405, "method_not_allowed");
    admin.put("/audit_entries/1", json!({})).await.refused(405, "method_not_allowed");
    admin.delete("/audit_entries/1").await.refused(405, "method_not_allowed");
}

async fn audit_entries_outlive_their_record(server: Server) {
    let (user, client) = server.user(&[], &["*"]).await;
    client.post("/members", json!({ "name": "Ada" })).await.created("member");
    server.admin().delete(&format!("/users/{}", user["id"])).await.deleted();
    assert_eq!(entries(&server, "members").await[0]["user_id"], user["id"]);
}

mod embedded {
    use super::*;

    on_both!(embedded_records_have_their_own_audit_entries, records_deleted_together_are_audited_in_order_of_id);

    async fn embedded_records_have_their_own_audit_entries(server: Gatherings) {
        let admin = server.admin();
        let member = admin.post("/members", json!({ "name": "Ada" })).await.created("member");
        let body = json!({ "subject": "x", "code": "A", "guests": [{ "member_id": member["id"] }] });
        let gathering = admin.post("/gatherings", body).await.created("gathering");
        let path = format!("/gatherings/{}", gathering["id"]);
        let mut guest = gathering["guests"][0].clone();
        guest["mute"] = json!(true);
        admin.put(&path, json!({ "guests": [guest] })).await.record("gathering");
        admin.put(&path, json!({ "guests": [] })).await.record("gathering");
        let entries = entries(&server, "guests").await;
        let actions: Vec<&Value> = entries.iter().map(|entry| &entry["action"]).collect();
        assert_eq!(actions, ["create", "update", "delete"]);
        assert!(entries.iter().all(|entry| entry["record_id"] == gathering["guests"][0]["id"]));
        assert_eq!(entries[1]["changes"], json!({ "mute": { "old": false, "new": true } }));
        assert_eq!(entries[2]["changes"]["member_id"], json!({ "old": member["id"], "new": null }));
        // Embedded records deleted with their record are audited as well.
        admin.put(&path, json!({ "guests": [{ "member_id": member["id"] }] })).await.record("gathering");
        admin.delete(&path).await.deleted();
        let entries = self::entries(&server, "guests").await;
        assert_eq!(entries.iter().filter(|entry| entry["action"] == "delete").count(), 2, "{entries:?}");
    }

    async fn records_deleted_together_are_audited_in_order_of_id(server: Gatherings) {
        let admin = server.admin();
        let mut guests = Vec::new();
        for index in 0..8 {
            let member = admin.post("/members", json!({ "name": format!("Ada {index}") })).await.created("member");
            guests.push(json!({ "member_id": member["id"] }));
        }
        let body = json!({ "subject": "x", "code": "A", "guests": guests });
        let gathering = admin.post("/gatherings", body).await.created("gathering");
        let path = format!("/gatherings/{}", gathering["id"]);
        admin.put(&path, json!({ "guests": [] })).await.record("gathering");
        let entries = entries(&server, "guests").await;
        let gone = entries.iter().filter(|entry| entry["action"] == "delete").map(|entry| &entry["record_id"]);
        let ids = gathering["guests"].as_array().expect("guests").iter().map(|guest| &guest["id"]);
        assert_eq!(gone.collect::<Vec<_>>(), ids.collect::<Vec<_>>());
    }
}
