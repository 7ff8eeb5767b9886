//! Text in filters: exact or case-insensitive in every script, and never a pattern.

use serde_json::{Value, json};

use super::{expect, ids};
use crate::support::{Client, Specimens, on_both};

on_both!(
    eq_compares_text_exactly,
    substring_search_is_case_insensitive_in_every_script,
    like_wildcards_are_literal_characters,
    filter_text_is_not_trimmed,
    text_is_compared_by_code_point,
    sql_in_filter_text_is_plain_text,
    search_text_longer_than_any_value_finds_nothing,
);

/// Adds specimens with these names and returns the id of the first.
async fn add(client: &Client, names: &[&str]) -> i64 {
    let mut first = None;
    for name in names {
        let created = client.post("/specimens", json!({ "name": name })).await.created("specimen");
        first = first.or(created["id"].as_i64());
    }
    first.expect("names")
}

async fn eq_compares_text_exactly(specimens: Specimens) {
    let cases: [(&str, &str, &[i64]); 6] = [
        ("q[name_eq]", "Lamp", &[1]),
        ("q[name_eq]", "LAMP", &[]),
        ("q[name_eq]", "Lamp ", &[]),
        ("q[name_eq]", "Äpfel", &[9]),
        ("q[name_eq]", "äpfel", &[]),
        ("q[name_in]", "Äpfel,ÄPFEL", &[9]),
    ];
    expect(&specimens.admin(), &cases).await;
}

async fn substring_search_is_case_insensitive_in_every_script(specimens: Specimens) {
    let client = specimens.admin();
    let names = ["ΟΔΟΣ ΑΘΗΝΑΣ", "οδος", "Жук", "ÇA VA", "STRASSE", "Straße", "ÅNGSTRÖM", "İstanbul", "Ǆ"];
    let first = add(&client, &names).await;
    assert_eq!(first, 11);
    let cases: [(&str, &str, &[i64]); 18] = [
        ("q[name_cont]", "ÄPF", &[9]),
        ("q[name_start]", "äp", &[9]),
        ("q[name_end]", "PFEL", &[9]),
        ("q[name_cont]", "οδος", &[11, 12]),
        ("q[name_cont]", "ΟΔΟΣ", &[11, 12]),
        ("q[name_start]", "οδοσ", &[11, 12]),
        ("q[name_end]", "ΟΔΟΣ", &[12]),
        ("q[name_end]", "αθηνας", &[11]),
        ("q[name_cont]", "жУК", &[13]),
        ("q[name_cont]", "ça", &[14]),
        ("q[name_cont]", "strasse", &[15]),
        ("q[name_cont]", "STRAßE", &[16]),
        ("q[name_end]", "öm", &[17]),
        ("q[name_start]", "ån", &[17]),
        ("q[name_end]", "STANBUL", &[18]),
        ("q[name_start]", "İ", &[18]),
        ("q[name_cont]", "ǆ", &[19]),
        ("q[name_not_cont]", "Α", &[1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19]),
    ];
    expect(&client, &cases).await;
}

async fn like_wildcards_are_literal_characters(specimens: Specimens) {
    let cases: [(&str, &str, &[i64]); 11] = [
        ("q[name_cont]", "_", &[3]),
        ("q[name_cont]", "%", &[5]),
        ("q[name_cont]", "\\", &[6]),
        ("q[name_cont]", "a_c", &[3]),
        ("q[name_cont]", "a%c", &[]),
        ("q[sku_start]", "x%", &[5]),
        ("q[sku_start]", "SKU.", &[7]),
        ("q[sku_end]", "X_7", &[]),
        ("q[name_cont]", "*", &[]),
        ("q[name_not_cont]", "%", &[1, 2, 3, 4, 6, 7, 9, 10]),
        ("q[name_end]", "k\\slash", &[6]),
    ];
    expect(&specimens.admin(), &cases).await;
}

async fn filter_text_is_not_trimmed(specimens: Specimens) {
    let client = specimens.admin();
    add(&client, &[" padded ", "two  spaces", "line\nbreak", "tab\there"]).await;
    let cases: [(&str, &str, &[i64]); 7] = [
        ("q[name_eq]", " padded ", &[11]),
        ("q[name_eq]", "padded", &[]),
        ("q[name_start]", " ", &[11]),
        ("q[name_cont]", "  ", &[12]),
        ("q[name_cont]", "\n", &[13]),
        ("q[name_eq]", "tab\there", &[14]),
        ("q[name_in][]", " padded ", &[11]),
    ];
    expect(&client, &cases).await;
}

async fn text_is_compared_by_code_point(specimens: Specimens) {
    let cases: [(&str, &str, &[i64]); 5] = [
        ("q[name_lt]", "a", &[1, 5, 7]),
        ("q[name_gt]", "b", &[2, 6, 9]),
        ("q[name_gteq]", "abc", &[2, 4, 6, 9]),
        ("q[name_lteq]", "Lamp", &[1, 5, 7]),
        ("q[sku_gt]", "b", &[6, 8]),
    ];
    expect(&specimens.admin(), &cases).await;
}

async fn sql_in_filter_text_is_plain_text(specimens: Specimens) {
    let client = specimens.admin();
    for text in
        ["' OR 1=1 --", "'; DROP TABLE specimens; --", "\" OR \"\"=\"", "$1", "?", "{}", "%' OR '1'='1", "\\' OR 1=1"]
    {
        for predicate in ["eq", "cont", "start", "end", "in"] {
            let parameter = format!("q[name_{predicate}]");
            assert_eq!(ids(&client, &[(&parameter, text)]).await, [0; 0], "{parameter}={text}");
        }
        let created = client.post("/specimens", json!({ "name": text })).await.created("specimen");
        assert_eq!(created["name"], Value::from(text));
        assert_eq!(ids(&client, &[("q[name_eq]", text)]).await, [created["id"].as_i64().expect("an id")]);
        client.delete(&format!("/specimens/{}", created["id"])).await.deleted();
    }
    assert_eq!(ids(&client, &[]).await.len(), 10);
}

async fn search_text_longer_than_any_value_finds_nothing(specimens: Specimens) {
    let long = "x".repeat(2000);
    let cases: [(&str, &str, &[i64]); 4] = [
        ("q[name_cont]", &long, &[]),
        ("q[name_start]", &long, &[]),
        ("q[name_end]", &long, &[]),
        ("q[sku_end]", "1234567", &[]),
    ];
    expect(&specimens.admin(), &cases).await;
}
