//! `?explain=1`: how a list is read, without values of the request or the database.

use charter_runtime::db::Dialect;
use serde_json::{Value, json};

use crate::support::{Specimens, on_both};

on_both!(
    explain_shows_conditions_statements_and_indexes,
    explain_contains_no_values,
    unfiltered_list_takes_one_statement,
    explain_needs_its_own_ability,
    explain_accepts_only_1,
);

const KIND: &str = "application/vnd.charter.plan+json";

async fn explain_shows_conditions_statements_and_indexes(specimens: Specimens) {
    let path = "/specimens?explain=1&q[name_or_sku_cont]=lmp&q[qty_not_null]=1&q[productGroup.name_eq]=x&sort=-name&per_page=1";
    let answer = specimens.admin().get(path).await;
    assert_eq!(answer.header("content-type"), Some(KIND));
    let plan = answer.ok()["plan"].clone();
    let conditions = plan["conditions"].as_str().expect("a text");
    for part in ["(name contains ? or sku contains ?)", "qty is not null", "group_id.name = ?"] {
        assert!(conditions.contains(part), "{conditions}");
    }
    assert_eq!(plan["order"], json!(["-name", "id"]));
    let statements = plan["statements"].as_array().expect("a list");
    assert_eq!(statements.iter().map(|s| &s["reads"]).collect::<Vec<_>>(), ["rows", "total"]);
    for statement in statements {
        assert!(statement["sql"].as_str().is_some_and(|sql| sql.contains("FROM \"specimens\"")), "{statement}");
        let steps = statement["steps"].as_array().expect("a list");
        assert!(!steps.is_empty() && steps[0]["depth"] == 0, "{statement}");
        assert_eq!(statement["cost"].is_number(), specimens.state.db.dialect() == Dialect::Postgres);
    }
    let by_id = specimens.admin().get("/specimens?explain=1&q[id_eq]=7").await.ok();
    let indexes = &by_id["plan"]["statements"][0];
    if specimens.state.db.dialect() == Dialect::Sqlite {
        assert!(indexes["steps"].to_string().contains("INTEGER PRIMARY KEY"), "{indexes}");
    }
}

async fn explain_contains_no_values(specimens: Specimens) {
    let admin = specimens.admin();
    let query =
        "q[name_cont]=s3cret&q[sku_eq]=S3CRET&q[qty_in]=918273,918274&q[bought_on_gt]=1987-06-05&q[rate_lt]=5.4321";
    let text = admin.get(&format!("/specimens?explain=1&{query}")).await.status(200).text.to_lowercase();
    for value in ["s3cret", "918273", "1987", "4321"] {
        assert!(!text.contains(value), "{value}: {text}");
    }
}

async fn unfiltered_list_takes_one_statement(specimens: Specimens) {
    let admin = specimens.admin();
    for (query, expected) in [("", 1), ("&page=300", 1), ("&count=none&q[id_gt]=1", 1), ("&q[id_gt]=1", 2)] {
        let plan = admin.get(&format!("/specimens?explain=1{query}")).await.ok()["plan"].clone();
        assert_eq!(plan["statements"].as_array().map(Vec::len), Some(expected), "{query}: {plan}");
    }
}

async fn explain_needs_its_own_ability(specimens: Specimens) {
    let reader = specimens.able(&["specimens:read"]).await;
    let refused = reader.get("/specimens?explain=1").await;
    refused.refused(403, "ability_missing");
    assert!(refused.header("www-authenticate").is_some_and(|header| header.contains("system:explain")));
    let explaining = specimens.able(&["specimens:read", "system:explain"]).await;
    assert_ne!(explaining.get("/specimens?explain=1").await.ok()["plan"], Value::Null);
    specimens.able(&["system:explain"]).await.get("/specimens?explain=1").await.refused(403, "ability_missing");
}

async fn explain_accepts_only_1(specimens: Specimens) {
    for bad in ["", "0", "true", "11"] {
        let answer = specimens.admin().list("/specimens", &[("explain", bad)]).await;
        assert_eq!(answer.invalid_fields(), ["explain"], "{bad}");
    }
}
