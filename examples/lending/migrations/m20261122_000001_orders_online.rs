//! Indexes for the filters and sorts of books and loans.
//!
//! Online migration: the server keeps serving. No transaction spans the steps, and each step can be repeated.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let books = Table::online(manager, "books");
        books.order(by("author").text()).await?;
        books.order(by("published_on").nullable()).await?;
        books.order(by("title").text()).await?;
        let loans = Table::online(manager, "loans");
        loans.index(&["reader", "id"]).await?;
        loans.order(by("due_on")).await?;
        loans.search("reader").await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let loans = Table::online(manager, "loans");
        loans.drop_index("loans_reader_trgm").await?;
        loans.drop_index("loans_due_on_sort").await?;
        loans.drop_index("loans_reader_id_idx").await?;
        let books = Table::online(manager, "books");
        books.drop_index("books_title_sort").await?;
        books.drop_index("books_published_on_sort").await?;
        books.drop_index("books_author_sort").await?;
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}
