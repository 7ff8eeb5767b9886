//! Loans, each of one book.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let loans = Table::on(manager, "loans");
        loans
            .create([
                id(),
                reference("book_id", "books"),
                string("reader", 255),
                date("lent_on"),
                date("due_on"),
                timestamp("returned_at").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        loans.index(&["book_id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "loans").drop().await
    }
}
