//! Migrations on SQLite while another connection writes: each waits for the other, and none fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use charter_migrations::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, SqliteTransactionMode, TransactionOptions, TransactionTrait};

use crate::database::Database;

struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Transactional::boxed(Begin), Transactional::boxed(Change)]
    }
}

struct Begin;

impl MigrationName for Begin {
    fn name(&self) -> &str {
        "begin"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Begin {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "things").create([id(), string("name", 40), integer("size").default(1)]).await?;
        Table::on(manager, "others").create([id()]).await
    }
}

/// A migration that reads rows before it writes.
struct Change;

impl MigrationName for Change {
    fn name(&self) -> &str {
        "change"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Change {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let things = Table::on(manager, "things");
        things.change(string("name", 40), string("name", 30)).await?;
        things.change(integer("size").default(1), decimal("size", 9, 2).default(1)).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let things = Table::on(manager, "things");
        things.change(decimal("size", 9, 2).default(1), integer("size").default(1)).await?;
        things.change(string("name", 30), string("name", 40)).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn migration_waits_for_concurrent_writes() {
    let database = Database::sqlite().await;
    database.run("PRAGMA journal_mode = WAL").await.unwrap();
    Migrator::up(&database.connection, Some(1)).await.unwrap();
    let fill = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 20000)
                INSERT INTO things (name) SELECT 'thing ' || n FROM n";
    database.run(fill).await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let (connection, stop) = (database.another_connection().await, done.clone());
    let writer = tokio::spawn(async move {
        let mut count = 0;
        while !stop.load(Ordering::Relaxed) {
            let mode = TransactionOptions {
                sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
                ..TransactionOptions::default()
            };
            let transaction = connection.begin_with_options(mode).await?;
            transaction.execute_unprepared("INSERT INTO others DEFAULT VALUES").await?;
            transaction.commit().await?;
            count += 1;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok::<_, DbErr>(count)
    });
    for _ in 0..5 {
        Migrator::up(&database.connection, None).await.unwrap();
        Migrator::down(&database.connection, Some(1)).await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    let count = writer.await.unwrap().unwrap();
    assert_eq!(database.text("SELECT CAST(count(*) AS text) FROM others").await, count.to_string());
}
