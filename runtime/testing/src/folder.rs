//! Temporary folder of a test.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::postgres;

/// A temporary folder, removed when this is dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// A new, empty folder in [`postgres::room`].
    ///
    /// # Panics
    /// If the folder cannot be created.
    #[must_use]
    pub fn create() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("charter-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = postgres::room().join(name);
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    /// Path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Path of the SQLite database in the folder.
    pub(crate) fn sqlite_file(&self) -> PathBuf {
        self.0.join("charter.db")
    }

    /// URL of the SQLite database in the folder.
    pub(crate) fn sqlite_url(&self) -> String {
        format!("sqlite://{}", self.sqlite_file().display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
