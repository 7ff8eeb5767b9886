//! The migrations against real databases: SQLite, and PostgreSQL where it is installed.

mod beside;
mod busy;
mod database;
mod declared;
mod history;
mod kept;
mod killed;
mod model;
mod names;
mod plans;
#[path = "../../../tests/support/postgres.rs"]
mod postgres;
mod printed;
mod reached;
mod rows;
mod steps;
mod tables;
mod texts;
mod values;
mod walk;
