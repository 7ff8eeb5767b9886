//! `GET /currencies`.

use serde_json::{Value, json};

use super::COUNT;
use crate::support::{Client, Server, keys, on_both};

on_both!(
    currency_list_has_a_plural_key_and_meta,
    currencies_contain_all_of_iso_4217,
    currencies_are_ordered_by_id_without_sort,
    currencies_are_filtered_by_code,
    currencies_are_filtered_by_a_part_of_the_name_case_insensitively,
    currencies_are_filtered_by_enabled,
    currencies_are_sorted_by_code_and_by_name_in_both_directions,
    currencies_cannot_be_written,
);

/// All currencies, page by page.
async fn all(client: &Client, sort: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for page in ["1", "2"] {
        let parameters = [("sort", sort), ("per_page", "100"), ("page", page)];
        all.extend(client.list("/currencies", &parameters).await.records("currencies"));
    }
    all
}

async fn currency_list_has_a_plural_key_and_meta(server: Server) {
    let body = server.admin().get("/currencies").await.ok();
    assert_eq!(keys(&body), ["currencies", "meta"]);
    assert_eq!(body["meta"], json!({ "total": COUNT, "per_page": 20, "page": 1 }));
    assert_eq!(body["currencies"].as_array().map(Vec::len), Some(20));
}

async fn currencies_contain_all_of_iso_4217(server: Server) {
    let all = all(&server.admin(), "").await;
    assert_eq!(all.len(), COUNT);
    for currency in &all {
        let text = |field: &str| currency[field].as_str().unwrap_or_else(|| panic!("{field}: {currency}"));
        assert!(text("code").len() == 3 && text("code").bytes().all(|b| b.is_ascii_uppercase()), "{currency}");
        assert!(["before", "after"].contains(&text("symbol_position")), "{currency}");
        assert_eq!(text("thousand_separator").chars().count(), 1, "{currency}");
        assert_eq!(text("decimal_separator").chars().count(), 1, "{currency}");
        assert_ne!(text("thousand_separator"), text("decimal_separator"), "{currency}");
        assert!(currency["decimal_places"].as_i64().is_some_and(|places| (0..=4).contains(&places)), "{currency}");
    }
    let places = |code: &str| all.iter().find(|c| c["code"] == code).map(|c| c["decimal_places"].clone());
    assert_eq!(["GBP", "JPY", "KWD", "CLF"].map(places), [2, 0, 3, 4].map(|places| Some(json!(places))));
}

async fn currencies_are_ordered_by_id_without_sort(server: Server) {
    let ids: Vec<i64> = all(&server.admin(), "").await.iter().filter_map(|c| c["id"].as_i64()).collect();
    assert_eq!(ids.len(), COUNT);
    assert!(ids.is_sorted(), "{ids:?}");
}

async fn currencies_are_filtered_by_code(server: Server) {
    let answer = server.admin().list("/currencies", &[("q[code_eq]", "EUR")]).await;
    assert_eq!(answer.column("currencies", "code"), ["EUR"]);
    let answer = server.admin().list("/currencies", &[("q[code_eq]", "eur")]).await;
    assert!(answer.records("currencies").is_empty(), "eq is exact");
}

async fn currencies_are_filtered_by_a_part_of_the_name_case_insensitively(server: Server) {
    let answer = server.admin().list("/currencies", &[("q[name_cont]", "DOLLAR"), ("per_page", "100")]).await;
    let names = answer.column("currencies", "name");
    assert!(names.len() > 10, "{names:?}");
    assert!(names.iter().all(|name| name.as_str().is_some_and(|name| name.to_lowercase().contains("dollar"))));
    let everything = all(&server.admin(), "").await;
    let expected = everything.iter().filter(|c| c["name"].as_str().is_some_and(|n| n.contains("ollar"))).count();
    assert_eq!(names.len(), expected);
}

async fn currencies_are_filtered_by_enabled(server: Server) {
    server.sql("UPDATE currencies SET is_enabled = FALSE WHERE code = 'CHF'").await;
    let admin = server.admin();
    let disabled = admin.list("/currencies", &[("q[is_enabled_eq]", "false")]).await;
    assert!(disabled.column("currencies", "code").contains(&json!("CHF")));
    assert!(disabled.column("currencies", "is_enabled").iter().all(|enabled| *enabled == json!(false)));
    let enabled = admin.list("/currencies", &[("q[is_enabled_eq]", "true")]).await.ok();
    let total = |body: &Value| body["meta"]["total"].as_u64().expect("a total");
    assert_eq!(total(&enabled) + total(&disabled.ok()), COUNT as u64);
}

async fn currencies_are_sorted_by_code_and_by_name_in_both_directions(server: Server) {
    let admin = server.admin();
    for field in ["code", "name"] {
        let texts =
            |all: Vec<Value>| all.iter().map(|c| c[field].as_str().expect("a text").to_string()).collect::<Vec<_>>();
        let up = texts(all(&admin, field).await);
        let mut expected = up.clone();
        expected.sort_by_key(|text| (text.to_lowercase(), text.clone()));
        assert_eq!(up, expected, "{field}");
        let mut down = texts(all(&admin, &format!("-{field}")).await);
        down.reverse();
        // Two currencies share a name; their ids keep their order either way.
        assert_eq!(down, up, "-{field}");
    }
}

async fn currencies_cannot_be_written(server: Server) {
    let admin = server.admin();
    let body = || json!({ "code": "ABC", "name": "A", "symbol": "A" });
    for answer in [
        admin.post("/currencies", body()).await,
        admin.put("/currencies/1", body()).await,
        admin.patch("/currencies/1", body()).await,
        admin.delete("/currencies/1").await,
    ] {
        answer.refused(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some("GET, HEAD"));
    }
}
