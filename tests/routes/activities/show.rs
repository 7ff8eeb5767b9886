//! `GET /activities/{id}`.

use serde_json::{Value, json};

use super::{FIELDS, created, member, path};
use crate::support::{Server, keys, on_both};

on_both!(
    showing_an_activity_returns_all_its_fields,
    activity_is_visible_to_every_caller_with_the_ability,
    activity_includes_are_added_to_its_fields,
    activity_regarding_is_null_after_its_record_is_deleted,
);

async fn showing_an_activity_returns_all_its_fields(server: Server) {
    let admin = server.admin();
    let activity = created(&admin, json!({})).await;
    assert_eq!(admin.get(&path(&activity)).await.record("activity"), activity);
    assert_eq!(keys(&activity), FIELDS);
    for id in ["999", "0", "-1", "x", "1.0"] {
        admin.get(&format!("/activities/{id}")).await.refused(404, "not_found");
    }
}

async fn activity_is_visible_to_every_caller_with_the_ability(server: Server) {
    let activity = created(&server.admin(), json!({})).await;
    let (_, client) = server.user(&[], &["activities:read", "activities:write"]).await;
    assert_eq!(client.get(&path(&activity)).await.record("activity"), activity);
    let changed = client.put(&path(&activity), json!({ "subject": "Theirs" })).await.record("activity");
    assert_eq!([&changed["subject"], &changed["owned_by"]], [&json!("Theirs"), &activity["owned_by"]]);
    server.able(&["members:read"]).await.get(&path(&activity)).await.refused(403, "ability_missing");
}

async fn activity_includes_are_added_to_its_fields(server: Server) {
    let admin = server.admin();
    let definition =
        json!({ "entity_type": "activities", "name": "colour", "label": "Colour", "field_type": "string" });
    admin.post("/custom_fields", definition).await.created("custom_field");
    let ada = member(&admin, "Ada").await;
    let body = json!({ "regarding_type": "Member", "regarding_id": ada, "custom_fields": { "colour": "red" } });
    let activity = created(&admin, body).await;
    let url = format!("{}?include=owner,regarding,participants,customFieldValues", path(&activity));
    let shown = admin.get(&url).await.record("activity");
    let owner = json!({ "id": activity["owned_by"], "name": "Administrator", "email": "admin@example.com" });
    assert_eq!(shown["owner"], owner);
    assert_eq!(shown["regarding"]["name"], "Ada");
    assert_eq!(shown["participants"], json!([]));
    let values = json!([{ "name": "colour", "label": "Colour", "field_type": "string", "value": "red" }]);
    assert_eq!(shown["custom_field_values"], values);
    let known = admin.get(&format!("{}?include=owners", path(&activity))).await.invalid("include");
    for name in ["owner", "regarding", "customFieldValues"] {
        assert!(known.contains(name), "{known}");
    }
}

async fn activity_regarding_is_null_after_its_record_is_deleted(server: Server) {
    let admin = server.admin();
    let product = admin.post("/products", json!({ "name": "Lamp" })).await.created("product")["id"].clone();
    let activity = created(&admin, json!({ "regarding_type": "Product", "regarding_id": product })).await;
    admin.delete(&format!("/products/{product}")).await.deleted();
    let shown = admin.get(&format!("{}?include=regarding", path(&activity))).await.record("activity");
    assert_eq!([&shown["regarding"], &shown["regarding_id"]], [&Value::Null, &product]);
    // It can still be changed, and be sent back as it is.
    let mut sent = shown.clone();
    sent["subject"] = json!("Changed");
    assert_eq!(admin.put(&path(&activity), sent).await.record("activity")["subject"], "Changed");
}
