//! Case folding and substring search on PostgreSQL. On SQLite, the runtime registers the same function in each connection.

use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// `charter_fold(text)`: text in lower case, for every script, compared by code point.
///
/// - `und-x-icu` applies Unicode's rules whatever the locale of the database. Final sigma becomes sigma, as in Rust, where
///   the runtime does the same after `str::to_lowercase`.
/// - The result has the collation `C`, so that `LIKE`, `=` and `ORDER BY` compare bytes.
/// - It is an immutable, strict SQL function, so that the planner inlines it and indexes can contain it.
const FOLD: &str = r#"
CREATE FUNCTION charter_fold(text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
AS $$ SELECT translate(lower($1 COLLATE "und-x-icu"), 'ς', 'σ') COLLATE "C" $$
"#;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Postgres {
            let connection = manager.get_connection();
            connection.execute_unprepared("CREATE EXTENSION IF NOT EXISTS pg_trgm").await?;
            connection.execute_unprepared(FOLD).await?;
        }
        Ok(())
    }

    /// Keeps the extension, because other applications in the database may use it.
    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Postgres {
            manager.get_connection().execute_unprepared("DROP FUNCTION charter_fold(text)").await?;
        }
        Ok(())
    }
}
