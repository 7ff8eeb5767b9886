//! Custom fields in lists: the indexes of a definition and the plans that use them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use charter_runtime::custom_field::load_types;
use charter_runtime::db::{Dialect, Sql};
use charter_runtime::online_indexes;
use charter_runtime::ops::{Context, State};
use charter_runtime::principal::Principal;
use charter_runtime::query::{OrderBy, Planner, RelativeTo, parse, write_condition};
use serde_json::{Value, json};

use super::ids;
use crate::support::{Client, Server, Specimens, on_both};

on_both!(
    indexes_are_created_and_dropped_with_the_definition,
    missing_and_invalid_indexes_are_rebuilt_at_startup,
    two_processes_create_the_indexes_concurrently,
    every_predicate_and_order_uses_an_index,
    texts_of_any_length_are_stored_filtered_and_sorted,
    values_of_a_former_type_block_neither_writes_nor_indexes,
    value_of_a_former_type_is_shown_as_null_unless_it_fits_the_new_type,
    filters_treat_values_of_a_former_type_alike_on_both_databases,
    prefix_search_works_up_to_the_last_code_point,
    negation_excludes_records_without_a_value,
);

pub(super) async fn define(client: &Client, name: &str, field_type: &str) -> Value {
    let choices = if field_type == "choice" { json!(["new", "Worn"]) } else { json!([]) };
    let body = json!({ "entity_type": "products", "name": name, "field_type": field_type, "choices": choices });
    client.post("/custom_fields", body).await.created("custom_field")
}

pub(super) async fn add(client: &Client, value: Value) -> i64 {
    let body = json!({ "name": "Lamp", "custom_fields": { "field": value } });
    client.post("/products", body).await.created("product")["id"].as_i64().expect("an id")
}

/// Names of the valid custom field indexes.
async fn present(state: &State) -> BTreeSet<String> {
    let text = match state.db.dialect() {
        Dialect::Sqlite => {
            "SELECT name AS \"name\" FROM sqlite_master WHERE type = 'index' AND name LIKE 'cf~_%' ESCAPE '~'"
        }
        Dialect::Postgres => {
            "SELECT c.relname::text AS \"name\" FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
             WHERE i.indisvalid AND c.relname LIKE 'cf~_%' ESCAPE '~'"
        }
    };
    let rows = Sql::new(state.db.dialect(), text).all(state.db.reader()).await.expect("names are read");
    rows.iter().map(|row| row.try_get("", "name").expect("a name")).collect()
}

/// Waits until there are `count` indexes.
async fn wait_for(state: &State, count: usize) -> BTreeSet<String> {
    let started = Instant::now();
    loop {
        let found = present(state).await;
        if found.len() == count {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{count} indexes are awaited: {found:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn indexes_are_created_and_dropped_with_the_definition(server: Server) {
    let admin = server.admin();
    let power = define(&admin, "power", "integer").await;
    let serial = define(&admin, "serial", "string").await;
    let found = wait_for(&server.state, 5).await;
    let of = |definition: &Value| found.iter().filter(|n| n.starts_with(&format!("cf_{}_", definition["id"]))).count();
    assert_eq!((of(&power), of(&serial)), (2, 3), "a text has one more, for its order without regard to case");
    admin.put(&format!("/custom_fields/{}", power["id"]), json!({ "label": "W" })).await.ok();
    admin.delete(&format!("/custom_fields/{}", serial["id"])).await.deleted();
    let left = wait_for(&server.state, 2).await;
    assert!(left.is_subset(&found), "a label is nothing to an index");
    admin.delete(&format!("/custom_fields/{}", power["id"])).await.deleted();
    wait_for(&server.state, 0).await;
}

async fn missing_and_invalid_indexes_are_rebuilt_at_startup(server: Server) {
    define(&server.admin(), "power", "integer").await;
    let created = wait_for(&server.state, 2).await;
    for name in &created {
        match server.state.db.dialect() {
            Dialect::Sqlite => server.sql(&format!("DROP INDEX {name}")).await,
            // An interrupted CREATE INDEX CONCURRENTLY leaves an invalid index.
            Dialect::Postgres => {
                server
                    .sql(&format!("UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{name}'::regclass"))
                    .await
            }
        }
    }
    server.sql("CREATE INDEX cf_99_a_00000000 ON products (id)").await;
    server.sql("CREATE INDEX cf_own ON products (id)").await;
    let mut expected = created;
    expected.insert("cf_own".into());
    let second = server.second_node().await;
    let started = Instant::now();
    while present(&server.state).await != expected {
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", present(&server.state).await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    second.stop().await;
}

async fn two_processes_create_the_indexes_concurrently(server: Server) {
    let second = server.second_node().await;
    let (one, other) = (server.admin(), second.admin());
    let types = ["integer", "string", "decimal", "boolean"];
    for (number, field_type) in types.into_iter().enumerate() {
        define(if number % 2 == 0 { &one } else { &other }, &format!("field_{number}"), field_type).await;
    }
    let (one, other) = tokio::join!(
        online_indexes::reconcile(&server.state.db, &server.state.catalog),
        online_indexes::reconcile(&second.state.db, &second.state.catalog)
    );
    one.and(other).expect("both succeed");
    wait_for(&server.state, 9).await;
    second.stop().await;
}

/// The plan of the list statement for this query string.
async fn plan(state: &Arc<State>, query: &str) -> String {
    let caller = Principal::operator();
    let context = Context::new(state, &caller, state.db.reader());
    let entry = state.catalog.by_plural("products").expect("there are products");
    let types =
        load_types(&state.custom_fields, &state.db, state.db.reader(), "products").await.expect("types are read");
    let planner = Planner {
        catalog: context.catalog(),
        entry,
        custom: &types.of,
        deleted: false,
        caller: &caller,
        visible: &|_| None,
        relative_to: &RelativeTo::in_utc(state.clock.now(), None),
    };
    let plan = planner
        .plan(&parse(query).expect("a query"), Default::default())
        .unwrap_or_else(|error| panic!("{query}: {error}"));
    let condition = charter_runtime::ops::visible(&context, entry).and(plan.condition);
    let explain = if state.db.dialect() == Dialect::Sqlite { "EXPLAIN QUERY PLAN " } else { "EXPLAIN " };
    let mut sql =
        Sql::new(state.db.dialect(), format!("{explain}SELECT t.\"id\", t.\"name\" FROM \"products\" AS t WHERE "));
    write_condition(&mut sql, &condition);
    OrderBy::of(&plan.order).write(&mut sql, &condition);
    sql.push(" LIMIT 20");
    let column = if state.db.dialect() == Dialect::Sqlite { "detail" } else { "QUERY PLAN" };
    // SQLite plans with the schema that the connection has loaded. The writer created the indexes.
    let transaction = state.db.begin().await.expect("a transaction begins");
    let rows = sql.all(&transaction).await.expect("a plan");
    rows.iter().map(|row| row.try_get::<String>("", column).expect("a line")).collect::<Vec<_>>().join("\n")
}

async fn every_predicate_and_order_uses_an_index(server: Server) {
    let admin = server.admin();
    let types = ["string", "text", "integer", "decimal", "boolean", "date", "timestamp", "choice"];
    for field_type in types {
        define(&admin, &format!("a_{field_type}"), field_type).await;
    }
    wait_for(&server.state, 18).await;
    // Two in a thousand records have a value, as with most custom fields.
    let values = json!({
        "a_string": "Sn-1", "a_text": "Note", "a_integer": 5, "a_decimal": "1.5", "a_boolean": true,
        "a_date": "2026-03-21", "a_timestamp": "2026-03-21T10:00:00.000Z", "a_choice": "Worn",
    });
    let numbers = match server.state.db.dialect() {
        Dialect::Sqlite => "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)",
        Dialect::Postgres => "WITH n(i) AS (SELECT generate_series(1, 5000))",
    };
    let json = if server.state.db.dialect() == Dialect::Postgres { "::jsonb" } else { "" };
    let fill = format!(
        "INSERT INTO products (name, custom_fields, created_at, updated_at)
         {numbers} SELECT 'Lamp', CASE WHEN i % 500 = 0 THEN '{values}' ELSE '{{}}' END{json},
         '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' FROM n"
    );
    let fill = if json.is_empty() { fill } else { fill.replace("'2026-01-01T00:00:00.000Z'", "now()") };
    // SQLite requires the WITH first.
    server.sql(&fill).await;
    server.sql("ANALYZE products").await;
    let mut questions = Vec::new();
    for field_type in types {
        let field = format!("cf.a_{field_type}");
        let value = match field_type {
            "integer" => "5",
            "decimal" => "1.5",
            "boolean" => "true",
            "date" => "2026-03-21",
            "timestamp" => "2026-03-21T10:00:00Z",
            "choice" => "Worn",
            _ => "Sn-1",
        };
        questions.extend([format!("sort={field}"), format!("sort=-{field}"), format!("q[{field}_eq]={value}")]);
        questions.extend([format!("q[{field}_in]={value},{value}"), format!("q[{field}_present]=1")]);
        if field_type != "text" {
            questions.push(format!("q[{field}_not_eq]={value}"));
        }
        if field_type != "boolean" {
            questions.extend(["gt", "gteq", "lt", "lteq"].map(|p| format!("q[{field}_{p}]={value}")));
        } else {
            questions.push(format!("q[{field}_true]=1"));
        }
        if ["string", "text", "choice"].contains(&field_type) {
            questions.push(format!("q[{field}_start]=sn"));
        }
        if ["string", "choice"].contains(&field_type) {
            questions.push(format!("q[{field}_cont]=n-"));
        }
    }
    for question in questions {
        let plan = plan(&server.state, &question).await;
        assert!(plan.contains("cf_"), "{question} is answered without an index:\n{plan}");
        if question.starts_with("sort") {
            let sorts = plan.contains("TEMP B-TREE") || plan.contains("Sort Key");
            assert!(!sorts, "{question} sorts what the index has in order:\n{plan}");
        }
    }
}

async fn texts_of_any_length_are_stored_filtered_and_sorted(server: Server) {
    let admin = server.admin();
    define(&admin, "field", "text").await;
    wait_for(&server.state, 3).await;
    // Four bytes each. They differ only after the indexed prefix.
    let long = |end: &str| "𝒳".repeat(3000) + end;
    let edge = "A".repeat(255);
    let mut created = Vec::new();
    for text in [long("b"), long("a"), "short".into(), edge.clone(), format!("{edge}B"), format!("{edge}A")] {
        created.push(add(&admin, json!(text)).await);
    }
    let [b, a, short, edge_only, edge_b, edge_a] = created[..] else { panic!("six records") };
    let found = |query: &'static str, value: String| {
        let admin = admin.clone();
        async move { admin.list("/products", &[(query, &value)]).await.column("products", "id") }
    };
    assert_eq!(found("q[cf.field_eq]", "short".into()).await, [short]);
    assert_eq!(found("q[cf.field_eq]", edge.clone()).await, [edge_only]);
    assert_eq!(found("q[cf.field_eq]", format!("{edge}A")).await, [edge_a]);
    assert_eq!(found("q[cf.field_not_eq]", edge.clone()).await, [b, a, short, edge_b, edge_a]);
    assert_eq!(found("q[cf.field_gt]", format!("{edge}A")).await, [b, a, short, edge_b]);
    assert_eq!(found("q[cf.field_lt]", format!("{edge}B")).await, [edge_only, edge_a]);
    assert_eq!(found("q[cf.field_lt]", "B".into()).await, [edge_only, edge_b, edge_a]);
    assert_eq!(found("q[cf.field_start]", format!("{edge}b").to_lowercase()).await, [edge_b]);
    assert_eq!(found("q[cf.field_start]", "aaa".into()).await, [edge_only, edge_b, edge_a]);
    assert_eq!(found("q[cf.field_end]", "𝒳A".into()).await, [a]);
    assert_eq!(found("q[cf.field_in]", format!("short,{edge}B")).await, [short, edge_b]);
    let sorted = admin.list("/products", &[("sort", "cf.field")]).await.column("products", "id");
    // Texts that agree in their first 255 characters are sorted by id.
    assert_eq!(sorted, [edge_only, edge_b, edge_a, short, b, a]);
    let sorted = admin.list("/products", &[("sort", "-cf.field")]).await.column("products", "id");
    assert_eq!(sorted, [b, a, short, edge_only, edge_b, edge_a]);
}

async fn values_of_a_former_type_block_neither_writes_nor_indexes(server: Server) {
    let admin = server.admin();
    let mut definition = define(&admin, "field", "text").await;
    let mut created = Vec::new();
    for text in ["5-3", "1.2.3", "--1", "-", "99999999999999999999", "1e5", "5", "2026-13-99", "true"] {
        created.push(add(&admin, json!(text)).await);
    }
    created.push(add(&admin, json!("x".repeat(9000))).await);
    for field_type in ["decimal", "integer", "boolean", "date", "timestamp", "string", "choice"] {
        admin.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
        definition = define(&admin, "field", field_type).await;
        let expected = if field_type == "string" { 3 } else { 2 };
        let started = Instant::now();
        loop {
            let of = format!("cf_{}_", definition["id"]);
            if present(&server.state).await.iter().filter(|name| name.starts_with(&of)).count() == expected {
                break;
            }
            assert!(started.elapsed() < Duration::from_secs(20), "no indexes for {field_type}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for sort in ["cf.field", "-cf.field"] {
            assert_eq!(ids_of(&admin, &[("sort", sort)]).await.len(), created.len(), "{field_type}");
        }
        admin.put(&format!("/products/{}", created[0]), json!({ "name": field_type })).await.ok();
    }
    assert_eq!(ids_of(&admin, &[("q[cf.field_eq]", "5")]).await, [created[6]]);
}

async fn filters_treat_values_of_a_former_type_alike_on_both_databases(server: Server) {
    let admin = server.admin();
    let mut definition = define(&admin, "field", "string").await;
    let mut created = Vec::new();
    for text in ["+1", "1e3", " 7", "5", "-0.5", "true"] {
        created.push(add(&admin, json!(text)).await);
    }
    let found = async |field_type: &str, values: &[i64]| {
        let found = ids_of(&admin, &[("q[cf.field_present]", "1"), ("sort", "id")]).await;
        assert_eq!(found, values, "{field_type}");
    };
    for (field_type, expected) in [("decimal", vec![created[3], created[4]]), ("boolean", vec![])] {
        admin.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
        definition = define(&admin, "field", field_type).await;
        found(field_type, &expected).await;
    }
    let truth = add(&admin, json!(true)).await;
    found("boolean", &[truth]).await;
    admin.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
    define(&admin, "field", "decimal").await;
    found("decimal again", &[created[3], created[4]]).await;
}

async fn value_of_a_former_type_is_shown_as_null_unless_it_fits_the_new_type(server: Server) {
    let admin = server.admin();
    let mut definition = define(&admin, "field", "string").await;
    let products = [add(&admin, json!("hello")).await, add(&admin, json!("2026-03-21")).await];
    let value = async |product: i64| {
        let record = admin.get(&format!("/products/{product}?include=customFieldValues")).await.record("product");
        record["custom_field_values"][0]["value"].clone()
    };
    for (field_type, shown) in [
        ("text", [json!("hello"), json!("2026-03-21")]),
        ("integer", [Value::Null, Value::Null]),
        ("date", [Value::Null, json!("2026-03-21")]),
        ("choice", [json!("hello"), json!("2026-03-21")]),
    ] {
        admin.delete(&format!("/custom_fields/{}", definition["id"])).await.deleted();
        definition = define(&admin, "field", field_type).await;
        assert_eq!([value(products[0]).await, value(products[1]).await], shown, "{field_type}");
    }
}

pub(super) async fn ids_of(client: &Client, parameters: &[(&str, &str)]) -> Vec<Value> {
    client.list("/products", parameters).await.column("products", "id")
}

async fn prefix_search_works_up_to_the_last_code_point(server: Server) {
    let admin = server.admin();
    define(&admin, "field", "string").await;
    let last = "\u{10ffff}";
    let mut created = Vec::new();
    for text in ["Ab", "AB\u{d7ff}c", "ac", last, &format!("{last}{last}a"), "a%b", "a"] {
        created.push(add(&admin, json!(text)).await);
    }
    for (needle, expected) in [
        ("aB", &created[..2]),
        ("ab\u{d7ff}", &created[1..2]),
        (last, &created[3..5]),
        (&last.repeat(2), &created[4..5]),
        ("A%", &created[5..6]),
        ("ad", &[]),
    ] {
        assert_eq!(ids_of(&admin, &[("q[cf.field_start]", needle)]).await, *expected, "{needle}");
    }
}

async fn negation_excludes_records_without_a_value(specimens: Specimens) {
    let client = specimens.admin();
    let nand = |field: &str, predicate: &str, value: &str| json!({ "field": field, "predicate": predicate, "value": value, "logic": "nand" });
    let cases = [
        (nand("cf.rig", "not_eq", "5"), vec![1, 10]),
        (nand("cf.rig", "gt", "9"), vec![1, 5, 10]),
        (nand("cf.rig", "in", "5,10"), vec![5, 8, 9]),
        (nand("cf.power", "cont", "w"), vec![7]),
        (nand("cf.power", "not_cont", "w"), vec![1, 2]),
        (nand("cf.power", "start", "150"), vec![7]),
        (nand("cf.power", "not_start", "150"), vec![1, 2]),
        (nand("cf.power", "cont_any", "150,x"), vec![7]),
        (nand("cf.vip", "true", "1"), vec![6]),
        (nand("cf.rig", "not_null", "1"), vec![3, 4, 6, 7]),
        (nand("cf.power", "present", "1"), vec![3, 4, 5, 6, 7, 8, 9, 10]),
    ];
    for (filter, expected) in cases {
        let view = json!({ "name": "x", "entity_type": "specimens", "columns": ["id"], "filters": [filter] });
        let id = client.post("/custom_views", view).await.created("custom_view")["id"].to_string();
        assert_eq!(ids(&client, &[("view_id", &id)]).await, expected, "{filter}");
    }
}
