//! What makes a write dear on PostgreSQL: room for updates, triggers that tell one row from many, and an index of the
//! events that wait which no other can be taken for.
//!
//! An update whose new row finds room on the page of the old one touches no index. [`Table::create`] leaves that room in
//! what is made from now on; here the tables that are there get it, in the pages that they fill from now on.
//!
//! Most statements change one row. What the triggers tell of it needs neither groups nor sorting, which cost more than the
//! row itself.
//!
//! Of the events that wait the oldest are asked for by id. While a table has no statistics PostgreSQL looked for them along
//! its primary key, through all that had ever happened; an order that only the index of those that wait has leaves no
//! choice.

use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use super::m20261121_000012_platform_totals::{FUNCTIONS, function};
use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

const ROOM: &str = r#"
DO $$ DECLARE "name" text; BEGIN
    FOR "name" IN
        SELECT a.attrelid::regclass::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.attname = 'updated_at' AND NOT a.attisdropped AND c.relkind = 'r' AND pg_table_is_visible(c.oid)
            AND c.reloptions IS NULL
    LOOP
        EXECUTE 'ALTER TABLE ' || "name" || ' SET (fillfactor = 90)';
    END LOOP;
END $$"#;

/// What a function does first: where one row was inserted, or changed under the id that it had, it tells of that alone. The
/// names stand in no query on the rows, whose columns may be called the same.
const ONE: &str = r#"
DECLARE "rows" bigint; "one" bigint; "after" bigint; "former" bigint; "before" bigint := 0;
BEGIN
    IF TG_OP IN ('INSERT', 'UPDATE') THEN
        SELECT COUNT(*), MIN("id"), SUM({live}) INTO "rows", "one", "after" FROM "new_rows";
        "former" := "one";
        IF "rows" = 1 AND TG_OP = 'UPDATE' THEN
            SELECT MIN("id"), SUM({live}) INTO "former", "before" FROM "old_rows";
        END IF;
        IF "rows" = 1 AND "one" = "former" THEN
            INSERT INTO "record_changes" ("table", "block", "live", "ids")
            VALUES (TG_TABLE_NAME, "one" >> 12, "after" - "before", ARRAY["one"]);
            RETURN NULL;
        END IF;
    END IF;"#;

/// The statement that makes a function which does that first.
pub(super) fn with_one(name: &str, live: &str) -> String {
    function(name, live, true).replacen("\nBEGIN", &ONE.replace("{live}", live), 1)
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Postgres {
            let connection = manager.get_connection();
            connection.execute_unprepared(ROOM).await?;
            for (name, live) in FUNCTIONS {
                connection.execute_unprepared(&with_one(name, live)).await?;
            }
        }
        let events = Table::on(manager, "events");
        events.drop_index("events_pending_idx").await?;
        events.index_where("\"fanned_out_at\", \"id\"", "waiting", "\"fanned_out_at\" IS NULL").await
    }

    /// The room that tables have stays: it changes nothing that is read or written.
    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Postgres {
            for (name, live) in FUNCTIONS {
                manager.get_connection().execute_unprepared(&function(name, live, true)).await?;
            }
        }
        let events = Table::on(manager, "events");
        events.drop_index("events_waiting_idx").await?;
        events.index_where("\"id\"", "pending", "\"fanned_out_at\" IS NULL").await
    }
}
