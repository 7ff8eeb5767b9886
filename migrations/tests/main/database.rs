//! Temporary databases of both kinds, and the queries of the tests.

use charter_migrations::prelude::*;
use charter_testing::{Folder, postgres};
use sea_orm_migration::sea_orm::{
    ConnectOptions, ConnectionTrait, Database as Connector, DatabaseConnection, DbBackend, Statement,
};

/// Defines two tests for each of these functions, one on SQLite and one on PostgreSQL.
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
                charter_testing::needs_postgres! {
                    #[tokio::test]
                    async fn $name() {
                        super::$name(crate::database::Database::postgres().await).await;
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

/// One migration, which fails after its first table.
pub struct FailingMigrator;

impl MigratorTrait for FailingMigrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Transactional::boxed(HalfWay)]
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

pub async fn connect(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    // The tests repeat a query after its columns changed, which a cached prepared statement rejects.
    options.max_connections(1).map_sqlx_postgres_opts(|options| options.statement_cache_capacity(0));
    Connector::connect(options).await.unwrap()
}

/// A temporary database.
pub struct Database {
    pub connection: DatabaseConnection,
    url: String,
    /// Folder of an SQLite database.
    _folder: Option<Folder>,
}

impl Database {
    pub async fn sqlite() -> Database {
        let folder = Folder::create();
        let url = charter_testing::Database::Sqlite.create(&folder);
        // One connection, like the writer of the application.
        Database::open(format!("{url}?mode=rwc"), Some(folder)).await
    }

    pub async fn postgres() -> Database {
        let url = postgres::server().create_database(None);
        // One connection, on which a test can prepare a statement and then explain it.
        Database::open(url, None).await
    }

    async fn open(url: String, folder: Option<Folder>) -> Database {
        let connection = connect(&url).await;
        Database { connection, url, _folder: folder }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Opens another connection.
    pub async fn another_connection(&self) -> DatabaseConnection {
        connect(&self.url).await
    }

    pub fn is_postgres(&self) -> bool {
        self.connection.get_database_backend() == DbBackend::Postgres
    }

    /// Runs a statement. `NOW` is replaced by a timestamp in the format of the application.
    pub async fn run(&self, statement: &str) -> Result<(), DbErr> {
        let statement = statement.replace("NOW", "'2026-11-21T10:00:00+00:00'");
        self.connection.execute_unprepared(&statement).await.map(|_| ())
    }

    /// Inserts a user with this email address.
    pub async fn insert_user(&self, email: &str) -> Result<(), DbErr> {
        let insert = "INSERT INTO users (name, email, created_at, updated_at)";
        self.run(&format!("{insert} VALUES ('x', '{email}', NOW, NOW)")).await
    }

    /// The first column of every row.
    pub async fn texts(&self, query: &str) -> Vec<String> {
        let statement = Statement::from_string(self.connection.get_database_backend(), query.to_owned());
        let rows = self.connection.query_all_raw(statement).await.unwrap();
        rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
    }

    /// The steps of a query plan of SQLite.
    pub async fn plan_details(&self, explain: &str) -> Vec<String> {
        let statement = Statement::from_string(self.connection.get_database_backend(), explain.to_owned());
        let rows = self.connection.query_all_raw(statement).await.unwrap();
        rows.iter().map(|row| row.try_get("", "detail").unwrap()).collect()
    }

    /// The first column of the only row.
    pub async fn text(&self, query: &str) -> String {
        let mut texts = self.texts(query).await;
        assert_eq!(texts.len(), 1, "{query}");
        texts.remove(0)
    }

    /// The names of the pending migrations.
    pub async fn pending(&self) -> Vec<String> {
        let pending = Migrator::get_pending_migrations(&self.connection).await.unwrap();
        pending.iter().map(|migration| migration.name().to_owned()).collect()
    }

    /// Runs a statement and ignores its error: the other database does not support it.
    pub async fn run_ignoring_errors(&self, statement: &str) {
        let _ = self.connection.execute_unprepared(statement).await;
    }

    /// The tables, columns, indexes and constraints, independent of their order and of the SQL that created them.
    pub async fn tables(&self) -> Vec<String> {
        let query = if self.is_postgres() {
            "SELECT 'table ' || tablename FROM pg_tables WHERE schemaname = 'public'
             UNION ALL SELECT 'column ' || attrelid::regclass || '.' || attname || ' ' || format_type(atttypid, atttypmod)
                 || CASE WHEN attcollation <> 0 THEN ' ' || attcollation::regcollation ELSE '' END
                 || CASE WHEN attnotnull THEN '' ELSE ' null' END || attidentity::text || coalesce(' = ' || pg_get_expr(adbin, adrelid), '')
                 FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
                     LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
                 WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
             UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
             UNION ALL SELECT conname || ' ' || convalidated || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
                 WHERE connamespace = 'public'::regnamespace
             UNION ALL SELECT 'sequence ' || sequencename FROM pg_sequences WHERE schemaname = 'public'
             UNION ALL SELECT 'not valid ' || indexrelid::regclass FROM pg_index WHERE NOT indisvalid
             ORDER BY 1"
        } else {
            "SELECT 'table ' || name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
             UNION ALL SELECT 'column ' || t.name || '.' || c.name || ' ' || lower(c.type) || ' ' || c.\"notnull\"
                 || coalesce(' = ' || c.dflt_value, '') || ' ' || c.pk
                 FROM sqlite_master AS t, pragma_table_info(t.name) AS c
                 WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
             UNION ALL SELECT 'reference ' || t.name || '.' || f.\"from\" || ' ' || f.\"table\" || ' ' || f.on_delete
                 FROM sqlite_master AS t, pragma_foreign_key_list(t.name) AS f WHERE t.type = 'table'
             UNION ALL SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL
             ORDER BY 1"
        };
        let mut lines = self.texts(query).await;
        if !self.is_postgres() {
            // No pragma returns the names of constraints.
            for text in self.texts("SELECT sql FROM sqlite_master WHERE type = 'table'").await {
                // A default may contain any words.
                let text: String = text.split('\'').step_by(2).collect();
                let constraints = text.split("CONSTRAINT \"").skip(1).filter_map(|rest| rest.split('"').next());
                lines.extend(constraints.map(|name| format!("constraint {name}")));
            }
            lines.sort();
        }
        lines
    }

    /// Every object that a migration can create, except those of extensions.
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
