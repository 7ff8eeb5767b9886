//! Whether anything was written to SQLite's file: the head of the index of its log, which lies in memory that all processes
//! share. Where it is the same a page is what it was, and a connection that reads may go on in the transaction of before
//! (decision 29).

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, ffi};

/// The head is so many words, twice (<https://sqlite.org/walformat.html>, section 2.1).
const HEAD: usize = 12;
/// Of the head: its version, and how many pages are in the log.
const VERSION: (usize, u32) = (0, 3_007_000);
const PAGES: usize = 4;
/// Behind both heads: how many of these pages are in the file too.
const IN_FILE: usize = 2 * HEAD;

/// The words are read one by one, while others write them.
type Words = [AtomicU32; IN_FILE + 1];

/// The log of a file, for as long as this is there.
#[derive(Debug)]
pub(super) struct Log {
    /// They belong to SQLite, and stay where they are while the connection is open.
    words: NonNull<Words>,
    /// Does nothing else. While it is open nobody's is the last to be closed, which would end the log: another begins as it did.
    _connection: Connection,
}

// SAFETY: what is pointed to is shared by processes, and only ever read here, as atomics.
unsafe impl Send for Log {}

/// What a file holds: it is the same for as long as this is, and the [`Log`] is there that told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version([u32; HEAD]);

/// What is committed, and how much of it is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Committed {
    pub version: Version,
    /// So many pages of the log.
    in_file: u32,
}

impl Log {
    /// Nothing where everything may change without a sign: the file is in another mode, or another connection has to put its
    /// log in order first.
    pub fn open(path: &Path) -> Option<Log> {
        let opened = connect(path).and_then(|connection| {
            connection.busy_timeout(Duration::ZERO)?;
            let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
            Ok((connection, mode))
        });
        match opened {
            Ok((connection, mode)) if mode == "wal" => {
                Some(Log { words: shared(&connection)?, _connection: connection })
            }
            Ok(_) => None,
            Err(error) => {
                tracing::debug!(%error, "the log of SQLite tells of no changes");
                None
            }
        }
    }

    /// Whether it is that of the file that a connection has opened. The path may have led to another.
    pub fn is_of(&self, connection: &Connection) -> bool {
        shared(connection) == Some(self.words)
    }

    /// What is committed by now. Nothing while somebody says it anew.
    pub fn now(&self) -> Option<Committed> {
        // SAFETY: the connection is open. See `shared` for the length.
        let words = unsafe { self.words.as_ref() };
        let read = |from: usize| std::array::from_fn(|word| words[from + word].load(Ordering::Relaxed));
        // The second is written first.
        let first = read(0);
        fence(Ordering::SeqCst);
        let second: [u32; HEAD] = read(HEAD);
        fence(Ordering::SeqCst);
        let committed = Committed { version: Version(first), in_file: words[IN_FILE].load(Ordering::Relaxed) };
        (first == second && first[VERSION.0] == VERSION.1).then_some(committed)
    }
}

impl Committed {
    /// Whether all of the log is in the file too. Who reads then reads the file alone: the next who writes begins the log anew,
    /// and whoever folds it has nothing to wait for. Those who read the log itself, one after the other without a pause,
    /// would keep it from being folded for ever.
    pub fn is_folded(&self) -> bool {
        self.version.0[PAGES] == self.in_file
    }
}

/// A connection that is not the driver's, opened as it opens its own. The file is not made here, and nobody else uses the
/// connection meanwhile.
pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(path, flags)
}

/// Folds the log into the file, as far as nobody is in the way. Who writes meanwhile does not wait.
pub(super) fn fold(path: &Path) -> rusqlite::Result<()> {
    let connection = connect(path)?;
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

#[cfg(test)]
impl Version {
    pub fn numbered(number: u32) -> Version {
        Version([number; HEAD])
    }
}

/// The memory of the index, as SQLite itself asks the system for it.
fn shared(connection: &Connection) -> Option<NonNull<Words>> {
    /// The size of the pieces in which it is asked for: SQLite's own.
    const PIECE: c_int = 32 << 10;
    let mut file: *mut ffi::sqlite3_file = null_mut();
    let mut words: *mut c_void = null_mut();
    // SAFETY: the handle is that of an open connection, which nobody else uses meanwhile, and the pointers are those that
    // sqlite3.h says. A connection that has read in this mode has the first piece, so that none is made.
    unsafe {
        let told = (&raw mut file).cast();
        if ffi::sqlite3_file_control(connection.handle(), c"main".as_ptr(), ffi::SQLITE_FCNTL_FILE_POINTER, told)
            != ffi::SQLITE_OK
        {
            return None;
        }
        let methods = file.as_ref()?.pMethods.as_ref()?;
        let map = if methods.iVersion >= 2 { methods.xShmMap? } else { return None };
        if map(file, 0, PIECE, 0, &raw mut words) != ffi::SQLITE_OK {
            return None;
        }
    }
    NonNull::new(words.cast())
}

#[cfg(test)]
pub(super) mod tests;
