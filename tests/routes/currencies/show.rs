//! `GET /currencies/{id}`.

use serde_json::json;

use crate::support::{Server, is_offset_time, keys, on_both};

on_both!(
    showing_a_currency_returns_every_field_under_the_singular_key,
    currency_times_have_an_offset_of_zero,
    currency_symbol_position_and_separators_are_valid,
    missing_currency_is_not_found,
    reading_currencies_requires_only_the_ability_currencies_read,
);

async fn showing_a_currency_returns_every_field_under_the_singular_key(server: Server) {
    let admin = server.admin();
    let found = admin.list("/currencies", &[("q[code_eq]", "GBP")]).await.records("currencies").remove(0);
    let shown = admin.get(&format!("/currencies/{}", found["id"])).await.record("currency");
    assert_eq!(shown, found, "a list item has the same fields");
    let fields = [
        "code",
        "created_at",
        "decimal_places",
        "decimal_separator",
        "id",
        "is_enabled",
        "name",
        "symbol",
        "symbol_position",
        "thousand_separator",
        "updated_at",
    ];
    assert_eq!(keys(&shown), fields);
    assert_eq!(shown["name"], "Pound Sterling");
    assert_eq!(shown["symbol"], "£");
    assert_eq!(shown["symbol_position"], "before");
    assert_eq!([&shown["thousand_separator"], &shown["decimal_separator"]], [",", "."]);
    assert_eq!(shown["decimal_places"], json!(2));
    assert_eq!(shown["is_enabled"], json!(true));
    assert!(shown["id"].is_i64());
}

async fn currency_times_have_an_offset_of_zero(server: Server) {
    let currency = server.admin().get("/currencies/1").await.record("currency");
    for field in ["created_at", "updated_at"] {
        assert!(is_offset_time(&currency[field]), "{field}: {currency}");
    }
}

async fn missing_currency_is_not_found(server: Server) {
    for id in ["0", "999", "-1", "GBP", "1.0", "9223372036854775808", "%31x"] {
        server.admin().get(&format!("/currencies/{id}")).await.refused(404, "not_found");
    }
}

async fn reading_currencies_requires_only_the_ability_currencies_read(server: Server) {
    let (_, reader) = server.user(&[], &["currencies:read"]).await;
    reader.get("/currencies").await.ok();
    reader.get("/currencies/1").await.ok();
    let other = server.able(&["products:read", "exchange_rates:read"]).await;
    other.get("/currencies/1").await.refused(403, "ability_missing");
}

async fn currency_symbol_position_and_separators_are_valid(server: Server) {
    let client = server.admin();
    let mut positions = std::collections::BTreeSet::new();
    for page in 1..=2 {
        for currency in client.get(&format!("/currencies?per_page=100&page={page}")).await.records("currencies") {
            let text = |field: &str| currency[field].as_str().expect("a text").to_string();
            positions.insert(text("symbol_position"));
            assert!(["before", "after"].contains(&text("symbol_position").as_str()), "{currency}");
            for field in ["thousand_separator", "decimal_separator"] {
                assert_eq!(text(field).chars().count(), 1, "{field}: {currency}");
            }
            assert_ne!(text("thousand_separator"), text("decimal_separator"), "{currency}");
            assert!((0..=4).contains(&currency["decimal_places"].as_i64().expect("a number")), "{currency}");
        }
    }
    assert_eq!(positions.len(), 2, "either occurs");
}
