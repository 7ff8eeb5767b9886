//! What is read on the thread that asks, and what is not.

use chrono::{DateTime, NaiveDate, Utc};
use rust_decimal::Decimal;
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sea_orm::{ConnectionTrait, SqlxSqliteConnector};
use uuid::Uuid;

use super::super::connection::{Pool, adapt};
use super::super::held::Held;
use super::super::log::FOLDED;
use super::super::{Dialect, Row, Rows};
use super::*;

/// A folder of its own, until it is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A database with the numbers from 1 to 5,000, and what reads it either way.
async fn opened(name: &str) -> (Near, Pool, Folder) {
    opened_as(name, SqliteJournalMode::Wal).await
}

async fn opened_as(name: &str, mode: SqliteJournalMode) -> (Near, Pool, Folder) {
    let folder = Folder(std::env::temp_dir().join(format!("charter-near-{name}-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).unwrap();
    let path = folder.0.join("numbers.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let options = options.journal_mode(mode).synchronous(SqliteSynchronous::Off);
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
    (Near { slow: Duration::MAX, ..Near::new(path) }, pool, folder)
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
    assert_eq!(lock(&near.idle).as_ref().unwrap().0.len(), 1, "one connection serves all");
}

/// The greatest of the numbers.
fn most(near: &Near) -> i64 {
    let rows = near.read(&sql("SELECT MAX(i) FROM n", 1)).expect("it is short");
    rows.first().expect("a row").integer(0).expect("a number")
}

/// Whether each of the connections holds a transaction.
fn held(near: &Near) -> Vec<bool> {
    lock(&near.idle).as_ref().unwrap().0.iter().map(|reader| !reader.connection.is_autocommit()).collect()
}

#[tokio::test]
async fn what_is_committed_is_seen_by_the_next_statement() {
    for (mode, holds) in [(SqliteJournalMode::Wal, true), (SqliteJournalMode::Delete, false)] {
        let (near, _pool, _folder) = opened_as("seen", mode).await;
        // The driver's own transactions are on one connection.
        let writer = Connection::open(&near.path).unwrap();
        let write = |text: &str| writer.execute_batch(text).unwrap();
        for number in 5_001..5_020 {
            write("BEGIN");
            write(&format!("INSERT INTO n VALUES ({number})"));
            assert_eq!((most(&near), held(&near)), (number - 1, vec![holds]));
            write("COMMIT");
            assert_eq!((most(&near), held(&near)), (number, vec![holds]));
            write("BEGIN; INSERT INTO n VALUES (9000); ROLLBACK");
            assert_eq!(most(&near), number);
        }
        write("PRAGMA wal_checkpoint(PASSIVE); INSERT INTO n VALUES (6000); ALTER TABLE n RENAME COLUMN i TO j");
        assert!(near.read(&sql("SELECT MAX(i) FROM n", 1)).is_none(), "there is none of that name");
    }
}

#[tokio::test]
async fn who_reads_nothing_holds_no_transaction() {
    let (near, pool, _folder) = opened("held").await;
    assert_eq!((most(&near), held(&near)), (5_000, vec![true]));
    let begun = Instant::now();
    while held(&near)[0] && begun.elapsed() < 20 * HELD {
        tokio::time::sleep(HELD / 20).await;
    }
    assert_eq!(held(&near), [false]);
    let folded = "PRAGMA wal_checkpoint(TRUNCATE)";
    pool.connections.execute_unprepared(folded).await.unwrap();
    assert_eq!((most(&near), held(&near)), (5_000, vec![true]));
}

#[tokio::test]
async fn the_log_is_folded_however_much_is_read_meanwhile() {
    let (near, pool, folder) = opened("folded").await;
    let log = folder.0.join("numbers.db-wal");
    let others: Vec<Near> = (0..3).map(|_| Near::new(near.path.clone())).collect();
    pool.connections.execute_unprepared("CREATE TABLE long (text)").await.unwrap();
    let (mut longest, mut times_held) = (0, 0);
    for number in 1..=2_000 {
        let write = "INSERT INTO long VALUES (zeroblob(12000))";
        pool.connections.execute_unprepared(write).await.unwrap();
        longest = longest.max(std::fs::metadata(&log).unwrap().len());
        // Some of them lag behind.
        for (place, near) in others.iter().enumerate() {
            if number % (place * 7 + 1) == 0 {
                assert_eq!(most(near), 5_000);
                times_held += usize::from(held(near)[0]);
            }
        }
    }
    assert!(longest < 2 * u64::from(FOLDED) * 4_200, "{longest}");
    assert!(times_held > 1_000, "{times_held}");
}

#[tokio::test]
async fn of_a_long_log_it_matters_whether_it_is_in_the_file() {
    let (near, pool, _folder) = opened("long-log").await;
    pool.connections.execute_unprepared("CREATE TABLE long (text)").await.unwrap();
    let other = Connection::open(&near.path).unwrap();
    let reads = "BEGIN; SELECT * FROM n";
    for (before, holds) in [("SELECT 1", true), (reads, false)] {
        other.execute_batch(before).unwrap();
        pool.connections.execute_unprepared("INSERT INTO long VALUES (zeroblob(8000000))").await.unwrap();
        assert_eq!((most(&near), held(&near)), (5_000, vec![holds]));
    }
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
