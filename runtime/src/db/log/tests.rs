//! When a version is the same, and whose it is.

use super::*;

/// A folder of its own, until it is dropped.
pub struct Folder(pub std::path::PathBuf);

impl Folder {
    pub fn create(name: &str) -> Folder {
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

fn write(path: &Path, text: &str) {
    Connection::open(path).unwrap().execute_batch(text).unwrap();
}

#[test]
fn a_log_goes_on_though_everybody_else_has_closed_it() {
    let folder = Folder::create("log-goes-on");
    let path = folder.0.join("one.db");
    write(&path, "PRAGMA journal_mode = WAL; CREATE TABLE t (x)");
    let first = Log::open(&path).unwrap();
    let mut versions = vec![first.now().unwrap().version];
    for _ in 0..5 {
        // The last to write closes its connection, as a command does.
        write(&path, "INSERT INTO t VALUES (1)");
        versions.push(first.now().unwrap().version);
    }
    assert!(versions.windows(2).all(|two| two[0] != two[1]) && versions[0] != versions[2], "{versions:?}");
    let last = first.now().unwrap().version;
    write(&path, "SELECT * FROM t");
    assert_eq!(first.now().unwrap().version, last, "who reads changes nothing");
    // Without it the next begins as the one before did, whatever was written.
    drop(first);
    let begins = [(); 2].map(|()| {
        write(&path, "INSERT INTO t VALUES (1)");
        Log::open(&path).unwrap().now().unwrap().version
    });
    assert_eq!(begins[0], begins[1]);
}

#[test]
fn a_file_that_is_not_in_this_mode_or_not_there_tells_of_nothing() {
    let folder = Folder::create("log-other");
    let path = folder.0.join("one.db");
    assert!(Log::open(&path).is_none());
    write(&path, "CREATE TABLE t (x)");
    assert!(Log::open(&path).is_none());
}

#[test]
fn it_is_known_of_which_file_it_is() {
    let folder = Folder::create("log-which");
    let [one, two] = ["one.db", "two.db"].map(|name| {
        let path = folder.0.join(name);
        write(&path, "PRAGMA journal_mode = WAL; CREATE TABLE t (x)");
        (Log::open(&path).unwrap(), Connection::open(&path).unwrap())
    });
    for (_, connection) in [&one, &two] {
        connection.execute_batch("SELECT * FROM t").unwrap();
    }
    assert!(one.0.is_of(&one.1) && two.0.is_of(&two.1));
    assert!(!one.0.is_of(&two.1) && !two.0.is_of(&one.1));
}
