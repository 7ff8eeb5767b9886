//! Imports that stop in the middle: cancelled, or left by a worker that died.

use serde_json::json;

use super::{act, counts, finished, keyed, settled, total};
use crate::support::{Server, on_both};

on_both!(import_continues_where_a_worker_died, cancelled_run_continues);

/// A file with many rows.
fn file(rows: usize) -> String {
    let lines = (0..rows).map(|index| format!("Product {index},S{index}\n"));
    std::iter::once("name,sku\n".to_string()).chain(lines).collect()
}

async fn import_continues_where_a_worker_died(server: Server) {
    let admin = server.admin();
    let import = keyed(&admin, "products", "sku", &file(600)).await;
    finished(&admin, &import, "run").await;
    // As if the worker had died after its first portion.
    let id = &import["id"];
    server.sql("DELETE FROM \"products\" WHERE \"id\" > 250").await;
    server.sql(&format!("DELETE FROM \"import_rows\" WHERE \"number\" > 251 AND \"import_id\" = {id}")).await;
    let state = "\"status\" = 'running', \"rows_done\" = 250, \"created_count\" = 250, \"finished_at\" = NULL";
    server.sql(&format!("UPDATE \"imports\" SET {state} WHERE \"id\" = {id}")).await;
    let done = settled(&admin, &import).await;
    assert_eq!((&done["status"], counts(&done), &done["rows_done"]), (&json!("done"), [600, 0, 0, 0], &json!(600)));
    assert_eq!(total(&admin, "/products").await, 600);
    assert_eq!(total(&admin, &format!("/imports/{id}/rows")).await, 600);
}

async fn cancelled_run_continues(server: Server) {
    let admin = server.admin();
    let import = keyed(&admin, "products", "sku", &file(1_000)).await;
    act(&admin, &import, "run").await.record("import");
    let cancelled = act(&admin, &import, "cancel").await;
    // A fast machine may have finished.
    if cancelled.status == 200 {
        let stopped = settled(&admin, &import).await;
        assert_eq!(stopped["status"], "cancelled");
        let rows = stopped["rows_done"].clone();
        assert_eq!(json!(total(&admin, "/products").await), rows);
        let done = finished(&admin, &import, "run").await;
        assert_eq!(counts(&done), [1_000, 0, 0, 0]);
    }
    assert_eq!(total(&admin, "/products").await, 1_000);
}
