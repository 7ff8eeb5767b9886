//! The migrations against real databases: SQLite, and PostgreSQL where it is installed.

mod database;
mod history;
mod plans;
#[path = "../../../tests/support/postgres.rs"]
mod postgres;
mod tables;
