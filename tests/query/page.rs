//! Pages: default and maximum size, pages past the end, and invalid page numbers.

use serde_json::{Value, json};

use super::{ids, total};
use crate::support::{Client, Server, Specimens, on_both};

on_both!(
    page_size_defaults_to_20,
    per_page_above_100_becomes_100_in_meta,
    page_past_the_end_is_empty_and_has_the_total,
    page_below_one_or_not_a_number_is_rejected,
    consecutive_pages_cover_the_list,
    deep_page_follows_the_order,
    total_counts_the_filtered_records,
    invalid_page_and_per_page_are_reported_together,
);

async fn meta(client: &Client, path: &str) -> Value {
    client.get(path).await.ok()["meta"].clone()
}

async fn page_size_defaults_to_20(server: Server) {
    let body = server.admin().get("/currencies").await.ok();
    assert_eq!(body["currencies"].as_array().map(Vec::len), Some(20));
    assert_eq!(body["meta"], json!({ "total": 178, "per_page": 20, "page": 1 }));
}

async fn per_page_above_100_becomes_100_in_meta(server: Server) {
    let admin = server.admin();
    for (per_page, expected) in
        [("1", 1), ("99", 99), ("100", 100), ("101", 100), ("9223372036854775808", 100), (" 7 ", 7)]
    {
        let answer = admin.list("/currencies", &[("per_page", per_page)]).await;
        assert_eq!(answer.ok()["meta"]["per_page"], json!(expected), "{per_page}");
        assert_eq!(answer.records("currencies").len(), expected, "{per_page}");
    }
}

async fn page_past_the_end_is_empty_and_has_the_total(server: Server) {
    let admin = server.admin();
    assert_eq!(admin.get("/currencies?page=9").await.records("currencies").len(), 18);
    for page in [
        "10",
        "11",
        "1000000",
        "92233720368547758",
        "9223372036854775807",
        "9223372036854775808",
        "1000000000000000000000",
    ] {
        let body = admin.get(&format!("/currencies?page={page}")).await.ok();
        assert_eq!(body["currencies"], json!([]), "{page}");
        assert_eq!(body["meta"]["total"], json!(178), "{page}");
        assert!(body["meta"]["page"].is_i64(), "{page}");
    }
    assert_eq!(
        meta(&admin, "/currencies?page=10&per_page=100").await,
        json!({ "total": 178, "per_page": 100, "page": 10 })
    );
    assert_eq!(meta(&admin, "/products?page=2").await, json!({ "total": 0, "per_page": 20, "page": 2 }));
}

async fn page_below_one_or_not_a_number_is_rejected(server: Server) {
    let admin = server.admin();
    for bad in ["0", "-1", "", "x", "1.5", "1e2", "+1", "0x1", "00", "１", "1,2"] {
        for parameter in ["page", "per_page"] {
            let answer = admin.list("/currencies", &[(parameter, bad)]).await;
            assert_eq!(answer.invalid_fields(), [parameter], "{parameter}={bad}");
        }
    }
}

async fn consecutive_pages_cover_the_list(specimens: Specimens) {
    let client = specimens.admin();
    let mut all = Vec::new();
    for (page, expected) in [("1", 4), ("2", 4), ("3", 2), ("4", 0)] {
        let found = ids(&client, &[("per_page", "4"), ("page", page), ("sort", "-name")]).await;
        assert_eq!(found.len(), expected);
        all.extend(found);
    }
    assert_eq!(all, ids(&client, &[("sort", "-name")]).await);
}

async fn deep_page_follows_the_order(specimens: Specimens) {
    let client = specimens.admin();
    total::insert(&specimens, 1_001, 2_900).await;
    let varied =
        "name = 'S' || (id % 7), qty = NULLIF(id % 5, 0), group_id = NULLIF(id % 4, 0), parent_id = 3 + id % 4";
    specimens.sql(&format!("UPDATE specimens SET {varied} WHERE id > 1000 AND id % 11 <> 0")).await;
    specimens.sql("UPDATE specimens SET custom_fields = '{\"rig\": 5}' WHERE id > 1000 AND id % 3 <> 0").await;
    let everything = [("q[id_gt]", "0")];
    let filters = [&[][..], &everything, &[("q[group.name_not_null]", "1")], &[("q[cf.rig_not_null]", "1")]];
    for filter in filters {
        for sort in ["id", "-id", "name", "-name", "qty", "-qty", "parent_name", "-cf.rig", "created_at"] {
            let parameters = [filter, &[("sort", sort)]].concat();
            let lines = client.with("accept", "application/x-ndjson").list("/specimens", &parameters).await;
            let id = |line: &str| serde_json::from_str::<Value>(line).ok()?["id"].as_i64();
            let all: Vec<i64> = lines.status(200).text.lines().map(|line| id(line).expect("an id")).collect();
            assert!(all.len() > 600, "{parameters:?}: {}", all.len());
            for first in [480, 500, all.len() / 20 * 20] {
                let page = (first / 20 + 1).to_string();
                let found = ids(&client, &[&parameters[..], &[("page", &page)]].concat()).await;
                let expected: Vec<i64> = all.iter().copied().skip(first).take(20).collect();
                assert_eq!(found, expected, "{parameters:?} page {page}");
            }
        }
    }
}

async fn total_counts_the_filtered_records(specimens: Specimens) {
    let client = specimens.admin();
    for (query, total, page) in [
        ("q[active_true]=1", 5, 1),
        ("q[active_true]=1&per_page=2", 5, 1),
        ("q[active_true]=1&per_page=2&page=3", 5, 3),
        ("q[active_true]=1&per_page=5", 5, 1),
        ("q[active_true]=1&per_page=2&page=9", 5, 9),
        ("q[group.name_eq]=Audio&per_page=1", 3, 1),
        ("q[cf.rig_gt]=9&per_page=1&sort=group_id", 3, 1),
        ("q[name_eq]=nothing", 0, 1),
    ] {
        let meta = meta(&client, &format!("/specimens?{query}")).await;
        assert_eq!([&meta["total"], &meta["page"]], [&json!(total), &json!(page)], "{query}");
    }
}

async fn invalid_page_and_per_page_are_reported_together(server: Server) {
    let answer = server.admin().get("/currencies?page=0&per_page=x&include=nope&q[nope_eq]=1").await;
    assert_eq!(answer.invalid_fields(), ["include", "page", "per_page", "q[nope_eq]"]);
}
