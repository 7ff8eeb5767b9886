//! Change.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let things = Table::on(manager, "things");
        things
            .check_unique(
                set(&["title"])
                    .ignore_case(&["title"])
                    .rows("(NOT (\"maker_id\" IS NULL))", "(NOT (\"maker_id\" IS NULL))")
                    .live(),
            )
            .await?;
        things.check_unique(set(&["title", "maker_id"]).live()).await?;
        things.drop_index("things_maker_id_idx").await?;
        things.drop_index("things_count_sort").await?;
        things.drop_index("things_given_at_sort").await?;
        things.remove("old").await?;
        let gones = Table::on(manager, "gones");
        gones.drop().await?;
        things.rename("articles").await?;
        let articles = Table::on(manager, "articles");
        articles.rename_column("title", "name").await?;
        articles.rename_index("things_title_idx", "articles_name_idx").await?;
        articles.rename_index("things_title_trgm", "articles_name_trgm").await?;
        let text_table = Table::on(manager, "text");
        text_table
            .create([
                id(),
                reference("article_id", "articles"),
                list("places"),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        articles.add(string("colour", 20).nullable()).await?;
        articles.add(custom_fields()).await?;
        articles.add(decimal("load", 18, 5).nullable()).await?;
        articles.add(reference("part_of", "articles").nullable()).await?;
        articles.change(integer("count").nullable(), bigint("count").nullable().default(0)).await?;
        articles.change(enumeration("kind").default("plain"), string("kind", 64).default("plain")).await?;
        articles.change(decimal("weight", 8, 2).default(0), decimal("weight", 12, 4).default("1.5")).await?;
        let makers = Table::on(manager, "makers");
        makers.change(string("name", 50), string("name", 80)).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let makers = Table::on(manager, "makers");
        makers.change(string("name", 80), string("name", 50)).await?;
        let articles = Table::on(manager, "articles");
        articles.change(decimal("weight", 12, 4).default("1.5"), decimal("weight", 8, 2).default(0)).await?;
        articles.change(string("kind", 64).default("plain"), enumeration("kind").default("plain")).await?;
        articles.change(bigint("count").nullable().default(0), integer("count").nullable()).await?;
        articles.remove("part_of").await?;
        articles.remove("load").await?;
        articles.remove("custom_fields").await?;
        articles.remove("colour").await?;
        let text_table = Table::on(manager, "text");
        text_table.drop().await?;
        articles.rename_index("articles_name_trgm", "things_title_trgm").await?;
        articles.rename_index("articles_name_idx", "things_title_idx").await?;
        articles.rename_column("name", "title").await?;
        articles.rename("things").await?;
        let gones = Table::on(manager, "gones");
        gones
            .create([
                id(),
                timestamp("created_at"),
                reference("maker_id", "makers").nullable(),
                timestamp("updated_at"),
            ])
            .await?;
        let things = Table::on(manager, "things");
        things.add(text("old").nullable()).await?;
        things.fill(text("old").nullable(), "").await?;
        things.require(text("old")).await?;
        things.order(by("given_at").nullable().live()).await?;
        things.order(by("count").nullable().live()).await?;
        things.index_live(&["maker_id"]).await?;
        Ok(())
    }
}
