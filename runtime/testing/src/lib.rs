//! Test support for Charter applications: servers on free ports, SQLite and PostgreSQL databases, a client, and a clock to advance.
//!
//! Add the crate to the `dev-dependencies` of an application. `docs/testing.md` is the guide. A function that fails panics,
//! because its caller is a test.

mod database;
mod folder;
mod needs;
pub mod postgres;
pub mod search;
mod standby;

#[cfg(feature = "application")]
mod client;
#[cfg(feature = "application")]
mod on_both;
#[cfg(feature = "application")]
mod prepared;
#[cfg(feature = "application")]
mod program;
#[cfg(feature = "application")]
mod records;
#[cfg(feature = "application")]
mod server;
#[cfg(feature = "application")]
pub mod tables;

pub use database::Database;
pub use folder::Folder;

#[cfg(feature = "application")]
pub use client::{Client, http};
#[cfg(feature = "application")]
pub use on_both::run;
#[cfg(feature = "application")]
pub use prepared::{ADMINISTRATOR, Prepared, config, prepare};
#[cfg(feature = "application")]
pub use program::{Program, without_settings};
#[cfg(feature = "application")]
pub use records::create;
#[cfg(feature = "application")]
pub use server::Server;
