//! What is read on the thread that asks, and what is not.

use chrono::{DateTime, NaiveDate, Utc};
use rust_decimal::Decimal;
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sea_orm::{ConnectionTrait, SqlxSqliteConnector};
use uuid::Uuid;

use super::super::connection::{Pool, adapt};
use super::super::held::Held;
use super::super::{Dialect, Row, Rows};
use super::*;

/// A folder of its own, until it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn create(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("charter-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A database with the numbers from 1 to 5,000, and what reads it either way.
async fn opened(name: &str) -> (Near, Pool, Folder) {
    let folder = Folder::create(&format!("near-{name}"));
    let path = folder.0.join("numbers.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let options = options.journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Off);
    let pool = SqlitePoolOptions::new().after_connect(|connection, _| {
        Box::pin(async move {
            functions::register(connection.lock_handle().await?.as_raw_handle()).unwrap();
            Ok(())
        })
    });
    let pool = pool.connect_with(options).await.unwrap();
    let pool = Pool { connections: SqlxSqliteConnector::from_sqlx_sqlite_pool(pool), limit: None };
    let fill = "CREATE TABLE n (i INTEGER PRIMARY KEY); WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s \
                WHERE i < 5000) INSERT INTO n SELECT i FROM s";
    pool.connections.execute_unprepared(fill).await.unwrap();
    // A machine that makes them wait is not what they are about.
    let near = Near { slow: Duration::MAX, ..Near::new(path) };
    assert!(near.read(&sql("SELECT 1", 1)).is_some());
    (near, pool, folder)
}

fn sql(text: &str, columns: usize) -> Sql {
    Sql::new(Dialect::Sqlite, text).of_columns(columns)
}

/// Takes about ten steps for each number.
const LONG: &str = "SELECT SUM(a.i * b.i % 7) FROM n a, n b WHERE b.i <= $1";

#[tokio::test]
async fn values_are_bound_as_the_driver_binds_them() {
    let (near, pool, _folder) = opened("bound").await;
    let time: DateTime<Utc> = "2026-03-21T10:05:09.070Z".parse().unwrap();
    let whole: DateTime<Utc> = "2026-03-21T10:05:09Z".parse().unwrap();
    let values: Vec<Value> = vec![
        true.into(),
        Value::Bool(None),
        7i32.into(),
        Value::Int(None),
        i64::MIN.into(),
        Value::BigInt(None),
        "Ä\0b".into(),
        Value::String(None),
        time.into(),
        whole.into(),
        NaiveDate::from_ymd_opt(2026, 3, 1).unwrap().into(),
        Uuid::from_u128(0x00ff_1234).into(),
        Decimal::new(-1_2345, 4).into(),
    ];
    for value in values {
        let mut asked = sql("SELECT typeof(v), v FROM (SELECT ", 2);
        asked.bind(value.clone()).push(" AS v)");
        let read = near.read(&asked).unwrap_or_else(|| panic!("{value:?} is bound"));
        let mut adapted = sea_orm::Values(asked.values.clone());
        adapt(&mut adapted);
        let through = Sql { values: adapted.0, ..asked };
        let mut held = Held::of(&pool, None).await.unwrap();
        let expected = through.rows_on(&mut held).await.unwrap();
        let values = |rows: &Rows| match rows.first() {
            Some(Row::Packed(row)) => (format!("{:?}", row.value(0)), format!("{:?}", row.value(1))),
            other => panic!("{other:?} is no packed row"),
        };
        assert_eq!(values(&read), values(&expected), "{value:?}");
    }
}

#[tokio::test]
async fn what_takes_long_is_broken_off_and_not_tried_for_a_while() {
    let (near, _pool, _folder) = opened("long").await;
    let asked = |times: i64| {
        let mut asked = sql(LONG, 1);
        asked.values.push(times.into());
        asked
    };
    assert!(near.read(&asked(0)).is_some());
    let begun = Instant::now();
    assert!(near.read(&asked(5_000)).is_none());
    assert!(begun.elapsed() < Duration::from_secs(2), "25 million steps take longer");
    assert!(near.read(&asked(0)).is_none(), "who has the same text is not tried");
    assert!(near.read(&sql("SELECT i FROM n WHERE i = 3", 1)).is_some(), "others are");
    near.long().texts.values_mut().for_each(|until| *until = Instant::now());
    assert!(near.read(&asked(0)).is_some(), "after a while it is tried again");
}

#[tokio::test]
async fn what_takes_long_by_the_clock_is_broken_off_though_its_steps_are_few() {
    let (near, _pool, _folder) = opened("clock").await;
    let asked = sql("SELECT SUM(i) FROM n", 1);
    assert!(near.read(&asked).is_some());
    let hasty = Near { slow: Duration::ZERO, ..Near::new(near.path.clone()) };
    assert!(hasty.read(&asked).is_none(), "the clock is looked at before its last step");
    assert_eq!(hasty.long().texts.len(), 1, "it is not tried again for a while");
}

#[tokio::test]
async fn a_text_is_not_folded_once_its_statement_is_late() {
    let (near, _pool, _folder) = opened("folds").await;
    for (text, is_read) in [("SELECT i FROM n WHERE i = 1", true), ("SELECT charter_fold(i) FROM n WHERE i = 1", false)]
    {
        // Too few steps for the clock to be looked at among them.
        let hasty = Near { slow: Duration::ZERO, ..Near::new(near.path.clone()) };
        assert_eq!(hasty.read(&sql(text, 1)).is_some(), is_read, "{text}");
        assert_eq!(hasty.long().texts.len(), 1, "it is not tried again for a while");
    }
}

#[tokio::test]
async fn a_statement_of_many_values_is_left_to_the_driver() {
    let (near, _pool, _folder) = opened("many").await;
    for (count, is_read) in [(MOST_BOUND, true), (MOST_BOUND + 1, false)] {
        let mut asked = sql("SELECT i FROM n WHERE i IN ", 1);
        asked.push("(");
        for number in 0..count as i64 {
            asked.push(if number == 0 { "" } else { ", " }).bind(number);
        }
        asked.push(")");
        assert_eq!(near.read(&asked).is_some(), is_read, "{count}");
    }
}

#[tokio::test]
async fn steps_of_one_statement_are_not_counted_for_the_next() {
    let (near, _pool, _folder) = opened("steps").await;
    for _ in 0..100 {
        let rows = near.read(&sql("SELECT i FROM n WHERE i <= 500", 1));
        assert_eq!(rows.expect("it is short").len(), 500);
    }
    assert_eq!(lock(&near.idle).as_ref().expect("it is open").len(), 1, "one connection serves all");
}

#[tokio::test]
async fn nothing_is_written_and_what_fails_is_left_to_the_driver() {
    let (near, _pool, _folder) = opened("fails").await;
    for text in ["DELETE FROM n RETURNING i", "SELECT nothing FROM nowhere", "SELECT 1, 2 FROM n WHERE i = 1"] {
        let columns = if text.contains("1, 2") { 3 } else { 1 };
        assert!(near.read(&sql(text, columns)).is_none(), "{text}");
    }
    let rows = near.read(&sql("SELECT COUNT(*) FROM n WHERE i < 10", 1)).unwrap();
    assert_eq!(rows.first().map(|row: Row<'_>| row.integer(0).unwrap()), Some(9));
    let mut uncounted = sql("SELECT 1", 1);
    assert!(near.read(uncounted.uncounted()).is_none());
    assert!(near.read(&sql("SELECT 1", 0)).is_none(), "whose columns are not known");
}

#[tokio::test]
async fn while_the_disk_is_slow_the_driver_reads() {
    let (near, _pool, _folder) = opened("slow").await;
    let asked = sql("SELECT 1", 1);
    assert!(near.read(&asked).is_some());
    near.long().all = Some(Instant::now() + Duration::from_secs(60));
    assert!(near.read(&asked).is_none());
    near.long().all = Some(Instant::now());
    assert!(near.read(&asked).is_some());
}

#[tokio::test]
async fn what_is_closed_opens_nothing() {
    let (near, _pool, _folder) = opened("closed").await;
    assert!(near.read(&sql("SELECT 1", 1)).is_some());
    near.close();
    assert!(near.read(&sql("SELECT 1", 1)).is_none());
}

#[tokio::test]
async fn a_change_of_the_tables_is_learned_however_much_there_is_to_learn() {
    let (near, pool, _folder) = opened("tables").await;
    let asked = sql("SELECT COUNT(*) FROM n WHERE i < 10", 1);
    assert!(near.read(&asked).is_some());
    let tables: String = (0..3_000).map(|number| format!("CREATE TABLE t{number} (a, b UNIQUE, c UNIQUE);")).collect();
    pool.connections.execute_unprepared(&format!("BEGIN; {tables} COMMIT")).await.unwrap();
    near.read(&asked);
    near.long().texts.clear();
    assert!(near.read(&asked).is_some());
}

#[tokio::test]
async fn values_are_bound_by_their_numbers_wherever_these_stand() {
    let (near, _pool, _folder) = opened("numbers").await;
    let mut asked = sql("SELECT $2, $1, $2 FROM n WHERE i = $3", 3);
    asked.values.extend([1i64.into(), 2i64.into(), 3i64.into()]);
    let rows = near.read(&asked).unwrap();
    let row = rows.first().unwrap();
    assert_eq!([0, 1, 2].map(|position| row.integer(position).unwrap()), [2, 1, 2]);
    asked.values.pop();
    assert!(near.read(&asked).is_none(), "a value is missing");
}

#[tokio::test]
async fn what_is_long_is_left_to_the_driver_and_not_tried_for_a_while() {
    let (near, _pool, _folder) = opened("long-answers").await;
    let of = |bytes: usize| {
        let mut asked = sql("SELECT zeroblob($1) FROM n WHERE i = 1", 1);
        asked.values.push(i64::try_from(bytes).unwrap().into());
        asked
    };
    assert!(near.read(&of(LONGEST - 5)).is_some());
    assert!(near.read(&of(LONGEST)).is_none());
    // It would be read once more for each who asks.
    assert!(near.read(&of(1)).is_none());
    assert!(near.read(&sql("SELECT zeroblob(1) FROM n WHERE i = 1", 1)).is_some(), "others are");
}
