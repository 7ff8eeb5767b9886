//! Comparison of the migrated tables with the model, on SQLite and PostgreSQL.

#[path = "../../../tests/program/folder.rs"]
mod folder;
#[path = "../../../tests/support/postgres.rs"]
mod postgres;
#[path = "../../../tests/tables/mod.rs"]
mod tables;

use folder::Folder;

#[tokio::test]
async fn migrated_tables_match_the_model_on_sqlite() {
    let folder = Folder::new();
    match_the_model(&folder, format!("sqlite://{}/charter.db", folder.path().display())).await;
}

charter_test_programs::needs_postgres! {
    #[tokio::test]
    async fn migrated_tables_match_the_model_on_postgres() {
        match_the_model(&Folder::new(), postgres::server().create_database(None)).await;
    }
}

async fn match_the_model(folder: &Folder, database_url: String) {
    let state = tables::open(lending::app(), folder.path(), database_url).await;
    let differences = tables::differences(&state).await;
    assert!(differences.is_empty(), "on {:?}:\n{}", state.db.dialect(), differences.join("\n"));
}
