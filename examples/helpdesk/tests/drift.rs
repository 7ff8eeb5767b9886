//! Comparison of the migrated tables with the model, on SQLite and PostgreSQL.

use charter_testing::{Database, Folder, on_both, tables};

on_both!(migrated_tables_match_the_model);

async fn migrated_tables_match_the_model(database: Database) {
    let folder = Folder::create();
    let state = tables::open(&helpdesk::app(), database, &folder).await;
    let differences = tables::differences(&state).await;
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
