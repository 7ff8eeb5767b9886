//! Change.
//!
//! Online migration: the server keeps serving. No transaction spans the steps, and each step can be repeated.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let articles = Table::online(manager, "articles");
        articles.fill(string("colour", 20).nullable(), "it's red").await?;
        articles.fill(bigint("count").nullable().default(0), 0).await?;
        articles.fill_now(timestamp("given_at").nullable()).await?;
        articles.compute("heavy", "(\"weight\" > 200000)", "(\"weight\" > 20.0000)").await?;
        articles.compute("load", "(\"weight\" * 5)", "((\"weight\")::numeric * (0.5)::numeric)").await?;
        articles.require(string("colour", 20)).await?;
        articles.require(bigint("count").default(0)).await?;
        articles.require(timestamp("given_at")).await?;
        articles.require(decimal("load", 18, 5)).await?;
        articles
            .unique_set(
                set(&["name"])
                    .ignore_case(&["name"])
                    .rows("(NOT (\"maker_id\" IS NULL))", "(NOT (\"maker_id\" IS NULL))")
                    .live(),
            )
            .await?;
        articles.unique_live(&["name", "maker_id"]).await?;
        articles.index_live(&["part_of"]).await?;
        articles.order(by("name").text().live()).await?;
        articles.order(by("weight").live()).await?;
        articles
            .verify(
                "checks: weight <= 1000 or count > 0",
                "(NOT ((\"weight\" <= 10000000) OR (\"count\" > 0))) AND \"deleted_at\" IS NULL",
                "(NOT ((\"weight\" <= 1000.0000) OR (\"count\" > 0))) AND \"deleted_at\" IS NULL",
            )
            .await?;
        articles
            .verify(
                "weight min: 0",
                "(NOT (\"weight\" >= 0)) AND \"deleted_at\" IS NULL",
                "(NOT (\"weight\" >= 0.0000)) AND \"deleted_at\" IS NULL",
            )
            .await?;
        articles.verify("maker_id where: name != 'x'", "\"maker_id\" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \"makers\" AS x WHERE x.\"id\" = \"articles\".\"maker_id\" AND (\"name\" <> 'x')) AND \"deleted_at\" IS NULL", "\"maker_id\" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \"makers\" AS x WHERE x.\"id\" = \"articles\".\"maker_id\" AND (\"name\" <> 'x')) AND \"deleted_at\" IS NULL").await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let articles = Table::online(manager, "articles");
        articles.drop_index("articles_weight_sort").await?;
        articles.drop_index("articles_name_sort").await?;
        articles.drop_index("articles_part_of_idx").await?;
        articles.drop_index("articles_name_maker_id_key").await?;
        articles.drop_index("articles_name_key").await?;
        articles.change(decimal("load", 18, 5), decimal("load", 18, 5).nullable()).await?;
        articles.change(timestamp("given_at"), timestamp("given_at").nullable()).await?;
        articles.change(bigint("count").default(0), bigint("count").nullable().default(0)).await?;
        articles.change(string("colour", 20), string("colour", 20).nullable()).await?;
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}
