//! Query plans of PostgreSQL: list statements use custom plans.

use charter_runtime::db::{Dialect, Sql};

use crate::support::{Database, Server, run};

/// Enough rows for the planner to prefer the sort index if it does not know the searched text.
const PRODUCTS: i64 = 20_000;

charter_testing::needs_postgres! {
    /// From its sixth execution on a connection, a prepared statement can get a generic plan. The search for a text
    /// without matches would then scan all records along the sort index.
    #[test]
    fn tenth_execution_of_a_list_uses_a_custom_plan() {
        run(Database::Postgres, planned);
    }
}

/// The result of a statement on the connection that reads records, which the LIFO pool returns again.
async fn read(server: &Server, text: &str) -> Vec<(String, i64)> {
    let rows = Sql::new(Dialect::Postgres, text).all(server.state.db.reader()).await.expect("it is read");
    rows.iter().map(|row| (row.try_get("", "text").unwrap(), row.try_get("", "number").unwrap())).collect()
}

async fn planned(server: Server) {
    let columns = "name, sku, created_at, updated_at";
    let values = "'Lamp ' || md5(n::text), 'L-' || n, now(), now()";
    let rows = format!("SELECT {values} FROM generate_series(1, {PRODUCTS}) AS n");
    server.sql(&format!("INSERT INTO products ({columns}) {rows}")).await;
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
                for number in 0..10 {
                    let condition = condition.replace("{n}", &number.to_string());
                    admin.get(&format!("/products?q[{condition}&sort={sort}{cursor}")).await.ok();
                }
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
