//! Triggers of rollups: the start installs them, makes changed ones again, and computes the values.

use charter_runtime::db::Dialect;
use charter_runtime::rollups;
use serde_json::json;

use super::fixture::Library;
use super::{book, id};
use crate::support::on_both;

on_both!(
    start_finds_missing_triggers_and_computes_the_values,
    triggers_of_former_rollups_are_dropped,
    values_are_computed_again_on_demand,
    values_of_many_parents_are_computed_in_batches,
    existing_sum_that_does_not_fit_is_an_error,
);

const TRIGGERS_OF_SQLITE: &str =
    "SELECT name AS text FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'charter_rollup_%' ORDER BY name";
const TRIGGERS_OF_POSTGRES: &str =
    "SELECT tgname::text AS text FROM pg_trigger WHERE tgname LIKE 'charter_rollup_%' ORDER BY tgname::text";

async fn triggers(server: &Library) -> Vec<String> {
    let is_sqlite = server.state.db.dialect() == Dialect::Sqlite;
    server.texts(if is_sqlite { TRIGGERS_OF_SQLITE } else { TRIGGERS_OF_POSTGRES }).await
}

async fn drop(server: &Library, trigger: &str) {
    let table = match server.state.db.dialect() {
        Dialect::Sqlite => String::new(),
        Dialect::Postgres => {
            let of = format!("SELECT tgrelid::regclass::text AS text FROM pg_trigger WHERE tgname = '{trigger}'");
            format!(" ON {}", server.texts(&of).await[0])
        }
    };
    server.sql(&format!("DROP TRIGGER {trigger}{table}")).await;
}

async fn start_finds_missing_triggers_and_computes_the_values(server: Library) {
    let admin = server.admin();
    let book = book(&admin, "Emma").await;
    let all = triggers(&server).await;
    for trigger in &all {
        drop(&server, trigger).await;
    }
    let loan = json!({ "book_id": id(&book), "lent_on": "2026-03-01", "fee": "2" });
    admin.post("/loans", loan).await.created("loan");
    assert_eq!(admin.get(&book).await.record("book")["loans"], 0);
    let mut computed = rollups::install(&server.state.db, &server.state.catalog).await.expect("they are installed");
    computed.sort_unstable();
    assert_eq!(computed, ["books", "books", "books", "folders", "invoices"]);
    assert_eq!(triggers(&server).await, all);
    let found = admin.get(&book).await.record("book");
    assert_eq!((&found["loans"], &found["fees"], &found["last_on"]), (&json!(1), &json!("2.00"), &json!("2026-03-01")));
    // One trigger of the group that counts loans by their book.
    drop(&server, &all[0]).await;
    let again = rollups::install(&server.state.db, &server.state.catalog).await.expect("they are installed");
    assert_eq!(again.len(), 1);
    assert_eq!(triggers(&server).await, all);
    let none = rollups::install(&server.state.db, &server.state.catalog).await.expect("they are installed");
    assert!(none.is_empty(), "{none:?}");
}

async fn triggers_of_former_rollups_are_dropped(server: Library) {
    let all = triggers(&server).await;
    match server.state.db.dialect() {
        Dialect::Sqlite => {
            server.sql("CREATE TRIGGER charter_rollup_0_insert AFTER INSERT ON loans BEGIN SELECT 1; END").await;
        }
        Dialect::Postgres => {
            server
                .sql("CREATE FUNCTION charter_rollup_0_insert() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
                .await;
            server
                .sql(
                    "CREATE TRIGGER charter_rollup_0_insert AFTER INSERT ON loans EXECUTE FUNCTION charter_rollup_0_insert()",
                )
                .await;
        }
    }
    assert_eq!(triggers(&server).await.len(), all.len() + 1);
    rollups::install(&server.state.db, &server.state.catalog).await.expect("they are installed");
    assert_eq!(triggers(&server).await, all);
    if server.state.db.dialect() == Dialect::Postgres {
        let functions =
            "SELECT proname::text AS text FROM pg_proc WHERE proname LIKE 'charter_rollup_%' ORDER BY proname::text";
        assert_eq!(server.texts(functions).await, all);
    }
}

async fn values_are_computed_again_on_demand(server: Library) {
    let admin = server.admin();
    let book = book(&admin, "Emma").await;
    admin.post("/loans", json!({ "book_id": id(&book), "lent_on": "2026-03-01" })).await.created("loan");
    server.sql("UPDATE books SET loans = 7, last_on = NULL, fees = 5").await;
    rollups::recompute(&server.state.db, &server.state.catalog, Some("invoices")).await.expect("they are computed");
    assert_eq!(admin.get(&book).await.record("book")["loans"], 7);
    rollups::recompute(&server.state.db, &server.state.catalog, Some("loans")).await.expect("they are computed");
    let found = admin.get(&book).await.record("book");
    assert_eq!((&found["loans"], &found["last_on"]), (&json!(1), &json!("2026-03-01")));
}

async fn values_of_many_parents_are_computed_in_batches(server: Library) {
    let all = triggers(&server).await;
    for trigger in &all {
        drop(&server, trigger).await;
    }
    let (is_sqlite, moment) = (server.state.db.dialect() == Dialect::Sqlite, "'2026-01-02T03:04:05+00:00'");
    let (numbers, cast) = match is_sqlite {
        true => (
            "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 11000) SELECT i FROM n) AS n",
            "",
        ),
        false => ("generate_series(1, 11000) AS n(i)", "::timestamptz"),
    };
    let day = if is_sqlite { "'2026-03-01'" } else { "date '2026-03-01'" };
    let times = format!("{moment}{cast}, {moment}{cast}");
    server
        .sql(&format!(
            "INSERT INTO books (name, twofold, created_at, updated_at) SELECT 'Book', 0, {times} FROM {numbers}"
        ))
        .await;
    server
        .sql(&format!(
            "INSERT INTO loans (book_id, lent_on, fee, created_at, updated_at) SELECT id, {day}, id % 7, {times} FROM books WHERE id % 3 = 0"
        ))
        .await;
    rollups::install(&server.state.db, &server.state.catalog).await.expect("they are installed");
    let differing = "SELECT COUNT(*) || '' AS text FROM books WHERE loans <> CASE WHEN id % 3 = 0 THEN 1 ELSE 0 END \
                     OR fees <> CASE WHEN id % 3 = 0 THEN id % 7 ELSE 0 END OR (last_on IS NULL) = (id % 3 = 0)";
    assert_eq!(server.texts(differing).await, ["0"]);
}

async fn existing_sum_that_does_not_fit_is_an_error(server: Library) {
    let admin = server.admin();
    let invoice = admin.post("/invoices", json!({ "name": "A", "lines": [] })).await.created("invoice");
    for trigger in &triggers(&server).await {
        drop(&server, trigger).await;
    }
    let line = json!({ "quantity": 2, "price": "9999.99", "weight": 1 });
    let path = format!("/invoices/{}", invoice["id"]);
    admin.put(&path, json!({ "lines": [line] })).await.ok();
    let (db, catalog) = (&server.state.db, &server.state.catalog);
    rollups::install(db, catalog).await.expect_err("a sum of 19,999.98 in six digits");
    rollups::recompute(db, catalog, Some("invoices")).await.expect_err("a sum of 19,999.98 in six digits");
    assert_eq!(admin.get(&path).await.record("invoice")["total"], "0.00");
    // On PostgreSQL the triggers were there before the values.
    for trigger in &triggers(&server).await {
        drop(&server, trigger).await;
    }
    server.sql("UPDATE invoice_lines SET quantity = 0, total = 0").await;
    rollups::install(db, catalog).await.expect("they are installed");
    assert_eq!(admin.get(&path).await.record("invoice")["weight"], 1);
}
