//! `charter doctor`: the records that name what the application does not have any more, and the indexes.

use sea_orm::{ConnectionTrait, Database};
use serde_json::{Value, json};

use super::{blocking, on_both, token};
use crate::support::Client;
use crate::support::program::Program;

on_both!(
    what_is_lost_is_named,
    a_database_without_tables_is_told,
    a_column_that_is_missing_is_told,
    a_declared_index_that_is_gone_is_told,
    what_the_database_does_with_its_indexes_is_advice,
);

fn what_is_lost_is_named(program: Program) {
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

    // As a version leaves them that has other names.
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
    assert_eq!((said.code, said.err.trim()), (1, "11 things are left that the application does not know"), "{said:?}");
    let rows: Vec<Value> = serde_json::from_str(&said.out).expect("JSON");
    let text = |row: &Value, key: &str| row[key].as_str().expect("a text").to_owned();
    let found: Vec<String> =
        rows.iter().map(|row| ["kind", "name", "problem"].map(|key| text(row, key)).join(" | ")).collect();
    for (line, beginning) in found.iter().zip([
        "custom_views | columns | names an unknown column `skus`; did you mean `sku`?",
        "custom_views | filter | filters by `sku_true`: ",
        "custom_views | value | filters by `product_type_eq`: must be one of ",
        "custom_views | order | names `colours`, by which products cannot be sorted",
        "custom_views | list | is for `goods`, which has no list",
        "webhooks | https://lost.example.com/ | subscribes to `user.invited`, which is never emitted",
        "custom_fields | colour | belongs to `goods`, which has no custom fields",
        "tokens | weak | grants `goods:read`, which no endpoint needs",
        "roles | Clerk | grants `goods.manage`, which no endpoint needs",
        "products | product_type | holds `lease`, which is none of its values, as one other does",
        "products | stock_method | holds `9`, which is none of its values",
    ]) {
        assert!(line.starts_with(beginning), "`{line}` instead of `{beginning}`");
    }
    assert!(program.run(&["doctor"]).out.contains("subscribes to `user.invited`"), "people read it as a table");
}

fn a_database_without_tables_is_told(program: Program) {
    let said = program.run(&["doctor"]);
    assert!(said.code == 1 && said.err.starts_with("the database has no tables yet"), "{said:?}");
}

/// As where a model was changed and no migration was written: each list of it is 500.
fn a_column_that_is_missing_is_told(program: Program) {
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

/// What is found, a line for each: `problem products sku: …`.
fn told(program: &Program, code: i32) -> (Vec<String>, String) {
    let said = program.run(&["doctor", "--format", "json"]);
    assert_eq!(said.code, code, "{said:?}");
    let rows: Vec<Value> = serde_json::from_str(&said.out).expect("JSON");
    let text = |row: &Value, key: &str| row[key].as_str().expect("a text").to_owned();
    let line = |row: &Value| {
        let [gravity, kind, name, problem] = ["gravity", "kind", "name", "problem"].map(|key| text(row, key));
        format!("{gravity} {kind} {name}: {problem}")
    };
    (rows.iter().map(line).collect(), said.err.trim().to_owned())
}

fn a_declared_index_that_is_gone_is_told(program: Program) {
    drop(program.serve_first(&[]));
    assert_eq!(told(&program, 0).0, Vec::<String>::new());
    run(&program, &["DROP INDEX products_sku_idx", "DROP INDEX product_groups_name_key"]);
    let mut expected = vec![
        "problem product_groups name: is declared under `unique`, and no index serves it",
        "problem products sku: is declared under `indexes`, and no index serves it",
    ];
    let mut count = "2 declared indexes are not there";
    if is_postgres(&program) {
        // As an index is left whose making was interrupted.
        run(&program, &["UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'products_name_sort'::regclass"]);
        run(&program, &["DROP INDEX members_name_trgm"]);
        expected.push("problem products name: is declared under `ordered`, and its index `products_name_sort` is not valid: make it again");
        expected.push("problem members name: is declared under `search`, and no index serves it");
        count = "4 declared indexes are not there";
    }
    let (mut found, said) = told(&program, 1);
    found.sort();
    expected.sort_unstable();
    assert_eq!((found, said.as_str()), (expected.into_iter().map(String::from).collect(), count));
    // One that goes on with other columns serves too; one of other rows does not.
    run(&program, &["CREATE INDEX another ON products (sku, barcode) WHERE deleted_at IS NOT NULL"]);
    assert!(told(&program, 1).0.iter().any(|line| line.starts_with("problem products sku")));
    run(&program, &["CREATE INDEX third ON products (sku, barcode) WHERE deleted_at IS NULL"]);
    assert!(!told(&program, 1).0.iter().any(|line| line.starts_with("problem products sku")));
}

fn what_the_database_does_with_its_indexes_is_advice(program: Program) {
    drop(program.serve_first(&[]));
    if !is_postgres(&program) {
        // It is there, over the right column, and of no use.
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
        let line = "advice products barcode: is declared under `indexes`, and SQLite does not use its index `products_barcode_idx`";
        assert_eq!(told(&program, 0), (vec![line.to_owned()], String::new()));
        return;
    }
    let rows = "INSERT INTO products (name, barcode, created_at, updated_at)
        SELECT 'Lamp ' || i, i::text, now(), now() FROM generate_series(1, 10000) i";
    let whole =
        "DO $$ BEGIN FOR i IN 1..100 LOOP PERFORM count(*) FROM products WHERE description = 'x'; END LOOP; END $$";
    let used = "DO $$ BEGIN SET LOCAL enable_seqscan = off; PERFORM id FROM products WHERE barcode = '7' AND deleted_at IS NULL; END $$";
    run(&program, &[rows]);
    // Statistics of rows that were written in the same session would count them twice.
    run(&program, &["ANALYZE products", whole, used]);
    let (found, _) = told(&program, 0);
    let holds = |beginning: &str| found.iter().any(|line| line.starts_with(beginning));
    assert!(holds("advice products products_sku_trgm: was never used by statistics since"), "{found:#?}");
    assert!(holds("advice products products: was read as a whole 1"), "{found:#?}");
    assert!(!holds("advice products products_barcode_idx"), "{found:#?}");
}
