//! All migrations on both databases: up, down and up again, and the constraints and defaults of the tables.

use charter_migrations::prelude::*;
use sea_orm_migration::MigrationStatus;

use crate::database::{Database, FailingMigrator, Migrator, on_both};

on_both! {
    migrations_run_up_then_down_then_up_again
    down_with_one_step_undoes_one_migration
    failed_migration_leaves_no_objects
    rows_inserted_without_the_application_get_defaults
    email_is_unique_without_regard_to_case
    settings_table_accepts_one_row
    foreign_keys_restrict_or_cascade
    ids_are_never_reused
    text_is_sorted_by_code_point
    updated_tables_have_fill_factor_90
}

async fn migrations_run_up_then_down_then_up_again(database: Database) {
    let before = database.schema().await;
    Migrator::up(&database.connection, None).await.unwrap();
    assert_eq!(database.pending().await, Vec::<String>::new());
    let first = database.schema().await;
    for table in ["users", "tokens", "custom_views", "products", "members", "settings"] {
        assert!(first.contains(&format!("table {table}")), "{table} is not among {first:#?}");
    }
    // A second run changes nothing.
    Migrator::up(&database.connection, None).await.unwrap();
    assert_eq!(database.schema().await, first);

    Migrator::down(&database.connection, None).await.unwrap();
    assert_eq!(database.pending().await.len(), Migrator::migrations().len());
    let nothing = database.schema().await.into_iter().filter(|line| !line.contains("seaql_migrations"));
    assert_eq!(nothing.collect::<Vec<_>>(), before);

    Migrator::up(&database.connection, None).await.unwrap();
    assert_eq!(database.schema().await, first);
}

async fn down_with_one_step_undoes_one_migration(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    Migrator::down(&database.connection, Some(1)).await.unwrap();
    assert_eq!(database.pending().await, ["m20261129_000002_activity_completed_online"]);
    assert!(database.schema().await.contains(&"table activities".to_owned()));
    Migrator::down(&database.connection, Some(3)).await.unwrap();
    assert!(!database.schema().await.contains(&"table activities".to_owned()));
}

async fn failed_migration_leaves_no_objects(database: Database) {
    let before = database.schema().await;
    FailingMigrator::up(&database.connection, None).await.unwrap_err();
    let after = database.schema().await.into_iter().filter(|line| !line.contains("seaql_migrations"));
    assert_eq!(after.collect::<Vec<_>>(), before);
}

async fn rows_inserted_without_the_application_get_defaults(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    database.run("INSERT INTO products (name, created_at, updated_at) VALUES ('Lamp', NOW, NOW)").await.unwrap();
    database.run("INSERT INTO members (name, created_at, updated_at) VALUES ('Ann', NOW, NOW)").await.unwrap();
    database.run("INSERT INTO settings (created_at, updated_at) VALUES (NOW, NOW)").await.unwrap();
    database.insert_user("a@example.com").await.unwrap();
    let product = "SELECT product_type || '/' || tag_list || '/' || custom_fields || '/' || weight FROM products";
    let expected = if database.is_postgres() { "rental/[]/{}/0.0000" } else { "rental/[]/{}/0" };
    assert_eq!(database.text(product).await, expected);
    let settings = "SELECT id || '/' || base_currency || '/' || timezone FROM settings WHERE company_name IS NULL";
    assert_eq!(database.text(settings).await, "1/GBP/UTC");
    database.run("INSERT INTO products (created_at, updated_at) VALUES (NOW, NOW)").await.unwrap_err();
}

async fn email_is_unique_without_regard_to_case(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    database.insert_user("Ann@Example.com").await.unwrap();
    database.insert_user("aNN@example.COM").await.unwrap_err();
    database.insert_user("änn@example.com").await.unwrap();
    // On SQLite, the application checks other scripts than ASCII.
    assert_eq!(database.insert_user("ÄNN@example.com").await.is_err(), database.is_postgres());
}

async fn settings_table_accepts_one_row(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    let insert = "INSERT INTO settings (created_at, updated_at) VALUES (NOW, NOW)";
    database.run(insert).await.unwrap();
    database.run(insert).await.unwrap_err();
    database.run("INSERT INTO settings (id, created_at, updated_at) VALUES (2, NOW, NOW)").await.unwrap_err();
    database.run("UPDATE settings SET id = 2").await.unwrap_err();
}

async fn foreign_keys_restrict_or_cascade(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    let product = "INSERT INTO products (name, product_group_id, created_at, updated_at) VALUES ('Lamp', 1, NOW, NOW)";
    database.run(product).await.unwrap_err();
    database.run("INSERT INTO product_groups (name, created_at, updated_at) VALUES ('Light', NOW, NOW)").await.unwrap();
    database.run("UPDATE product_groups SET id = 1").await.unwrap();
    database.run(product).await.unwrap();
    database.run("DELETE FROM product_groups").await.unwrap_err();

    database.insert_user("a@example.com").await.unwrap();
    let token = "INSERT INTO tokens (name, user_id, token_hash, created_at, updated_at)
                 SELECT 'x', id, 'hash', NOW, NOW FROM users";
    database.run(token).await.unwrap();
    database.run(token).await.unwrap_err();
    database.run("DELETE FROM users").await.unwrap();
    assert_eq!(database.text("SELECT CAST(count(*) AS varchar(9)) FROM tokens").await, "0");
}

async fn ids_are_never_reused(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    for _ in 0..2 {
        database.run("INSERT INTO members (name, created_at, updated_at) VALUES ('Ann', NOW, NOW)").await.unwrap();
    }
    database.run("DELETE FROM members").await.unwrap();
    database.run("INSERT INTO members (name, created_at, updated_at) VALUES ('Bo', NOW, NOW)").await.unwrap();
    assert_eq!(database.text("SELECT CAST(id AS varchar(9)) FROM members").await, "3");
}

async fn text_is_sorted_by_code_point(database: Database) {
    Migrator::up(&database.connection, None).await.unwrap();
    for name in ["a", "B", "ä", "Z", "_", "😀", "\u{ffee}"] {
        let insert = "INSERT INTO product_groups (name, created_at, updated_at)";
        database.run(&format!("{insert} VALUES ('{name}', NOW, NOW)")).await.unwrap();
    }
    assert_eq!(database.texts("SELECT name FROM product_groups ORDER BY name").await.join(""), "BZ_aä\u{ffee}😀");
}

/// On PostgreSQL, the fill factor 90 allows heap-only tuple updates.
async fn updated_tables_have_fill_factor_90(database: Database) {
    if !database.is_postgres() {
        return;
    }
    Migrator::up(&database.connection, None).await.unwrap();
    let without = "SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                   WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attname = 'updated_at'
                       AND c.reloptions IS DISTINCT FROM '{fillfactor=90}'";
    assert_eq!(database.texts(without).await, [""; 0]);
    let with = "SELECT count(*)::text FROM pg_class WHERE reloptions = '{fillfactor=90}'";
    assert!(database.text(with).await.parse::<u32>().unwrap() > 10);
}

#[tokio::test]
async fn status_lists_every_migration_in_order() {
    let database = Database::sqlite().await;
    Migrator::up(&database.connection, Some(2)).await.unwrap();
    let status = Migrator::get_migration_with_status(&database.connection).await.unwrap();
    let (applied, pending) = status.split_at(2);
    assert!(applied.iter().all(|migration| migration.status() == MigrationStatus::Applied));
    assert!(pending.iter().all(|migration| migration.status() == MigrationStatus::Pending));
    let names: Vec<&str> = status.iter().map(|migration| migration.name()).collect();
    assert_eq!(names[..2], ["m20261121_000001_platform_text_search", "m20261121_000002_platform_roles"]);
    let listed = Migrator::migrations();
    assert_eq!(names, listed.iter().map(|migration| migration.name()).collect::<Vec<_>>());
}
