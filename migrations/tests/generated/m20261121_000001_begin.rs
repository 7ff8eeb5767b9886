//! Begin.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let makers = Table::on(manager, "makers");
        makers.create([id(), string("name", 50), timestamp("created_at"), timestamp("updated_at")]).await?;
        makers.unique(&["name"]).await?;
        let gones = Table::on(manager, "gones");
        gones
            .create([
                id(),
                reference("maker_id", "makers").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        let things = Table::on(manager, "things");
        things
            .create([
                id(),
                string("title", 50),
                decimal("weight", 8, 2).default(0),
                integer("count").nullable(),
                reference("maker_id", "makers").nullable(),
                enumeration("kind").default("plain"),
                text("old"),
                timestamp("given_at").nullable(),
                boolean("heavy"),
                timestamp("created_at"),
                timestamp("updated_at"),
                timestamp("deleted_at").nullable(),
            ])
            .await?;
        things.index_live(&["maker_id"]).await?;
        things.index_live(&["title"]).await?;
        things.order(by("count").nullable().live()).await?;
        things.order(by("given_at").nullable().live()).await?;
        things.search("title").await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let things = Table::on(manager, "things");
        things.drop().await?;
        let gones = Table::on(manager, "gones");
        gones.drop().await?;
        let makers = Table::on(manager, "makers");
        makers.drop().await?;
        Ok(())
    }
}
