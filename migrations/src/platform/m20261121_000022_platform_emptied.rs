//! A table that is emptied at once on PostgreSQL has changed, also when no record of it counted: what is remembered of its
//! deleted records is no more.

use super::m20261121_000016_platform_together::{make, with_few};
use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// What stands at the end of the way of a table that is emptied, which is the last one.
pub(super) const EMPTIED: &str = r#"
        INSERT INTO "record_changes" ("table", "block", "live") VALUES (TG_TABLE_NAME, 0, 0);"#;

/// The statement that makes a function which says so.
pub(super) fn with_emptied(name: &str, live: &str) -> String {
    let end = "\n    END IF;\n    RETURN NULL;\nEND $$";
    with_few(name, live).replacen(end, &format!("{EMPTIED}{end}"), 1)
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        make(manager, with_emptied).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        make(manager, with_few).await
    }
}
