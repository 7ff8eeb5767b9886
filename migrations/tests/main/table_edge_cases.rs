//! Tables with unusual defaults, with rows that reference each other, or with very many columns.

use charter_codegen::migration::Plan;
use charter_codegen::migration::sql::{Dialect, statements};
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;

use crate::database::{Database, on_both};
use crate::steps;

on_both! {
    default_may_contain_the_text_of_a_constraint
    table_whose_rows_reference_each_other_is_dropped
    widest_table_that_the_yaml_check_accepts_can_be_stored
}

async fn default_may_contain_the_text_of_a_constraint(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    Table::on(&manager, "owners").create([id()]).await.unwrap();
    let things = Table::on(&manager, "things");
    let words = r#"a CONSTRAINT "things_owner_id_fkey" b"#;
    let columns = [
        id(),
        string("note", 80).default(words),
        reference("owner_id", "owners").nullable(),
        text("gone").default(words),
    ];
    things.create(columns).await.unwrap();
    database.run("INSERT INTO owners (id) VALUES (1); INSERT INTO things (owner_id) VALUES (1)").await.unwrap();
    things.rename_column("owner_id", "keeper_id").await.unwrap();
    things.remove("gone").await.unwrap();
    things.rename("items").await.unwrap();
    assert_eq!(database.text("SELECT note FROM items").await, words);
    database.run("INSERT INTO items (keeper_id) VALUES (1)").await.unwrap();
    assert_eq!(database.texts("SELECT note FROM items").await, [words, words]);
    let tables = database.tables().await;
    assert!(tables.iter().any(|line| line.contains("items_keeper_id_fkey")), "{tables:?}");
    database.run("INSERT INTO items (keeper_id) VALUES (2)").await.unwrap_err();
}

/// SQLite deletes the rows of a dropped table one by one.
async fn table_whose_rows_reference_each_other_is_dropped(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    let things = Table::on(&manager, "things");
    things.create([id(), reference("parent_id", "things").nullable()]).await.unwrap();
    database.run("INSERT INTO things (id, parent_id) VALUES (1, NULL), (2, 1), (3, 2)").await.unwrap();
    things.rename("items").await.unwrap();
    Table::on(&manager, "items").drop().await.unwrap();
    assert_eq!(database.tables().await, Vec::<String>::new());

    // The SQL of `--dry-run` does the same.
    let yaml = "# resources/item.yaml\nresource: item\nfields:\n  of_id: { type: ref(item), nullable: true }\n";
    let item = snapshot(Sources::from_example(yaml)).unwrap();
    steps::up(&manager, &Plan::between(&Snapshot::default(), &item)).await.unwrap();
    let insert = "INSERT INTO items (of_id, created_at, updated_at) VALUES";
    database.run(&format!("{insert} (NULL, NOW, NOW), (1, NOW, NOW)")).await.unwrap();
    let dialect = if database.is_postgres() { Dialect::Postgres } else { Dialect::Sqlite };
    for step in &Plan::between(&item, &Snapshot::default()).whole {
        for statement in statements(step, dialect, false) {
            database.run(&statement).await.unwrap_or_else(|problem| panic!("{statement}: {problem}"));
        }
    }
    assert_eq!(database.tables().await, Vec::<String>::new());
}

/// A type, the largest number of fields of it that the check accepts and PostgreSQL can store, and a value.
const WIDEST: &[(&str, usize, &str)] =
    &[("bigint", 1_013, "1"), ("uuid", 506, "'00000000-0000-0000-0000-000000000001'")];

async fn widest_table_that_the_yaml_check_accepts_can_be_stored(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    for (number, (kind, count, value)) in WIDEST.iter().enumerate() {
        let fields: String = (0..*count).map(|at| format!("  c{at}: {{ type: {kind}, nullable: true }}\n")).collect();
        let head = format!("# resources/wide_{number}.yaml\nresource: wide_{number}\nplural: wides_{number}\n");
        let yaml = format!("{head}fields:\n  name: {{ type: text, nullable: true }}\n{fields}");
        let wide = snapshot(Sources::from_example(&yaml)).unwrap_or_else(|report| panic!("{}", report.render()));
        steps::up(&manager, &Plan::between(&Snapshot::default(), &wide)).await.unwrap();
        let names: String = (0..*count).map(|at| format!(", c{at}")).collect();
        let values = format!(", {value}").repeat(*count);
        let insert = format!("INSERT INTO wides_{number} (created_at, updated_at, name{names}");
        database.run(&format!("{insert}) VALUES (NOW, NOW, ''{values})")).await.unwrap();
        database.run(&format!("ALTER TABLE wides_{number} ADD COLUMN more {kind}")).await.unwrap();
        let stored = database.run(&format!("{insert}, more) VALUES (NOW, NOW, ''{values}, {value})")).await;
        assert_eq!(stored.is_ok(), !database.is_postgres(), "{kind}");
    }
}
