//! `/settings`: a singleton.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Server, on_both};

on_both!(
    settings_are_one_record,
    settings_update_changes_only_the_given_fields,
    base_currency_must_exist,
    time_zone_must_exist,
    settings_cannot_be_created_or_deleted,
    settings_require_the_ability_and_the_permission,
);

async fn settings_are_one_record(server: Server) {
    let settings = server.admin().get("/settings").await.record("settings");
    assert_eq!([&settings["base_currency"], &settings["timezone"]], ["GBP", "UTC"]);
    assert_eq!(settings["company_name"], Value::Null);
}

async fn settings_update_changes_only_the_given_fields(server: Server) {
    let admin = server.admin();
    let body = json!({ "company_name": "Hire & Co.", "base_currency": "EUR" });
    let changed = admin.put("/settings", body).await.record("settings");
    assert_eq!([&changed["company_name"], &changed["base_currency"]], ["Hire & Co.", "EUR"]);
    let changed = admin.patch("/settings", json!({ "settings": { "company_name": "" } })).await.record("settings");
    assert_eq!([&changed["company_name"], &changed["base_currency"]], [&Value::Null, &json!("EUR")]);
    assert_eq!(admin.get("/settings").await.record("settings"), changed);
    assert_eq!(admin.put("/settings", changed.clone()).await.record("settings"), changed);
    admin.put("/settings", json!({ "colour": "red" })).await.invalid("colour");
}

async fn base_currency_must_exist(server: Server) {
    let admin = server.admin();
    for bad in ["QQQ", "eur", "", "EURO"] {
        admin.put("/settings", json!({ "base_currency": bad })).await.invalid("base_currency");
    }
    assert_eq!(admin.get("/settings").await.record("settings")["base_currency"], "GBP");
}

async fn time_zone_must_exist(server: Server) {
    let admin = server.admin();
    for bad in ["Berlin", "Mars/Phobos", "europe/london", "UTC+1"] {
        admin.put("/settings", json!({ "timezone": bad })).await.invalid("timezone");
    }
    // With whatever else is wrong.
    let long = "x".repeat(300);
    let answer = admin.put("/settings", json!({ "timezone": "Mars/Phobos", "company_name": long, "colour": 1 })).await;
    assert_eq!(answer.invalid_fields(), ["colour", "company_name", "timezone"]);
    for known in ["Europe/London", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "UTC"] {
        assert_eq!(admin.put("/settings", json!({ "timezone": known })).await.record("settings")["timezone"], known);
    }
}

async fn settings_cannot_be_created_or_deleted(server: Server) {
    let admin = server.admin();
    for method in [Method::POST, Method::DELETE] {
        let answer = admin.send(method, "/settings", None).await;
        answer.refused(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some("GET, HEAD, PUT, PATCH"));
    }
    admin.get("/settings/1").await.refused(404, "not_found");
}

async fn settings_require_the_ability_and_the_permission(server: Server) {
    let (_, without) = server.user(&[], &["settings:read", "settings:write"]).await;
    without.get("/settings").await.refused(403, "permission_missing");
    without.put("/settings", json!({ "timezone": "x" })).await.refused(403, "permission_missing");
    let (_, reader) = server.user(&["settings.manage"], &["settings:read"]).await;
    reader.get("/settings").await.record("settings");
    reader.put("/settings", json!({ "timezone": "x" })).await.refused(403, "ability_missing");
}
