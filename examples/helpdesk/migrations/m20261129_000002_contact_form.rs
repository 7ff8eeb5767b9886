//! Contact form.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let inquiries = Table::on(manager, "inquiries");
        inquiries
            .create([
                id(),
                string("subject", 200),
                string("message", 5000),
                string("email", 254).nullable(),
                boolean("is_done").default(false),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        inquiries.order(by("created_at")).await?;
        inquiries.search("subject").await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let inquiries = Table::on(manager, "inquiries");
        inquiries.drop().await?;
        Ok(())
    }
}
