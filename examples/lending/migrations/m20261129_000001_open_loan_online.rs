//! At most one open loan of each book.
//!
//! Online migration: the server keeps serving. No transaction spans the steps, and each step can be repeated.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let loans = Table::online(manager, "loans");
        loans.unique_set(set(&["book_id"]).rows("(\"returned_at\" IS NULL)", "(\"returned_at\" IS NULL)")).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let loans = Table::online(manager, "loans");
        loans.drop_index("loans_book_id_key").await?;
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}
