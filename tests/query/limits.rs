//! Limits of a query at their boundaries and in combination.

use charter_runtime::db::Dialect;
use serde_json::{Value, json};

use super::ids;
use crate::support::{Specimens, on_both};

on_both!(
    fifty_conditions_are_accepted_and_fifty_one_are_rejected,
    limits_are_checked_before_names_are_resolved,
    page_over_32_mib_is_rejected,
    value_list_has_at_most_1000_elements,
    value_has_at_most_2000_characters,
    request_has_at_most_32000_values,
    view_has_at_most_50_filters,
    each_field_of_a_filter_counts_as_a_condition,
    request_target_over_the_limit_is_rejected,
);

async fn fifty_conditions_are_accepted_and_fifty_one_are_rejected(specimens: Specimens) {
    let client = specimens.admin();
    let conditions = |count: usize| vec![("q[name_cont]", "a"); count];
    assert_eq!(ids(&client, &conditions(50)).await, [1, 2, 3, 4, 6, 10]);
    let problem = client.list("/specimens", &conditions(51)).await.invalid("q");
    assert!(problem.contains("at most 50"), "{problem}");
    // A repeated list parameter is one condition.
    let mut repeated = vec![("q[id_in][]", "1"); 60];
    repeated.push(("q[id_in][]", "2"));
    assert_eq!(ids(&client, &repeated).await, [1, 2]);
    // Fields joined in one parameter count as conditions.
    let wide = |count: usize| format!("q[{}_cont]", vec!["name"; count].join("_or_"));
    assert_eq!(ids(&client, &[(&wide(50), "lam")]).await, [1, 2]);
    client.list("/specimens", &[(&wide(51), "lam")]).await.invalid("q");
    assert_eq!(ids(&client, &[(&wide(25), "lam"), (&wide(25), "stand")]).await, [2]);
    client.list("/specimens", &[(&wide(26), "lam"), (&wide(25), "lam")]).await.invalid("q");
}

async fn limits_are_checked_before_names_are_resolved(specimens: Specimens) {
    let client = specimens.admin();
    // Up to 50 unknown fields are reported each. Above, only the number of conditions is.
    let unknown: Vec<String> = (0..51).map(|n| format!("q[no{n}_eq]")).collect();
    let parameters: Vec<(&str, &str)> = unknown.iter().map(|name| (name.as_str(), "x")).collect();
    assert_eq!(client.list("/specimens", &parameters[..50]).await.invalid_fields().len(), 50);
    assert_eq!(client.list("/specimens", &parameters).await.invalid_fields(), ["q"]);
    let names = |count: usize| (0..count).map(|n| format!("no{n}")).collect::<Vec<_>>().join(",");
    for parameter in ["include", "fields"] {
        let problem = |count: usize| {
            let client = client.clone();
            async move { client.list("/specimens", &[(parameter, &names(count))]).await.invalid(parameter) }
        };
        assert!(problem(1000).await.contains("unknown"));
        assert_eq!(problem(1001).await, "must have at most 1000 names");
    }
    assert_eq!(ids(&client, &[("q[s]", &names(50))]).await.len(), 10, "what cannot be sorted by is ignored");
    let problem = client.list("/specimens", &[("q[s]", &names(51))]).await.invalid("q[s]");
    assert_eq!(problem, "must have at most 50 keys");
}

async fn page_over_32_mib_is_rejected(specimens: Specimens) {
    let client = specimens.admin();
    // Each with a description of 8 MiB.
    let text = match specimens.state.db.dialect() {
        Dialect::Postgres => "repeat('x', 8388608)",
        Dialect::Sqlite => "replace(hex(zeroblob(4194304)), '0', 'x')",
    };
    for n in 1..=4 {
        client.post("/product_groups", json!({ "name": format!("Group {n}") })).await.created("product_group");
    }
    specimens.sql(&format!("UPDATE product_groups SET description = {text} WHERE id < 4")).await;
    assert_eq!(client.list("/product_groups", &[("per_page", "4")]).await.records("product_groups").len(), 4);
    specimens.sql(&format!("UPDATE product_groups SET description = {text}")).await;
    let problem = client.list("/product_groups", &[("per_page", "4")]).await.invalid("per_page");
    assert!(problem.contains("exceeds 32 MiB"), "{problem}");
    client.list("/product_groups", &[("per_page", "3")]).await.ok();
    client.list("/product_groups", &[("fields", "name")]).await.ok();
}

async fn value_list_has_at_most_1000_elements(specimens: Specimens) {
    let client = specimens.admin();
    let thousand: Vec<String> = (1..=1000).map(|n| n.to_string()).collect();
    assert_eq!(ids(&client, &[("q[id_in]", &thousand.join(","))]).await.len(), 10);
    let problem = client.list("/specimens", &[("q[id_in]", &format!("{},1", thousand.join(",")))]).await;
    assert!(problem.invalid("q[id_in]").contains("at most 1000 elements"));
    let mut repeated: Vec<(&str, &str)> = thousand.iter().map(|n| ("q[id_in][]", n.as_str())).collect();
    assert_eq!(ids(&client, &repeated).await.len(), 10);
    repeated.push(("q[id_in][]", "1"));
    client.list("/specimens", &repeated).await.invalid("q[id_in]");
}

async fn value_has_at_most_2000_characters(specimens: Specimens) {
    let client = specimens.admin();
    // Characters, not bytes.
    let longest = "𝄞".repeat(2000);
    let longer = format!("{longest}x");
    for parameter in
        ["q[name_eq]", "q[name_cont]", "q[name_not_cont]", "q[name_start]", "q[name_in][]", "q[cf.power_eq]"]
    {
        client.list("/specimens", &[(parameter, &longest)]).await.ok();
        let under = parameter.trim_end_matches("[]");
        let problem = client.list("/specimens", &[(parameter, &longer)]).await.invalid(under);
        assert!(problem.contains("at most 2000 characters"), "{parameter}: {problem}");
    }
    let digits = "1".repeat(2001);
    client.list("/specimens", &[("q[qty_eq]", &digits)]).await.invalid("q[qty_eq]");
    assert_eq!(ids(&client, &[("q[qty_gt]", &digits[1..])]).await, [0; 0]);
}

async fn request_has_at_most_32000_values(specimens: Specimens) {
    let client = specimens.admin();
    // The values of a saved view are added to those of the request.
    let elements: Vec<String> = (1..=1000).map(|n| n.to_string()).collect();
    let among = json!({ "field": "id", "predicate": "in", "value": elements });
    let view = |filters: Vec<Value>| json!({ "name": "v", "entity_type": "specimens", "columns": ["name"], "filters": filters });
    let answer = client.post("/custom_views", view(vec![among.clone(); 32])).await;
    let full = answer.created("custom_view")["id"].to_string();
    assert_eq!(ids(&client, &[("view_id", &full)]).await.len(), 10);
    // Conditions without a value count nothing.
    assert_eq!(
        ids(&client, &[("view_id", &full), ("q[name_null]", "false"), ("q[name_blank]", "false")]).await.len(),
        8
    );
    let problem = client.list("/specimens", &[("view_id", &full), ("q[id_eq]", "1")]).await.invalid("view_id");
    assert_eq!(problem, "must have at most 32000 values in all");
    // A further value could never be applied.
    let one = json!({ "field": "id", "predicate": "eq", "value": 1 });
    let more: Vec<Value> = vec![among.clone(); 32].into_iter().chain([one]).collect();
    assert_eq!(client.post("/custom_views", view(more)).await.invalid("filters"), problem);
}

async fn view_has_at_most_50_filters(specimens: Specimens) {
    let client = specimens.admin();
    let view = |count: usize| {
        let filter = json!({ "field": "id", "predicate": "eq", "value": "1", "logic": "or" });
        json!({ "name": "v", "entity_type": "specimens", "columns": ["name"], "filters": vec![filter; count] })
    };
    let id = client.post("/custom_views", view(50)).await.created("custom_view")["id"].to_string();
    assert_eq!(ids(&client, &[("view_id", &id)]).await, [1]);
    // Combined from the left, thousands of filters would become a tree of the same depth.
    for count in [51, 10_000] {
        assert!(client.post("/custom_views", view(count)).await.invalid("filters").contains("at most 50"));
    }
}

async fn each_field_of_a_filter_counts_as_a_condition(specimens: Specimens) {
    let client = specimens.admin();
    let filters = |counts: &[usize]| -> Value {
        let one =
            |count: &usize| json!({ "field": vec!["name"; *count].join("_or_"), "predicate": "cont", "value": "lam" });
        counts.iter().map(one).collect()
    };
    let view = |counts: &[usize]| json!({ "name": "v", "entity_type": "specimens", "columns": ["name"], "filters": filters(counts) });
    for fits in [&[50][..], &[25, 25]] {
        assert_eq!(ids(&client, &[("filters", &filters(fits).to_string())]).await, [1, 2]);
        let id = client.post("/custom_views", view(fits)).await.created("custom_view")["id"].to_string();
        // A view, `filters` and `q` have fifty conditions each.
        let all = [("view_id", id.as_str()), ("filters", &filters(fits).to_string()), ("q[name_cont]", "lam")];
        assert_eq!(ids(&client, &all).await, [1, 2]);
    }
    for many in [&[51][..], &[26, 25]] {
        let problem = "must have at most 50 conditions";
        let answer = client.list("/specimens", &[("filters", &filters(many).to_string())]).await;
        assert_eq!(answer.invalid("filters"), problem);
        assert_eq!(client.post("/custom_views", view(many)).await.invalid("filters"), problem);
    }
}

async fn request_target_over_the_limit_is_rejected(specimens: Specimens) {
    let target = |length: usize| {
        let begin = "/api/v1/specimens?x=";
        format!("{begin}{}", "x".repeat(length - begin.len()))
    };
    let client = specimens.admin();
    assert_eq!(client.raw("GET", target(65_534).as_bytes()).await, 200);
    assert_eq!(client.raw("GET", target(65_535).as_bytes()).await, 414);
}
