//! `GET /exchange_rates/convert`.

use serde_json::{Value, json};

use super::{created, pair, with};
use crate::support::{Answer, Client, Server, is_offset_time, keys, on_both};

on_both!(
    conversion_uses_the_direct_rate,
    conversion_without_a_direct_rate_uses_the_inverse_rate,
    conversion_without_a_rate_goes_through_the_base_currency,
    base_currency_of_conversions_is_a_setting,
    conversion_to_the_same_currency_keeps_the_amount,
    conversion_without_any_rate_is_refused,
    conversion_uses_the_rate_in_force_at_the_given_time,
    conversion_uses_the_latest_rate_in_force,
    conversion_rounds_half_even_to_the_places_of_the_target_currency,
    conversion_with_two_rates_is_rounded_once,
    invalid_conversion_parameters_are_reported_by_name,
    largest_amount_converts_exactly_at_the_largest_rate,
);

async fn convert(client: &Client, from: &str, to: &str, amount: &str) -> Value {
    ask(client, from, to, amount).await.record("conversion")
}

async fn ask(client: &Client, from: &str, to: &str, amount: &str) -> Answer {
    client.list("/exchange_rates/convert", &[("from", from), ("to", to), ("amount", amount)]).await
}

async fn ask_at(client: &Client, at: &str) -> Answer {
    let parameters = [("from", "GBP"), ("to", "EUR"), ("amount", "100"), ("at", at)];
    client.list("/exchange_rates/convert", &parameters).await
}

async fn conversion_uses_the_direct_rate(server: Server) {
    let admin = server.admin();
    created(&admin, pair("GBP", "EUR", "1.17")).await;
    created(&admin, pair("EUR", "GBP", "0.5")).await;
    let conversion = convert(&admin, "GBP", "EUR", "100").await;
    assert_eq!(keys(&conversion), ["amount", "at", "from", "method", "path", "rate", "result", "to"]);
    assert_eq!([&conversion["from"], &conversion["to"]], ["GBP", "EUR"]);
    assert_eq!([&conversion["amount"], &conversion["rate"]], ["100.00000000", "1.17000000"]);
    assert_eq!([&conversion["result"], &conversion["method"]], ["117.00", "direct"]);
    assert_eq!(conversion["path"], json!(["GBP", "EUR"]));
    assert!(is_offset_time(&conversion["at"]), "{conversion}");
    // Of a parameter that is sent twice the last counts.
    let twice = [("from", "JPY"), ("from", "GBP"), ("to", "EUR"), ("amount", "100")];
    let answer = admin.list("/exchange_rates/convert", &twice).await;
    assert_eq!(answer.record("conversion")["from"], "GBP");
}

async fn conversion_without_a_direct_rate_uses_the_inverse_rate(server: Server) {
    let admin = server.admin();
    created(&admin, with(pair("EUR", "GBP", "0.8"), json!({ "inverse_rate": "1.26" }))).await;
    let conversion = convert(&admin, "GBP", "EUR", "10").await;
    assert_eq!([&conversion["rate"], &conversion["result"], &conversion["method"]], ["1.26000000", "12.60", "inverse"]);
    assert_eq!(conversion["path"], json!(["GBP", "EUR"]));
}

async fn conversion_without_a_rate_goes_through_the_base_currency(server: Server) {
    let admin = server.admin();
    // From euros to pounds by an inverse, from pounds to yen directly.
    created(&admin, pair("GBP", "EUR", "1.25")).await;
    created(&admin, pair("GBP", "JPY", "200")).await;
    let conversion = convert(&admin, "EUR", "JPY", "3").await;
    assert_eq!([&conversion["rate"], &conversion["result"]], ["160.00000000", "480"]);
    assert_eq!(conversion["method"], "triangulated");
    assert_eq!(conversion["path"], json!(["EUR", "GBP", "JPY"]));
    created(&admin, pair("EUR", "JPY", "161")).await;
    assert_eq!(convert(&admin, "EUR", "JPY", "3").await["method"], "direct", "a direct rate goes first");
}

async fn base_currency_of_conversions_is_a_setting(server: Server) {
    let admin = server.admin();
    created(&admin, pair("CHF", "EUR", "1")).await;
    created(&admin, pair("CHF", "JPY", "180")).await;
    ask(&admin, "EUR", "JPY", "1").await.invalid("to");
    admin.put("/settings", json!({ "base_currency": "CHF" })).await.ok();
    assert_eq!(convert(&admin, "EUR", "JPY", "1").await["path"], json!(["EUR", "CHF", "JPY"]));
}

async fn conversion_to_the_same_currency_keeps_the_amount(server: Server) {
    let conversion = convert(&server.admin(), "EUR", "EUR", "12.345").await;
    assert_eq!([&conversion["rate"], &conversion["method"]], ["1.00000000", "direct"]);
    assert_eq!(conversion["path"], json!(["EUR"]));
    assert_eq!(conversion["result"], "12.34");
}

async fn conversion_without_any_rate_is_refused(server: Server) {
    let admin = server.admin();
    ask(&admin, "GBP", "EUR", "1").await.invalid("to");
    created(&admin, pair("GBP", "JPY", "200")).await;
    ask(&admin, "EUR", "JPY", "1").await.invalid("to");
}

async fn conversion_uses_the_rate_in_force_at_the_given_time(server: Server) {
    let admin = server.admin();
    let force = json!({ "effective_at": "2026-01-01T00:00:00Z", "expires_at": "2026-02-01T00:00:00Z" });
    created(&admin, with(pair("GBP", "EUR", "1.1"), force)).await;
    let force = json!({ "effective_at": "2026-03-01T00:00:00Z" });
    created(&admin, with(pair("GBP", "EUR", "1.2"), force)).await;
    for (at, result) in [
        ("2026-01-01T00:00:00Z", "110.00"),
        ("2026-01-31T23:59:59.999Z", "110.00"),
        ("2026-02-28T23:00:00-01:00", "120.00"),
    ] {
        let conversion = ask_at(&admin, at).await.record("conversion");
        assert_eq!(conversion["result"], result, "{at}");
    }
    for at in ["2025-12-31T23:59:59.999Z", "2026-02-01T00:00:00Z", "2026-02-28T23:59:59.999Z"] {
        ask_at(&admin, at).await.invalid("to");
    }
    assert_eq!(
        ask_at(&admin, "2026-03-01T01:00:00+01:00").await.record("conversion")["at"],
        "2026-03-01T00:00:00+00:00"
    );
}

async fn conversion_uses_the_latest_rate_in_force(server: Server) {
    let admin = server.admin();
    for (rate, from) in [("1.1", "2026-01-01"), ("1.3", "2026-03-01"), ("1.2", "2026-02-01")] {
        let force = json!({ "effective_at": format!("{from}T00:00:00Z") });
        created(&admin, with(pair("GBP", "EUR", rate), force)).await;
    }
    assert_eq!(ask_at(&admin, "2026-02-15T00:00:00Z").await.record("conversion")["rate"], "1.20000000");
    assert_eq!(ask_at(&admin, "2026-04-01T00:00:00Z").await.record("conversion")["rate"], "1.30000000");
}

async fn conversion_rounds_half_even_to_the_places_of_the_target_currency(server: Server) {
    let admin = server.admin();
    created(&admin, pair("GBP", "EUR", "0.5")).await;
    created(&admin, pair("GBP", "JPY", "0.5")).await;
    created(&admin, pair("GBP", "KWD", "0.5")).await;
    for (to, amount, result) in [
        ("EUR", "0.01", "0.00"),
        ("EUR", "0.03", "0.02"),
        ("EUR", "0.05", "0.02"),
        ("EUR", "0.0300001", "0.02"),
        ("EUR", "0.0100001", "0.01"),
        ("EUR", "-0.03", "-0.02"),
        ("JPY", "3", "2"),
        ("JPY", "5", "2"),
        ("JPY", "7", "4"),
        ("KWD", "1", "0.500"),
    ] {
        assert_eq!(convert(&admin, "GBP", to, amount).await["result"], result, "{amount} to {to}");
    }
}

async fn conversion_with_two_rates_is_rounded_once(server: Server) {
    let admin = server.admin();
    created(&admin, pair("EUR", "GBP", "0.00000003")).await;
    created(&admin, pair("GBP", "JPY", "0.5")).await;
    let conversion = convert(&admin, "EUR", "JPY", "1000000000").await;
    // The product is 0.000000015, of which the answer shows eight places.
    assert_eq!([&conversion["rate"], &conversion["result"]], ["0.00000002", "15"]);
}

async fn invalid_conversion_parameters_are_reported_by_name(server: Server) {
    let admin = server.admin();
    let answer = admin.get("/exchange_rates/convert").await;
    assert_eq!(answer.invalid_fields(), ["amount", "from", "to"]);
    for (name, value) in
        [("from", "QQQ"), ("to", "QQQ"), ("amount", "x"), ("amount", ""), ("amount", "0.123456789"), ("at", "then")]
    {
        let mut parameters = vec![("from", "GBP"), ("to", "GBP"), ("amount", "1")];
        parameters.retain(|(known, _)| *known != name);
        parameters.push((name, value));
        let answer = admin.list("/exchange_rates/convert", &parameters).await;
        assert_eq!(answer.invalid_fields(), [name], "{name}={value}");
    }
    admin.get("/exchange_rates/convert?from=%").await.refused(400, "malformed_request");
    let posted = admin.post("/exchange_rates/convert", json!({})).await;
    posted.refused(405, "method_not_allowed");
    assert_eq!(posted.header("allow"), Some("GET, HEAD"));
}

async fn largest_amount_converts_exactly_at_the_largest_rate(server: Server) {
    let admin = server.admin();
    let rate = with(pair("GBP", "EUR", "9999999999.99999999"), json!({ "inverse_rate": "1" }));
    created(&admin, rate).await;
    let conversion = convert(&admin, "GBP", "EUR", "9999999999.99999999").await;
    assert_eq!(conversion["result"], "99999999999999999800.00");
}
