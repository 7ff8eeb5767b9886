//! What the tests stand on: a server over a fresh database, a client, and records to begin with.

mod answer;
mod client;
mod database;
pub mod postgres;
pub mod program;
mod server;
pub mod specimen;

pub use answer::Answer;
pub use client::Client;
pub use database::Database;
pub use server::{Prepared, Server, run};
pub use specimen::Specimens;

/// Makes two tests of each of these functions, which take a running server: one on SQLite, one on PostgreSQL.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        $(
            mod $name {
                #[test]
                fn sqlite() {
                    crate::support::run(crate::support::Database::Sqlite, super::$name);
                }

                #[test]
                fn postgres() {
                    crate::support::run(crate::support::Database::Postgres, super::$name);
                }
            }
        )*
    };
}

pub(crate) use on_both;
