//! Dry runs: everything is validated, and every table stays as it was.

use serde_json::{Value, json};

use super::{call, refused, rpc, with_mcp};
use crate::support::{Database, Dump, Gatherings, Probes, Server, Smtp, differences, dump, on_both};

on_both!(
    rehearsed_writes_leave_every_table_as_it_was,
    rehearsal_finds_what_the_write_would_refuse,
    rehearsal_shows_what_hooks_would_change,
    rehearsal_of_a_secret_does_not_reveal_it,
    rehearsal_has_the_order_and_digits_of_the_api,
    ids_of_new_embedded_records_are_left_out,
    changes_of_an_action_need_the_right_to_read,
    action_that_calls_another_server_cannot_be_rehearsed,
);

on_both!(smtp: rehearsed_invitation_sends_no_mail);

/// The rows of all tables. PostgreSQL adds up its counts in the background: their sum is compared instead.
async fn state_of(server: &Server) -> (Dump, Vec<String>) {
    let counts: &[&str] = &["tokens.last_used_at", "record_totals", "record_blocks", "record_changes"];
    match server.database {
        Database::Sqlite => (dump(server, &counts[..1]).await, Vec::new()),
        Database::Postgres => {
            let changes = "SELECT ((SELECT COALESCE(SUM(changes), 0) FROM record_totals) \
                           + (SELECT COUNT(*) FROM record_changes))::text AS text";
            (dump(server, counts).await, server.texts(changes).await)
        }
    }
}

async fn rehearsed_writes_leave_every_table_as_it_was(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let id =
        async |tool: &str, record: &str, arguments: Value| call(&admin, tool, arguments).await[record]["id"].clone();
    let product = id("create_product", "product", json!({ "name": "Lamp", "dry_run": false })).await;
    let activity = id("create_activity", "activity", json!({ "subject": "Call", "dry_run": false })).await;
    let member = id("create_member", "member", json!({ "name": "Ada", "dry_run": false })).await;
    let (user, _) = server.user(&[], &["*"]).await;
    let webhook = json!({ "url": "https://example.com", "events": ["product.updated"], "dry_run": false });
    call(&admin, "create_webhook", webhook).await;
    let list = call(&admin, "list_products", json!({})).await;
    let before = state_of(&server).await;
    for (tool, arguments) in [
        ("create_product", json!({ "name": "Spot", "weight": 1 })),
        ("create_member", json!({ "name": "Bob" })),
        ("update_product", json!({ "id": product, "name": "Spot", "custom_fields": {} })),
        ("update_activity", json!({ "id": activity, "participants": [{ "member_id": member }] })),
        ("complete_activity", json!({ "id": activity })),
        ("update_settings", json!({ "company_name": "Acme" })),
        ("deactivate_user", json!({ "id": user["id"] })),
        ("erase_user", json!({ "id": user["id"] })),
        ("invite_user", json!({ "id": user["id"] })),
        ("create_custom_field", json!({ "entity_type": "products", "name": "colour", "field_type": "string" })),
        ("create_role", json!({ "name": "Office" })),
    ] {
        let mut rehearsal = arguments;
        rehearsal["dry_run"] = json!(true);
        assert_eq!(call(&admin, tool, rehearsal).await["dry_run"], true, "{tool}");
    }
    let after = state_of(&server).await;
    let found = differences(&before.0, &after.0);
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(before.1, after.1, "a count of changes is the version of a table");
    assert_eq!(call(&admin, "list_products", json!({})).await, list);
    // The same write without a rehearsal changes tables, so that the comparison sees something.
    call(&admin, "update_product", json!({ "id": product, "name": "Spot", "dry_run": false })).await;
    let after = state_of(&server).await;
    assert!(!differences(&before.0, &after.0).is_empty());
    assert!(server.database == Database::Sqlite || before.1 != after.1);
}

async fn rehearsal_finds_what_the_write_would_refuse(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let (user, _) = server.user(&[], &["*"]).await;
    let taken = json!({ "name": "Twin", "email": user["email"] });
    let missing = json!({ "name": "Lamp", "product_group_id": 999_999 });
    let in_future = json!({
        "source_currency_code": "GBP", "target_currency_code": "GBP", "rate": "0",
    });
    for (tool, arguments, field) in [
        ("create_user", taken, "email"),
        ("create_product", missing, "product_group_id"),
        ("create_exchange_rate", in_future, "rate"),
    ] {
        for dry_run in [true, false] {
            let mut write = arguments.clone();
            write["dry_run"] = json!(dry_run);
            let refusal = refused(&admin, tool, write, "validation_failed").await;
            assert!(refusal["errors"][field][0].is_string(), "{tool}: {refusal}");
        }
    }
    refused(&admin, "update_product", json!({ "id": 999_999, "name": "x", "dry_run": true }), "not_found").await;
}

async fn rehearsal_shows_what_hooks_would_change(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let activity = call(&admin, "create_activity", json!({ "subject": "Call", "dry_run": false })).await;
    let id = &activity["activity"]["id"];
    let rehearsed = call(&admin, "complete_activity", json!({ "id": id, "dry_run": true })).await;
    let changes = rehearsed["changes"].as_object().expect("changes");
    assert_eq!(changes["completed"], json!({ "before": false, "after": true }));
    assert_eq!(changes["activity_status_name"], json!({ "before": "Scheduled", "after": "Completed" }));
    assert!(!changes.contains_key("subject"), "{rehearsed}");
    assert_eq!(rehearsed["activity"]["completed"], true);
    assert_eq!(call(&admin, "show_activity", json!({ "id": id })).await["activity"], activity["activity"]);
    let rate = json!({ "source_currency_code": "GBP", "target_currency_code": "EUR", "rate": "1.25", "dry_run": true });
    let created = call(&admin, "create_exchange_rate", rate).await;
    assert_eq!(created["exchange_rate"]["inverse_rate"], "0.80000000", "the hook sets it");
    assert!(created.get("changes").is_none(), "{created}");
}

async fn rehearsal_of_a_secret_does_not_reveal_it(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let token = json!({ "name": "Agent", "abilities": ["products:read"], "dry_run": true });
    let rehearsed = call(&admin, "create_token", token.clone()).await;
    assert!(rehearsed["token"]["name"] == "Agent" && rehearsed["token"].get("value").is_none(), "{rehearsed}");
    let mut write = token;
    write["dry_run"] = json!(false);
    assert!(call(&admin, "create_token", write).await["token"]["value"].is_string());
}

async fn rehearsal_has_the_order_and_digits_of_the_api(server: Gatherings) {
    let admin = server.admin();
    let body = br#"{"subject":"Tea","code":"t","notes":{"z":1.50,"a":2}}"#;
    let created = admin.undescribed().post_text("/gatherings", body.to_vec()).await.created("gathering");
    let id = &created["id"];
    let shown = admin.get(&format!("/gatherings/{id}")).await.text;
    let arguments = json!({ "id": id, "subject": "Tea", "dry_run": true });
    let result = rpc(&admin, "tools/call", json!({ "name": "update_gathering", "arguments": arguments })).await;
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(text.starts_with(shown.trim_end_matches('}')), "{text}\n{shown}");
}

async fn ids_of_new_embedded_records_are_left_out(server: Gatherings) {
    let admin = server.admin();
    let member = async |name: &str| {
        call(&admin, "create_member", json!({ "name": name, "dry_run": false })).await["member"]["id"].clone()
    };
    let (ada, bob) = (member("Ada").await, member("Bob").await);
    let tea = json!({ "subject": "Tea", "code": "t", "guests": [{ "member_id": ada }] });
    let mut rehearsal = tea.clone();
    rehearsal["dry_run"] = json!(true);
    let rehearsed = call(&admin, "create_gathering", rehearsal).await;
    assert!(rehearsed["gathering"]["guests"][0].get("id").is_none(), "{rehearsed}");
    let created = admin.post("/gatherings", tea).await.created("gathering");
    let guest = &created["guests"][0]["id"];
    let guests = json!([{ "id": guest, "member_id": ada }, { "member_id": bob }]);
    let change = json!({ "id": created["id"], "guests": guests, "dry_run": true });
    let rehearsed = call(&admin, "update_gathering", change).await;
    for guests in [&rehearsed["gathering"]["guests"], &rehearsed["changes"]["guests"]["after"]] {
        assert_eq!((&guests[0]["id"], &guests[1]["member_id"]), (guest, &bob), "{guests}");
        assert!(guests[1].get("id").is_none(), "{guests}");
    }
}

async fn changes_of_an_action_need_the_right_to_read(server: Probes) {
    let admin = server.admin();
    let probe = admin.post("/probes", json!({ "name": "Depth", "dry_run": "no" })).await.created("probe");
    let measure = json!({ "id": probe["id"], "dry_run": true });
    let rehearsed = call(&admin, "measure_probe", measure.clone()).await;
    assert_eq!(rehearsed["changes"]["name"], json!({ "before": "Depth", "after": "Measured" }));
    let other = server.able(&["probes:measure"]).await;
    let rehearsed = call(&other, "measure_probe", measure).await;
    assert_eq!((&rehearsed["reading"]["value"], rehearsed.get("changes")), (&json!(7), None), "{rehearsed}");
}

async fn action_that_calls_another_server_cannot_be_rehearsed(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let webhook = json!({ "url": "https://example.com", "events": ["product.updated"], "dry_run": false });
    let webhook = call(&admin, "create_webhook", webhook).await["webhook"]["id"].clone();
    let refusal = refused(&admin, "test_webhook", json!({ "id": webhook, "dry_run": true }), "conflict").await;
    let message = refusal["message"].as_str().expect("a message");
    assert!(message.contains("cannot be rehearsed") && message.contains("Nothing was done"), "{message}");
}

async fn rehearsed_invitation_sends_no_mail(server: Server) {
    let smtp = Smtp::start();
    let server = server
        .configured(|config| {
            config.mcp = true;
            config.smtp = Some(smtp.config());
        })
        .await;
    let (admin, (user, _)) = (server.admin(), server.user(&[], &["*"]).await);
    for dry_run in [true, false] {
        call(&admin, "invite_user", json!({ "id": user["id"], "dry_run": dry_run })).await;
    }
    // A mail of the rehearsal would be the first of two.
    assert_eq!(smtp.mail(1).await.recipients, [user["email"].as_str().expect("an address")]);
    assert_eq!(smtp.received().len(), 1);
}
