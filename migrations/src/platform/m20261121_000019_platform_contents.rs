//! The index over all custom fields of a table goes: each custom field has indexes of its own, and nothing has asked this
//! one since. Every write kept it all the same. One of another name is somebody else's.

use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

const DROP: &str = r#"
DO $$ DECLARE "name" text; BEGIN
    FOR "name" IN
        SELECT c.oid::regclass::text FROM pg_class c
        JOIN pg_index i ON i.indexrelid = c.oid
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        JOIN pg_opclass o ON o.oid = i.indclass[0]
        WHERE a.attname = 'custom_fields' AND o.opcname = 'jsonb_path_ops' AND c.relname LIKE '%\_gin'
            AND i.indnatts = 1 AND pg_table_is_visible(c.oid)
    LOOP
        EXECUTE 'DROP INDEX ' || "name";
    END LOOP;
END $$"#;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Postgres {
            manager.get_connection().execute_unprepared(DROP).await?;
        }
        Ok(())
    }

    /// It is not made again: no answer depends on it.
    async fn down(&self, _manager: &SchemaManager) -> Result<(), DbErr> {
        Ok(())
    }
}
