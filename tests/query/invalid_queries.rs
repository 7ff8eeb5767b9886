//! Rejected queries: reported for the parameter, with a suggestion, and never ignored.

use super::ids;
use crate::support::{Client, Specimens, on_both};

on_both!(
    unknown_field_is_rejected_with_a_suggestion,
    unknown_predicate_is_rejected_with_a_suggestion,
    blank_value_is_rejected_with_a_hint_to_blank_and_null,
    predicate_that_the_field_does_not_support_is_rejected,
    invalid_value_is_reported_for_its_parameter,
    all_errors_are_reported_together,
    null_character_is_rejected,
    list_for_a_single_value_predicate_is_rejected,
    hidden_field_cannot_be_filtered_by,
    undecodable_query_string_is_malformed,
    unknown_parameters_are_ignored,
    unknown_include_is_rejected_with_the_known_names,
);

async fn problem(client: &Client, parameter: &str, value: &str) -> String {
    client.list("/specimens", &[(parameter, value)]).await.invalid(parameter)
}

async fn unknown_field_is_rejected_with_a_suggestion(specimens: Specimens) {
    let client = specimens.admin();
    let message = problem(&client, "q[nme_eq]", "x").await;
    assert!(message.contains("unknown field `nme`") && message.contains("did you mean `name`?"), "{message}");
    let message = problem(&client, "q[zzzzzzzzz_eq]", "x").await;
    assert!(message.contains("unknown field") && !message.contains("did you mean"), "{message}");
    for (parameter, expected) in [
        ("q[Name_eq]", "name"),
        ("q[grup.name_eq]", "group"),
        ("q[Group.name_eq]", "group"),
        ("q[group.nmae_eq]", "name"),
        ("q[group_eq]", "group_id"),
    ] {
        let message = problem(&client, parameter, "x").await;
        assert!(message.contains(&format!("did you mean `{expected}`?")), "{message}");
    }
    // A derived field of the related record is not filterable through the reference and therefore not suggested.
    let message = client.list("/stock_levels", &[("q[product.product_group_name_eq]", "x")]).await;
    let message = message.invalid("q[product.product_group_name_eq]");
    assert!(!message.contains("did you mean `product_group_name`"), "{message}");
    assert!(!client.list("/specimens", &[("q[nme_eq]", "x")]).await.text.contains("?."), "a question ends as one");
    for unknown in ["q[Name_eq]", "q[ name_eq]", "q[name _eq]", "q[table_eq]", "q[1_eq]", "q[\"id\"_eq]", "q[t.id_eq]"]
    {
        problem(&client, unknown, "x").await;
    }
}

async fn unknown_predicate_is_rejected_with_a_suggestion(specimens: Specimens) {
    let client = specimens.admin();
    let message = problem(&client, "q[name_contains]", "x").await;
    assert!(message.contains("unknown predicate `contains`") && message.contains("did you mean `cont`?"), "{message}");
    let message = problem(&client, "q[group.name_contt]", "x").await;
    assert!(message.contains("unknown predicate `contt`") && message.contains("did you mean `cont`?"), "{message}");
    // Names from other systems, which take precedence over similar spellings.
    for (written, expected) in
        [("gte", "gteq"), ("lte", "lteq"), ("ne", "not_eq"), ("equals", "eq"), ("startsWith", "start")]
    {
        let message = problem(&client, &format!("q[name_{written}]"), "x").await;
        assert!(message.ends_with(&format!("did you mean `{expected}`?")), "{message}");
    }
    let filters = r#"[{"field":"name","predicate":"contains","value":"x"}]"#;
    let message = client.list("/specimens", &[("filters", filters)]).await.invalid("filters");
    assert!(message.contains("did you mean `cont`?"), "{message}");
    let message = problem(&client, "q[name_gtq]", "x").await;
    assert!(message.contains("did you mean `gteq`?") || message.contains("did you mean `gt`?"), "{message}");
    let message = problem(&client, "q[name]", "x").await;
    assert!(message.contains("needs a predicate"), "{message}");
    for unknown in ["q[]", "q[_]", "q[_eq]", "q[eq]", "q[name_EQ]", "q[name_eq_]", "q[name__eq]"] {
        problem(&client, unknown, "x").await;
    }
}

async fn blank_value_is_rejected_with_a_hint_to_blank_and_null(specimens: Specimens) {
    let client = specimens.admin();
    let parameters = [
        "q[name_eq]",
        "q[name_not_eq]",
        "q[name_cont]",
        "q[name_not_cont]",
        "q[name_start]",
        "q[qty_eq]",
        "q[qty_gt]",
        "q[active_eq]",
        "q[active_true]",
        "q[name_null]",
        "q[created_at_lt]",
        "q[group_id_eq]",
        "q[id_in]",
        "q[name_in]",
        "q[cf.power_eq]",
        "q[cf.rig_gt]",
    ];
    for parameter in parameters {
        let message = problem(&client, parameter, "").await;
        assert!(message.contains("_blank") && message.contains("_null"), "{parameter}: {message}");
    }
    for parameter in ["q[qty_eq]", "q[rate_lt]", "q[active_eq]", "q[created_at_gt]", "q[id_in]"] {
        let message = problem(&client, parameter, " ").await;
        assert!(message.contains("blank"), "{parameter}: {message}");
    }
    for (parameter, value) in [("q[id_in]", "1,"), ("q[id_in]", ",1"), ("q[id_in]", "1,,2"), ("q[name_not_in]", ",")] {
        problem(&client, parameter, value).await;
    }
    let message = client.list("/specimens", &[("q[id_in][]", "1"), ("q[id_in][]", "")]).await.invalid("q[id_in]");
    assert!(message.contains("_blank"), "{message}");
    client.get("/specimens?q[name_eq]").await.invalid("q[name_eq]");
}

async fn predicate_that_the_field_does_not_support_is_rejected(specimens: Specimens) {
    let client = specimens.admin();
    for (parameter, value) in [
        ("q[qty_cont]", "1"),
        ("q[active_gt]", "1"),
        ("q[name_true]", "1"),
        ("q[qty_false]", "1"),
        ("q[created_at_start]", "2026"),
        ("q[group_id_end]", "1"),
        ("q[rate_not_cont]", "1"),
        ("q[size_gt]", "small"),
        ("q[cf.power_true]", "1"),
    ] {
        let message = problem(&client, parameter, value).await;
        assert!(message.contains("does not support") && message.contains("supported are eq"), "{parameter}: {message}");
    }
}

async fn invalid_value_is_reported_for_its_parameter(specimens: Specimens) {
    let client = specimens.admin();
    let cases = [
        ("q[qty_eq]", "x", "integer"),
        ("q[rate_eq]", "x", "number"),
        ("q[active_eq]", "x", "true or false"),
        ("q[created_at_eq]", "x", "RFC 3339"),
        ("q[created_at_eq]", "9999-12-31T23:59:59-01:00", "of the years 0001 to 9999"),
        ("filters", r#"[{"field": "id", "predicate": "eq", "value": 1e400}]"#, "number out of range"),
        ("fields", "id,cf.bay", "all custom fields are in `custom_fields`"),
        ("q[bought_on_eq]", "x", "date"),
        ("q[group.id_eq]", "x", "integer"),
        ("q[cf.vip_eq]", "x", "true or false"),
    ];
    for (parameter, value, expected) in cases {
        let message = problem(&client, parameter, value).await;
        assert!(message.contains(expected), "{parameter}: {message}");
    }
    client.get("/specimens?q%5Bqty_eq%5D=x").await.invalid("q[qty_eq]");
}

async fn all_errors_are_reported_together(specimens: Specimens) {
    let answer = specimens.admin().get("/specimens?q[nope_eq]=1&q[qty_eq]=x&q[name_eq]=&q[id_eq]=1").await;
    assert_eq!(answer.invalid_fields(), ["q[name_eq]", "q[nope_eq]", "q[qty_eq]"]);
    let answer = specimens.admin().get("/specimens?view_id=99&filters=x&deleted=x&page=0&include=x&q[nope_eq]=1").await;
    assert_eq!(answer.invalid_fields(), ["deleted", "filters", "include", "page", "q[nope_eq]", "view_id"]);
}

async fn null_character_is_rejected(specimens: Specimens) {
    let client = specimens.admin();
    let predicates = ["eq", "not_eq", "cont", "not_cont", "start", "end", "lt", "in", "not_in"];
    for predicate in predicates {
        for field in ["name", "cf.power", "group.name"] {
            let parameter = format!("q[{field}_{predicate}]");
            let answer = client.list("/specimens", &[(&parameter, "a\0b")]).await;
            assert!([200, 422].contains(&answer.status), "{parameter}: {}", answer.text);
            if !predicate.contains("cont") {
                answer.invalid(&parameter);
            }
        }
    }
    problem(&client, "q[na\0me_eq]", "x").await;
    problem(&client, "q[qty_eq]", "1\0").await;
    problem(&client, "q[cf.po\0wer_eq]", "x").await;
    client.list("/specimens", &[("include", "\0")]).await.invalid("include");
    client.list("/specimens", &[("view_id", "\0")]).await.invalid("view_id");
    assert_eq!(ids(&client, &[("sort", "\0")]).await.len(), 10);
}

async fn list_for_a_single_value_predicate_is_rejected(specimens: Specimens) {
    let client = specimens.admin();
    let message = client.list("/specimens", &[("q[name_eq][]", "x")]).await.invalid("q[name_eq]");
    assert!(message.contains("one value"), "{message}");
}

async fn hidden_field_cannot_be_filtered_by(specimens: Specimens) {
    let client = specimens.admin();
    client.list("/tokens", &[("q[token_hash_cont]", "a")]).await.invalid("q[token_hash_cont]");
    client.list("/products", &[("q[deleted_at_null]", "0")]).await.invalid("q[deleted_at_null]");
    let sorted = client.list("/tokens", &[("sort", "-token_hash")]).await;
    assert_eq!(sorted.column("tokens", "id"), client.get("/tokens").await.column("tokens", "id"));
    for list in ["custom_fields", "tag_list"] {
        let parameter = format!("q[{list}_cont]");
        client.list("/products", &[(&parameter, "a")]).await.invalid(&parameter);
    }
}

async fn undecodable_query_string_is_malformed(specimens: Specimens) {
    let client = specimens.admin();
    for query in [
        "q[name_eq]=%",
        "q[name_eq]=%zz",
        "q[name_eq]=%f",
        "q[name_eq]=%ff",
        "%c3%28=1",
        "q[name_eq=1",
        "q[name_eq]x=1",
        "q[name_eq][0]=1",
        "q=lamp",
        "q",
        "filters[]=x",
        "filters[0][field]=name",
        "sort=%80",
        "x=%",
    ] {
        client.get(&format!("/specimens?{query}")).await.refused(400, "malformed_request");
    }
}

async fn unknown_parameters_are_ignored(specimens: Specimens) {
    let client = specimens.admin();
    for query in ["utm=1", "Page=9", "filter[name]=x", "name_eq=Lamp", "[]=1", "=", "per_page[]=1"] {
        let found = client.get(&format!("/specimens?{query}")).await.ok();
        assert_eq!([&found["meta"]["total"], &found["meta"]["per_page"]], [10, 20], "{query}");
    }
}

async fn unknown_include_is_rejected_with_the_known_names(specimens: Specimens) {
    let client = specimens.admin();
    for include in ["nope", "productGroup,nope", "ProductGroup", "group", "group_id", "custom_fields"] {
        let message = problem(&client, "include", include).await;
        assert!(message.contains("productGroup"), "{include}: {message}");
    }
    let message = client.get("/currencies?include=x").await.invalid("include");
    assert!(message.contains("none"), "{message}");
    for include in ["productGroup", "product_group", " productGroup , productGroup,", ""] {
        client.list("/specimens", &[("include", include)]).await.ok();
    }
}
