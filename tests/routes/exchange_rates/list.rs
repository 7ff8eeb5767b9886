//! `GET /exchange_rates`.

use serde_json::json;

use super::{created, pair, with};
use crate::support::{Client, Server, keys, on_both};

on_both!(
    exchange_rate_list_has_a_plural_key_and_meta,
    exchange_rates_are_filtered_by_both_codes_and_by_source,
    exchange_rates_are_sorted_by_effective_time_and_by_both_codes,
    exchange_rates_are_compared_exactly,
    exchange_rate_times_are_compared_across_offsets,
);

type Parameters = &'static [(&'static str, &'static str)];

/// Three rates, of which the first takes effect last.
async fn three(client: &Client) {
    for (source, target, rate, from, day) in [
        ("GBP", "EUR", "1.17", "manual", "2026-03-03"),
        ("USD", "EUR", "1.17000001", "ecb", "2026-03-01"),
        ("GBP", "JPY", "190.5", "ecb", "2026-03-02"),
    ] {
        let further = json!({ "source": from, "effective_at": format!("{day}T12:00:00Z") });
        created(client, with(pair(source, target, rate), further)).await;
    }
}

async fn exchange_rate_list_has_a_plural_key_and_meta(server: Server) {
    let admin = server.admin();
    three(&admin).await;
    let body = admin.get("/exchange_rates").await.ok();
    assert_eq!(keys(&body), ["exchange_rates", "meta"]);
    assert_eq!(body["meta"], json!({ "total": 3, "per_page": 20, "page": 1 }));
    let id = &body["exchange_rates"][0]["id"];
    let shown = admin.get(&format!("/exchange_rates/{id}")).await.record("exchange_rate");
    assert_eq!(body["exchange_rates"][0], shown);
}

async fn exchange_rates_are_filtered_by_both_codes_and_by_source(server: Server) {
    let admin = server.admin();
    three(&admin).await;
    let cases: [(Parameters, &[i64]); 5] = [
        (&[("q[source_currency_code_eq]", "GBP")], &[1, 3]),
        (&[("q[target_currency_code_eq]", "EUR")], &[1, 2]),
        (&[("q[source_eq]", "ecb")], &[2, 3]),
        (&[("q[source_eq]", "ecb"), ("q[target_currency_code_eq]", "EUR")], &[2]),
        (&[("q[source_eq]", "ECB")], &[]),
    ];
    for (parameters, expected) in cases {
        assert_eq!(admin.list("/exchange_rates", parameters).await.column("exchange_rates", "id"), expected);
    }
}

async fn exchange_rates_are_sorted_by_effective_time_and_by_both_codes(server: Server) {
    let admin = server.admin();
    three(&admin).await;
    let cases: [(&str, [i64; 3]); 6] = [
        ("effective_at", [2, 3, 1]),
        ("-effective_at", [1, 3, 2]),
        ("source_currency_code", [1, 3, 2]),
        ("-source_currency_code", [2, 1, 3]),
        ("target_currency_code", [1, 2, 3]),
        ("-target_currency_code", [3, 1, 2]),
    ];
    for (sort, expected) in cases {
        let answer = admin.list("/exchange_rates", &[("sort", sort)]).await;
        assert_eq!(answer.column("exchange_rates", "id"), expected, "{sort}");
    }
}

async fn exchange_rates_are_compared_exactly(server: Server) {
    let admin = server.admin();
    three(&admin).await;
    let cases: [(&str, &str, &[i64]); 6] = [
        ("q[rate_eq]", "1.17", &[1]),
        ("q[rate_gt]", "1.17000000", &[2, 3]),
        ("q[rate_gteq]", "1.170000005", &[2, 3]),
        ("q[rate_lt]", "1.17000001", &[1]),
        ("q[rate_lteq]", "1.17000001", &[1, 2]),
        ("q[rate_in]", "190.5,1.170", &[1, 3]),
    ];
    for (name, value, expected) in cases {
        let answer = admin.list("/exchange_rates", &[(name, value)]).await;
        assert_eq!(answer.column("exchange_rates", "id"), expected, "{name}={value}");
    }
}

async fn exchange_rate_times_are_compared_across_offsets(server: Server) {
    let admin = server.admin();
    three(&admin).await;
    let cases: [(&str, &str, &[i64]); 4] = [
        ("q[effective_at_eq]", "2026-03-02T14:00:00+02:00", &[3]),
        ("q[effective_at_gt]", "2026-03-02T12:00:00Z", &[1]),
        ("q[effective_at_lteq]", "2026-03-02T13:00:00+01:00", &[2, 3]),
        ("q[expires_at_null]", "1", &[1, 2, 3]),
    ];
    for (name, value, expected) in cases {
        let answer = admin.list("/exchange_rates", &[(name, value)]).await;
        assert_eq!(answer.column("exchange_rates", "id"), expected, "{name}={value}");
    }
    // A `+` that a client did not escape arrives as a space and is taken for what it was meant to be.
    let answer = admin.get("/exchange_rates?q[effective_at_eq]=2026-03-02T14:00:00+02:00").await;
    assert_eq!(answer.column("exchange_rates", "id"), [3]);
}
