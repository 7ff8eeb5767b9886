//! Several problems of one request: all of them are told at once, each of them once, under its own field.

use serde_json::json;

use crate::support::{Server, on_both};

on_both!(
    all_problems_of_a_body_are_told_at_once_also_those_of_a_resource_of_its_own_kind,
    what_cannot_be_read_is_not_said_to_be_missing_too,
    what_stands_beside_the_record_is_said_to_stand_there,
);

async fn what_stands_beside_the_record_is_said_to_stand_there(server: Server) {
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
    assert_eq!(twice.invalid("name"), "stands beside `member`: put it inside");
}

async fn all_problems_of_a_body_are_told_at_once_also_those_of_a_resource_of_its_own_kind(server: Server) {
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

async fn what_cannot_be_read_is_not_said_to_be_missing_too(server: Server) {
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
