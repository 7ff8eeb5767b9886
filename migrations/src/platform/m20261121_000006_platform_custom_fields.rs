//! The definitions of custom fields, by entity type.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let custom_fields = Table::on(manager, "custom_fields");
        custom_fields
            .create([
                id(),
                string("entity_type", 64),
                string("name", 63),
                string("label", 255),
                enumeration("field_type"),
                list("choices"),
                boolean("required").default(false),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        custom_fields.unique(&["entity_type", "name"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "custom_fields").drop().await
    }
}
