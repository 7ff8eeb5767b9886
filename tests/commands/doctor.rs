//! `charter doctor`: the records that name what the application does not have any more.

use sea_orm::{ConnectionTrait, Database};
use serde_json::{Value, json};

use super::{blocking, on_both, token};
use crate::support::Client;
use crate::support::program::Program;

on_both!(what_is_lost_is_named, a_database_without_tables_is_told,);

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
        "custom_views | list | lists `goods`, which has no list",
        "webhooks | https://lost.example.com/ | waits for `user.invited`, which is never emitted",
        "custom_fields | colour | belongs to `goods`, which has no custom fields",
        "tokens | weak | grants `goods:read`, which nothing needs",
        "roles | Clerk | permits `goods.manage`, which nothing needs",
        "products | product_type | holds `lease`, which is none of its values, as one other does",
        "products | stock_method | holds `9`, which is none of its values",
    ]) {
        assert!(line.starts_with(beginning), "`{line}` instead of `{beginning}`");
    }
    assert!(program.run(&["doctor"]).out.contains("waits for `user.invited`"), "people read it as a table");
}

fn a_database_without_tables_is_told(program: Program) {
    let said = program.run(&["doctor"]);
    assert!(said.code == 1 && said.err.starts_with("the database has no tables yet"), "{said:?}");
}
