//! Failures of SQLite's file: writes are rejected, and no acknowledged write is lost.

use sea_orm::{ConnectionTrait, DbBackend, Statement};
use serde_json::json;

use crate::support::{Database, Server, run};

#[test]
fn full_disk_is_503_and_changes_nothing() {
    run(Database::Sqlite, check_full_disk);
}

#[test]
fn writes_after_an_automatic_rollback_by_sqlite_are_durable() {
    run(Database::Sqlite, check_automatic_rollback);
}

#[test]
fn unwritable_or_unopenable_file_is_503() {
    run(Database::Sqlite, check_unwritable_file);
}

#[test]
fn server_with_a_deleted_file_is_not_ready() {
    run(Database::Sqlite, check_deleted_file);
}

async fn check_deleted_file(server: Server) {
    let path = std::path::PathBuf::from(server.state.config.database_url.trim_start_matches("sqlite://"));
    let moved = path.with_extension("aside");
    server.anonymous().get("~/health/ready").await.status(200);
    std::fs::rename(&path, &moved).expect("it is moved");
    server.anonymous().get("~/health/ready").await.refused(503, "unavailable");
    std::fs::write(&path, "another").expect("it is written");
    server.anonymous().get("~/health/ready").await.refused(503, "unavailable");
    std::fs::rename(&moved, &path).expect("it is put back");
    server.anonymous().get("~/health/ready").await.status(200);
}

/// SQLite reports a read-only file and a lack of file descriptors alike.
async fn check_unwritable_file(server: Server) {
    let client = server.admin();
    let product = json!({ "name": "Lamp" });
    server.sql("PRAGMA query_only = ON").await;
    client.post("/products", product.clone()).await.refused(503, "unavailable");
    client.get("/products").await.ok();
    let reason = client.get("~/health/ready").await.refused(503, "unavailable");
    assert!(reason.to_string().contains("The database is read-only."), "{reason}");
    server.sql("PRAGMA query_only = OFF").await;
    client.post("/products", product).await.created("product");
    client.get("~/health/ready").await.ok();
    // An export opens a new connection.
    let path = std::path::PathBuf::from(server.state.config.database_url.trim_start_matches("sqlite://"));
    let moved = path.with_extension("aside");
    std::fs::rename(&path, &moved).expect("it is moved");
    std::fs::create_dir(&path).expect("the folder can be written");
    let export = server.admin().with("accept", "text/csv");
    export.get("/products").await.refused(503, "unavailable");
    std::fs::remove_dir(&path).expect("the folder can be written");
    std::fs::rename(&moved, &path).expect("it is put back");
    export.get("/products").await.status(200);
}

async fn check_full_disk(server: Server) {
    let client = server.admin();
    let product = |text: usize| json!({ "name": "Lamp", "description": "x".repeat(text) });
    client.post("/products", product(1)).await.created("product");
    let row = server.state.db.writer().query_one_raw(Statement::from_string(DbBackend::Sqlite, "PRAGMA page_count"));
    let pages: i64 = row.await.expect("the pragma runs").expect("a row").try_get_by_index(0).expect("a number");
    server.sql(&format!("PRAGMA max_page_count = {}", pages + 20)).await;
    client.post("/products", product(500_000)).await.refused(503, "unavailable");
    let reason = client.get("~/health/ready").await.refused(503, "unavailable");
    assert!(reason.to_string().contains("The disk of the database is full."), "{reason}");
    client.post("/products", product(1)).await.created("product");
    client.get("~/health/ready").await.ok();
    assert_eq!(client.get("/products").await.json()["meta"]["total"], 2);
}

/// Simulates SQLite's own rollback when the disk is full or fails at a commit. The driver still counts a transaction
/// as open, and would nest every later one in it.
async fn check_automatic_rollback(server: Server) {
    let client = server.admin();
    let ended = server.state.db.begin().await.expect("it begins");
    ended.execute_unprepared("ROLLBACK").await.expect("it ends");
    drop(ended);
    // Rejected requests end a transaction too.
    client.put("/products/999", json!({ "name": "x" })).await.refused(404, "not_found");
    client.post("/products", json!({ "name": "" })).await.refused(422, "validation_failed");
    let id = client.post("/products", json!({ "name": "Lamp" })).await.created("product")["id"].clone();
    client.get(&format!("/products/{id}")).await.ok();
    // The writer leaves no open transaction: another program can write.
    let other = sea_orm::Database::connect(server.state.config.database_url.as_str()).await.expect("it opens");
    let written = other.execute_unprepared("UPDATE products SET weight = 0").await;
    assert_eq!(written.expect("it writes").rows_affected(), 1);
    other.close().await.expect("it closes");
}
