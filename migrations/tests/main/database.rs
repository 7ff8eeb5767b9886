//! A fresh database of either kind, and the questions that the tests put to it.

use charter_migrations::prelude::*;
use sea_orm_migration::sea_orm::{
    ConnectOptions, ConnectionTrait, Database as Connector, DatabaseConnection, DbBackend, Statement,
};

use crate::postgres;

/// Runs each of these tests on SQLite, and on PostgreSQL where it is installed.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod on_sqlite {
            $(
                #[tokio::test]
                async fn $name() {
                    super::$name(crate::database::Database::sqlite().await).await;
                }
            )*
        }
        mod on_postgres {
            $(
                #[tokio::test]
                async fn $name() {
                    if let Some(database) = crate::database::Database::postgres().await {
                        super::$name(database).await;
                    }
                }
            )*
        }
    };
}

pub(crate) use on_both;

/// All migrations of this crate, as the records service runs them.
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        [charter_migrations::platform(), charter_migrations::service()].into_iter().flatten().collect()
    }
}

/// One migration that fails behind its first table.
pub struct Failing;

impl MigratorTrait for Failing {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Atomic::boxed(HalfWay)]
    }
}

struct HalfWay;

impl MigrationName for HalfWay {
    fn name(&self) -> &str {
        "half_way"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for HalfWay {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "first").create([id()]).await?;
        Table::on(manager, "second").create([id(), id()]).await
    }
}

/// A database that goes when this is dropped.
pub struct Database {
    pub connection: DatabaseConnection,
    file: Option<std::path::PathBuf>,
}

impl Database {
    pub async fn sqlite() -> Database {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let file = std::env::temp_dir().join(format!("charter-migrations-{}-{number}.sqlite", std::process::id()));
        let connection = Connector::connect(format!("sqlite://{}?mode=rwc", file.display())).await.unwrap();
        Database { connection, file: Some(file) }
    }

    pub async fn postgres() -> Option<Database> {
        let url = postgres::server()?.create_database(None);
        // One connection, on which a test may prepare a statement and then ask for its plan.
        let options = ConnectOptions::new(url).max_connections(1).to_owned();
        Some(Database { connection: Connector::connect(options).await.unwrap(), file: None })
    }

    pub fn is_postgres(&self) -> bool {
        self.connection.get_database_backend() == DbBackend::Postgres
    }

    /// Runs a statement in which `NOW` stands for a time, written as the application would.
    pub async fn run(&self, statement: &str) -> Result<(), DbErr> {
        let statement = statement.replace("NOW", "'2026-11-21 10:00:00.000 +00:00'");
        self.connection.execute_unprepared(&statement).await.map(|_| ())
    }

    /// Inserts a user with this address.
    pub async fn user(&self, email: &str) -> Result<(), DbErr> {
        let insert = "INSERT INTO users (name, email, created_at, updated_at)";
        self.run(&format!("{insert} VALUES ('x', '{email}', NOW, NOW)")).await
    }

    /// The first column of every row.
    pub async fn texts(&self, query: &str) -> Vec<String> {
        let statement = Statement::from_string(self.connection.get_database_backend(), query.to_owned());
        let rows = self.connection.query_all_raw(statement).await.unwrap();
        rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
    }

    /// The first column of the only row.
    pub async fn text(&self, query: &str) -> String {
        let mut texts = self.texts(query).await;
        assert_eq!(texts.len(), 1, "{query}");
        texts.remove(0)
    }

    /// The names of the migrations that are not applied.
    pub async fn pending(&self) -> Vec<String> {
        let pending = Migrator::get_pending_migrations(&self.connection).await.unwrap();
        pending.iter().map(|migration| migration.name().to_owned()).collect()
    }

    /// Everything that a migration can make, but what belongs to an extension.
    pub async fn schema(&self) -> Vec<String> {
        let query = if self.is_postgres() {
            "SELECT 'table ' || tablename FROM pg_tables WHERE schemaname = 'public'
             UNION ALL SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable
                 || coalesce(' ' || collation_name, '') || coalesce(' ' || column_default, '')
                 FROM information_schema.columns WHERE table_schema = 'public'
             UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
             UNION ALL SELECT conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
                 WHERE connamespace = 'public'::regnamespace
             UNION ALL SELECT 'sequence ' || sequencename FROM pg_sequences WHERE schemaname = 'public'
             UNION ALL SELECT 'function ' || p.oid::regprocedure FROM pg_proc p
                 WHERE pronamespace = 'public'::regnamespace
                   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
             ORDER BY 1"
        } else {
            "SELECT type || ' ' || name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
             UNION ALL SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
             ORDER BY 1"
        };
        self.texts(query).await
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = std::fs::remove_file(file);
        }
    }
}
