//! A database for each test: a copy of one that was migrated and seeded once.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use charter_runtime::ops::State;
use sea_orm::{ConnectionTrait, Database as Connector};

use super::postgres;

/// The supported databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

/// A prepared database to copy.
pub enum Template {
    /// The bytes of the SQLite file.
    Sqlite(Vec<u8>),
    /// The URL of the PostgreSQL database, without connections.
    Postgres(String),
}

impl Database {
    /// The URL of an empty database.
    pub fn create(self, folder: &Folder) -> String {
        match self {
            Database::Sqlite => sqlite_url(folder),
            Database::Postgres => postgres::server().create_database(None),
        }
    }

    /// The source of [`Template::copy`]. All connections are closed.
    pub async fn template(self, url: String, folder: &Folder, state: &State) -> Template {
        let whole = folder.path().join("whole.db");
        if self == Database::Sqlite {
            // A copy of the file alone could be inconsistent: a connection that closes slowly may write planner
            // statistics.
            let copy = format!("VACUUM INTO '{}'", whole.display());
            state.db.writer().execute_unprepared(&copy).await.expect("the database can be copied");
        }
        state.db.close().await;
        match self {
            Database::Sqlite => Template::Sqlite(std::fs::read(whole).expect("the copy is a file")),
            Database::Postgres => Template::Postgres(url),
        }
    }

    /// Removes the database of a passed test. SQLite's is in its folder.
    pub async fn remove(self, url: &str) {
        if self == Database::Postgres {
            let (server, name) = url.rsplit_once('/').expect("a URL has a last segment");
            let maintenance = Connector::connect(format!("{server}/postgres")).await.expect("PostgreSQL runs");
            let statement = format!("DROP DATABASE {name} WITH (FORCE)");
            maintenance.execute_unprepared(&statement).await.expect("a database can be dropped");
            maintenance.close().await.expect("a connection can be closed");
        }
    }
}

impl Template {
    /// The URL of a copy.
    pub fn copy(&self, folder: &Folder) -> String {
        match self {
            Template::Sqlite(bytes) => {
                std::fs::write(file(folder), bytes).expect("the folder can be written");
                sqlite_url(folder)
            }
            Template::Postgres(url) => postgres::server().create_database(Some(url.as_str())),
        }
    }
}

fn file(folder: &Folder) -> PathBuf {
    folder.path().join("charter.db")
}

fn sqlite_url(folder: &Folder) -> String {
    format!("sqlite://{}", file(folder).display())
}

/// A temporary folder, removed when this is dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn create() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("charter-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = postgres::room().join(name);
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
