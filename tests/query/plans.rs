//! How PostgreSQL plans the statements of a list: for the values of the request, each time.

use charter_runtime::db::{Dialect, Sql};

use crate::support::{Database, Server, run};

/// Enough for the planner to prefer the index of the order to a rare text, if it does not know the text.
const PRODUCTS: i64 = 20_000;

/// From its sixth execution on a connection a prepared statement may be planned without its values. The search for a text that
/// no record has then walks along the index of the order through all records.
#[test]
fn later_executions_of_a_list_read_as_few_rows_as_the_first() {
    run(Database::Postgres, planned);
}

/// What a statement answers on the connection that reads records: the pool hands out the one that was used last.
async fn read(server: &Server, text: &str) -> Vec<(String, i64)> {
    let rows = Sql::new(Dialect::Postgres, text).all(server.state.db.reader()).await.expect("it is read");
    rows.iter().map(|row| (row.try_get("", "text").unwrap(), row.try_get("", "number").unwrap())).collect()
}

/// The rows of the table that statements have read so far.
async fn rows_read(server: &Server) -> i64 {
    // A session reports its numbers at the end of the statement that follows.
    read(server, "SELECT pg_stat_force_next_flush()::text AS text, 0::bigint AS number").await;
    let sum = "SELECT '' AS text, (COALESCE(seq_tup_read, 0) + COALESCE(idx_tup_fetch, 0))::bigint AS number \
               FROM pg_stat_user_tables WHERE relname = 'products'";
    read(server, sum).await[0].1
}

async fn planned(server: Server) {
    let columns = "name, sku, created_at, updated_at";
    let values = "'Lamp ' || md5(n::text), 'L-' || n, now(), now()";
    let rows = format!("SELECT {values} FROM generate_series(1, {PRODUCTS}) AS n");
    server.sql(&format!("INSERT INTO products ({columns}) {rows}")).await;
    // The same statistics for all executions.
    server.sql("ALTER TABLE products SET (autovacuum_enabled = false)").await;
    server.sql("ANALYZE products").await;
    let admin = server.admin();
    for sort in ["name", "-sku", "id", "product_group_name"] {
        for condition in [
            "name_cont]=rare{n}",
            "sku_start]=X-{n}",
            "name_gt]=Lamp fffff{n}",
            "sku_in]=L-1{n},L-2{n}",
            "weight_lt]={n}",
            "barcode_eq]={n}",
            "product_group_id_eq]={n}",
            "product_group_name_cont]=rare{n}",
            "id_gt]=1999{n}",
        ] {
            for cursor in ["", "&cursor="] {
                let mut read = Vec::new();
                for number in 0..10 {
                    let condition = condition.replace("{n}", &number.to_string());
                    let before = rows_read(&server).await;
                    admin.get(&format!("/products?q[{condition}&sort={sort}{cursor}")).await.ok();
                    read.push(rows_read(&server).await - before);
                }
                // Other tasks read the table too, and what a session has read may be reported an execution later.
                let median = |some: &mut [i64]| {
                    some.sort_unstable();
                    some[some.len() / 2]
                };
                let (first, later) = read.split_at_mut(5);
                let (first, later) = (median(first), median(later));
                assert!(later <= 10 * first.max(20), "{condition} by {sort}{cursor}: {read:?}");
            }
        }
    }
    for _ in 0..40 {
        admin.get("/products/1").await.ok();
    }
    let prepared = "SELECT statement AS text, generic_plans AS number FROM pg_prepared_statements \
                    WHERE statement NOT LIKE '%pg_prepared_statements%'";
    let lists = read(&server, &format!("{prepared} AND statement LIKE '%\"products\" AS t% ORDER BY %'")).await;
    assert!(!lists.is_empty(), "the lists were prepared on this connection");
    let generic: Vec<_> = lists.iter().filter(|(_, generic)| *generic > 0).collect();
    assert!(generic.is_empty(), "{generic:?}");
    let record = read(&server, &format!("{prepared} AND statement LIKE '%t.\"id\" = $1' AND generic_plans > 0")).await;
    assert!(!record.is_empty(), "a record by its id is planned once");
}
