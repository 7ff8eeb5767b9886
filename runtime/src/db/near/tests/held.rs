//! Transactions that are held from one read to the next: what is seen in them, and for whom they are let go.

use std::sync::atomic::{AtomicBool, AtomicI64};
use std::thread;

use super::*;

/// The greatest of the numbers.
fn most(near: &Near) -> i64 {
    let rows = near.read(&sql("SELECT MAX(i) FROM n", 1)).expect("it is short");
    rows.first().expect("a row").integer(0).expect("a number")
}

/// Whether each of the connections holds a transaction.
fn held(near: &Near) -> Vec<bool> {
    lock(&near.idle).as_ref().unwrap().readers.iter().map(|reader| !reader.connection.is_autocommit()).collect()
}

fn folded(near: &Near) -> bool {
    lock(&near.idle).as_ref().unwrap().now().unwrap().is_folded()
}

#[tokio::test]
async fn what_is_committed_is_seen_by_the_next_statement() {
    for mode in [SqliteJournalMode::Wal, SqliteJournalMode::Delete] {
        let (near, _pool, _folder) = opened_as("seen", mode).await;
        // The driver's own transactions are on one connection.
        let writer = Connection::open(&near.path).unwrap();
        let write = |text: &str| writer.execute_batch(text).unwrap();
        for number in 5_001..5_020 {
            if mode == SqliteJournalMode::Wal {
                log::fold(&near.path).unwrap();
                assert_eq!((most(&near), held(&near)), (number - 1, vec![true]));
            }
            write("BEGIN");
            write(&format!("INSERT INTO n VALUES ({number})"));
            assert_eq!(most(&near), number - 1);
            write("COMMIT");
            assert_eq!((most(&near), held(&near)), (number, vec![false]));
            write("BEGIN; INSERT INTO n VALUES (9000); ROLLBACK");
            assert_eq!(most(&near), number);
        }
        write("ALTER TABLE n RENAME COLUMN i TO j");
        assert!(near.read(&sql("SELECT MAX(i) FROM n", 1)).is_none(), "there is none of that name");
    }
}

#[tokio::test]
async fn where_nobody_writes_transactions_are_held_by_those_who_read() {
    let (near, pool, _folder) = opened("held").await;
    let other = Connection::open(&near.path).unwrap();
    other.execute_batch("BEGIN; SELECT * FROM n").unwrap();
    pool.connections.execute_unprepared("INSERT INTO n VALUES (5001)").await.unwrap();
    tokio::time::sleep(QUIET + 5 * HELD).await;
    assert_eq!((most(&near), held(&near), folded(&near)), (5_001, vec![false], false), "it is in the way");
    drop(other);
    let begun = Instant::now();
    while !folded(&near) && begun.elapsed() < 20 * QUIET {
        tokio::time::sleep(HELD / 5).await;
    }
    assert_eq!((most(&near), held(&near)), (5_001, vec![true]));
    while held(&near)[0] && begun.elapsed() < 20 * QUIET {
        tokio::time::sleep(HELD / 5).await;
    }
    assert_eq!(held(&near), [false]);
    let fold = "PRAGMA wal_checkpoint(TRUNCATE)";
    pool.connections.execute_unprepared(fold).await.unwrap();
    assert_eq!((most(&near), held(&near)), (5_001, vec![true]));
}

#[tokio::test]
async fn the_log_is_folded_however_much_is_read_meanwhile() {
    let (near, pool, folder) = opened("folded").await;
    let log = folder.0.join("numbers.db-wal");
    let others: Vec<Near> = (0..3).map(|_| Near { slow: Duration::MAX, ..Near::new(near.path.clone()) }).collect();
    pool.connections.execute_unprepared("CREATE TABLE long (text)").await.unwrap();
    let mut longest = 0;
    for number in 1..=2_000 {
        let write = "INSERT INTO long VALUES (zeroblob(12000))";
        pool.connections.execute_unprepared(write).await.unwrap();
        longest = longest.max(std::fs::metadata(&log).unwrap().len());
        // Some of them lag behind.
        for (place, near) in others.iter().enumerate() {
            if number % (place * 7 + 1) == 0 {
                assert_eq!(most(near), 5_000);
            }
        }
    }
    // SQLite folds it at a thousand pages.
    assert!(longest < 2_000 * 4_200, "{longest}");
}

/// What reads on a thread of its own until it is told to stop: the greatest of the numbers, which is at least what was
/// committed before, and the same for as long as the version is.
fn reads(near: &Arc<Near>, committed: &Arc<AtomicI64>, stop: &Arc<AtomicBool>) -> thread::JoinHandle<(u32, u32)> {
    let (near, committed, stop) = (near.clone(), committed.clone(), stop.clone());
    thread::spawn(move || {
        let (mut read, mut same, mut known) = (0, 0, None);
        while !stop.load(Ordering::Relaxed) {
            let least = committed.load(Ordering::SeqCst);
            let version = near.version();
            if let (Some(now), Some((then, found))) = (version, known)
                && now == then
            {
                assert!(found >= least, "{found} of {least} by its version");
                same += 1;
            }
            let Some(rows) = near.read(&sql("SELECT MAX(i) FROM n", 1)) else { continue };
            let found = rows.first().expect("a row").integer(0).expect("a number");
            assert!(found >= least, "{found} of {least}");
            read += 1;
            known = version.map(|version| (version, found));
        }
        (read, same)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_writes_and_folds_meanwhile_nobody_reads_what_was() {
    let (near, _pool, _folder) = opened("meanwhile").await;
    let near = Arc::new(near);
    let (committed, stop) = (Arc::new(AtomicI64::new(5_000)), Arc::new(AtomicBool::new(false)));
    let threads: Vec<_> = (0..3).map(|_| reads(&near, &committed, &stop)).collect();
    let open = || {
        let connection = Connection::open(&near.path).unwrap();
        connection.busy_timeout(Duration::from_secs(20)).unwrap();
        connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
        connection
    };
    let mut writer = open();
    for number in 5_001..6_500 {
        writer.execute_batch(&format!("INSERT INTO n VALUES ({number})")).unwrap();
        committed.store(number, Ordering::SeqCst);
        match number % 100 {
            10 => writer.execute_batch("BEGIN; INSERT INTO n VALUES (9000); ROLLBACK").unwrap(),
            20 => writer = open(),
            30 => writer.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap(),
            40 => writer.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap(),
            50 => writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap(),
            60 => writer.execute_batch("VACUUM").unwrap(),
            _ => {}
        }
        if number % 5 == 0 {
            thread::sleep(Duration::from_micros(200));
        }
    }
    stop.store(true, Ordering::Relaxed);
    for thread in threads {
        let (read, same) = thread.join().expect("it read what was committed");
        assert!(read > 100 && same > 100, "{read} {same}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_folds_the_log_waits_for_nobody_who_goes_on_reading() {
    let (near, _pool, _folder) = opened("waits").await;
    let near = Arc::new(near);
    let (committed, stop) = (Arc::default(), Arc::new(AtomicBool::new(false)));
    let threads: Vec<_> = (0..2).map(|_| reads(&near, &committed, &stop)).collect();
    let other = Connection::open(&near.path).unwrap();
    other.busy_timeout(Duration::from_secs(4)).unwrap();
    for number in 6_000..6_010 {
        other.execute_batch(&format!("INSERT INTO n VALUES ({number})")).unwrap();
        thread::sleep(Duration::from_millis(20));
        let busy: bool = other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
        assert!(!busy, "{number}");
    }
    stop.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| assert!(thread.join().is_ok()));
}

#[tokio::test]
async fn who_is_let_go_long_after_it_read_goes_on() {
    let (near, _pool, _folder) = opened("late").await;
    let near = Near { slow: SLOW, ..Near::new(near.path.clone()) };
    log::fold(&near.path).unwrap();
    // SQLite looks at the clock once in so many runs of a statement as short as COMMIT.
    for time in 0..COUNTED {
        if near.read(&sql("SELECT MAX(i) FROM n", 1)).is_some() {
            let (mut reader, now) = {
                let mut idle = lock(&near.idle);
                let open = idle.as_mut().unwrap();
                (open.readers.pop().unwrap(), open.now())
            };
            assert_eq!(reader.renew(now, Instant::now()), Ok(()));
            assert!(reader.held.is_some());
            // Of every statement from then on.
            reader.spent.begun.store(0, Ordering::Relaxed);
            thread::sleep(SLOW / 10);
            assert_eq!(reader.let_go(), Ok(()), "{time}");
            lock(&near.idle).as_mut().unwrap().readers.push(reader);
        }
    }
}

#[tokio::test]
async fn of_a_file_that_took_the_place_of_another_nothing_is_held_that_the_other_tells() {
    let (near, _pool, folder) = opened("replaced").await;
    lock(&near.idle).as_mut().unwrap().readers.clear();
    let (new, old) = (folder.0.join("new.db"), folder.0.join("old.db"));
    let fill = "PRAGMA journal_mode = WAL; CREATE TABLE n (i INTEGER PRIMARY KEY); INSERT INTO n VALUES (1)";
    Connection::open(&new).unwrap().execute_batch(fill).unwrap();
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::rename(folder.0.join(format!("numbers.db{end}")), format!("{}{end}", old.display()));
    }
    std::fs::rename(&new, &near.path).unwrap();
    assert_eq!(most(&near), 1);
    let version = near.version();
    Connection::open(&near.path).unwrap().execute_batch("INSERT INTO n VALUES (2)").unwrap();
    assert_eq!(most(&near), 2);
    assert_ne!(near.version(), version);
}
