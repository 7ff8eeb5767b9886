//! The migrations on both databases: up, down to nothing and up again, and what the tables then hold and refuse.

use charter_migrations::prelude::*;
use sea_orm_migration::MigrationStatus;

use crate::database::{Database, Failing, Migrator, on_both};

on_both! {
    up_down_to_nothing_and_up_again
    one_step_back_undoes_one_migration
    a_failed_migration_leaves_nothing
    rows_loaded_past_the_application_are_valid
    unique_without_regard_to_case
    the_settings_are_one_row
    references_restrict_and_cascade
    ids_are_never_used_again
    text_is_in_the_order_of_code_points
    tables_whose_rows_change_have_room_for_it
    an_index_of_all_custom_fields_goes
}

async fn up_down_to_nothing_and_up_again(database: Database) {
    let before = database.schema().await;
    Migrator::up(&database.connection, None).await.unwrap();
    assert_eq!(database.pending().await, Vec::<String>::new());
    let first = database.schema().await;
    for table in ["users", "tokens", "custom_views", "products", "members", "settings"] {
        assert!(first.contains(&format!("table {table}")), "{table} is not among {first:#?}");
    }
    // Again: nothing to do.
    Migrator::up(&database.connection, None).await.unwrap();
    assert_eq!(database.schema().await, first);

    Migrator::down(&database.connection, None).await.unwrap();
    assert_eq!(database.pending().await.len(), Migrator::migrations().len());
    let nothing = database.schema().await.into_iter().filter(|line| !line.contains("seaql_migrations"));
    assert_eq!(nothing.collect::<Vec<_>>(), before);

    Migrator::up(&database.connection, None).await.unwrap();
    assert_eq!(database.schema().await, first);
}

async fn one_step_back_undoes_one_migration(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    Migrator::down(&database.connection, Some(1)).await.unwrap();
    assert_eq!(database.pending().await, ["m20261121_000110_activities"]);
    assert!(!database.schema().await.contains(&"table activities".to_owned()));
}

async fn a_failed_migration_leaves_nothing(database: Database) {
    let before = database.schema().await;
    Failing::up(&database.connection, None).await.unwrap_err();
    let after = database.schema().await.into_iter().filter(|line| !line.contains("seaql_migrations"));
    assert_eq!(after.collect::<Vec<_>>(), before);
}

async fn rows_loaded_past_the_application_are_valid(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    database.run("INSERT INTO products (name, created_at, updated_at) VALUES ('Lamp', NOW, NOW)").await.unwrap();
    database.run("INSERT INTO members (name, created_at, updated_at) VALUES ('Ann', NOW, NOW)").await.unwrap();
    database.run("INSERT INTO settings (created_at, updated_at) VALUES (NOW, NOW)").await.unwrap();
    database.user("a@example.com").await.unwrap();
    let product = "SELECT product_type || '/' || tag_list || '/' || custom_fields || '/' || weight FROM products";
    let expected = if database.is_postgres() { "rental/[]/{}/0.0000" } else { "rental/[]/{}/0" };
    assert_eq!(database.text(product).await, expected);
    let settings = "SELECT id || '/' || base_currency || '/' || timezone FROM settings WHERE company_name IS NULL";
    assert_eq!(database.text(settings).await, "1/GBP/UTC");
    database.run("INSERT INTO products (created_at, updated_at) VALUES (NOW, NOW)").await.unwrap_err();
}

async fn unique_without_regard_to_case(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    database.user("Ann@Example.com").await.unwrap();
    database.user("aNN@example.COM").await.unwrap_err();
    database.user("änn@example.com").await.unwrap();
    // Beyond ASCII, SQLite leaves it to the application.
    assert_eq!(database.user("ÄNN@example.com").await.is_err(), database.is_postgres());
}

async fn the_settings_are_one_row(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    let insert = "INSERT INTO settings (created_at, updated_at) VALUES (NOW, NOW)";
    database.run(insert).await.unwrap();
    database.run(insert).await.unwrap_err();
    database.run("INSERT INTO settings (id, created_at, updated_at) VALUES (2, NOW, NOW)").await.unwrap_err();
    database.run("UPDATE settings SET id = 2").await.unwrap_err();
}

async fn references_restrict_and_cascade(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    let product = "INSERT INTO products (name, product_group_id, created_at, updated_at) VALUES ('Lamp', 1, NOW, NOW)";
    database.run(product).await.unwrap_err();
    database.run("INSERT INTO product_groups (name, created_at, updated_at) VALUES ('Light', NOW, NOW)").await.unwrap();
    database.run("UPDATE product_groups SET id = 1").await.unwrap();
    database.run(product).await.unwrap();
    database.run("DELETE FROM product_groups").await.unwrap_err();

    database.user("a@example.com").await.unwrap();
    let token = "INSERT INTO tokens (name, user_id, token_hash, created_at, updated_at)
                 SELECT 'x', id, 'hash', NOW, NOW FROM users";
    database.run(token).await.unwrap();
    database.run(token).await.unwrap_err();
    database.run("DELETE FROM users").await.unwrap();
    assert_eq!(database.text("SELECT CAST(count(*) AS varchar(9)) FROM tokens").await, "0");
}

async fn ids_are_never_used_again(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    for _ in 0..2 {
        database.run("INSERT INTO members (name, created_at, updated_at) VALUES ('Ann', NOW, NOW)").await.unwrap();
    }
    database.run("DELETE FROM members").await.unwrap();
    database.run("INSERT INTO members (name, created_at, updated_at) VALUES ('Bo', NOW, NOW)").await.unwrap();
    assert_eq!(database.text("SELECT CAST(id AS varchar(9)) FROM members").await, "3");
}

async fn text_is_in_the_order_of_code_points(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    for name in ["a", "B", "ä", "Z", "_", "😀", "\u{ffee}"] {
        let insert = "INSERT INTO product_groups (name, created_at, updated_at)";
        database.run(&format!("{insert} VALUES ('{name}', NOW, NOW)")).await.unwrap();
    }
    assert_eq!(database.texts("SELECT name FROM product_groups ORDER BY name").await.join(""), "BZ_aä\u{ffee}😀");
}

/// On PostgreSQL, where an update that finds room beside the old row touches no index.
async fn tables_whose_rows_change_have_room_for_it(database: Database) {
    if !database.is_postgres() {
        return;
    }
    Migrator::up(&database.connection, Some(14)).await.unwrap();
    // As it was made before there was a migration that gives it room.
    database.run("ALTER TABLE users RESET (fillfactor)").await.unwrap();
    Migrator::up(&database.connection, None).await.unwrap();
    let full = "SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attname = 'updated_at'
                    AND c.reloptions IS DISTINCT FROM '{fillfactor=90}'";
    assert_eq!(database.texts(full).await, [""; 0]);
    let with_room = "SELECT count(*)::text FROM pg_class WHERE reloptions = '{fillfactor=90}'";
    assert!(database.text(with_room).await.parse::<u32>().unwrap() > 10);
}

/// Versions before made one for every resource with custom fields, on PostgreSQL.
async fn an_index_of_all_custom_fields_goes(database: Database) {
    if !database.is_postgres() {
        return;
    }
    Migrator::up(&database.connection, Some(18)).await.unwrap();
    database.run("CREATE TABLE boats (id bigint, \"Name\" text, custom_fields jsonb)").await.unwrap();
    let over = |name: &str, column: &str| format!("CREATE INDEX {name} ON boats USING gin ({column})");
    database.run(&over("\"boats_Custom_fields_gin\"", "custom_fields jsonb_path_ops")).await.unwrap();
    database.run(&over("by_hand", "custom_fields jsonb_path_ops")).await.unwrap();
    database.run(&over("\"boats_Name_trgm\"", "\"Name\" gin_trgm_ops")).await.unwrap();
    Migrator::up(&database.connection, None).await.unwrap();
    let left = "SELECT indexname::text FROM pg_indexes WHERE tablename = 'boats' ORDER BY 1";
    assert_eq!(database.texts(left).await, ["boats_Name_trgm", "by_hand"]);
    assert!(!database.schema().await.iter().any(|line| line.contains("_gin")));
}

#[tokio::test]
async fn the_status_names_every_migration_in_its_order() {
    let database = Database::sqlite().await;
    Migrator::up(&database.connection, Some(2)).await.unwrap();
    let status = Migrator::get_migration_with_status(&database.connection).await.unwrap();
    let (applied, pending) = status.split_at(2);
    assert!(applied.iter().all(|migration| migration.status() == MigrationStatus::Applied));
    assert!(pending.iter().all(|migration| migration.status() == MigrationStatus::Pending));
    let names: Vec<&str> = status.iter().map(|migration| migration.name()).collect();
    assert_eq!(names[..2], ["m20261121_000001_platform_text", "m20261121_000002_platform_users"]);
    assert!(names.is_sorted() && names.len() == Migrator::migrations().len());
}
