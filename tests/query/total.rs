//! Totals: exact after every write, by any process, and in every notation.

use std::time::Duration;

use charter_runtime::counts;
use charter_runtime::db::{Dialect, Sql};
use serde_json::{Value, json};

use super::ids;
use crate::support::{Client, Database, Server, Specimens, on_both, run};

on_both!(
    total_follows_every_write,
    direct_database_writes_are_counted,
    rolled_back_write_is_not_counted,
    filtered_total_follows_changes_of_records_and_their_references,
    filtered_total_is_cached_until_a_table_changes,
    total_includes_writes_of_another_process,
    recount_includes_rows_loaded_with_triggers_disabled,
    deep_page_equals_the_page_reached_by_walking,
    list_without_a_total_does_not_count,
    estimate_is_reported_separately_from_the_total,
    missing_count_triggers_are_restored_at_startup,
);

async fn total(client: &Client, path: &str) -> i64 {
    client.get(path).await.ok()["meta"]["total"].as_i64().expect("a total")
}

/// The total of a full page. A page that is not full gives the total without a count.
pub(super) async fn full(client: &Client, query: &str) -> i64 {
    total(client, &format!("/specimens?per_page=1{query}")).await
}

async fn total_follows_every_write(server: Server) {
    let admin = server.admin();
    let mut groups = Vec::new();
    for number in 1..=4 {
        let group = json!({ "name": format!("G{number}") });
        groups.push(admin.post("/product_groups", group).await.created("product_group")["id"].clone());
        assert_eq!(total(&admin, "/product_groups?per_page=1").await, number);
    }
    admin.put(&format!("/product_groups/{}", groups[0]), json!({ "name": "Other" })).await.ok();
    assert_eq!(total(&admin, "/product_groups?per_page=1").await, 4);
    admin.delete(&format!("/product_groups/{}", groups[1])).await.deleted();
    assert_eq!(total(&admin, "/product_groups?per_page=1").await, 3);
    assert_eq!(total(&admin, "/product_groups?per_page=1&page=9").await, 3, "an empty page tells it too");
}

/// Inserts specimens with these ids directly into the database.
pub(super) async fn insert(specimens: &Specimens, first: i64, last: i64) {
    let numbers = match specimens.state.db.dialect() {
        Dialect::Postgres => format!("SELECT generate_series({first}, {last}) AS n"),
        Dialect::Sqlite => format!(
            "WITH RECURSIVE s(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM s WHERE n < {last}) SELECT n FROM s"
        ),
    };
    let time = "'2026-03-21T10:00:00+00:00'";
    let insert = "INSERT INTO specimens (id, name, active, custom_fields, created_at, updated_at)";
    specimens.sql(&format!("{insert} SELECT n, 'S', n % 3 = 0, '{{}}', {time}, {time} FROM ({numbers}) AS s")).await;
}

async fn direct_database_writes_are_counted(specimens: Specimens) {
    let client = specimens.admin();
    assert_eq!(full(&client, "").await, 10);
    insert(&specimens, 5_000, 14_999).await;
    assert_eq!(full(&client, "").await, 10_010);
    specimens.sql("UPDATE specimens SET id = id + 100000 WHERE id BETWEEN 5000 AND 5009").await;
    specimens.sql("DELETE FROM specimens WHERE id BETWEEN 5010 AND 9999").await;
    assert_eq!(full(&client, "").await, 5_020);
    assert_eq!(ids(&client, &[("page", "5011"), ("per_page", "1")]).await, [105_000]);
    // A single record takes a shorter trigger path, a moved one does not.
    for sql in ["UPDATE specimens SET name = 'T' WHERE id = 14999", "UPDATE specimens SET id = 200000 WHERE id = 14999"]
    {
        specimens.sql(sql).await;
        assert_eq!(full(&client, "").await, 5_020, "{sql}");
    }
    assert_eq!(ids(&client, &[("page", "5010"), ("per_page", "1")]).await, [105_000]);
    assert_eq!(ids(&client, &[("page", "5020"), ("per_page", "1")]).await, [200_000]);
    if specimens.state.db.dialect() == Dialect::Postgres {
        counts::compact(&specimens.state.db).await.expect("the changes are folded");
        assert_eq!(full(&client, "").await, 5_020);
        specimens.sql("TRUNCATE specimens").await;
    } else {
        specimens.sql("DELETE FROM specimens").await;
    }
    assert_eq!(total(&client, "/specimens?page=2").await, 0);
}

async fn rolled_back_write_is_not_counted(specimens: Specimens) {
    let client = specimens.admin();
    let transaction = specimens.state.db.begin().await.expect("a transaction begins");
    let sql = Sql::new(specimens.state.db.dialect(), "DELETE FROM specimens");
    assert_eq!(sql.run(&transaction).await.expect("it runs"), 10);
    assert_eq!(full(&client, "").await, 10, "nobody sees what is not committed");
    drop(transaction);
    assert_eq!(full(&client, "").await, 10);
}

async fn filtered_total_follows_changes_of_records_and_their_references(server: Server) {
    let admin = server.admin();
    let group = admin.post("/product_groups", json!({ "name": "Lamps" })).await.created("product_group");
    for number in 0..3 {
        let product =
            json!({ "name": format!("P{number}"), "product_group_id": group["id"], "product_type": "rental" });
        admin.post("/products", product).await.created("product");
    }
    let by_group = "/products?per_page=1&q[product_group_name_eq]=Lamps";
    let by_name = "/products?per_page=1&q[name_cont]=P";
    for _ in 0..2 {
        assert_eq!((total(&admin, by_group).await, total(&admin, by_name).await), (3, 3));
    }
    let first = admin.get(by_name).await.records("products")[0]["id"].clone();
    admin.put(&format!("/products/{first}"), json!({ "name": "Q" })).await.ok();
    assert_eq!((total(&admin, by_group).await, total(&admin, by_name).await), (3, 2));
    admin.put(&format!("/product_groups/{}", group["id"]), json!({ "name": "Lights" })).await.ok();
    assert_eq!(total(&admin, &format!("{by_group}&page=2")).await, 0);
    assert_eq!(total(&admin, "/products?per_page=1&q[product_group_name_eq]=Lights").await, 3);
    admin.delete(&format!("/products/{first}")).await.deleted();
    assert_eq!(total(&admin, "/products?per_page=1&q[product_group_name_eq]=Lights").await, 2);
}

/// Disables the triggers of a table, as a bulk load does.
pub(super) async fn disable_triggers(specimens: &Specimens) {
    let db = &specimens.state.db;
    if db.dialect() == Dialect::Postgres {
        return specimens.sql("ALTER TABLE specimens DISABLE TRIGGER USER").await;
    }
    let named = "SELECT name AS text FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'specimens'";
    for name in specimens.texts(named).await {
        specimens.sql(&format!("DROP TRIGGER \"{name}\"")).await;
    }
}

/// Enables the triggers without recounting.
pub(super) async fn enable_triggers(specimens: &Specimens) {
    let db = &specimens.state.db;
    if db.dialect() == Dialect::Postgres {
        return specimens.sql("ALTER TABLE specimens ENABLE TRIGGER USER").await;
    }
    let meta = specimens.state.catalog.get("specimen").expect("it is linked").meta;
    for (_, text) in counts::triggers(db.dialect(), meta) {
        specimens.sql(&text).await;
    }
}

async fn filtered_total_is_cached_until_a_table_changes(specimens: Specimens) {
    let client = specimens.admin();
    insert(&specimens, 100, 102).await;
    assert_eq!(full(&client, "&q[name_eq]=S").await, 3);
    // A change without triggers goes unnoticed: nothing is counted.
    disable_triggers(&specimens).await;
    insert(&specimens, 103, 104).await;
    assert_eq!(full(&client, "&q[name_eq]=S").await, 3);
    assert_eq!(full(&client, "&q[name_eq]=S&page=2").await, 3, "any page");
    assert_eq!(full(&client, "&q[name_eq]=S&q[id_gt]=0").await, 5, "another filter is counted");
    assert_eq!(ids(&client, &[("q[name_eq]", "S")]).await.len(), 5, "and so is a page that is not full");
}

async fn total_includes_writes_of_another_process(server: Server) {
    let (admin, other) = (server.admin(), server.second_node().await);
    let other_client = other.admin();
    for number in 1..=3 {
        let name = if number < 3 { "Crew" } else { "Staff" };
        admin.post("/roles", json!({ "name": format!("{name} {number}") })).await.created("role");
        assert_eq!(total(&other_client, "/roles?per_page=1&q[id_gt]=2").await, number);
        assert_eq!(total(&other_client, "/roles?per_page=1&q[name_cont]=crew").await, number.min(2));
    }
    other.state.db.close().await;
}

charter_testing::needs_postgres! {
    #[test]
    fn recount_waiting_for_compaction_does_not_block_writers() {
        run(Database::Postgres, async |specimens: Specimens| {
            let (client, state) = (specimens.admin(), specimens.state.clone());
            let compaction = state.db.begin_maintenance().await.expect("a transaction begins");
            let lock =
                "SELECT pg_advisory_xact_lock(1181707364), current_setting('idle_in_transaction_session_timeout') AS text";
            let row = Sql::new(Dialect::Postgres, lock).one(&compaction).await.expect("the lock is free").expect("a row");
            assert_eq!(row.try_get::<String>("", "text").unwrap(), "10s", "a stalled process loses the lock after 10 s");
            let counts = tokio::spawn(async move { counts::recount(&state.db, &state.catalog, Some("specimens")).await });
            tokio::time::sleep(Duration::from_millis(200)).await;
            let created = client.post("/specimens", json!({ "name": "Meanwhile" }));
            let created = tokio::time::timeout(Duration::from_secs(2), created).await.expect("nobody waits");
            created.created("specimen");
            drop(compaction);
            let counted = counts.await.expect("it ends").expect("it is counted");
            assert_eq!(counted.iter().map(|(_, count)| *count).sum::<i64>(), 11);
        });
    }
}

async fn recount_includes_rows_loaded_with_triggers_disabled(specimens: Specimens) {
    let (client, state) = (specimens.admin(), &specimens.state);
    assert_eq!(full(&client, "&q[id_gt]=0").await, 10);
    disable_triggers(&specimens).await;
    insert(&specimens, 4_096, 9_999).await;
    assert_eq!((full(&client, "").await, full(&client, "&q[id_gt]=0").await), (10, 10));
    let counted = counts::recount(&state.db, &state.catalog, Some("specimens")).await.expect("it is counted");
    assert_eq!(counted, [("specimens", 5_914)]);
    assert_eq!((full(&client, "").await, full(&client, "&q[id_gt]=0").await), (5_914, 5_914));
    assert_eq!(ids(&client, &[("page", "5914"), ("per_page", "1")]).await, [9_999]);
    let unknown = counts::recount(&state.db, &state.catalog, Some("nothings")).await.expect_err("it is refused");
    assert!(format!("{unknown:?}").contains("`nothings`"));
}

async fn deep_page_equals_the_page_reached_by_walking(specimens: Specimens) {
    let client = specimens.admin();
    insert(&specimens, 3_000, 9_000).await;
    insert(&specimens, 20_000, 26_000).await;
    specimens.sql("DELETE FROM specimens WHERE id > 3000 AND id % 7 = 0").await;
    let all = specimens.texts("SELECT CAST(id AS TEXT) AS text FROM specimens ORDER BY id").await;
    let all: Vec<i64> = all.iter().map(|id| id.parse().expect("a number")).collect();
    let pages = all.len().div_ceil(100);
    for page in [41, 42, 43, 51, 60, 87, 88, pages - 1, pages, pages + 1] {
        for sort in ["", "id"] {
            let query = [("page", page.to_string()), ("per_page", "100".into()), ("sort", sort.into())];
            let answer = client.list("/specimens", &query.each_ref().map(|(n, v)| (*n, v.as_str()))).await;
            let found: Vec<i64> = answer.column("specimens", "id").iter().filter_map(Value::as_i64).collect();
            let expected: Vec<i64> = all.iter().copied().skip((page - 1) * 100).take(100).collect();
            assert_eq!(found, expected, "page {page} sort={sort}");
            assert_eq!(answer.ok()["meta"]["total"], json!(all.len()), "page {page}");
        }
    }
}

async fn list_without_a_total_does_not_count(specimens: Specimens) {
    let client = specimens.admin();
    for query in ["", "&q[id_gt]=0", "&page=3"] {
        let body = client.get(&format!("/specimens?count=none&per_page=2{query}")).await.ok();
        let page = if query == "&page=3" { 3 } else { 1 };
        assert_eq!(body["meta"], json!({ "per_page": 2, "page": page }), "{query}");
        assert_eq!(body["specimens"].as_array().map(Vec::len), Some(2));
    }
    assert_eq!(client.get("/specimens?count=exact&per_page=2").await.ok()["meta"]["total"], json!(10));
    for bad in ["", "no", "None", "0", "estimated"] {
        assert_eq!(client.list("/specimens", &[("count", bad)]).await.invalid_fields(), ["count"], "{bad}");
    }
}

async fn estimate_is_reported_separately_from_the_total(specimens: Specimens) {
    let client = specimens.admin();
    let meta = async |query: &str| {
        client.get(&format!("/specimens?count=estimate&per_page=2{query}")).await.ok()["meta"].clone()
    };
    // A maintained total, or one that the page shows, is exact.
    assert_eq!(meta("").await, json!({ "total_estimate": 10, "per_page": 2, "page": 1 }));
    assert_eq!(meta("&q[id_in]=10,11").await["total_estimate"], 1);
    insert(&specimens, 1001, 7000).await;
    let on_postgres = specimens.state.db.dialect() == Dialect::Postgres;
    if on_postgres {
        specimens.sql("ANALYZE specimens").await;
    }
    let exact = full(&client, "&q[active_true]=0").await;
    for query in
        ["&q[active_true]=0&q[id_gt]=1000", "&q[active_true]=0&q[id_gt]=1000&page=700", "&q[name_eq]=S&cursor="]
    {
        let page = meta(query).await;
        assert!(page.get("total").is_none(), "{page}");
        let estimate = page["total_estimate"].as_i64().expect("an estimate");
        assert!((2_000..=8_000).contains(&estimate), "{query}: {estimate}");
    }
    // A cached exact total is returned as the estimate.
    assert_eq!(meta("&q[active_true]=0").await["total_estimate"], exact);
    // PostgreSQL does not count for an estimate.
    let plan = client.get("/specimens?explain=1&count=estimate&q[active_true]=0&q[id_gt]=5").await.ok();
    assert_eq!(plan["plan"]["statements"].as_array().map(Vec::len), Some(if on_postgres { 1 } else { 2 }));
    // The estimate is at least the number of records up to the page.
    specimens.sql("DELETE FROM specimens WHERE id > 1000").await;
    let estimate = meta("&q[name_not_eq]=S&sort=-name&page=3").await["total_estimate"].as_i64();
    assert!(estimate >= Some(6), "{estimate:?}");
    client.get("/specimens?count=estimate&q[active_true]=x").await.status(422);
}

async fn missing_count_triggers_are_restored_at_startup(specimens: Specimens) {
    let (client, state) = (specimens.admin(), &specimens.state);
    assert_eq!(counts::install(&state.db, &state.catalog).await.expect("nothing is missing"), [""; 0]);
    if state.db.dialect() == Dialect::Postgres {
        specimens.sql("DROP TRIGGER charter_count_all_insert ON specimens").await;
    } else {
        disable_triggers(&specimens).await;
    }
    insert(&specimens, 100, 119).await;
    assert_eq!(counts::install(&state.db, &state.catalog).await.expect("the triggers are installed"), ["specimens"]);
    assert_eq!(full(&client, "").await, 30);
    insert(&specimens, 120, 129).await;
    assert_eq!(full(&client, "").await, 40);
}
