//! The supported databases, as the parameter of a test.

use crate::{Folder, postgres};

/// A kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Database {
    /// A file in the temporary folder of the test.
    Sqlite,
    /// A database on the PostgreSQL server of the test process.
    Postgres,
}

impl Database {
    /// The URL of an empty database. SQLite creates the file in `folder` when the application opens it.
    ///
    /// # Panics
    /// If PostgreSQL is not installed or does not start.
    #[must_use]
    pub fn create(self, folder: &Folder) -> String {
        match self {
            Database::Sqlite => folder.sqlite_url(),
            Database::Postgres => postgres::server().create_database(None),
        }
    }

    /// Removes a database of [`postgres::server`] with its open connections. An SQLite database is removed with its folder.
    pub fn remove(self, url: &str) {
        if self == Database::Postgres {
            postgres::server().drop_database(url);
        }
    }
}
