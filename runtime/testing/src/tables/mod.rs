//! Comparison of database tables with the model of an application.

mod model;
mod postgres;
mod sqlite;

use std::collections::BTreeMap;
use std::sync::Arc;

use charter_runtime::App;
use charter_runtime::db::{Connection, Dialect};
use charter_runtime::ops::State;
use charter_runtime::server::ServerState;
use sea_orm::{ConnectionTrait, QueryResult, Statement};

use crate::{Database, Folder, config};

/// The tables by name.
type Tables = BTreeMap<String, Table>;

#[derive(Debug, Default)]
struct Table {
    columns: BTreeMap<String, Column>,
    indexes: Vec<Index>,
    /// By column, the table that it references.
    references: BTreeMap<String, String>,
    /// The columns with ON DELETE CASCADE.
    cascades: Vec<String>,
}

#[derive(Debug)]
struct Column {
    /// The type in the database's notation.
    kind: String,
    nullable: bool,
    /// The default without quotes and casts.
    default: Option<String>,
}

#[derive(Debug)]
struct Index {
    /// The columns in order. `folded <column>` stands for the case-folded text.
    keys: Vec<String>,
    unique: bool,
    /// It has a WHERE condition.
    partial: bool,
    /// It contains only the rows that are not deleted.
    live: bool,
    /// It is a trigram index.
    substrings: bool,
}

/// Opens an empty database and migrates it. Its files are in `folder`. Neither a server nor a background task runs.
///
/// # Panics
/// If a migration fails.
pub async fn open(app: &App, database: Database, folder: &Folder) -> Arc<ServerState> {
    let state = app.open(config(&database.create(folder), folder)).await;
    let state = state.unwrap_or_else(|error| panic!("the database does not open: {error}"));
    app.prepare(&state).await.unwrap_or_else(|error| panic!("the tables are not created: {error}"));
    state
}

/// Every difference between the tables and the resources, as a line of text. An up-to-date database has none.
///
/// # Panics
/// If the tables cannot be read.
pub async fn differences(state: &State) -> Vec<String> {
    model::differences(&state.catalog, state.db.dialect(), &read(state).await)
}

/// Reads every table in the connection's schema.
async fn read(state: &State) -> Tables {
    match state.db.dialect() {
        Dialect::Sqlite => sqlite::read(state.db.reader()).await,
        Dialect::Postgres => postgres::read(state.db.reader()).await,
    }
}

async fn rows(connection: &Connection, sql: &str) -> Vec<QueryResult> {
    let rows = connection.query_all_raw(Statement::from_string(connection.get_database_backend(), sql)).await;
    rows.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn text(row: &QueryResult, column: &str) -> String {
    row.try_get("", column).unwrap_or_else(|error| panic!("{column}: {error}"))
}

/// `'rental'::character varying` becomes `rental`.
fn plain_default(written: &str) -> String {
    let value = written.split("::").next().unwrap_or(written);
    value.trim_matches(|c| matches!(c, '\'' | '(' | ')' | ' ')).replace("''", "'").to_lowercase()
}
