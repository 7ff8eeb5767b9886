//! Batching: concurrent requests share statements without observable effects.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{Answer, Client, Database, Server, on_both, run};

on_both!(
    concurrent_writes_get_their_own_responses,
    concurrent_updates_of_one_record_are_all_applied,
    concurrent_requests_for_one_record_all_succeed,
    concurrent_identical_lists_see_all_earlier_writes,
    concurrent_lists_of_the_same_rows_keep_their_own_fields,
);

charter_testing::needs_postgres! {
    #[test]
    fn database_error_of_one_request_does_not_affect_others() {
        run(Database::Postgres, database_errors);
    }
}

charter_testing::needs_postgres! {
    #[test]
    fn locked_record_does_not_delay_writes_of_others() {
        run(Database::Postgres, locked_record);
    }
}

charter_testing::needs_postgres! {
    #[test]
    fn uncommitted_unique_value_does_not_delay_writes_of_others() {
        run(Database::Postgres, unique_value);
    }
}

charter_testing::needs_postgres! {
    #[test]
    fn uncommitted_value_of_an_undeclared_unique_index_does_not_delay_writes_of_others() {
        run(Database::Postgres, undeclared_unique_value);
    }
}

charter_testing::needs_postgres! {
    #[test]
    fn update_does_not_wait_for_transactions_that_reference_the_record() {
        run(Database::Postgres, referenced_record);
    }
}

charter_testing::needs_postgres! {
    #[test]
    fn batched_record_lookup_is_planned_once() {
        run(Database::Postgres, plans);
    }
}

/// Number of concurrent requests.
const REQUESTS: usize = 40;

async fn products(admin: &Client) -> Vec<i64> {
    let create = |n: usize| async move {
        let body = json!({ "name": format!("Lamp {n}"), "sku": format!("L-{n}"), "weight": n.to_string() });
        let product = admin.post("/products", body).await.created("product");
        assert_eq!((&product["name"], &product["sku"]), (&json!(format!("Lamp {n}")), &json!(format!("L-{n}"))));
        product["id"].as_i64().expect("an id")
    };
    // In two rounds, because a write that waits too long for the others is rejected by load shedding.
    let mut created = join_all((0..REQUESTS / 2).map(create)).await;
    created.extend(join_all((REQUESTS / 2..REQUESTS).map(create)).await);
    created
}

async fn concurrent_identical_lists_see_all_earlier_writes(server: Server) {
    let admin = &server.admin();
    let acknowledged = &AtomicUsize::new(0);
    let write_and_read = |n: usize| async move {
        for m in 0..3 {
            admin.post("/products", json!({ "name": format!("Lamp {n} {m}") })).await.created("product");
            acknowledged.fetch_add(1, Ordering::SeqCst);
            let min = acknowledged.load(Ordering::SeqCst);
            for path in ["/products?sort=-id", "/products?q[name_start]=lamp&include=productGroup"] {
                let list = admin.get(path).await.ok();
                let total = list["meta"]["total"].as_u64().expect("a total");
                assert!(total >= min as u64, "{path}: {total} of {min}");
                assert_eq!(list["products"].as_array().map(Vec::len), Some(total.min(20) as usize), "{path}");
            }
        }
    };
    // On SQLite, writes run one at a time. More of them would be rejected by load shedding.
    join_all((0..REQUESTS / 2).map(write_and_read)).await;
}

async fn concurrent_lists_of_the_same_rows_keep_their_own_fields(server: Server) {
    let admin = &server.admin();
    for name in ["power", "grade"] {
        let field = json!({ "name": name, "label": name, "field_type": "text", "entity_type": "products" });
        admin.post("/custom_fields", field).await.created("custom_field");
    }
    let product = json!({ "name": "Lamp", "custom_fields": { "power": "strong", "grade": "fine" } });
    admin.post("/products", product).await.created("product");
    // Views that differ in the shown members of the same column, and in `meta`.
    let mut paths = Vec::new();
    for (name, column) in [("One", "cf.power"), ("Two", "cf.grade"), ("Three", "custom_fields"), ("Four", "cf.power")] {
        let view = json!({ "name": name, "entity_type": "products", "columns": ["name", column] });
        let id = admin.post("/custom_views", view).await.created("custom_view")["id"].clone();
        paths.push(format!("/products?view_id={id}"));
    }
    let plain = ["", "?count=none", "?per_page=20", "?include=customFieldValues", "?fields=name,custom_fields"];
    paths.extend(plain.map(|query| format!("/products{query}")));
    // The code and the label of the same column.
    let activity = json!({ "subject": "Call", "type_id": 1002 });
    admin.post("/activities", activity).await.created("activity");
    paths.extend(["type_id", "activity_type_name"].map(|field| format!("/activities?fields={field}")));
    let mut expected = Vec::new();
    for path in &paths {
        // A write invalidates the response cache.
        admin.post("/product_groups", json!({ "name": path })).await.created("product_group");
        expected.push(admin.get(path).await.ok());
    }
    assert_eq!(expected[0]["products"][0]["custom_fields"], json!({ "power": "strong" }));
    assert_eq!(expected[1]["products"][0]["custom_fields"], json!({ "grade": "fine" }));
    assert_eq!(
        (&expected[0]["meta"]["view"]["name"], &expected[3]["meta"]["view"]["name"]),
        (&json!("One"), &json!("Four"))
    );
    let response = &expected[expected.len() - 2..];
    assert!(
        response[0]["activities"][0]["type_id"].is_number()
            && response[1]["activities"][0]["activity_type_name"].is_string()
    );
    for round in 0..5 {
        let read = |n: usize| {
            let at = n % paths.len();
            let (path, expected) = (&paths[at], &expected[at]);
            async move { assert_eq!(&admin.get(path).await.ok(), expected, "{path}, round {round}") }
        };
        join_all((0..REQUESTS).map(read)).await;
    }
}

async fn concurrent_requests_for_one_record_all_succeed(server: Server) {
    let admin = &server.admin();
    let ids = products(admin).await;
    let read = |n: usize| async move {
        let id = ids_of(n);
        let product =
            admin.get(&format!("/products/{id}?include=productGroup,customFieldValues")).await.record("product");
        assert_eq!(product["id"], json!(id));
    };
    assert_eq!(ids.len(), REQUESTS);
    join_all((0..4 * REQUESTS).map(read)).await;
}

/// Ids that many request, and ids that one requests.
fn ids_of(n: usize) -> usize {
    if n.is_multiple_of(3) { n % REQUESTS + 1 } else { 1 + n % 2 }
}

async fn concurrent_writes_get_their_own_responses(server: Server) {
    let admin = &server.admin();
    let group = &admin.post("/product_groups", json!({ "name": "Lamps" })).await.created("product_group")["id"];
    let ids = products(admin).await;
    let mut different = ids.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), REQUESTS);
    // Updates of several kinds, some invalid, and reads.
    let change = |(n, id): (usize, i64)| {
        let path = format!("/products/{id}");
        async move {
            match n % 5 {
                0 => drop(admin.patch(&path, json!({ "weight": "-1" })).await.invalid("weight")),
                1 => {
                    let product = admin.patch(&path, json!({ "product_group_id": group })).await.record("product");
                    assert_eq!((&product["id"], &product["product_group_name"]), (&json!(id), &json!("Lamps")));
                }
                2 => drop(admin.patch(&path, json!({ "product_group_id": 4711 })).await.invalid("product_group_id")),
                _ => {
                    let name = format!("Light {n}");
                    let product = admin.patch(&path, json!({ "name": name })).await.record("product");
                    assert_eq!((&product["id"], &product["name"]), (&json!(id), &json!(name)));
                }
            }
            let product = admin.get(&path).await.record("product");
            assert_eq!((&product["id"], &product["sku"]), (&json!(id), &json!(format!("L-{n}"))));
            admin.get(&format!("/products/{}", id + 1_000)).await.refused(404, "not_found");
        }
    };
    join_all(ids.iter().copied().enumerate().map(change)).await;
    assert_eq!(admin.get("/products").await.ok()["meta"]["total"], REQUESTS);
    // Each update has its own event and audit entry.
    let changed = REQUESTS / 5 * 3;
    let events: Vec<Value> =
        server.event_bodies(0).await.into_iter().filter(|event| event["event"] == "product.updated").collect();
    assert_eq!(events.len(), changed);
    for event in events {
        let product = &event["data"]["product"];
        let n = ids.iter().position(|id| product["id"] == *id).expect("one of them");
        assert_eq!(product["sku"], format!("L-{n}"));
        let path = format!("/audit_entries?q[entity_type_eq]=products&q[record_id_eq]={}", product["id"]);
        let changes = admin.get(&path).await.column("audit_entries", "changes");
        assert_eq!(changes.len(), 2, "it was created and changed: {changes:?}");
        let field = if n % 5 == 1 { "product_group_id" } else { "name" };
        assert_eq!(changes[1][field]["new"], product[field]);
    }
}

async fn concurrent_updates_of_one_record_are_all_applied(server: Server) {
    let admin = &server.admin();
    let path = &format!("/products/{}", admin.post("/products", json!({ "name": "0" })).await.created("product")["id"]);
    // Half of them set the same value, which is stored once.
    let change = |n: usize| async move {
        let name = (n / 2).to_string();
        assert_eq!(admin.patch(path, json!({ "name": name })).await.record("product")["name"], name);
    };
    join_all((2..REQUESTS).map(change)).await;
    let response = admin.get(path).await.record("product");
    let entries = admin.get("/audit_entries?q[action_eq]=update&per_page=100").await.column("audit_entries", "changes");
    let mut name = json!("0");
    for change in &entries {
        assert_ne!(change["name"]["old"], change["name"]["new"]);
        assert_eq!(change["name"]["old"], name, "each follows upon the one before: {entries:?}");
        name = change["name"]["new"].clone();
    }
    assert!((REQUESTS / 2 - 1..REQUESTS).contains(&entries.len()), "{}", entries.len());
    assert_eq!(response["name"], name);
}

async fn database_errors(server: Server) {
    server.sql("ALTER TABLE products ADD CONSTRAINT broken CHECK (name <> 'Broken')").await;
    let admin = &server.admin();
    let ids = products(admin).await;
    let change = |(n, id): (usize, &i64)| {
        let path = format!("/products/{id}");
        async move {
            let name = if n % 10 == 0 { "Broken" } else { "Light" };
            let changed = admin.patch(&path, json!({ "name": name })).await;
            let created = admin.post("/products", json!({ "name": name })).await;
            let expected = if n % 10 == 0 { (500, 500) } else { (200, 201) };
            assert_eq!((changed.status, created.status), expected, "{}", changed.text);
        }
    };
    join_all(ids.iter().enumerate().map(change)).await;
    let lights = admin.get("/products?q[name_eq]=Light").await.ok()["meta"]["total"].clone();
    assert_eq!(lights, 2 * (REQUESTS - REQUESTS / 10));
}

async fn locked_record(server: Server) {
    let admin = &server.admin();
    let ids = products(admin).await;
    let transaction = server.state.db.begin().await.expect("a transaction begins");
    let hold = format!("UPDATE products SET weight = 99 WHERE id = {}", ids[0]);
    transaction.execute_unprepared(&hold).await.expect("the row is locked");
    let change = |id: &i64| {
        let path = format!("/products/{id}");
        async move { admin.patch(&path, json!({ "name": "Light" })).await.record("product") }
    };
    let mut waiting = Box::pin(change(&ids[0]));
    let others = join_all(ids[1..].iter().map(change));
    let both = async {
        tokio::select! {
            early = &mut waiting => panic!("the row is locked, but the request returned {early}"),
            others = others => others,
        }
    };
    let others = timeout(Duration::from_secs(5), both).await.expect("only the locked record's update waits");
    assert_eq!(others.len(), REQUESTS - 1);
    transaction.commit().await.expect("it ends");
    let response = waiting.await;
    assert_eq!((&response["name"], &response["weight"]), (&json!("Light"), &json!("99.0000")));
}

/// PostgreSQL would use a custom plan each time if it expects a cheaper plan for the given values. Planning takes ten
/// times as long as finding a record.
async fn plans(server: Server) {
    let path = |id: &i64| format!("/products/{id}");
    let many =
        "INSERT INTO products (name, created_at, updated_at) SELECT 'Lamp', now(), now() FROM generate_series(1, 5000)";
    server.sql(many).await;
    server.sql("ANALYZE products").await;
    let ids: Vec<i64> = (1_001..=1_004).collect();
    // `pg_prepared_statements` shows the current connection only.
    let server = server.second_node_with(|config| config.database_pool = 1).await;
    let admin = &server.admin();
    for some in (1..=4).cycle().take(60) {
        // The first requests run alone, the others are batched.
        let read = ids[..some].iter().map(|id| async move { admin.get(&path(id)).await.ok() });
        join_all(read).await;
        let change = |id| async move { admin.patch(&path(id), json!({ "name": "Same" })).await.ok() };
        join_all(ids[..some].iter().map(change)).await;
    }
    let plans = "SELECT CASE WHEN custom_plans > 5 THEN statement ELSE 'once' END AS text FROM pg_prepared_statements \
                 WHERE statement LIKE 'SELECT t.%FROM \"products\" AS t%' AND custom_plans + generic_plans > 5";
    let plans = server.texts(plans).await;
    assert!(plans.len() > 1, "to show them and to change them: {plans:?}");
    assert!(plans.iter().all(|plan| plan == "once"), "{plans:#?}");
}

async fn unique_value(server: Server) {
    let first = "INSERT INTO product_groups (name, created_at, updated_at) VALUES ('Lamps', now(), now())";
    let group = |n: Option<usize>| json!({ "name": n.map_or("Lamps".into(), |n| format!("Lamps {n}")) });
    let response = wait_for_one(&server, first, "/product_groups", group).await;
    response.invalid("name");
}

async fn undeclared_unique_value(server: Server) {
    server.sql("CREATE UNIQUE INDEX theirs ON products (barcode)").await;
    let first = "INSERT INTO products (name, barcode, created_at, updated_at) VALUES ('Lamp', '0', now(), now())";
    let product = |n: Option<usize>| json!({ "name": "Lamp", "barcode": n.map_or(0, |n| n + 1).to_string() });
    let response = wait_for_one(&server, first, "/products", product).await;
    response.refused(409, "conflict");
}

/// The response to one request that waits for another transaction's statement, while others do not wait. `record`
/// returns their bodies by number.
async fn wait_for_one(server: &Server, first: &str, path: &str, record: impl Fn(Option<usize>) -> Value) -> Answer {
    let admin = &server.admin();
    let transaction = server.state.db.begin().await.expect("a transaction begins");
    transaction.execute_unprepared(first).await.expect("the row is stored");
    let mut waiting = Box::pin(admin.post(path, record(None)));
    let others = join_all((0..REQUESTS).map(|n| admin.post(path, record(Some(n)))));
    let both = async {
        tokio::select! {
            early = &mut waiting => panic!("the value is uncommitted, but the request returned {}", early.text),
            others = others => others,
        }
    };
    for other in timeout(Duration::from_secs(5), both).await.expect("only the request with the uncommitted value waits")
    {
        other.status(201);
    }
    transaction.commit().await.expect("it ends");
    waiting.await
}

async fn referenced_record(server: Server) {
    let admin = server.admin();
    let group = admin.post("/product_groups", json!({ "name": "Lamps" })).await;
    let path = format!("/product_groups/{}", group.created("product_group")["id"]);
    let transaction = server.state.db.begin().await.expect("a transaction begins");
    transaction.execute_unprepared("SELECT 1 FROM product_groups FOR KEY SHARE").await.expect("as a reference does");
    let conditional = admin.with("if-match", group.header("etag").expect("a tag"));
    let change = conditional.patch(&path, json!({ "description": "All of them." }));
    timeout(Duration::from_secs(5), change).await.expect("the update does not wait").record("product_group");
    transaction.commit().await.expect("it ends");
}
