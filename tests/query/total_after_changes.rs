//! Filtered pages and totals after every kind of change, cached before or not.

use charter_runtime::counts;
use charter_runtime::db::Dialect;
use serde_json::json;

use super::ids;
use super::total::{full, insert};
use crate::support::{Specimens, on_both};

on_both!(
    totals_are_exact_after_every_kind_of_change,
    total_is_exact_after_many_changes_at_once,
    space_of_compacted_changes_is_reused,
    record_created_and_deleted_between_requests_is_on_no_page,
    view_shared_temporarily_is_listed_only_to_its_owner,
    total_filtered_by_a_related_record_of_the_same_table_is_exact_after_a_change,
);

/// Conditions in the notation of clients and as SQL.
const QUESTIONS: [(&str, &str); 5] = [
    ("&q[name_cont]=s", "LOWER(name) LIKE '%s%'"),
    ("&q[active_true]=1", "active"),
    ("&q[name_not_eq]=S&q[id_gt]=40", "name <> 'S' AND id > 40"),
    ("&q[active_false]=1&q[id_lt]=60", "NOT active AND id < 60"),
    ("&q[id_gt]=100000", "id > 100000"),
];

async fn totals_are_exact_after_every_kind_of_change(specimens: Specimens) {
    let client = specimens.admin();
    let mut number: u64 = 7;
    for round in 0..40 {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (id, what) = ((number >> 33) % 90 + 1, (number >> 50) % 6);
        match what {
            0 => insert(&specimens, 1_000 + round * 10, 1_000 + round * 10 + (id % 5) as i64).await,
            1 => specimens.sql(&format!("DELETE FROM specimens WHERE id % 97 = {id}")).await,
            2 => specimens.sql(&format!("UPDATE specimens SET name = 'T{id}' WHERE id % 13 = {}", id % 13)).await,
            3 => specimens.sql(&format!("UPDATE specimens SET active = NOT active WHERE id >= {id}")).await,
            4 => specimens.sql(&format!("UPDATE specimens SET id = id + 200000 WHERE id = {}", 1_000 + round)).await,
            _ => specimens.sql("UPDATE specimens SET name = name").await,
        }
        if round % 9 == 0 && specimens.state.db.dialect() == Dialect::Postgres {
            counts::compact(&specimens.state.db).await.expect("the changes are compacted");
        }
        for (query, condition) in QUESTIONS {
            if (number >> 20).is_multiple_of(3) && round % 2 == 0 {
                continue;
            }
            let counting = format!("SELECT CAST(COUNT(*) AS TEXT) AS text FROM specimens WHERE {condition}");
            let counted = specimens.texts(&counting).await;
            assert_eq!(full(&client, query).await.to_string(), counted[0], "{round}: {query} after {what}");
            for (sort, order) in
                [("-name", "LOWER(name) DESC NULLS LAST, name DESC NULLS LAST, id"), ("-id", "id DESC")]
            {
                let found = format!(
                    "SELECT CAST(id AS TEXT) AS text FROM specimens WHERE {condition} ORDER BY {order} LIMIT 3 OFFSET 3"
                );
                let body = client.get(&format!("/specimens?per_page=3&page=2&sort={sort}{query}")).await.ok();
                let records = body["specimens"].as_array().expect("records");
                let ids: Vec<String> = records.iter().map(|record| record["id"].to_string()).collect();
                assert_eq!(ids, specimens.texts(&found).await, "{round}: {query} by {sort} after {what}");
                assert_eq!(body["meta"]["total"].to_string(), counted[0], "{round}: {query} by {sort} after {what}");
            }
        }
    }
}

async fn total_is_exact_after_many_changes_at_once(specimens: Specimens) {
    let client = specimens.admin();
    for number in 0..3 {
        insert(&specimens, 100 + number, 100 + number).await;
        assert_eq!(full(&client, "&q[name_eq]=S").await, number + 1);
    }
    insert(&specimens, 1_000, 1_000 + 4_999).await;
    assert_eq!(full(&client, "&q[name_eq]=S").await, 5_003);
    specimens.sql("UPDATE specimens SET name = 'T' WHERE id BETWEEN 1000 AND 5989").await;
    assert_eq!(full(&client, "&q[name_eq]=S").await, 13);
    specimens.sql("DELETE FROM specimens").await;
    insert(&specimens, 1, 2).await;
    assert_eq!(full(&client, "&q[name_eq]=S").await, 2);
}

async fn space_of_compacted_changes_is_reused(specimens: Specimens) {
    let state = &specimens.state;
    if state.db.dialect() == Dialect::Sqlite {
        return; // Its triggers change the numbers themselves.
    }
    let size = "SELECT CAST(pg_relation_size('record_changes') AS TEXT) AS text";
    // A transaction that is open anywhere in the database keeps the dead rows of its time, and a round later they
    // go. A table that reuses no space grows in every round.
    let (mut sizes, mut rounds_without_growth) = (Vec::new(), 0);
    while rounds_without_growth < 6 {
        assert!(sizes.len() < 60, "{sizes:?}");
        let many = "INSERT INTO record_changes (\"table\", block, live) SELECT 'specimens', 0, 0 FROM generate_series(1, 5000)";
        specimens.sql(many).await;
        counts::compact(&state.db).await.expect("the changes are compacted");
        counts::vacuum(&state.db).await.expect("the space is reclaimed");
        let bytes = specimens.texts(size).await[0].parse::<i64>().expect("a number of bytes");
        let has_grown = sizes.last().is_none_or(|last| bytes > *last);
        rounds_without_growth = if has_grown { 0 } else { rounds_without_growth + 1 };
        sizes.push(bytes);
    }
}

async fn record_created_and_deleted_between_requests_is_on_no_page(specimens: Specimens) {
    let client = specimens.admin();
    insert(&specimens, 100, 104).await;
    let page = async |per_page: &str, page: &str| {
        ids(&client, &[("q[name_eq]", "S"), ("per_page", per_page), ("page", page)]).await
    };
    let noise = async || specimens.sql("UPDATE specimens SET qty = qty WHERE id = 1").await;
    for change in ["UPDATE specimens SET name = 'secret' WHERE id = 9", "DELETE FROM specimens WHERE id = 9"] {
        // The cache has the ids of the states before and after, and the pages of the state in between.
        for _ in 0..2 {
            assert_eq!(page("1", "1").await, [100]);
            noise().await;
        }
        specimens.sql("UPDATE specimens SET name = 'S' WHERE id = 9").await;
        assert_eq!(page("50", "1").await, [9, 100, 101, 102, 103, 104]);
        assert_eq!(page("4", "2").await, [103, 104]);
        specimens.sql(change).await;
        for _ in 0..2 {
            assert_eq!(page("50", "1").await, [100, 101, 102, 103, 104], "{change}");
            assert_eq!(page("4", "2").await, [104], "{change}");
            noise().await;
        }
    }
}

async fn view_shared_temporarily_is_listed_only_to_its_owner(specimens: Specimens) {
    let admin = specimens.admin();
    let (user, reader) = specimens.user(&[], &["*"]).await;
    let view = |name: &str| json!({ "name": name, "entity_type": "products", "columns": ["name"], "role_ids": user["role_ids"] });
    reader.post("/custom_views", view("mine")).await.created("custom_view");
    let id = admin.post("/custom_views", view("salaries")).await.created("custom_view")["id"].to_string();
    let other = admin.post("/custom_views", view("other")).await.created("custom_view")["id"].to_string();
    let names = async |per_page: &str| {
        reader.list("/custom_views", &[("per_page", per_page)]).await.column("custom_views", "name")
    };
    let change = async |id: &str, body| drop(admin.put(&format!("/custom_views/{id}"), body).await.ok());
    for number in 0..2 {
        assert_eq!(names("1").await, ["mine"]);
        change(&other, json!({ "name": number.to_string() })).await;
    }
    change(&id, json!({ "visibility": "shared" })).await;
    assert_eq!(names("50").await, ["mine", "salaries"]);
    change(&id, json!({ "visibility": "personal", "name": "nobody's" })).await;
    for number in 0..2 {
        assert_eq!(names("50").await, ["mine"]);
        change(&other, json!({ "name": number.to_string() })).await;
    }
    reader.get(&format!("/custom_views/{id}")).await.status(404);
}

async fn total_filtered_by_a_related_record_of_the_same_table_is_exact_after_a_change(specimens: Specimens) {
    let client = specimens.admin();
    specimens.sql("UPDATE specimens SET name = 'A' WHERE id = 1").await;
    specimens.sql("UPDATE specimens SET parent_id = 1 WHERE id IN (3, 4, 5)").await;
    let named = "&q[parent_name_eq]=A";
    for _ in 0..3 {
        assert_eq!(full(&client, named).await, 3);
        assert_eq!(ids(&client, &[("q[parent_name_eq]", "A"), ("per_page", "2")]).await, [3, 4]);
        specimens.sql("UPDATE specimens SET qty = qty WHERE id = 9").await;
    }
    specimens.sql("UPDATE specimens SET name = 'B' WHERE id = 1").await;
    assert_eq!(full(&client, &format!("{named}&page=2")).await, 0, "none of the three has changed, and none is found");
    assert_eq!(full(&client, "&q[parent_name_eq]=B").await, 3);
}
