//! Triggers of rollups are dropped before the change of a table that would make them invalid.

use charter_migrations::prelude::*;

use crate::database::{Database, on_both};

on_both! {
    rollup_triggers_are_dropped_before_the_change_that_breaks_them
}

async fn rollup_triggers_are_dropped_before_the_change_that_breaks_them(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    let (books, loans) = (Table::on(&manager, "books"), Table::on(&manager, "loans"));
    books.create([id(), bigint("loans").default(0), string("name", 40).default("")]).await.unwrap();
    loans.create([id(), reference("book_id", "books"), decimal("fee", 8, 2).default(0)]).await.unwrap();
    let create = async || {
        let add = "UPDATE \"books\" SET \"loans\" = \"loans\" + 1";
        let statements = match database.is_postgres() {
            true => vec![
                format!(
                    "CREATE OR REPLACE FUNCTION charter_rollup_1_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                     {add} FROM \"new_rows\" AS r WHERE \"books\".\"id\" = r.\"book_id\"; RETURN NULL; END $$"
                ),
                "CREATE TRIGGER charter_rollup_1_insert AFTER INSERT ON \"loans\" REFERENCING NEW TABLE AS \"new_rows\"
                 FOR EACH STATEMENT EXECUTE FUNCTION charter_rollup_1_insert()"
                    .to_owned(),
            ],
            false => vec![format!(
                "CREATE TRIGGER charter_rollup_1_insert AFTER INSERT ON \"loans\" BEGIN
                 {add} WHERE \"id\" = NEW.\"book_id\"; END"
            )],
        };
        for statement in statements {
            database.run(&statement).await.unwrap();
        }
    };
    let triggers = match database.is_postgres() {
        true => "SELECT tgname::text FROM pg_trigger WHERE tgname LIKE 'charter_rollup%'",
        false => "SELECT name FROM sqlite_schema WHERE type = 'trigger'",
    };
    create().await;
    // Columns that no trigger names.
    books.remove("name").await.unwrap();
    loans.rename_column("fee", "charge").await.unwrap();
    assert_eq!(database.texts(triggers).await.len(), 1);
    books.change(bigint("loans").default(0), decimal("loans", 12, 2).default(0)).await.unwrap();
    assert_eq!(database.texts(triggers).await, Vec::<String>::new());
    create().await;
    books.rename_column("loans", "count").await.unwrap();
    assert_eq!(database.texts(triggers).await, Vec::<String>::new());
    books.rename_column("count", "loans").await.unwrap();
    create().await;
    books.rename("volumes").await.unwrap();
    assert_eq!(database.texts(triggers).await, Vec::<String>::new());
    Table::on(&manager, "volumes").rename("books").await.unwrap();
    create().await;
    books.remove("loans").await.unwrap();
    assert_eq!(database.texts(triggers).await, Vec::<String>::new());
    database.run("INSERT INTO books (id) VALUES (1)").await.unwrap();
    database.run("INSERT INTO loans (book_id) VALUES (1)").await.unwrap();
}
