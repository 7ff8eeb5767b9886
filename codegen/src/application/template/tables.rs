//! Comparison of the migrated tables with the resources, on SQLite and PostgreSQL.

use charter_testing::{Database, Folder, on_both, tables};

on_both!(migrated_tables_match_the_resources);

async fn migrated_tables_match_the_resources(database: Database) {
    let folder = Folder::create();
    let state = tables::open(&APPLICATION::app(), database, &folder).await;
    let differences = tables::differences(&state).await;
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
