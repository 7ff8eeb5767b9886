//! `GET`, `PUT`, `PATCH` and `DELETE /exchange_rates/{id}`, and the required access.

use serde_json::{Value, json};

use super::{created, pair, with};
use crate::support::{Client, Server, on_both};

on_both!(
    missing_exchange_rate_is_not_found,
    updating_an_exchange_rate_returns_200_with_the_record,
    inverse_is_recomputed_when_only_the_rate_changes,
    inverse_given_with_the_rate_is_stored_even_if_unchanged,
    exchange_rate_update_is_validated_with_its_stored_fields,
    expiry_is_cleared_by_an_empty_string_and_kept_by_null,
    deleting_an_exchange_rate_returns_204_and_removes_it,
    reading_exchange_rates_requires_the_ability_and_the_permission,
    writing_exchange_rates_requires_the_ability_and_the_permission,
);

async fn update(client: &Client, rate: &Value, body: Value) -> Value {
    client.put(&format!("/exchange_rates/{}", rate["id"]), body).await.record("exchange_rate")
}

async fn missing_exchange_rate_is_not_found(server: Server) {
    let admin = server.admin();
    admin.get("/exchange_rates/1").await.refused(404, "not_found");
    admin.put("/exchange_rates/1", json!({})).await.refused(404, "not_found");
    admin.delete("/exchange_rates/1").await.refused(404, "not_found");
}

async fn updating_an_exchange_rate_returns_200_with_the_record(server: Server) {
    let admin = server.admin();
    let rate = created(&admin, pair("GBP", "EUR", "2")).await;
    let updated = update(&admin, &rate, json!({ "source": "ecb" })).await;
    assert_eq!(updated["source"], "ecb");
    assert_eq!([&updated["rate"], &updated["id"]], [&rate["rate"], &rate["id"]]);
    let path = format!("/exchange_rates/{}", rate["id"]);
    let patched = admin.patch(&path, json!({ "exchange_rate": { "source": "bank" } })).await.record("exchange_rate");
    assert_eq!(patched["source"], "bank");
    assert_eq!(admin.get(&path).await.record("exchange_rate"), patched);
}

async fn inverse_is_recomputed_when_only_the_rate_changes(server: Server) {
    let admin = server.admin();
    let rate = created(&admin, with(pair("GBP", "EUR", "2"), json!({ "inverse_rate": "0.49" }))).await;
    let updated = update(&admin, &rate, json!({ "source": "ecb" })).await;
    assert_eq!(updated["inverse_rate"], "0.49000000", "nothing but the source changed");
    let updated = update(&admin, &rate, json!({ "rate": "8" })).await;
    assert_eq!([&updated["rate"], &updated["inverse_rate"]], ["8.00000000", "0.12500000"]);
    let updated = update(&admin, &rate, json!({ "rate": "4", "inverse_rate": null })).await;
    assert_eq!(updated["inverse_rate"], "0.25000000");
    let updated = update(&admin, &rate, json!({ "rate": "5", "inverse_rate": "0.21" })).await;
    assert_eq!(updated["inverse_rate"], "0.21000000");
}

async fn inverse_given_with_the_rate_is_stored_even_if_unchanged(server: Server) {
    let admin = server.admin();
    let rate = created(&admin, with(pair("GBP", "EUR", "2"), json!({ "inverse_rate": "0.49" }))).await;
    let updated = update(&admin, &rate, json!({ "rate": "2.01", "inverse_rate": "0.49" })).await;
    assert_eq!([&updated["rate"], &updated["inverse_rate"]], ["2.01000000", "0.49000000"]);
}

async fn exchange_rate_update_is_validated_with_its_stored_fields(server: Server) {
    let admin = server.admin();
    let times = json!({ "effective_at": "2026-01-01T00:00:00Z", "expires_at": "2026-02-01T00:00:00Z" });
    let rate = created(&admin, with(pair("GBP", "EUR", "2"), times)).await;
    let path = format!("/exchange_rates/{}", rate["id"]);
    for (body, field) in [
        (json!({ "target_currency_code": "GBP" }), "target_currency_code"),
        (json!({ "source_currency_code": "EUR" }), "target_currency_code"),
        (json!({ "source_currency_code": "QQQ" }), "source_currency_code"),
        (json!({ "rate": "0" }), "rate"),
        (json!({ "rate": "" }), "rate"),
        (json!({ "effective_at": "" }), "effective_at"),
        (json!({ "effective_at": "2026-02-01T00:00:00Z" }), "expires_at"),
        (json!({ "expires_at": "2025-01-01T00:00:00Z" }), "expires_at"),
    ] {
        admin.put(&path, body).await.invalid(field);
    }
    assert_eq!(admin.get(&path).await.record("exchange_rate"), rate, "nothing was stored");
}

async fn expiry_is_cleared_by_an_empty_string_and_kept_by_null(server: Server) {
    let admin = server.admin();
    let expiry = json!({ "expires_at": "2999-01-01T00:00:00Z" });
    let rate = created(&admin, with(pair("GBP", "EUR", "2"), expiry)).await;
    assert_eq!(update(&admin, &rate, json!({ "expires_at": null })).await["expires_at"], rate["expires_at"]);
    assert_eq!(update(&admin, &rate, json!({ "expires_at": "" })).await["expires_at"], Value::Null);
}

async fn deleting_an_exchange_rate_returns_204_and_removes_it(server: Server) {
    let admin = server.admin();
    let rate = created(&admin, pair("GBP", "EUR", "2")).await;
    let path = format!("/exchange_rates/{}", rate["id"]);
    admin.delete(&path).await.deleted();
    admin.get(&path).await.refused(404, "not_found");
    admin.delete(&path).await.refused(404, "not_found");
    assert!(admin.get("/exchange_rates").await.records("exchange_rates").is_empty());
    let next = created(&admin, pair("GBP", "EUR", "2")).await;
    assert_ne!(next["id"], rate["id"], "an id is never used again");
}

async fn reading_exchange_rates_requires_the_ability_and_the_permission(server: Server) {
    let rate = created(&server.admin(), pair("GBP", "EUR", "2")).await;
    let path = format!("/exchange_rates/{}", rate["id"]);
    let convert = "/exchange_rates/convert?from=GBP&to=EUR&amount=1";
    let (_, allowed) = server.user(&["settings.manage"], &["exchange_rates:read"]).await;
    let (_, without_permission) = server.user(&[], &["exchange_rates:read"]).await;
    let (_, without_ability) = server.user(&["settings.manage"], &["exchange_rates:write"]).await;
    for path in ["/exchange_rates", path.as_str(), convert] {
        allowed.get(path).await.ok();
        let refused = without_permission.get(path).await.refused(403, "permission_missing");
        assert!(refused["message"].as_str().is_some_and(|m| m.contains("settings.manage")), "{refused}");
        without_ability.get(path).await.refused(403, "ability_missing");
    }
}

async fn writing_exchange_rates_requires_the_ability_and_the_permission(server: Server) {
    let rate = created(&server.admin(), pair("GBP", "EUR", "2")).await;
    let path = format!("/exchange_rates/{}", rate["id"]);
    let (_, allowed) = server.user(&["settings.manage"], &["exchange_rates:write"]).await;
    let (_, without_permission) = server.user(&["users.manage"], &["exchange_rates:write"]).await;
    let (_, without_ability) = server.user(&["settings.manage"], &["exchange_rates:read"]).await;
    for (client, code) in [(&without_permission, "permission_missing"), (&without_ability, "ability_missing")] {
        client.post("/exchange_rates", pair("GBP", "EUR", "2")).await.refused(403, code);
        client.put(&path, json!({ "rate": "3" })).await.refused(403, code);
        client.delete(&path).await.refused(403, code);
    }
    created(&allowed, pair("GBP", "JPY", "190")).await;
    allowed.put(&path, json!({ "rate": "3" })).await.record("exchange_rate");
    allowed.delete(&path).await.deleted();
}
