//! Comparison of database tables with the model of an application.

// Several test crates include this file, and none of them uses all of it.
#![allow(dead_code)]

mod model;
mod postgres;
mod sqlite;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use charter_runtime::App;
use charter_runtime::command::command;
use charter_runtime::config::Config;
use charter_runtime::db::{Connection, Dialect};
use charter_runtime::ops::State;
use charter_runtime::server::ServerState;
use sea_orm::{ConnectionTrait, QueryResult, Statement};

/// The tables by name.
pub type Tables = BTreeMap<String, Table>;

#[derive(Debug, Default)]
pub struct Table {
    pub columns: BTreeMap<String, Column>,
    pub indexes: Vec<Index>,
    /// By column, the table that it references.
    pub references: BTreeMap<String, String>,
    /// The columns with ON DELETE CASCADE.
    pub cascades: Vec<String>,
}

#[derive(Debug)]
pub struct Column {
    /// The type in the database's notation.
    pub kind: String,
    pub nullable: bool,
    /// The default without quotes and casts.
    pub default: Option<String>,
}

#[derive(Debug)]
pub struct Index {
    /// The columns in order. `folded <column>` stands for the case-folded text.
    pub keys: Vec<String>,
    pub unique: bool,
    /// It has a WHERE condition.
    pub partial: bool,
    /// It contains only the rows that are not deleted.
    pub live: bool,
    /// It is a trigram index.
    pub substrings: bool,
}

/// Opens a database and prepares it.
pub async fn open(app: App, folder: &Path, database_url: String) -> Arc<ServerState> {
    let matches = command(&app).get_matches_from([app.name]);
    let settings = [("CHARTER_DATABASE_URL", database_url), ("CHARTER_DATA_DIR", folder.display().to_string())];
    let settings = settings.into_iter().map(|(name, value)| (name.to_string(), value));
    let state = app.open(Config::read(&matches, settings).expect("the settings can be read")).await;
    let state = state.unwrap_or_else(|error| panic!("the database does not open: {error}"));
    app.prepare(&state).await.unwrap_or_else(|error| panic!("the tables are not created: {error}"));
    state
}

/// Every difference between the tables and the resources.
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
