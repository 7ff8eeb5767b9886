//! How PostgreSQL plans the statements of a list: for the values of the request, each time.

use futures_util::future::join_all;

use crate::support::{Database, Server, run};

/// Enough for the planner to prefer the order's index to a rare text, if it does not know the text.
const PRODUCTS: i64 = 20_000;

/// From its sixth execution on a connection a prepared statement may be planned without its values. The search for a text that
/// nothing has then walks along the index of the order through all records.
#[test]
fn a_list_that_is_asked_often_is_planned_for_its_values() {
    run(Database::Postgres, planned);
}

async fn planned(server: Server) {
    let columns = "name, sku, created_at, updated_at";
    let values = "'Lamp ' || md5(n::text), 'L-' || n, now(), now()";
    let rows = format!("SELECT {values} FROM generate_series(1, {PRODUCTS}) AS n");
    server.sql(&format!("INSERT INTO products ({columns}) {rows}")).await;
    server.sql("ANALYZE products").await;
    let admin = server.admin();
    for number in 0..10 {
        for sort in ["name", "-sku", "id"] {
            for query in [
                format!("q[name_cont]=rare{number}"),
                format!("q[sku_start]=X-{number}"),
                format!("q[name_gt]=Lamp f{number}"),
                format!("q[weight_lt]={number}"),
            ] {
                admin.get(&format!("/products?{query}&sort={sort}")).await.ok();
                admin.get(&format!("/products?{query}&sort={sort}&cursor=")).await.ok();
            }
        }
    }
    for _ in 0..40 {
        admin.get("/products/1").await.ok();
    }
    // On every connection of the pool, which others wait for meanwhile.
    let prepared = "SELECT statement AS text FROM pg_prepared_statements, pg_sleep(0.05) \
                    WHERE statement NOT LIKE '%pg_sleep%'";
    let found = async |query: &str| join_all((0..12).map(|_| server.texts(query))).await.concat();
    let lists = found(&format!("{prepared} AND statement LIKE '%\"products\" AS t% ORDER BY %'")).await;
    assert!(lists.is_empty(), "{}", lists.join("\n"));
    // They would be found: other statements are.
    assert!(!found(prepared).await.is_empty());
}
