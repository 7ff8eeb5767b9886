//! Open doors: `public` of a resource lets callers without a token create records, and nothing else.

use reqwest::Method;
use serde_json::{Value, json};

use crate::panel::{CookieClient, signed_in};
use crate::support::{Client, on_both};
use inbox::Inbox;

on_both!(
    anybody_creates_a_record_with_the_listed_fields,
    other_fields_are_unknown_without_a_token,
    every_problem_of_a_public_record_is_in_one_answer,
    every_other_request_needs_a_token,
    each_client_address_has_a_limit,
    callers_with_a_token_are_as_before,
    session_of_the_panel_does_not_create_for_its_user,
    body_without_a_token_has_the_limits_of_every_body,
    event_and_audit_entry_have_no_user,
    record_of_the_public_belongs_to_nobody,
    repeated_idempotency_key_shares_nothing_between_strangers,
    document_says_that_no_token_is_needed,
);

/// The service with inquiries that anybody may make, and with complaints, which have an owner and row rules.
mod inbox {
    use charter_migrations::prelude::*;
    use charter_runtime::generated::Resource;
    use charter_runtime::ops::Route;
    use sea_orm::entity::prelude::DateTimeUtc;

    use crate::support::{nothing, own_fixture};

    pub mod inquiry {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "inquiry", events, custom_fields)]
        #[resource(public(create("subject", "message", "email", "kind"), limit = "5/hour"))]
        pub struct Model {
            pub id: i64,
            #[field(string(80), required)]
            pub subject: String,
            #[field(text, required)]
            pub message: String,
            #[field(string(255), email)]
            pub email: Option<String>,
            #[field(enumeration("question", "order"), default = "question")]
            pub kind: String,
            #[field(enumeration("low", "high"), default = "low")]
            pub priority: String,
            #[field(reference("user"), default_caller)]
            pub user_id: Option<i64>,
            pub custom_fields: sea_orm::entity::prelude::Json,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }
    }

    pub mod complaint {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "complaint", owner = "user_id", events)]
        #[resource(read_rule = "caller.can(complaints.all)", write_rule = "user_id = caller.id")]
        #[resource(public(create("text")))]
        pub struct Model {
            pub id: i64,
            #[field(text, required)]
            pub text: String,
            #[field(reference("user"), default_caller)]
            pub user_id: Option<i64>,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }
    }

    own_fixture! {
        /// The service with these resources.
        Inbox, "inbox", [Route::of::<inquiry::Entity>(), Route::of::<complaint::Entity>()], nothing
    }

    #[async_trait::async_trait]
    impl MigrationTrait for Migration {
        async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            let times = || [timestamp("created_at"), timestamp("updated_at")];
            let inquiry = [
                id(),
                string("subject", 80),
                text("message"),
                string("email", 255).nullable(),
                enumeration("kind").default("question"),
                enumeration("priority").default("low"),
                reference("user_id", "users").nullable(),
                custom_fields(),
            ];
            Table::on(manager, "inquiries").create(inquiry.into_iter().chain(times())).await?;
            let complaint = [id(), text("text"), reference("user_id", "users").nullable()];
            Table::on(manager, "complaints").create(complaint.into_iter().chain(times())).await
        }

        async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            Table::on(manager, "complaints").drop().await?;
            Table::on(manager, "inquiries").drop().await
        }
    }
}

fn inquiry() -> Value {
    json!({ "subject": "Opening hours", "message": "When?" })
}

async fn total(client: &Client) -> Value {
    client.get("/inquiries").await.ok()["meta"]["total"].clone()
}

async fn anybody_creates_a_record_with_the_listed_fields(server: Inbox) {
    let (anybody, admin) = (server.anonymous(), server.admin());
    // A custom field that users define later does not close the door.
    let field = json!({ "entity_type": "inquiries", "name": "source", "field_type": "text", "required": true });
    admin.post("/custom_fields", field).await.created("custom_field");
    let answer = anybody.post("/inquiries", inquiry()).await;
    assert_eq!(answer.status(201).json(), json!({ "inquiry": { "id": 1 } }));
    assert_eq!((answer.header("location"), answer.header("etag")), (None, None));
    let sent =
        json!({ "inquiry": { "subject": "Chairs", "message": "Ten", "email": "ann@example.com", "kind": "order" } });
    assert_eq!(anybody.post("/inquiries", sent).await.status(201).json(), json!({ "inquiry": { "id": 2 } }));
    let form = "subject=Form&message=From+a+page";
    let kind = Some("application/x-www-form-urlencoded");
    anybody.send_bytes(Method::POST, "/inquiries", kind, form).await.status(201);
    let stored = admin.get("/inquiries/2").await.record("inquiry");
    let found = ["subject", "message", "email", "kind", "priority", "user_id"].map(|name| stored[name].clone());
    assert_eq!(json!(found), json!(["Chairs", "Ten", "ann@example.com", "order", "low", null]));
    assert_eq!(admin.get("/inquiries/3").await.record("inquiry")["message"], "From a page");
}

async fn other_fields_are_unknown_without_a_token(server: Inbox) {
    for (name, value) in [
        ("priority", json!("high")),
        ("user_id", json!(1)),
        ("user_id", json!(null)),
        ("id", json!(7)),
        ("created_at", json!("2026-01-01T00:00:00Z")),
        ("custom_fields", json!({ "source": "x" })),
        ("nothing", json!(1)),
        ("inquiry", json!(1)),
    ] {
        let server_address = [127, 0, 1, name.len() as u8];
        let mut body = inquiry();
        body[name] = value.clone();
        let page = post(&server, server_address, &body).await;
        assert_eq!(page.0, 422, "{name}: {}", page.1);
        let message = page.1["errors"][name][0].as_str().unwrap_or_default();
        assert!(message.starts_with("is not a field of inquiry"), "{name}: {}", page.1);
        // The value is not looked at.
        assert_eq!(page.1["errors"].as_object().map(|errors| errors.len()), Some(1), "{name}: {}", page.1);
    }
    let outside = json!({ "inquiry": inquiry(), "priority": "high" });
    let refused = server.anonymous().post("/inquiries", outside).await;
    assert_eq!(refused.invalid_fields(), ["priority"]);
    let misspelt = json!({ "subject": "x", "mesage": "y", "message": "z" });
    let refused = server.anonymous().post("/inquiries", misspelt).await;
    assert!(refused.invalid("mesage").contains("did you mean `message`?"), "{}", refused.text);
    assert_eq!(total(&server.admin()).await, 0);
}

/// Posts an inquiry from a loopback address: the status and the body of the answer.
async fn post(server: &Inbox, address: [u8; 4], body: &Value) -> (u16, Value) {
    let mut client = CookieClient::at(&server.url(), address);
    let page = client.post_bytes("/api/v1/inquiries", "application/json", body.to_string().into_bytes()).await;
    (page.status, serde_json::from_str(&page.text).unwrap_or_default())
}

async fn every_problem_of_a_public_record_is_in_one_answer(server: Inbox) {
    let sent = json!({ "subject": "", "email": "nobody", "kind": "x", "priority": "high" });
    let refused = server.anonymous().post("/inquiries", sent).await;
    assert_eq!(refused.invalid_fields(), ["email", "kind", "message", "priority", "subject"]);
    assert_eq!(total(&server.admin()).await, 0);
}

async fn every_other_request_needs_a_token(server: Inbox) {
    let anybody = server.anonymous();
    anybody.post("/inquiries", inquiry()).await.status(201);
    for (method, path) in [
        (Method::GET, "/inquiries"),
        (Method::HEAD, "/inquiries"),
        (Method::GET, "/inquiries/1"),
        (Method::PUT, "/inquiries/1"),
        (Method::PATCH, "/inquiries/1"),
        (Method::DELETE, "/inquiries/1"),
        (Method::POST, "/inquiries/1"),
        (Method::POST, "/inquiries/bulk"),
        (Method::GET, "/inquiries/summary"),
        (Method::PUT, "/inquiries"),
        (Method::POST, "/products"),
        (Method::GET, "/complaints"),
    ] {
        let answer = anybody.send(method.clone(), path, Some(inquiry())).await;
        assert_eq!(answer.status, 401, "{method} {path}: {}", answer.text);
    }
    let stored = server.admin().get("/inquiries/1").await.record("inquiry");
    assert_eq!(stored["subject"], "Opening hours");
    // A token that is not valid is refused, and does not come through the open door.
    server.client("wrong").post("/inquiries", inquiry()).await.refused(401, "invalid_token");
    assert_eq!(total(&server.admin()).await, 1);
}

async fn each_client_address_has_a_limit(server: Inbox) {
    let anybody = server.anonymous();
    for left in (0..5).rev() {
        // A refused request counts too, and the header of an untrusted client changes nothing.
        let body = if left == 3 { json!({}) } else { inquiry() };
        let answer = anybody.with("x-forwarded-for", &format!("203.0.113.{left}")).post("/inquiries", body).await;
        assert_eq!(answer.status, if left == 3 { 422 } else { 201 }, "{}", answer.text);
        assert_eq!(answer.header("ratelimit-remaining"), Some(left.to_string().as_str()));
    }
    let answer = anybody.post("/inquiries", inquiry()).await;
    answer.refused(429, "rate_limited");
    let wait: u64 = answer.header("retry-after").and_then(|text| text.parse().ok()).expect("seconds");
    assert!((3_500..=3_600).contains(&wait), "{wait}");
    assert_eq!(post(&server, [127, 0, 0, 9], &inquiry()).await.0, 201);
    // Another resource has a limit of its own.
    anybody.post("/complaints", json!({ "text": "Slow" })).await.status(201);
    server.admin().post("/inquiries", inquiry()).await.created("inquiry");
    assert_eq!(total(&server.admin()).await, 6);
}

async fn callers_with_a_token_are_as_before(server: Inbox) {
    let (user, client) = server.user(&[], &["inquiries:create"]).await;
    for _ in 0..7 {
        let sent = json!({ "subject": "Own", "message": "x", "priority": "high" });
        let created = client.post("/inquiries", sent).await.created("inquiry");
        assert_eq!((&created["priority"], &created["user_id"]), (&json!("high"), &user["id"]));
    }
    let (_, reader) = server.user(&[], &["inquiries:read"]).await;
    reader.post("/inquiries", inquiry()).await.refused(403, "ability_missing");
}

async fn session_of_the_panel_does_not_create_for_its_user(server: Inbox) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let mut other_site = panel.with("sec-fetch-site", Some("cross-site")).with("origin", Some("https://evil.example"));
    other_site.cookie = panel.cookie.clone();
    let form = "subject=Forged&message=x".to_string().into_bytes();
    let page = other_site.post_bytes("/api/v1/inquiries", "application/x-www-form-urlencoded", form).await;
    assert_eq!(page.status(201).text, "{\"inquiry\":{\"id\":1}}");
    let stored = server.admin().get("/inquiries/1").await.record("inquiry");
    assert_eq!(stored["user_id"], Value::Null);
    let entries = server.admin().get("/audit_entries?q[entity_type_eq]=inquiries").await.records("audit_entries");
    assert_eq!(entries[0]["user_id"], Value::Null, "{entries:?}");
    let forged = json!({ "subject": "Forged", "message": "x", "priority": "high" }).to_string().into_bytes();
    other_site.post_bytes("/api/v1/inquiries", "application/json", forged).await.status(422);
    // The panel itself creates for its user.
    let own = json!({ "subject": "Own", "message": "x", "priority": "high" }).to_string();
    panel.call("POST", "/inquiries", Some(own)).await.status(201);
    assert_eq!(server.admin().get("/inquiries/2").await.record("inquiry")["user_id"], 1);
}

async fn body_without_a_token_has_the_limits_of_every_body(server: Inbox) {
    let anybody = server.anonymous();
    anybody.post_text("/inquiries", "{").await.refused(400, "malformed_request");
    anybody.post_text("/inquiries", "[]").await.refused(400, "malformed_request");
    let large = json!({ "subject": "x", "message": "x".repeat(12 * 1024 * 1024) }).to_string();
    assert_eq!(anybody.post_text("/inquiries", large).await.status, 413);
    anybody.post_text("/inquiries", "").await.refused(422, "validation_failed");
    assert_eq!(total(&server.admin()).await, 0);
}

async fn event_and_audit_entry_have_no_user(server: Inbox) {
    server
        .admin()
        .post("/webhooks", json!({ "url": "https://receiver.example/", "events": ["inquiry.created"] }))
        .await;
    server.anonymous().post("/inquiries", inquiry()).await.status(201);
    let events = server.event_bodies(0).await;
    let event = events.iter().find(|event| event["event"] == "inquiry.created").expect("an event");
    assert_eq!(event["data"]["inquiry"]["subject"], "Opening hours");
    assert_eq!(event["data"]["inquiry"]["user_id"], Value::Null);
    let entries = server.admin().get("/audit_entries?q[entity_type_eq]=inquiries").await.records("audit_entries");
    let entry = &entries[0];
    assert_eq!(
        (&entry["action"], &entry["user_id"], &entry["token_id"]),
        (&json!("create"), &Value::Null, &Value::Null)
    );
    assert_eq!(entry["address"], "127.0.0.1", "{entry}");
    assert!(entry["request_id"].is_string(), "{entry}");
}

async fn record_of_the_public_belongs_to_nobody(server: Inbox) {
    let answer = server.anonymous().post("/complaints", json!({ "text": "Slow" })).await;
    assert_eq!(answer.status(201).json(), json!({ "complaint": { "id": 1 } }));
    let stored = server.admin().get("/complaints/1").await.record("complaint");
    assert_eq!(stored["user_id"], Value::Null);
    let (_, client) = server.user(&["complaints.all"], &["*"]).await;
    client.get("/complaints/1").await.refused(404, "not_found");
    let refused = server.anonymous().post("/complaints", json!({ "text": "x", "user_id": 1 })).await;
    assert_eq!(refused.invalid_fields(), ["user_id"]);
}

async fn repeated_idempotency_key_shares_nothing_between_strangers(server: Inbox) {
    let keyed = server.anonymous().with("idempotency-key", "the-same");
    for id in 1..=2 {
        let answer = keyed.post("/inquiries", inquiry()).await;
        assert_eq!(answer.status(201).json(), json!({ "inquiry": { "id": id } }));
    }
}

async fn document_says_that_no_token_is_needed(server: Inbox) {
    let document = server.admin().get("/openapi.json").await.ok();
    let operation = &document["paths"]["/api/v1/inquiries"]["post"];
    let security = operation["security"].as_array().expect("requirements");
    assert!(security.contains(&json!({})) && security.len() > 1, "{security:?}");
    let described = operation["description"].as_str().unwrap_or_default();
    assert!(described.contains("subject, message, email, kind: 5/hour"), "{described}");
    let [record, id] = ["anyOf/0", "anyOf/1"].map(|shape| {
        let schema = &operation["responses"]["201"]["content"]["application/json"]["schema"];
        schema.pointer(&format!("/{shape}/properties/inquiry")).cloned().unwrap_or_else(|| panic!("{shape}: {schema}"))
    });
    assert_eq!(record, json!({ "$ref": "#/components/schemas/Inquiry" }));
    assert_eq!((&id["required"], &id["additionalProperties"]), (&json!(["id"]), &json!(false)));
    assert_eq!(id["properties"].as_object().expect("properties").keys().collect::<Vec<_>>(), ["id"]);
    let conventions = document["info"]["description"].as_str().unwrap_or_default();
    assert!(conventions.contains("except this document and operations whose `security` has an empty entry"));
    for (path, method) in [("/api/v1/inquiries", "get"), ("/api/v1/inquiries/{id}", "put")] {
        let other = &document["paths"][path][method]["security"];
        assert!(!other.as_array().expect("requirements").contains(&json!({})), "{path} {method}");
    }
}
