//! `POST /exchange_rates`.

use serde_json::{Value, json};

use super::{created, pair, with};
use crate::support::{Client, Server, is_offset_time, keys, on_both};

on_both!(
    creating_an_exchange_rate_returns_201_with_location,
    exchange_rates_have_eight_decimal_places,
    inverse_rate_is_one_divided_by_the_rate_rounded_half_even,
    given_inverse_rate_is_stored,
    exchange_rate_defaults_to_source_manual_and_effect_now,
    origin_of_an_exchange_rate_is_not_blank,
    exchange_rate_times_accept_any_offset_and_are_returned_in_utc,
    exchange_rate_requires_both_codes_and_the_rate,
    exchange_rate_codes_must_be_existing_currencies,
    exchange_rate_codes_must_differ,
    exchange_rate_must_be_positive,
    exchange_rate_is_exact_up_to_18_digits_and_never_rounded,
    exchange_rate_whose_inverse_rounds_to_zero_requires_a_given_inverse,
    exchange_rate_must_expire_after_it_takes_effect,
    exchange_rate_fields_can_be_under_the_singular_key,
    all_errors_of_an_exchange_rate_are_reported_at_once,
);

async fn refused(client: &Client, body: Value, field: &str) -> String {
    client.post("/exchange_rates", body).await.invalid(field)
}

async fn creating_an_exchange_rate_returns_201_with_location(server: Server) {
    let answer = server.admin().post("/exchange_rates", pair("GBP", "EUR", "1.17")).await;
    let rate = answer.created("exchange_rate");
    let location = format!("/api/v1/exchange_rates/{}", rate["id"]);
    assert_eq!(answer.header("location"), Some(location.as_str()));
    let fields = [
        "created_at",
        "effective_at",
        "expires_at",
        "id",
        "inverse_rate",
        "rate",
        "source",
        "source_currency_code",
        "target_currency_code",
        "updated_at",
    ];
    assert_eq!(keys(&rate), fields);
    assert_eq!([&rate["source_currency_code"], &rate["target_currency_code"]], ["GBP", "EUR"]);
    for field in ["effective_at", "created_at", "updated_at"] {
        assert!(is_offset_time(&rate[field]), "{field}: {rate}");
    }
    let shown = server.admin().get(&format!("/exchange_rates/{}", rate["id"])).await.record("exchange_rate");
    assert_eq!(shown, rate);
}

async fn exchange_rates_have_eight_decimal_places(server: Server) {
    let admin = server.admin();
    let rate = created(&admin, pair("GBP", "EUR", "1.17")).await;
    assert_eq!([&rate["rate"], &rate["inverse_rate"]], ["1.17000000", "0.85470085"]);
    let number = json!({ "source_currency_code": "GBP", "target_currency_code": "EUR", "rate": 1.5 });
    assert_eq!(created(&admin, number).await["rate"], "1.50000000", "a number does as well");
}

async fn inverse_rate_is_one_divided_by_the_rate_rounded_half_even(server: Server) {
    let admin = server.admin();
    let cases = [
        ("4", "0.25000000"),
        ("3", "0.33333333"),
        ("1.5", "0.66666667"),
        ("0.00000001", "100000000.00000000"),
        // Exactly between two: 0.000000025 and 0.000000125.
        ("40000000", "0.00000002"),
        ("8000000", "0.00000012"),
    ];
    for (rate, inverse) in cases {
        assert_eq!(created(&admin, pair("GBP", "EUR", rate)).await["inverse_rate"], inverse, "{rate}");
    }
}

async fn given_inverse_rate_is_stored(server: Server) {
    let body = with(pair("GBP", "EUR", "2"), json!({ "inverse_rate": "0.49" }));
    assert_eq!(created(&server.admin(), body).await["inverse_rate"], "0.49000000");
    for inverse in ["0", "-1", "x"] {
        let body = with(pair("GBP", "EUR", "2"), json!({ "inverse_rate": inverse }));
        refused(&server.admin(), body, "inverse_rate").await;
    }
}

async fn exchange_rate_defaults_to_source_manual_and_effect_now(server: Server) {
    let admin = server.admin();
    let rate = created(&admin, pair("GBP", "EUR", "2")).await;
    assert_eq!(rate["source"], "manual");
    assert_eq!(rate["effective_at"], rate["created_at"]);
    assert_eq!(rate["expires_at"], Value::Null);
    let given =
        json!({ "source": "ecb", "effective_at": "2020-01-01T00:00:00Z", "expires_at": "2021-01-01T00:00:00Z" });
    let rate = created(&admin, with(pair("GBP", "EUR", "2"), given)).await;
    assert_eq!([&rate["source"], &rate["effective_at"]], ["ecb", "2020-01-01T00:00:00+00:00"]);
    assert_eq!(rate["expires_at"], "2021-01-01T00:00:00+00:00");
}

async fn origin_of_an_exchange_rate_is_not_blank(server: Server) {
    let admin = server.admin();
    let path = format!("/exchange_rates/{}", created(&admin, pair("GBP", "EUR", "1.17")).await["id"]);
    let definition = json!({ "entity_type": "products", "name": "power", "field_type": "integer" });
    let definition = admin.post("/custom_fields", definition).await.created("custom_field");
    for blank in ["", " ", "\t\n"] {
        assert_eq!(
            refused(&admin, with(pair("GBP", "EUR", "1.2"), json!({ "source": blank })), "source").await,
            "must not be blank"
        );
        let changed = admin.put(&path, json!({ "source": blank })).await;
        assert_eq!(changed.invalid("source"), "must not be blank");
        let label = admin.put(&format!("/custom_fields/{}", definition["id"]), json!({ "label": blank })).await;
        assert_eq!(label.invalid("label"), "must not be blank");
    }
    assert_eq!(admin.get(&path).await.record("exchange_rate")["source"], "manual");
}

async fn exchange_rate_times_accept_any_offset_and_are_returned_in_utc(server: Server) {
    let admin = server.admin();
    let cases = [
        ("2026-03-21T10:00:00+02:00", "2026-03-21T08:00:00+00:00"),
        ("2026-03-21T23:30:00-01:00", "2026-03-22T00:30:00+00:00"),
        ("2026-03-21T10:00:00.999Z", "2026-03-21T10:00:00+00:00"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+00:00"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59+00:00"),
    ];
    for (given, expected) in cases {
        let rate = created(&admin, with(pair("GBP", "EUR", "2"), json!({ "effective_at": given }))).await;
        assert_eq!(rate["effective_at"], expected, "{given}");
    }
    for bad in ["2026-03-21", "2026-03-21T10:00:00", "yesterday", "2026-02-30T00:00:00Z", "12026-01-01T00:00:00Z"] {
        let body = with(pair("GBP", "EUR", "2"), json!({ "effective_at": bad }));
        assert!(refused(&admin, body, "effective_at").await.contains("RFC 3339"), "{bad}");
    }
    let body = with(pair("GBP", "EUR", "2"), json!({ "effective_at": "0000-12-31T23:59:59Z" }));
    assert_eq!(refused(&admin, body, "effective_at").await, "must be of the years 0001 to 9999, in UTC");
}

async fn exchange_rate_requires_both_codes_and_the_rate(server: Server) {
    let answer = server.admin().post("/exchange_rates", json!({})).await;
    assert_eq!(answer.invalid_fields(), ["rate", "source_currency_code", "target_currency_code"]);
    assert_eq!(answer.invalid("rate"), "is required");
    for field in ["source_currency_code", "target_currency_code", "rate"] {
        let blank = with(pair("GBP", "EUR", "2"), json!({ field: "" }));
        refused(&server.admin(), blank, field).await;
        let null = with(pair("GBP", "EUR", "2"), json!({ field: null }));
        assert_eq!(refused(&server.admin(), null, field).await, "is required");
    }
}

async fn exchange_rate_codes_must_be_existing_currencies(server: Server) {
    for code in ["QQQ", "gbp", "GB"] {
        refused(&server.admin(), pair(code, "EUR", "2"), "source_currency_code").await;
        refused(&server.admin(), pair("EUR", code, "2"), "target_currency_code").await;
    }
    let long = refused(&server.admin(), pair("GBPX", "EUR", "2"), "source_currency_code").await;
    assert!(long.contains("at most 3 characters"), "{long}");
}

async fn exchange_rate_codes_must_differ(server: Server) {
    let problem = refused(&server.admin(), pair("GBP", "GBP", "1"), "target_currency_code").await;
    assert_eq!(problem, "must differ from source_currency_code");
    let both = refused(&server.admin(), pair("QQQ", "QQQ", "1"), "target_currency_code").await;
    assert_eq!(both, "must differ from source_currency_code; is not the code of any currency");
}

async fn exchange_rate_must_be_positive(server: Server) {
    for rate in ["0", "-1", "0.00000000", "-0.00000001"] {
        assert_eq!(refused(&server.admin(), pair("GBP", "EUR", rate), "rate").await, "must be more than 0", "{rate}");
    }
    for rate in ["one", "1,5", "NaN", "Infinity", "0x1", "1e99999", " "] {
        refused(&server.admin(), pair("GBP", "EUR", rate), "rate").await;
    }
    for rate in [json!(true), json!([1]), json!({ "is": 1 })] {
        refused(&server.admin(), with(pair("GBP", "EUR", "1"), json!({ "rate": rate })), "rate").await;
    }
}

async fn exchange_rate_is_exact_up_to_18_digits_and_never_rounded(server: Server) {
    let admin = server.admin();
    for rate in ["1234567890.12345678", "1234567890.12345679", "9999999999.99999999", "0.00000001"] {
        let body = with(pair("GBP", "EUR", rate), json!({ "inverse_rate": "1" }));
        let rate_of = created(&admin, body).await;
        assert_eq!(rate_of["rate"], rate);
    }
    // As a JSON number, which no floating point may touch.
    let text =
        r#"{"source_currency_code":"GBP","target_currency_code":"EUR","rate":1234567890.12345679,"inverse_rate":1}"#;
    let rate = admin.post_text("/exchange_rates", text).await.created("exchange_rate");
    assert_eq!([&rate["rate"], &rate["inverse_rate"]], ["1234567890.12345679", "1.00000000"]);
    let problem = refused(&admin, pair("GBP", "EUR", "1.123456789"), "rate").await;
    assert_eq!(problem, "must have at most 8 decimal places");
    let problem = refused(&admin, pair("GBP", "EUR", "10000000000"), "rate").await;
    assert_eq!(problem, "must have at most 10 digits before the point");
    let zeros = created(&admin, pair("GBP", "EUR", "1.1000000000000")).await;
    assert_eq!(zeros["rate"], "1.10000000", "zeros behind the last place say nothing");
}

async fn exchange_rate_whose_inverse_rounds_to_zero_requires_a_given_inverse(server: Server) {
    let problem = refused(&server.admin(), pair("GBP", "EUR", "9999999999"), "rate").await;
    assert!(problem.contains("inverse_rate"), "{problem}");
    // With whatever else is wrong.
    let body = with(pair("GBP", "EUR", "9999999999"), json!({ "source": "x".repeat(256) }));
    let answer = server.admin().post("/exchange_rates", body).await;
    assert_eq!(answer.invalid_fields(), ["rate", "source"]);
}

async fn exchange_rate_must_expire_after_it_takes_effect(server: Server) {
    let admin = server.admin();
    let times =
        |from: &str, until: &str| with(pair("GBP", "EUR", "2"), json!({ "effective_at": from, "expires_at": until }));
    let at = "2026-01-01T00:00:00Z";
    for until in [at, "2025-12-31T23:59:59.999Z", "2026-01-01T01:00:00+01:00"] {
        assert_eq!(refused(&admin, times(at, until), "expires_at").await, "must be after effective_at", "{until}");
    }
    created(&admin, times(at, "2026-01-01T00:00:01Z")).await;
    // Times are kept in whole seconds, and judged as such.
    assert_eq!(
        refused(&admin, times(at, "2026-01-01T00:00:00.999Z"), "expires_at").await,
        "must be after effective_at"
    );
    // The default of effective_at counts too.
    let past = with(pair("GBP", "EUR", "2"), json!({ "expires_at": "2020-01-01T00:00:00Z" }));
    assert_eq!(refused(&admin, past, "expires_at").await, "must be after effective_at");
}

async fn exchange_rate_fields_can_be_under_the_singular_key(server: Server) {
    let body = json!({ "exchange_rate": pair("GBP", "EUR", "2") });
    assert_eq!(created(&server.admin(), body).await["rate"], "2.00000000");
}

async fn all_errors_of_an_exchange_rate_are_reported_at_once(server: Server) {
    let body = json!({
        "source_currency_code": "QQQ", "rate": "-1", "inverse_rate": "x", "effective_at": "then", "colour": "red",
        "source": "s".repeat(256),
    });
    let answer = server.admin().post("/exchange_rates", body).await;
    let expected =
        ["colour", "effective_at", "inverse_rate", "rate", "source", "source_currency_code", "target_currency_code"];
    assert_eq!(answer.invalid_fields(), expected);
}
