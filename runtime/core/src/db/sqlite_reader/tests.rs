//! Tests of the record reader for SQLite.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use rust_decimal::Decimal;
use sea_orm::Value;
use uuid::Uuid;

use super::super::{Dialect, Row};
use super::*;
use crate::error::Error as Failure;

/// A folder that is removed when it is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A database with a table of the numbers from 1 to 5,000, and a pool that reads it.
fn open(name: &str, limit: Option<Duration>) -> (SqliteReader, Connection, Folder) {
    let folder = Folder(std::env::temp_dir().join(format!("charter-reader-{name}-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).unwrap();
    let path = folder.0.join("numbers.db");
    let writer = Connection::open(&path).unwrap();
    let fill = "PRAGMA journal_mode = WAL; CREATE TABLE n (i INTEGER PRIMARY KEY); WITH RECURSIVE s(i) AS \
                (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 5000) INSERT INTO n SELECT i FROM s";
    writer.execute_batch(fill).unwrap();
    (SqliteReader::new(path, 2, limit, &metrics::Database::default()).unwrap(), writer, folder)
}

fn sql(text: &str) -> Sql {
    Sql::new(Dialect::Sqlite, text)
}

fn first(rows: &Rows) -> i64 {
    rows.first().map(|row: Row<'_>| row.integer(0).unwrap()).unwrap()
}

#[tokio::test]
async fn values_are_bound_in_the_storage_classes_of_the_driver() {
    let (reader, _writer, _folder) = open("bound", None);
    let time: DateTime<Utc> = "2026-03-21T10:05:09.070Z".parse().unwrap();
    let cases: [(Value, &str, &str); 14] = [
        (true.into(), "integer", "1"),
        (Value::Bool(None), "null", "NULL"),
        (7i32.into(), "integer", "7"),
        (i64::MIN.into(), "integer", "-9223372036854775808"),
        (Value::BigInt(None), "null", "NULL"),
        ("Ä\"b".into(), "text", "'Ä\"b'"),
        (time.into(), "text", "'2026-03-21T10:05:09.070+00:00'"),
        (Value::ChronoDateTimeUtc(None), "null", "NULL"),
        (NaiveDate::from_ymd_opt(2026, 3, 1).unwrap().into(), "text", "'2026-03-01'"),
        (NaiveTime::from_hms_opt(14, 30, 0).unwrap().into(), "text", "'14:30:00'"),
        (Value::ChronoTime(None), "null", "NULL"),
        (Uuid::from_u128(0x00ff).into(), "blob", "X'000000000000000000000000000000FF'"),
        (Decimal::new(-1_2345, 4).into(), "integer", "-12345"),
        (serde_json::json!({ "a": [1] }).into(), "text", "'{\"a\":[1]}'"),
    ];
    for (value, kind, quoted) in cases {
        let mut query = sql("SELECT typeof(v), quote(v) FROM (SELECT ");
        query.bind(value.clone()).push(" AS v)");
        let rows = reader.rows(query).await.unwrap();
        let Some(Row::Buffered(row)) = rows.first() else { panic!("no row") };
        let text = |position| row.value(position).unwrap().as_str().unwrap().to_string();
        assert_eq!((text(0).as_str(), text(1).as_str()), (kind, quoted), "{value:?}");
    }
}

#[tokio::test]
async fn parameters_are_bound_by_their_numbers() {
    let (reader, _writer, _folder) = open("numbers", None);
    let mut query = sql("SELECT $2, $1, $2 FROM n WHERE i = $3");
    query.values.extend([1i64.into(), 2i64.into(), 3i64.into()]);
    let rows = reader.rows(query.clone()).await.unwrap();
    let row = rows.first().unwrap();
    assert_eq!([0, 1, 2].map(|position| row.integer(position).unwrap()), [2, 1, 2]);
    query.values.pop();
    assert!(reader.rows(query).await.is_err(), "a value is missing");
}

#[tokio::test]
async fn statement_is_interrupted_at_its_timeout_and_the_next_one_runs() {
    let (reader, _writer, _folder) = open("limit", Some(Duration::from_millis(200)));
    let started = Instant::now();
    let error = reader.rows(sql("SELECT SUM(a.i * b.i % 7) FROM n a, n b, n c")).await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(matches!(Failure::from(error), Failure::Unavailable(message) if message.contains("timed out")));
    assert_eq!(first(&reader.rows(sql("SELECT COUNT(*) FROM n")).await.unwrap()), 5_000);
}

#[tokio::test]
async fn writes_and_unknown_tables_are_errors() {
    let (reader, writer, _folder) = open("refused", None);
    for text in ["DELETE FROM n RETURNING i", "SELECT nothing FROM nowhere"] {
        let error = reader.rows(sql(text)).await.unwrap_err();
        assert!(matches!(Failure::from(error), Failure::Internal(_) | Failure::Unavailable(_)), "{text}");
    }
    let error = reader.rows(sql("SELECT rowid FROM charter_search_n_0")).await.unwrap_err();
    assert!(matches!(Failure::from(error), Failure::Unavailable(_)), "an index that is being rebuilt");
    assert_eq!(writer.query_row("SELECT COUNT(*) FROM n", [], |row| row.get(0)), Ok(5_000));
}

#[tokio::test]
async fn statement_waits_for_a_connection_and_sees_earlier_commits() {
    let (reader, writer, _folder) = open("waits", None);
    let slow = "SELECT SUM(a.i * b.i % 7) FROM n a, n b WHERE b.i < 500";
    let slow: Vec<_> = (0..4)
        .map(|_| {
            tokio::spawn({
                let reader = reader.clone();
                async move { reader.rows(sql(slow)).await }
            })
        })
        .collect();
    tokio::task::yield_now().await;
    writer.execute_batch("INSERT INTO n VALUES (6000); CREATE TABLE m (i)").unwrap();
    assert_eq!(first(&reader.rows(sql("SELECT MAX(i) FROM n")).await.unwrap()), 6_000);
    for slow in slow {
        assert!(slow.await.unwrap().is_ok());
    }
    assert!(reader.state().open <= 2, "two connections serve all");
}

#[tokio::test]
async fn closed_pool_opens_no_connection() {
    let (reader, _writer, _folder) = open("closed", None);
    assert!(!reader.is_read_only().await.unwrap());
    reader.close();
    let error = reader.rows(sql("SELECT 1")).await.unwrap_err();
    assert!(matches!(Failure::from(error), Failure::Unavailable(_)));
}

#[tokio::test]
async fn closing_the_pool_interrupts_running_statements() {
    let (reader, _writer, _folder) = open("interrupted", None);
    let running = tokio::spawn({
        let reader = reader.clone();
        async move { reader.rows(sql("SELECT SUM(a.i * b.i % 7) FROM n a, n b, n c")).await }
    });
    while reader.state().used() == 0 {
        tokio::task::yield_now().await;
    }
    reader.close();
    assert!(running.await.unwrap().is_err());
}

#[tokio::test]
async fn uri_options_apply_when_the_file_is_opened() {
    let (_, _writer, folder) = open("uri", None);
    let path = format!("file:{}?immutable=1", folder.0.join("numbers.db").display());
    let reader = SqliteReader::new(path.into(), 1, None, &metrics::Database::default()).unwrap();
    assert!(reader.is_read_only().await.unwrap());
}
