//! How PostgreSQL folds text and finds substrings; on SQLite the runtime brings the same function.

use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// What `charter_fold(text)` is: text without regard to case, for every script, in the order of its code points.
///
/// - `und-x-icu` lowers by Unicode's rules whatever the locale of the database; a final sigma is a sigma, as it is for
///   `str::to_lowercase` followed by the same replacement in Rust.
/// - The collation of the result makes `LIKE`, `=` and `ORDER BY` on it compare bytes.
/// - SQL, immutable, strict and without side effects, so that the planner writes it into the query and its indexes.
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

    /// Leaves the extension: it may have been there before, and others in the database may use it.
    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Postgres {
            manager.get_connection().execute_unprepared("DROP FUNCTION charter_fold(text)").await?;
        }
        Ok(())
    }
}
