//! Books.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let books = Table::on(manager, "books");
        books
            .create([
                id(),
                string("title", 255),
                string("author", 255),
                string("isbn", 13).nullable(),
                enumeration("genre").default("fiction"),
                date("published_on").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        books.unique(&["isbn"]).await?;
        books.search("title").await?;
        books.search("author").await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "books").drop().await
    }
}
