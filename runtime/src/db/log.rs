//! Whether anything was written to SQLite's file: the head of the index of its log, which lies in memory that all processes
//! share. A connection that reads holds its transaction until that head is another, and so neither locks the file for each
//! statement nor looks through the log anew (decision 29).

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, Ordering, fence};

use rusqlite::{Connection, ffi};

use super::near::FLAGS;

/// A log of so many pages is folded into the file, as SQLite does by itself. Who holds a transaction then keeps pages from it.
pub(super) const FOLDED: u32 = 1_000;

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

/// What a file holds: it is the same for as long as this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version([u32; HEAD]);

impl Log {
    /// Nothing where everything may change without a sign: the file is in another mode, or is not there yet.
    pub fn open(path: &Path) -> Option<Log> {
        let connection = Connection::open_with_flags(path, FLAGS).ok()?;
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).ok()?;
        let words = if mode == "wal" { shared(&connection)? } else { return None };
        Some(Log { words, _connection: connection })
    }

    /// What is committed by now, and whether a transaction that reads it may stay open. Nothing while somebody says it anew.
    pub fn now(&self) -> Option<(Version, bool)> {
        // SAFETY: the connection is open. See `shared` for the length.
        let words = unsafe { self.words.as_ref() };
        let read = |from: usize| std::array::from_fn(|word| words[from + word].load(Ordering::Relaxed));
        // The second is written first.
        let first = read(0);
        fence(Ordering::SeqCst);
        let second: [u32; HEAD] = read(HEAD);
        fence(Ordering::SeqCst);
        let pages = first[PAGES];
        // Not while the log waits to be folded. Where all of it is in the file, the next who writes begins it anew, whoever reads.
        let may_stay = pages < FOLDED || pages == words[IN_FILE].load(Ordering::Relaxed);
        (first == second && first[VERSION.0] == VERSION.1).then_some((Version(first), may_stay))
    }
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
