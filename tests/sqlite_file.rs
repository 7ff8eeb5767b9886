//! What goes wrong with the file of SQLite: what cannot be kept is refused, and nothing that was acknowledged is lost.

use sea_orm::{ConnectionTrait, DbBackend, Statement};
use serde_json::json;

use crate::support::{Database, Server, run};

#[test]
fn what_finds_no_room_is_503_and_changes_nothing() {
    run(Database::Sqlite, refused_for_want_of_room);
}

#[test]
fn what_is_acknowledged_after_sqlite_ended_a_transaction_by_itself_is_kept() {
    run(Database::Sqlite, kept_after_an_end_that_nobody_asked_for);
}

#[test]
fn a_file_that_cannot_be_written_or_opened_is_503() {
    run(Database::Sqlite, neither_written_nor_opened);
}

#[test]
fn a_file_that_is_gone_is_not_ready() {
    run(Database::Sqlite, not_ready_without_its_file);
}

async fn not_ready_without_its_file(server: Server) {
    let path = std::path::PathBuf::from(server.state.config.database_url.trim_start_matches("sqlite://"));
    let aside = path.with_extension("aside");
    server.anonymous().get("~/health/ready").await.status(200);
    std::fs::rename(&path, &aside).expect("it is moved");
    server.anonymous().get("~/health/ready").await.refused(503, "unavailable");
    std::fs::write(&path, "another").expect("it is written");
    server.anonymous().get("~/health/ready").await.refused(503, "unavailable");
    std::fs::rename(&aside, &path).expect("it is put back");
    server.anonymous().get("~/health/ready").await.status(200);
}

/// SQLite says the same of a file that it may only read, and of one for which the process has no descriptor left.
async fn neither_written_nor_opened(server: Server) {
    let client = server.admin();
    let product = json!({ "name": "Lamp" });
    server.sql("PRAGMA query_only = ON").await;
    client.post("/products", product.clone()).await.refused(503, "unavailable");
    client.get("/products").await.ok();
    server.sql("PRAGMA query_only = OFF").await;
    client.post("/products", product).await.created("product");
    // An export opens a connection of its own.
    let path = std::path::PathBuf::from(server.state.config.database_url.trim_start_matches("sqlite://"));
    let aside = path.with_extension("aside");
    std::fs::rename(&path, &aside).expect("it is moved");
    std::fs::create_dir(&path).expect("the folder can be written");
    let export = server.admin().with("accept", "text/csv");
    export.get("/products").await.refused(503, "unavailable");
    std::fs::remove_dir(&path).expect("the folder can be written");
    std::fs::rename(&aside, &path).expect("it is put back");
    export.get("/products").await.status(200);
}

async fn refused_for_want_of_room(server: Server) {
    let client = server.admin();
    let product = |text: usize| json!({ "name": "Lamp", "description": "x".repeat(text) });
    client.post("/products", product(1)).await.created("product");
    let row = server.state.db.writer().query_one_raw(Statement::from_string(DbBackend::Sqlite, "PRAGMA page_count"));
    let pages: i64 = row.await.expect("it is told").expect("a row").try_get_by_index(0).expect("a number");
    server.sql(&format!("PRAGMA max_page_count = {}", pages + 20)).await;
    client.post("/products", product(500_000)).await.refused(503, "unavailable");
    client.post("/products", product(1)).await.created("product");
    assert_eq!(client.get("/products").await.json()["meta"]["total"], 2);
}

/// As it does when the disk is full, or fails, at a commit. The driver takes the transaction to be open still, and would
/// begin every later one within it.
async fn kept_after_an_end_that_nobody_asked_for(server: Server) {
    let client = server.admin();
    let ended = server.state.db.begin().await.expect("it begins");
    ended.execute_unprepared("ROLLBACK").await.expect("it ends");
    drop(ended);
    // Refusals too end a transaction.
    client.put("/products/999", json!({ "name": "x" })).await.refused(404, "not_found");
    client.post("/products", json!({ "name": "" })).await.refused(422, "validation_failed");
    let id = client.post("/products", json!({ "name": "Lamp" })).await.created("product")["id"].clone();
    client.get(&format!("/products/{id}")).await.ok();
    // Nothing is held open by the one who wrote: another program writes too.
    let other = sea_orm::Database::connect(server.state.config.database_url.as_str()).await.expect("it opens");
    let written = other.execute_unprepared("UPDATE products SET weight = 0").await;
    assert_eq!(written.expect("it writes").rows_affected(), 1);
    other.close().await.expect("it closes");
}
