//! Lists that are filtered and sorted by a rollup or a computed field are served from an index. The times are printed, and
//! `docs/performance/README.md` has those of a large table.

use std::time::{Duration, Instant};

use charter_runtime::db::Dialect;
use serde_json::Value;

use super::fixture::Library;
use crate::support::{Client, on_both};

on_both!(list_by_a_rollup_is_served_from_an_index);

/// The books. `CHARTER_TEST_PARENTS=1000000` measures a large table.
fn books() -> u32 {
    let number = std::env::var("CHARTER_TEST_PARENTS").ok().and_then(|text| text.parse().ok());
    number.unwrap_or(20_000)
}

/// Lists by each field, which all have the same order of the books.
const LISTS: [(&str, &str); 2] = [("sort=-", ""), ("sort=", "&q[FIELD_gteq]=")];

/// The path of a list. No page is the same as an earlier one, which the server would answer from its cache.
fn list((sort, filter): (&str, &str), field: &str, value: u32, per_page: usize) -> String {
    let filter = if filter.is_empty() { String::new() } else { format!("{}{value}", filter.replace("FIELD", field)) };
    format!("/books?{sort}{field}{filter}&per_page={per_page}")
}

/// The median of the times of eleven requests.
async fn time(admin: &Client, shape: (&str, &str), field: &str, value: u32) -> Duration {
    let mut times = Vec::new();
    for per_page in 20..31 {
        let begin = Instant::now();
        admin.get(&list(shape, field, value, per_page)).await.ok();
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}

async fn list_by_a_rollup_is_served_from_an_index(server: Library) {
    let is_sqlite = server.state.db.dialect() == Dialect::Sqlite;
    let (count, moment) = (books(), "'2026-01-02T03:04:05+00:00', '2026-01-02T03:04:05+00:00'");
    let numbers = match is_sqlite {
        true => format!(
            "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) SELECT i FROM n) AS n"
        ),
        false => format!("generate_series(1, {count}) AS n(i)"),
    };
    let moment = if is_sqlite { moment.to_owned() } else { moment.replace("00'", "00'::timestamptz") };
    server
        .sql(&format!(
            "INSERT INTO books (name, rank, twofold, created_at, updated_at) SELECT 'Book ' || i, i % 4, i % 4 * 2, {moment} FROM {numbers}"
        ))
        .await;
    let day = if is_sqlite { "'2026-03-01'" } else { "date '2026-03-01'" };
    // In parts, which each end before the timeout of statements.
    for first in (0..count).step_by(50_000) {
        for copy in 1..=3 {
            server
                .sql(&format!(
                    "INSERT INTO loans (book_id, lent_on, created_at, updated_at) SELECT id, {day}, {moment} FROM books \
                     WHERE rank >= {copy} AND id > {first} AND id <= {first} + 50000"
                ))
                .await;
        }
    }
    server.sql(if is_sqlite { "ANALYZE" } else { "VACUUM ANALYZE books" }).await;
    let differing = server.texts("SELECT COUNT(*) || '' AS text FROM books WHERE loans <> rank").await;
    assert_eq!(differing, ["0"]);
    let admin = server.admin();
    for shape in LISTS {
        let plain = time(&admin, shape, "rank", 3).await;
        println!("{}{}: a plain field {plain:?}", shape.0, shape.1);
        for (field, value) in [("loans", 3), ("twofold", 6)] {
            let found = time(&admin, shape, field, value).await;
            println!("{}{}: {field} {found:?}", shape.0, shape.1);
            let plan = admin.get(&format!("{}&explain=1", list(shape, field, value, 40))).await.ok()["plan"].clone();
            let indexes: Vec<&Value> = plan["statements"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|one| one["indexes"].as_array().unwrap())
                .collect();
            println!("  {}", plan["statements"][0]["steps"]);
            let index = format!("books_{field}_sort");
            assert!(indexes.iter().any(|name| **name == index), "{plan}");
        }
    }
}
