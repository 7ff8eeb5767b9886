//! Tests of the compiled program: commands, exit codes, settings and server.

mod can;
mod doctor;
mod file_modes;
mod from_db;
mod from_db_pairs;
mod health;
mod import;
mod mail;
mod manage;
mod serve;
mod start;
mod stop;
mod texts;
mod usage;
mod wait;
mod webhook;

use crate::support::program::{Program, Serving};
use crate::support::{Client, Database};

/// Defines two tests for each of these functions, which take the program with a new database.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        $(
            mod $name {
                use crate::support::Database;

                #[test]
                fn sqlite() {
                    crate::commands::with_program(Database::Sqlite, super::$name);
                }

                charter_testing::needs_postgres! {
                    #[test]
                    fn postgres() {
                        crate::commands::with_program(Database::Postgres, super::$name);
                    }
                }
            }
        )*
    };
}

use on_both;

fn with_program(database: Database, test: fn(Program)) {
    let program = Program::new(database);
    let url = program.url().to_string();
    test(program);
    database.remove(&url);
}

fn blocking<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime starts").block_on(future)
}

/// The token in the banner of a first start.
fn token(banner: &str) -> String {
    let line = banner.lines().map(str::trim).find(|line| line.starts_with("chr_"));
    line.unwrap_or_else(|| panic!("no token: {banner}")).to_string()
}

fn status(serving: &Serving, token: &str, path: &str) -> u16 {
    blocking(async { Client::new(serving.address()).bearing(token).get(path).await.status })
}
