//! The imports of files, the report of each by row, and the import that made an audit entry.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let imports = Table::on(manager, "imports");
        imports
            .create([
                id(),
                // No foreign key: an import outlives its user, whose deletion stops it.
                bigint("user_id").nullable(),
                string("entity_type", 64),
                string("file_name", 255),
                enumeration("format"),
                bigint("file_size"),
                uuid("file"),
                string("digest", 64),
                list("columns"),
                json("mapping"),
                string("match_by", 255).nullable(),
                enumeration("status").default("uploaded"),
                bigint("row_count"),
                bigint("rows_done").default(0),
                bigint("created_count").default(0),
                bigint("changed_count").default(0),
                bigint("unchanged_count").default(0),
                bigint("refused_count").default(0),
                bigint("undone_count").default(0),
                bigint("left_count").default(0),
                text("error").nullable(),
                bigint("run_by").nullable(),
                bigint("run_token_id").nullable(),
                boolean("has_run").default(false),
                string("lease_owner", 64).nullable(),
                timestamp("lease_until").nullable(),
                timestamp("started_at").nullable(),
                timestamp("finished_at").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        imports.unique(&["file"]).await?;
        imports.index(&["user_id"]).await?;
        imports.index(&["entity_type", "digest"]).await?;
        imports.index_where("id", "active", "\"status\" IN ('rehearsing', 'running', 'undoing')").await?;
        let rows = Table::on(manager, "import_rows");
        rows.create([
            id(),
            reference("import_id", "imports").cascade(),
            bigint("number"),
            enumeration("outcome"),
            bigint("record_id").nullable(),
            json("errors"),
        ])
        .await?;
        rows.index(&["import_id", "outcome", "id"]).await?;
        rows.index(&["import_id", "number"]).await?;
        let entries = Table::on(manager, "audit_entries");
        entries.add(bigint("import_id").nullable()).await?;
        // Few entries have an import: the others cost nothing here.
        entries.index_where("import_id", "of_import", "\"import_id\" IS NOT NULL").await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "audit_entries").remove("import_id").await?;
        Table::on(manager, "import_rows").drop().await?;
        Table::on(manager, "imports").drop().await
    }
}
