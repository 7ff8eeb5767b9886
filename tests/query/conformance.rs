//! Conformance table: queries with the ids that they find, equal on both databases.

use serde_json::{Value, json};

use crate::support::{Client, Specimens, on_both};

/// Lines of `<query>\t<ids>`. Ids are comma-separated; 422 stands for a rejected query.
const TABLE: &str = include_str!("../fixtures/query.tsv");

on_both!(every_conformance_query_finds_its_ids);

async fn every_conformance_query_finds_its_ids(specimens: Specimens) {
    let client = specimens.admin();
    let (mut rows, mut wrong) = (0, Vec::new());
    for line in TABLE.lines().filter(|line| !line.starts_with('#') && *line != "query\tids") {
        let (query, expected) = line.split_once('\t').expect("a row has two columns");
        for query in spellings(query) {
            rows += 1;
            let found = found(&client, &query).await;
            if found != expected {
                wrong.push(format!("{query} finds {found:?}, and not {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {rows} rows:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(rows, 36, "the table was read to its end");
}

/// A row can list further spellings of its value: `q[active_eq]=TRUE (and t, 1, true)`.
fn spellings(query: &str) -> Vec<String> {
    let Some((first, others)) = query.split_once(" (and ") else { return vec![query.to_string()] };
    let (name, _) = first.split_once('=').expect("a parameter");
    let others = others.trim_end_matches(')').split(", ").map(|other| format!("{name}={other}"));
    [first.to_string()].into_iter().chain(others).collect()
}

/// The ids that a query finds, or the status of its rejection.
async fn found(client: &Client, query: &str) -> String {
    let parameters: Vec<(String, String)> = match query.strip_prefix("view: ") {
        Some(view) => vec![("view_id".into(), save_view(client, view).await)],
        None => query.split('&').map(|pair| pair.split_once('=').expect("a parameter")).map(owned).collect(),
    };
    let parameters: Vec<(&str, &str)> =
        parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let answer = client.list("/specimens", &parameters).await;
    if answer.status != 200 {
        return answer.status.to_string();
    }
    let total = answer.ok()["meta"]["total"].clone();
    let ids: Vec<String> = answer.column("specimens", "id").iter().map(Value::to_string).collect();
    assert_eq!(total, ids.len(), "{query}");
    ids.join(",")
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_string(), value.to_string())
}

/// Saves the view of a row, `group_id eq 1, or group_id eq 2, and active true (...)`, and returns its id.
async fn save_view(client: &Client, described: &str) -> String {
    let filters: Vec<Value> = described.split(" (").next().expect("a description").split(", ").map(filter).collect();
    let view = json!({ "name": described, "entity_type": "specimens", "columns": ["name"], "filters": filters });
    client.post("/custom_views", view).await.created("custom_view")["id"].to_string()
}

/// `or group_id eq 2`
fn filter(described: &str) -> Value {
    let mut words: Vec<&str> = described.split(' ').collect();
    let logic = if ["and", "or", "nand", "nor"].contains(&words[0]) { words.remove(0) } else { "and" };
    match words.as_slice() {
        [field, predicate, value] => json!({ "field": field, "predicate": predicate, "value": value, "logic": logic }),
        [field, predicate] => json!({ "field": field, "predicate": predicate, "value": "1", "logic": logic }),
        _ => panic!("not a filter: {described}"),
    }
}
