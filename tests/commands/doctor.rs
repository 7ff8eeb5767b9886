//! `charter doctor`: stale references in the data, missing columns and indexes.

use sea_orm::{ConnectionTrait, Database};
use serde_json::{Value, json};

use super::{blocking, on_both, token};
use crate::support::Client;
use crate::support::program::Program;

on_both!(
    stale_references_are_reported,
    doctor_fails_on_a_database_without_tables,
    missing_column_is_reported,
    missing_declared_index_is_reported,
    values_in_another_form_than_the_servers_are_reported,
    table_whose_records_cannot_be_told_apart_or_created_is_reported_and_refused,
    unused_indexes_and_sequential_scans_are_advice,
);

fn stale_references_are_reported(program: Program) {
    let serving = program.serve_first(&[]);
    let admin = Client::new(serving.address()).bearing(&token(&serving.banner));
    blocking(async {
        let view = |name: &str| {
            let filters = json!([{ "field": "sku", "predicate": "cont", "value": "a" }]);
            json!({ "name": name, "entity_type": "products", "columns": ["name", "sku"], "filters": filters, "sort_column": "name" })
        };
        for name in ["whole", "columns", "filter", "value", "order", "list"] {
            admin.post("/custom_views", view(name)).await.created("custom_view");
        }
        for url in ["https://whole.example.com/", "https://lost.example.com/"] {
            let hook = json!({ "url": url, "events": ["user.created", "*"] });
            admin.post("/webhooks", hook).await.created("webhook");
        }
        let field = json!({ "entity_type": "products", "name": "colour", "field_type": "string" });
        admin.post("/custom_fields", field).await.created("custom_field");
        let role = json!({ "name": "Clerk", "permissions": ["users.manage"] });
        admin.post("/roles", role).await.created("role");
        let weak = json!({ "name": "weak", "abilities": ["users:read"] });
        admin.post("/tokens", weak).await.created("token");
        for name in ["one", "two", "three"] {
            admin.post("/products", json!({ "name": name })).await.created("product");
        }
    });
    assert_eq!(program.list(&["doctor"]), Vec::<Value>::new());

    // The data of another version, which has other names.
    let statements = [
        "UPDATE custom_views SET columns = '[\"name\", \"skus\"]' WHERE name = 'columns'",
        "UPDATE custom_views SET filters = '[{\"field\": \"sku\", \"predicate\": \"true\"}]' WHERE name = 'filter'",
        "UPDATE custom_views SET filters = '[{\"field\": \"product_type\", \"predicate\": \"eq\", \"value\": \"gone\"}]' \
         WHERE name = 'value'",
        "UPDATE custom_views SET sort_column = 'colours' WHERE name = 'order'",
        "UPDATE custom_views SET entity_type = 'goods' WHERE name = 'list'",
        "UPDATE webhooks SET events = '[\"user.invited\", \"user.created\"]' WHERE url LIKE '%lost%'",
        "UPDATE custom_fields SET entity_type = 'goods'",
        "UPDATE roles SET permissions = '[\"goods.manage\"]' WHERE name = 'Clerk'",
        "UPDATE products SET stock_method = 9 WHERE name = 'three'",
        "UPDATE tokens SET abilities = '[\"goods:read\", \"users:read\"]' WHERE name = 'weak'",
    ];
    let several = "UPDATE products SET product_type = 'lease' WHERE name <> 'one'";
    blocking(async {
        let database = Database::connect(program.url()).await.expect("it is there");
        assert_eq!(database.execute_unprepared(several).await.expect(several).rows_affected(), 2);
        for statement in statements {
            assert_eq!(
                database.execute_unprepared(statement).await.expect(statement).rows_affected(),
                1,
                "{statement}"
            );
        }
        database.close().await.expect("it was open");
    });
    let said = program.run(&["doctor", "--format", "json"]);
    assert_eq!((said.code, said.err.trim()), (1, "11 values that the application does not know"), "{said:?}");
    let rows: Vec<Value> = serde_json::from_str(&said.out).expect("JSON");
    let text = |row: &Value, key: &str| row[key].as_str().expect("a text").to_owned();
    let found: Vec<String> =
        rows.iter().map(|row| ["kind", "name", "problem"].map(|key| text(row, key)).join(" | ")).collect();
    for (line, beginning) in found.iter().zip([
        "custom_views | columns | refers to an unknown column `skus`; did you mean `sku`?",
        "custom_views | filter | filters by `sku_true`: ",
        "custom_views | value | filters by `product_type_eq`: must be one of ",
        "custom_views | order | refers to `colours`, by which products cannot be sorted",
        "custom_views | list | is for `goods`, which has no list",
        "webhooks | https://lost.example.com/ | subscribes to `user.invited`, which is never emitted",
        "custom_fields | colour | belongs to `goods`, which has no custom fields",
        "tokens | weak | grants `goods:read`, which no endpoint needs",
        "roles | Clerk | grants `goods.manage`, which no endpoint needs",
        "products | product_type | has the undeclared value `lease`, like 1 other record",
        "products | stock_method | has the undeclared value `9`",
    ]) {
        assert!(line.starts_with(beginning), "`{line}` instead of `{beginning}`");
    }
    assert!(program.run(&["doctor"]).out.contains("subscribes to `user.invited`"), "the default format is a table");
}

fn doctor_fails_on_a_database_without_tables(program: Program) {
    let said = program.run(&["doctor"]);
    assert!(said.code == 1 && said.err.starts_with("the database has no tables yet"), "{said:?}");
}

/// A model was changed without a migration: each list of it is 500.
fn missing_column_is_reported(program: Program) {
    program.done(&["migrate"]);
    assert_eq!(program.list(&["doctor"]), Vec::<Value>::new());
    let changed = ["ALTER TABLE products RENAME COLUMN weight TO mass", "ALTER TABLE tax_classes RENAME TO taxes"];
    run(&program, &changed);
    let said = program.run(&["doctor", "--format", "json"]);
    let rows: Vec<Value> = serde_json::from_str(&said.out).expect("JSON");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!((said.code, names.len()), (1, 2), "{said:?}");
    assert!(names.contains(&"products.weight") && names.contains(&"tax_classes"), "{names:?}");
}

/// Runs statements that all belong to one database.
fn run(program: &Program, statements: &[&str]) {
    blocking(async {
        let database = Database::connect(program.url()).await.expect("it is there");
        for statement in statements {
            database.execute_unprepared(statement).await.expect(statement);
        }
        database.close().await.expect("it was open");
    });
}

fn is_postgres(program: &Program) -> bool {
    program.url().starts_with("postgres")
}

/// The findings, one per line: `problem products sku: …`.
fn findings(program: &Program, code: i32) -> (Vec<String>, String) {
    let said = program.run(&["doctor", "--format", "json"]);
    assert_eq!(said.code, code, "{said:?}");
    let rows: Vec<Value> = serde_json::from_str(&said.out).expect("JSON");
    let text = |row: &Value, key: &str| row[key].as_str().expect("a text").to_owned();
    let line = |row: &Value| {
        let [severity, kind, name, problem] = ["severity", "kind", "name", "problem"].map(|key| text(row, key));
        format!("{severity} {kind} {name}: {problem}")
    };
    (rows.iter().map(line).collect(), said.err.trim().to_owned())
}

fn missing_declared_index_is_reported(program: Program) {
    drop(program.serve_first(&[]));
    assert_eq!(findings(&program, 0).0, Vec::<String>::new());
    run(&program, &["DROP INDEX products_sku_idx", "DROP INDEX product_groups_name_key"]);
    let mut expected = vec![
        "problem product_groups name: is declared under `unique`, but the index is missing",
        "problem products sku: is declared under `indexes`, but the index is missing",
    ];
    let mut count = "2 declared indexes are missing";
    if is_postgres(&program) {
        // An index whose creation was interrupted.
        run(&program, &["UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'products_name_sort'::regclass"]);
        run(&program, &["DROP INDEX members_name_trgm"]);
        expected.push("problem products name: is declared under `ordered`, but its index `products_name_sort` is invalid: recreate it");
        expected.push("problem members name: is declared under `search`, but the index is missing");
        count = "4 declared indexes are missing";
    }
    let (mut found, said) = findings(&program, 1);
    found.sort();
    expected.sort_unstable();
    assert_eq!((found, said.as_str()), (expected.into_iter().map(String::from).collect(), count));
    // An index with further columns suffices, but not one of other rows.
    run(&program, &["CREATE INDEX another ON products (sku, barcode) WHERE deleted_at IS NOT NULL"]);
    assert!(findings(&program, 1).0.iter().any(|line| line.starts_with("problem products sku")));
    run(&program, &["CREATE INDEX third ON products (sku, barcode) WHERE deleted_at IS NULL"]);
    assert!(!findings(&program, 1).0.iter().any(|line| line.starts_with("problem products sku")));
}

/// PostgreSQL has types for them.
fn values_in_another_form_than_the_servers_are_reported(program: Program) {
    drop(program.serve_first(&[]));
    let now = if is_postgres(&program) { "now()" } else { "CURRENT_TIMESTAMP" };
    let offset = "'2026-03-21T12:05:00.500+02:00'";
    let own = "'2026-03-21T10:05:00.070+00:00'";
    let insert = |name: &str, time: &str| {
        format!("INSERT INTO product_groups (name, created_at, updated_at) VALUES ('{name}', {time}, {own})")
    };
    run(&program, &[&insert("own", own)]);
    assert_eq!(findings(&program, 0).0, Vec::<String>::new());
    run(
        &program,
        &[&insert("now", now), &insert("offset", offset), &insert("zeros", "'2026-03-21T10:05:00.000+00:00'")],
    );
    if is_postgres(&program) {
        assert_eq!(findings(&program, 0).0, Vec::<String>::new());
        return;
    }
    let (found, said) = findings(&program, 1);
    assert_eq!((found.len(), said.as_str()), (1, "1 field with values in another form"), "{found:?}");
    let line = "problem product_groups created_at: is stored as `2026-03-21T10:05:00.000+00:00` and the like in 3 records, \
                by another program: filters and sorts are wrong; store it as `2026-03-21T10:05:09.070+00:00`";
    assert_eq!(found[0], line);
}

fn table_whose_records_cannot_be_told_apart_or_created_is_reported_and_refused(program: Program) {
    program.done(&["migrate"]);
    let id_less = [
        "CREATE TABLE copies AS SELECT * FROM product_groups",
        "DROP TABLE product_groups",
        "ALTER TABLE copies RENAME TO product_groups",
    ];
    let required = "ALTER TABLE tax_classes ADD COLUMN region text NOT NULL DEFAULT 'x'";
    if is_postgres(&program) {
        run(
            &program,
            &[
                "ALTER TABLE product_groups DROP CONSTRAINT product_groups_pkey CASCADE",
                required,
                "ALTER TABLE tax_classes ALTER COLUMN region DROP DEFAULT",
            ],
        );
    } else {
        run(&program, &id_less);
    }
    let (found, said) = findings(&program, 1);
    let holds = |beginning: &str| found.iter().any(|line| line.starts_with(beginning));
    assert!(
        holds(
            "problem product_groups id: is not the primary key (the table has none), so that several records can have"
        ),
        "{found:?}"
    );
    if is_postgres(&program) {
        assert!(holds("problem tax_classes region: is NOT NULL, has no default and is no field"), "{found:?}");
        assert!(said.contains("2 faults of tables"), "{said}");
    } else {
        assert!(holds("problem product_groups id: is not made by the database"), "{found:?}");
    }
    let refused = program.run(&["serve"]);
    assert!(
        refused.code == 1 && refused.err.contains("`id` is not unique in the table `product_groups`"),
        "{refused:?}"
    );
    // A unique index is enough for a start.
    run(&program, &["CREATE UNIQUE INDEX again ON product_groups (id)"]);
    drop(program.serve_first(&[]));
}

fn unused_indexes_and_sequential_scans_are_advice(program: Program) {
    drop(program.serve_first(&[]));
    if !is_postgres(&program) {
        // An index of the right column that the planner cannot use.
        run(
            &program,
            &[
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
                 INSERT INTO products (name, barcode, created_at, updated_at)
                 SELECT 'Lamp ' || i, i, '2026-11-21T10:00:00+00:00', '2026-11-21T10:00:00+00:00' FROM n",
                "DROP INDEX products_barcode_idx",
                "CREATE INDEX products_barcode_idx ON products (barcode COLLATE RTRIM) WHERE deleted_at IS NULL",
            ],
        );
        let line = "advice products barcode: is declared under `indexes`, but SQLite does not use its index `products_barcode_idx`";
        assert_eq!(findings(&program, 0), (vec![line.to_owned()], String::new()));
        return;
    }
    let rows = "INSERT INTO products (name, barcode, created_at, updated_at)
        SELECT 'Lamp ' || i, i::text, now(), now() FROM generate_series(1, 10000) i";
    let whole =
        "DO $$ BEGIN FOR i IN 1..100 LOOP PERFORM count(*) FROM products WHERE description = 'x'; END LOOP; END $$";
    let used = "DO $$ BEGIN SET LOCAL enable_seqscan = off; PERFORM id FROM products WHERE barcode = '7' AND deleted_at IS NULL; END $$";
    run(&program, &[rows]);
    // Statistics of the session that wrote the rows would count them twice.
    run(&program, &["ANALYZE products", whole, used]);
    let (found, _) = findings(&program, 0);
    let holds = |beginning: &str| found.iter().any(|line| line.starts_with(beginning));
    assert!(holds("advice products products_sku_trgm: was not used since"), "{found:#?}");
    assert!(holds("advice products products: had 1"), "{found:#?}");
    assert!(!holds("advice products products_barcode_idx"), "{found:#?}");
}
