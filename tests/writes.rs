//! Writes: the response, the event and the audit entry match the stored record, on the fast and the slow path.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Client, Database, Server, on_both, run};

on_both!(
    write_returns_the_same_record_as_a_read,
    custom_field_definition_applies_to_the_next_write_of_every_server,
    concurrent_updates_of_one_record_are_serialized,
    slow_update_returns_concurrent_changes_of_the_record_and_its_references,
    refused_write_stores_nothing,
    write_needs_only_one_connection,
    reference_deleted_during_a_write_is_reported_on_its_field,
);

charter_testing::needs_postgres! {
    #[test]
    fn plain_write_on_postgres_is_one_statement() {
        run(Database::Postgres, one_statement);
    }
}

charter_testing::needs_postgres! {
    #[test]
    fn write_returns_the_values_that_a_database_trigger_set() {
        run(Database::Postgres, triggered);
    }
}

async fn define(client: &Client, name: &str, more: Value) -> Value {
    let mut body = json!({ "entity_type": "products", "name": name, "field_type": "string" });
    body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    client.post("/custom_fields", body).await.created("custom_field")
}

async fn write_returns_the_same_record_as_a_read(server: Server) {
    let admin = server.admin();
    define(&admin, "colour", json!({})).await;
    define(&admin, "a_longer_name", json!({})).await;
    let group = admin.post("/product_groups", json!({ "name": "Lamps" })).await.created("product_group");
    let body = json!({
        "name": "Lämp \"1\" \\", "description": "one\ntwo", "product_group_id": group["id"], "weight": 1.5,
        "replacement_charge": "0.10", "tag_list": ["stage", "a, b"], "is_active": false,
        "custom_fields": { "colour": "red", "a_longer_name": "<ß>" },
    });
    let created = admin.post("/products", body).await;
    let path = format!("/products/{}", created.created("product")["id"]);
    let mut answers = vec![(created, admin.get(&path).await)];
    for body in [
        json!({ "weight": "-0.0" }),
        json!({ "weight": "12345678.0001", "sku": "" }),
        json!({ "product_group_id": "", "tag_list": ["z", "a"] }),
        json!({ "custom_fields": { "colour": "", "a_longer_name": "b" }, "name": "Light" }),
    ] {
        answers.push((admin.patch(&path, body).await, admin.get(&path).await));
    }
    let bodies = server.event_bodies(0).await;
    let mut told = bodies.iter().filter(|event| event["event"].as_str().is_some_and(|n| n.starts_with("product.")));
    for (written, read) in answers {
        assert_eq!(written.text, read.text);
        assert_eq!(written.header("etag"), read.header("etag"));
        assert_eq!(told.next().map(|event| &event["data"]), Some(&read.json()));
    }
}

async fn custom_field_definition_applies_to_the_next_write_of_every_server(server: Server) {
    let other = server.second_node().await;
    let (one, two) = (server.admin(), other.admin());
    let path = format!("/products/{}", one.post("/products", json!({ "name": "Lamp" })).await.created("product")["id"]);
    let red = json!({ "name": "Red", "custom_fields": { "colour": "red" } });
    one.post("/products", red.clone()).await.invalid("custom_fields.colour");
    let colour = define(&two, "colour", json!({})).await;
    assert_eq!(
        one.post("/products", red.clone()).await.created("product")["custom_fields"],
        json!({ "colour": "red" })
    );
    let changed = one.patch(&path, json!({ "custom_fields": { "colour": "blue" } })).await.record("product");
    assert_eq!(changed["custom_fields"], json!({ "colour": "blue" }));
    let definition = format!("/custom_fields/{}", colour["id"]);
    two.patch(&definition, json!({ "required": true })).await.record("custom_field");
    let problem = one.post("/products", json!({ "name": "None" })).await.invalid("custom_fields.colour");
    assert_eq!(problem, "is required");
    two.delete(&definition).await.deleted();
    one.post("/products", red).await.invalid("custom_fields.colour");
    one.patch(&path, json!({ "custom_fields": { "colour": "green" } })).await.invalid("custom_fields.colour");
    one.post("/products", json!({ "name": "None" })).await.created("product");
    other.stop().await;
}

async fn concurrent_updates_of_one_record_are_serialized(server: Server) {
    let admin = server.admin();
    let path = format!("/products/{}", admin.post("/products", json!({ "name": "0" })).await.created("product")["id"]);
    let change = |n: usize| {
        let (admin, path) = (admin.clone(), path.clone());
        async move { admin.patch(&path, json!({ "name": n.to_string() })).await.record("product") }
    };
    join_all((1..=24).map(change)).await;
    let entries = admin.get("/audit_entries?q[entity_type_eq]=products&q[action_eq]=update&per_page=100").await;
    let mut changes: Vec<(String, String)> = entries
        .column("audit_entries", "changes")
        .iter()
        .map(|change| (change["name"]["old"].to_string(), change["name"]["new"].to_string()))
        .collect();
    assert_eq!(changes.len(), 24);
    // The old value of each entry is the new value of exactly one other.
    let mut name = json!("0").to_string();
    while let Some(next) = changes.iter().position(|(old, _)| *old == name) {
        name = changes.swap_remove(next).1;
    }
    assert!(changes.is_empty(), "nobody has found what these say: {changes:?}");
    assert_eq!(admin.get(&path).await.record("product")["name"].to_string(), name);
}

/// The record is read before the body, which may arrive slowly.
async fn slow_update_returns_concurrent_changes_of_the_record_and_its_references(server: Server) {
    let admin = server.admin();
    let group = admin.post("/product_groups", json!({ "name": "Lamps" })).await.created("product_group");
    let body = json!({ "name": "Lamp", "product_group_id": group["id"] });
    let path = format!("/products/{}", admin.post("/products", body).await.created("product")["id"]);
    let group = format!("/product_groups/{}", group["id"]);
    let renamed = async || drop(admin.patch(&group, json!({ "name": "Lights" })).await.record("product_group"));
    let product = slowly(&admin, &path, json!({ "weight": "1.5" }), renamed).await["product"].clone();
    assert_eq!((&product["product_group_name"], &product["weight"]), (&json!("Lights"), &json!("1.5000")));
    assert_eq!(server.event_bodies(0).await.last().expect("an event")["data"]["product"], product);
    let changed = async || drop(admin.patch(&path, json!({ "name": "Light" })).await.record("product"));
    let product = slowly(&admin, &path, json!({ "weight": "2.5" }), changed).await["product"].clone();
    assert_eq!((&product["name"], &product["weight"]), (&json!("Light"), &json!("2.5000")));
    assert_eq!(admin.get(&path).await.record("product"), product);
    let entries = admin.get("/audit_entries?sort=-id&per_page=1").await.column("audit_entries", "changes");
    assert_eq!(entries, [json!({ "weight": { "old": "1.5000", "new": "2.5000" } })]);
    let gone = async || admin.delete(&path).await.deleted();
    assert_eq!(slowly(&admin, &path, json!({ "weight": "3.5" }), gone).await["code"], "not_found");
}

/// Sends a PATCH whose body arrives after another operation.
async fn slowly(client: &Client, path: &str, body: Value, between: impl AsyncFnOnce()) -> Value {
    let body = body.to_string();
    let client = client.with("content-type", "application/json").with("content-length", &body.len().to_string());
    let mut stream = client.begin_by("PATCH", "HTTP/1.1", path).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    between().await;
    stream.write_all(body.as_bytes()).await.expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("the server answers");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    serde_json::from_str(body).unwrap_or_else(|_| panic!("not JSON: {answer}"))
}

async fn refused_write_stores_nothing(server: Server) {
    let admin = server.admin();
    let group = json!({ "name": "Lamps" });
    let path = format!("/product_groups/{}", admin.post("/product_groups", group).await.created("product_group")["id"]);
    let before = (server.event_bodies(0).await.len(), entries(&admin).await);
    let bad = json!({ "name": "Lamp", "product_group_id": 4711, "tax_class_id": 4712, "weight": "1" });
    assert_eq!(admin.post("/products", bad).await.invalid_fields(), ["product_group_id", "tax_class_id"]);
    admin.patch(&path, json!({ "name": "" })).await.invalid("name");
    assert_eq!((server.event_bodies(0).await.len(), entries(&admin).await), before);
    assert_eq!(admin.get("/products").await.ok()["meta"]["total"], 0);
}

async fn entries(client: &Client) -> Value {
    client.get("/audit_entries").await.ok()["meta"]["total"].clone()
}

/// A write that needed a second connection could deadlock with others that do the same.
async fn write_needs_only_one_connection(server: Server) {
    let small = server.second_node_with(|config| config.database_pool = 1).await;
    let admin = small.admin();
    let keyed = admin.with("idempotency-key", "one");
    let member = keyed.post("/members", json!({ "name": "Ada" })).await.created("member");
    let keyed = admin.with("idempotency-key", "two");
    keyed.post("/products", json!({ "name": "Lamp", "custom_fields": {} })).await.created("product");
    admin.patch(&format!("/members/{}", member["id"]), json!({ "name": "Grace" })).await.record("member");
    small.stop().await;
}

async fn reference_deleted_during_a_write_is_reported_on_its_field(server: Server) {
    let admin = server.admin();
    for round in 0..40 {
        let group =
            admin.post("/product_groups", json!({ "name": format!("G{round}") })).await.created("product_group");
        let product = json!({ "name": "Lamp", "product_group_id": group["id"] });
        let path = format!("/product_groups/{}", group["id"]);
        let (_, answer) = tokio::join!(admin.delete(&path), admin.post("/products", product));
        if answer.status != 201 {
            assert_eq!(answer.invalid("product_group_id"), "does not refer to an existing product group", "{round}");
        }
    }
}

/// PostgreSQL numbers the commands of a transaction: all rows of one statement have the same number.
async fn one_statement(server: Server) {
    let admin = server.admin();
    define(&admin, "colour", json!({})).await;
    let group = admin.post("/product_groups", json!({ "name": "Lamps" })).await.created("product_group");
    let body = json!({ "name": "Lamp", "product_group_id": group["id"], "custom_fields": { "colour": "red" } });
    let path = format!("/products/{}", admin.post("/products", body).await.created("product")["id"]);
    let same = "SELECT CONCAT(p.xmin = e.xmin AND p.cmin = e.cmin, ' ', p.xmin = a.xmin AND p.cmin = a.cmin) AS \"text\" \
                FROM products p, (SELECT xmin, cmin FROM events ORDER BY id DESC LIMIT 1) e, \
                (SELECT xmin, cmin FROM audit_entries ORDER BY id DESC LIMIT 1) a";
    assert_eq!(server.texts(same).await, ["t t"]);
    admin.patch(&path, json!({ "weight": "2.5", "custom_fields": { "colour": "blue" } })).await.record("product");
    assert_eq!(server.texts(same).await, ["t t"]);
    let operations = json!([{ "method": "create", "product_group": { "name": "Cables" } }]);
    admin.post("/product_groups/bulk", json!({ "operations": operations })).await.ok();
    let same = same.replace("products p", "(SELECT xmin, cmin FROM product_groups ORDER BY id DESC LIMIT 1) p");
    assert_eq!(server.texts(&same).await, ["t t"], "in a transaction of others too");
}

/// A server detects triggers of other programs when it starts.
async fn triggered(server: Server) {
    server
        .sql(
            "CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name = upper(NEW.name); RETURN NEW; \
             END $$; CREATE TRIGGER shout BEFORE INSERT OR UPDATE ON products FOR EACH ROW EXECUTE FUNCTION shout()",
        )
        .await;
    let new = server.second_node().await;
    let admin = new.admin();
    let created = admin.post("/products", json!({ "name": "Lamp" })).await.created("product");
    assert_eq!(created["name"], "LAMP");
    let changed =
        admin.patch(&format!("/products/{}", created["id"]), json!({ "name": "Light" })).await.record("product");
    assert_eq!(changed["name"], "LIGHT");
    let bodies = server.event_bodies(0).await;
    let names = bodies.iter().map(|event| &event["data"]["product"]["name"]).filter(|name| !name.is_null());
    let names: Vec<&Value> = names.collect();
    assert_eq!(names, ["LAMP", "LIGHT"]);
    new.stop().await;
}
