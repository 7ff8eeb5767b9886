//! `/members`.

use serde_json::{Value, json};

use crate::support::{Server, is_utc_time, keys, on_both};

on_both!(
    a_member_is_created_shown_changed_and_deleted,
    membership_types_are_strings,
    a_member_has_custom_fields,
    members_are_filtered_by_name,
    members_require_their_abilities,
);

async fn a_member_is_created_shown_changed_and_deleted(server: Server) {
    let admin = server.admin();
    let member = admin.post("/members", json!({ "name": "Ada" })).await.created("member");
    let fields = ["created_at", "custom_fields", "id", "is_active", "membership_type", "name", "updated_at"];
    assert_eq!(keys(&member), fields);
    assert_eq!([&member["membership_type"], &member["is_active"]], [&json!("contact"), &json!(true)]);
    assert!(is_utc_time(&member["created_at"]), "{member}");
    let path = format!("/members/{}", member["id"]);
    assert_eq!(admin.get(&path).await.record("member"), member);
    let changed = admin.put(&path, json!({ "member": { "name": "Ada L." } })).await.record("member");
    assert_eq!(changed["name"], "Ada L.");
    assert_eq!(admin.get("/members").await.records("members"), [changed]);
    admin.delete(&path).await.deleted();
    admin.get(&path).await.refused(404, "not_found");
    assert_eq!(admin.post("/members", json!({})).await.invalid_fields(), ["name"]);
}

async fn membership_types_are_strings(server: Server) {
    let admin = server.admin();
    for word in ["contact", "organisation", "venue", "vehicle"] {
        let body = json!({ "name": "x", "membership_type": word });
        assert_eq!(admin.post("/members", body).await.created("member")["membership_type"], word);
    }
    admin.post("/members", json!({ "name": "x", "membership_type": "person" })).await.invalid("membership_type");
    let found = admin.get("/members?q[membership_type_in]=VENUE,vehicle&sort=-membership_type").await;
    assert_eq!(found.column("members", "membership_type"), ["venue", "vehicle"]);
}

async fn a_member_has_custom_fields(server: Server) {
    let admin = server.admin();
    let definition = json!({ "entity_type": "members", "name": "vip", "field_type": "boolean" });
    admin.post("/custom_fields", definition).await.created("custom_field");
    let body = json!({ "name": "Ada", "custom_fields": { "vip": true } });
    let member = admin.post("/members", body).await.created("member");
    assert_eq!(member["custom_fields"], json!({ "vip": true }));
    let shown = admin.get(&format!("/members/{}?include=customFieldValues", member["id"])).await.record("member");
    let values = json!([{ "name": "vip", "label": "Vip", "field_type": "boolean", "value": true }]);
    assert_eq!(shown["custom_field_values"], values);
    // The fields of one entity type are not those of another.
    admin
        .post("/products", json!({ "name": "x", "custom_fields": { "vip": true } }))
        .await
        .invalid("custom_fields.vip");
}

async fn members_are_filtered_by_name(server: Server) {
    let admin = server.admin();
    for name in ["Ágnes", "Émile", "emil"] {
        admin.post("/members", json!({ "name": name })).await.created("member");
    }
    let found = admin.list("/members", &[("q[name_cont]", "ÉMI")]).await;
    assert_eq!(found.column("members", "name"), [Value::from("Émile")]);
    assert_eq!(admin.get("/members?sort=-name").await.column("members", "id"), [2, 1, 3]);
}

async fn members_require_their_abilities(server: Server) {
    let (_, reader) = server.user(&[], &["members:read"]).await;
    let (_, writer) = server.user(&[], &["members:write"]).await;
    let member = writer.post("/members", json!({ "name": "Ada" })).await.created("member");
    let path = format!("/members/{}", member["id"]);
    reader.get(&path).await.record("member");
    reader.delete(&path).await.refused(403, "ability_missing");
    writer.get(&path).await.refused(403, "ability_missing");
    writer.delete(&path).await.deleted();
}
