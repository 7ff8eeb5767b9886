//! Several validation errors in one request: each is reported once, under its own field.

use serde_json::json;

use crate::support::{Server, on_both};

on_both!(
    all_errors_of_a_body_are_reported_at_once_for_built_in_resources_too,
    unreadable_value_is_not_also_reported_as_missing,
    field_next_to_the_singular_key_is_reported_as_misplaced,
);

async fn field_next_to_the_singular_key_is_reported_as_misplaced(server: Server) {
    let admin = server.admin();
    let member = admin.post("/members", json!({ "member": { "name": "Ada" }, "id": 5 })).await.created("member");
    assert_eq!((&member["name"], member["id"] == 5), (&json!("Ada"), false));
    let answer = admin.post("/members", json!({ "member": { "name": "Ada" }, "utf8": "1" })).await;
    assert_eq!(answer.invalid_fields(), ["utf8"]);
    assert_eq!(
        admin.post("/members", json!({ "member": "Ada", "name": "x" })).await.invalid("member"),
        "must be an object"
    );
    let twice = admin.post("/members", json!({ "member": { "name": "Ada" }, "name": "Bo" })).await;
    assert_eq!(twice.invalid("name"), "is outside of `member`: move it inside");
}

async fn all_errors_of_a_body_are_reported_at_once_for_built_in_resources_too(server: Server) {
    let admin = server.admin();
    let cases = [
        (
            "/webhooks",
            json!({ "url": "ftp://x", "events": ["foo"], "is_active": "zz" }),
            &["events", "is_active", "url"][..],
        ),
        ("/webhooks", json!({ "events": ["foo"] }), &["events", "url"]),
        (
            "/tokens",
            json!({ "abilities": ["foo"], "expires_at": "2001-01-01T00:00:00Z" }),
            &["abilities", "expires_at", "name"],
        ),
        ("/roles", json!({ "permissions": ["foo"] }), &["name", "permissions"]),
        (
            "/custom_fields",
            json!({ "entity_type": "nope", "field_type": "choice" }),
            &["choices", "entity_type", "name"],
        ),
        ("/users", json!({ "email": "ADMIN@example.com", "role_ids": [99] }), &["email", "name", "role_ids"]),
    ];
    for (path, body, expected) in cases {
        assert_eq!(admin.post(path, body).await.invalid_fields(), expected, "{path}");
    }
    let convert = "/exchange_rates/convert?from=ZZZ&to=YYY&amount=abc";
    assert_eq!(admin.get(convert).await.invalid_fields(), ["amount", "from", "to"]);
}

async fn unreadable_value_is_not_also_reported_as_missing(server: Server) {
    let admin = server.admin();
    let cases = [
        (json!({ "participants": [{ "member_id": "x" }] }), "participants.0.member_id", "must be an integer"),
        (json!({ "participants": [{ "member_id": "" }] }), "participants.0.member_id", "must not be blank"),
        (json!({ "regarding_type": "Member", "regarding_id": "x" }), "regarding_id", "must be an integer"),
    ];
    for (mut body, field, problem) in cases {
        body["subject"] = "Call".into();
        let answer = admin.post("/activities", body).await;
        assert_eq!(answer.json()["errors"], json!({ field: [problem] }));
    }
    let answer =
        admin.post("/activities", json!({ "subject": "Call", "regarding_type": "members", "regarding_id": 1 }));
    assert_eq!(answer.await.invalid_fields(), ["regarding_type"]);
}
