//! Tables whose own text, or whose own rows, would stand in the way of a change: on SQLite, which has no statement for it.

use charter_migrations::prelude::*;

use crate::database::{Database, on_both};

on_both! {
    a_default_may_have_the_words_of_a_constraint
    a_table_goes_whose_rows_refer_to_each_other
}

async fn a_default_may_have_the_words_of_a_constraint(database: Database) {
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

/// SQLite deletes the rows of a table that goes, one by one.
async fn a_table_goes_whose_rows_refer_to_each_other(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    let things = Table::on(&manager, "things");
    things.create([id(), reference("parent_id", "things").nullable()]).await.unwrap();
    database.run("INSERT INTO things (id, parent_id) VALUES (1, NULL), (2, 1), (3, 2)").await.unwrap();
    things.rename("items").await.unwrap();
    Table::on(&manager, "items").drop().await.unwrap();
    assert_eq!(database.tables().await, Vec::<String>::new());
}
