//! What is asked at the same time may be one statement, and nobody can tell.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{Answer, Client, Database, Server, on_both, run};

on_both!(
    each_is_answered_what_it_asked,
    of_those_who_change_one_record_each_has_its_say,
    those_who_ask_for_one_record_are_all_answered,
    who_asks_for_the_same_list_at_once_sees_what_was_there_before,
    what_is_written_of_the_same_rows_is_what_each_asked_for,
);

#[test]
fn what_the_database_refuses_of_one_is_nobody_elses() {
    run(Database::Postgres, refused);
}

#[test]
fn a_record_that_another_transaction_holds_keeps_nobody_else_waiting() {
    run(Database::Postgres, held);
}

#[test]
fn a_unique_value_that_is_being_stored_keeps_nobody_else_waiting() {
    run(Database::Postgres, taken);
}

#[test]
fn nor_does_one_that_only_the_database_knows_to_be_unique() {
    run(Database::Postgres, taken_unknown);
}

#[test]
fn who_changes_a_record_does_not_wait_for_those_who_refer_to_it() {
    run(Database::Postgres, referred_to);
}

#[test]
fn how_records_are_found_is_planned_once() {
    run(Database::Postgres, planned);
}

/// So many are asked at once.
const MANY: usize = 40;

async fn products(admin: &Client) -> Vec<i64> {
    let create = |n: usize| async move {
        let body = json!({ "name": format!("Lamp {n}"), "sku": format!("L-{n}"), "weight": n.to_string() });
        let product = admin.post("/products", body).await.created("product");
        assert_eq!((&product["name"], &product["sku"]), (&json!(format!("Lamp {n}")), &json!(format!("L-{n}"))));
        product["id"].as_i64().expect("an id")
    };
    // In two turns: who writes waits no longer for the others than the gate has patience.
    let mut made = join_all((0..MANY / 2).map(create)).await;
    made.extend(join_all((MANY / 2..MANY).map(create)).await);
    made
}

async fn who_asks_for_the_same_list_at_once_sees_what_was_there_before(server: Server) {
    let admin = &server.admin();
    let answered = &AtomicUsize::new(0);
    let write_and_read = |n: usize| async move {
        for m in 0..3 {
            admin.post("/products", json!({ "name": format!("Lamp {n} {m}") })).await.created("product");
            answered.fetch_add(1, Ordering::SeqCst);
            let least = answered.load(Ordering::SeqCst);
            for path in ["/products?sort=-id", "/products?q[name_start]=lamp&include=productGroup"] {
                let list = admin.get(path).await.ok();
                let total = list["meta"]["total"].as_u64().expect("a total");
                assert!(total >= least as u64, "{path}: {total} of {least}");
                assert_eq!(list["products"].as_array().map(Vec::len), Some(total.min(20) as usize), "{path}");
            }
        }
    };
    // Who writes waits its turn behind all others on SQLite, and no longer than the gate has patience.
    join_all((0..MANY / 2).map(write_and_read)).await;
}

async fn what_is_written_of_the_same_rows_is_what_each_asked_for(server: Server) {
    let admin = &server.admin();
    for name in ["power", "grade"] {
        let field = json!({ "name": name, "label": name, "field_type": "text", "entity_type": "products" });
        admin.post("/custom_fields", field).await.created("custom_field");
    }
    let product = json!({ "name": "Lamp", "custom_fields": { "power": "strong", "grade": "fine" } });
    admin.post("/products", product).await.created("product");
    // Views differ in what is shown of the same columns, and in `meta`.
    let mut asked = Vec::new();
    for (name, column) in [("One", "cf.power"), ("Two", "cf.grade"), ("Three", "custom_fields"), ("Four", "cf.power")] {
        let view = json!({ "name": name, "entity_type": "products", "columns": ["name", column] });
        let id = admin.post("/custom_views", view).await.created("custom_view")["id"].clone();
        asked.push(format!("/products?view_id={id}"));
    }
    let plain = ["", "?count=none", "?per_page=20", "?include=customFieldValues", "?fields=name,custom_fields"];
    asked.extend(plain.map(|query| format!("/products{query}")));
    // Of the same column the code is written, or the word for it.
    let activity = json!({ "subject": "Call", "type_id": 1002 });
    admin.post("/activities", activity).await.created("activity");
    asked.extend(["type_id", "activity_type_name"].map(|field| format!("/activities?fields={field}")));
    let mut alone = Vec::new();
    for path in &asked {
        // Nothing is remembered after a write.
        admin.post("/product_groups", json!({ "name": path })).await.created("product_group");
        alone.push(admin.get(path).await.ok());
    }
    assert_eq!(alone[0]["products"][0]["custom_fields"], json!({ "power": "strong" }));
    assert_eq!(alone[1]["products"][0]["custom_fields"], json!({ "grade": "fine" }));
    assert_eq!((&alone[0]["meta"]["view"]["name"], &alone[3]["meta"]["view"]["name"]), (&json!("One"), &json!("Four")));
    let last = &alone[alone.len() - 2..];
    assert!(
        last[0]["activities"][0]["type_id"].is_number() && last[1]["activities"][0]["activity_type_name"].is_string()
    );
    for round in 0..5 {
        let read = |n: usize| {
            let at = n % asked.len();
            let (path, alone) = (&asked[at], &alone[at]);
            async move { assert_eq!(&admin.get(path).await.ok(), alone, "{path}, round {round}") }
        };
        join_all((0..MANY).map(read)).await;
    }
}

async fn those_who_ask_for_one_record_are_all_answered(server: Server) {
    let admin = &server.admin();
    let ids = products(admin).await;
    let read = |n: usize| async move {
        let id = ids_of(n);
        let product =
            admin.get(&format!("/products/{id}?include=productGroup,customFieldValues")).await.record("product");
        assert_eq!(product["id"], json!(id));
    };
    assert_eq!(ids.len(), MANY);
    join_all((0..4 * MANY).map(read)).await;
}

/// Ids that are asked for by many, and by one.
fn ids_of(n: usize) -> usize {
    if n.is_multiple_of(3) { n % MANY + 1 } else { 1 + n % 2 }
}

async fn each_is_answered_what_it_asked(server: Server) {
    let admin = &server.admin();
    let group = &admin.post("/product_groups", json!({ "name": "Lamps" })).await.created("product_group")["id"];
    let ids = products(admin).await;
    let mut different = ids.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), MANY);
    // Changes of several kinds, refused ones among them, and readers of all of it.
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
    assert_eq!(admin.get("/products").await.ok()["meta"]["total"], MANY);
    // What is told and entered of each is its own.
    let changed = MANY / 5 * 3;
    let told: Vec<Value> =
        server.event_bodies(0).await.into_iter().filter(|event| event["event"] == "product.updated").collect();
    assert_eq!(told.len(), changed);
    for event in told {
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

async fn of_those_who_change_one_record_each_has_its_say(server: Server) {
    let admin = &server.admin();
    let path = &format!("/products/{}", admin.post("/products", json!({ "name": "0" })).await.created("product")["id"]);
    // Half of them want the same, which is only stored once.
    let change = |n: usize| async move {
        let name = (n / 2).to_string();
        assert_eq!(admin.patch(path, json!({ "name": name })).await.record("product")["name"], name);
    };
    join_all((2..MANY).map(change)).await;
    let last = admin.get(path).await.record("product");
    let entries = admin.get("/audit_entries?q[action_eq]=update&per_page=100").await.column("audit_entries", "changes");
    let mut name = json!("0");
    for change in &entries {
        assert_ne!(change["name"]["old"], change["name"]["new"]);
        assert_eq!(change["name"]["old"], name, "each follows upon the one before: {entries:?}");
        name = change["name"]["new"].clone();
    }
    assert!((MANY / 2 - 1..MANY).contains(&entries.len()), "{}", entries.len());
    assert_eq!(last["name"], name);
}

async fn refused(server: Server) {
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
    assert_eq!(lights, 2 * (MANY - MANY / 10));
}

async fn held(server: Server) {
    let admin = &server.admin();
    let ids = products(admin).await;
    let transaction = server.state.db.begin().await.expect("a transaction begins");
    let hold = format!("UPDATE products SET weight = 99 WHERE id = {}", ids[0]);
    transaction.execute_unprepared(&hold).await.expect("it is held");
    let change = |id: &i64| {
        let path = format!("/products/{id}");
        async move { admin.patch(&path, json!({ "name": "Light" })).await.record("product") }
    };
    let mut waits = Box::pin(change(&ids[0]));
    let others = join_all(ids[1..].iter().map(change));
    let both = async {
        tokio::select! {
            early = &mut waits => panic!("it is held, and was answered {early}"),
            others = others => others,
        }
    };
    let others = timeout(Duration::from_secs(5), both).await.expect("nobody waits for what they do not want");
    assert_eq!(others.len(), MANY - 1);
    transaction.commit().await.expect("it ends");
    let last = waits.await;
    assert_eq!((&last["name"], &last["weight"]), (&json!("Light"), &json!("99.0000")));
}

/// PostgreSQL plans a statement anew, which takes ten times as long as to find a record, where it thinks that the values
/// that it is given make it cheaper.
async fn planned(server: Server) {
    let path = |id: &i64| format!("/products/{id}");
    let many =
        "INSERT INTO products (name, created_at, updated_at) SELECT 'Lamp', now(), now() FROM generate_series(1, 5000)";
    server.sql(many).await;
    server.sql("ANALYZE products").await;
    let ids: Vec<i64> = (1_001..=1_004).collect();
    // Of one connection only it can be seen what was planned on it.
    let server = server.beside_with(|config| config.database_pool = 1).await;
    let admin = &server.admin();
    for some in (1..=4).cycle().take(60) {
        // The first goes alone, and the others together.
        let read = ids[..some].iter().map(|id| async move { admin.get(&path(id)).await.ok() });
        join_all(read).await;
        let change = |id| async move { admin.patch(&path(id), json!({ "name": "Same" })).await.ok() };
        join_all(ids[..some].iter().map(change)).await;
    }
    let plans = "SELECT CASE WHEN custom_plans > 5 THEN statement ELSE 'once' END AS text FROM pg_prepared_statements \
                 WHERE statement LIKE 'SELECT t.%FROM \"products\" AS t%' AND custom_plans + generic_plans > 5";
    let planned = server.texts(plans).await;
    assert!(planned.len() > 1, "to show them and to change them: {planned:?}");
    assert!(planned.iter().all(|plan| plan == "once"), "{planned:#?}");
}

async fn taken(server: Server) {
    let first = "INSERT INTO product_groups (name, created_at, updated_at) VALUES ('Lamps', now(), now())";
    let group = |n: Option<usize>| json!({ "name": n.map_or("Lamps".into(), |n| format!("Lamps {n}")) });
    let last = one_waits(&server, first, "/product_groups", group).await;
    last.invalid("name");
}

async fn taken_unknown(server: Server) {
    server.sql("CREATE UNIQUE INDEX theirs ON products (barcode)").await;
    let first = "INSERT INTO products (name, barcode, created_at, updated_at) VALUES ('Lamp', '0', now(), now())";
    let product = |n: Option<usize>| json!({ "name": "Lamp", "barcode": n.map_or(0, |n| n + 1).to_string() });
    let last = one_waits(&server, first, "/products", product).await;
    last.refused(409, "conflict");
}

/// What is answered to the one record that another transaction keeps waiting with its own statement, and others do not
/// wait for: `record` has their bodies, by number.
async fn one_waits(server: &Server, first: &str, path: &str, record: impl Fn(Option<usize>) -> Value) -> Answer {
    let admin = &server.admin();
    let transaction = server.state.db.begin().await.expect("a transaction begins");
    transaction.execute_unprepared(first).await.expect("it is stored");
    let mut waits = Box::pin(admin.post(path, record(None)));
    let others = join_all((0..MANY).map(|n| admin.post(path, record(Some(n)))));
    let both = async {
        tokio::select! {
            early = &mut waits => panic!("it waits, and was answered {}", early.text),
            others = others => others,
        }
    };
    for other in timeout(Duration::from_secs(5), both).await.expect("nobody waits for another's value") {
        other.status(201);
    }
    transaction.commit().await.expect("it ends");
    waits.await
}

async fn referred_to(server: Server) {
    let admin = server.admin();
    let group = admin.post("/product_groups", json!({ "name": "Lamps" })).await;
    let path = format!("/product_groups/{}", group.created("product_group")["id"]);
    let transaction = server.state.db.begin().await.expect("a transaction begins");
    transaction.execute_unprepared("SELECT 1 FROM product_groups FOR KEY SHARE").await.expect("as a reference does");
    let precisely = admin.with("if-match", group.header("etag").expect("a tag"));
    let change = precisely.patch(&path, json!({ "description": "All of them." }));
    timeout(Duration::from_secs(5), change).await.expect("it waits for nobody").record("product_group");
    transaction.commit().await.expect("it ends");
}
