//! Comparison of the migrated tables with the model, on SQLite and PostgreSQL.

#[path = "../../../tests/program/folder.rs"]
mod folder;
#[path = "../../../tests/support/postgres.rs"]
mod postgres;
#[path = "../../../tests/tables/mod.rs"]
mod tables;

#[tokio::test]
async fn migrated_tables_match_the_model() {
    let folder = folder::Folder::new();
    let file = format!("sqlite://{}/charter.db", folder.path().display());
    let server = postgres::server().map(|server| server.create_database(None));
    for database_url in [Some(file), server].into_iter().flatten() {
        let state = tables::open(lending::app(), folder.path(), database_url).await;
        let differences = tables::differences(&state).await;
        assert!(differences.is_empty(), "on {:?}:\n{}", state.db.dialect(), differences.join("\n"));
    }
}
