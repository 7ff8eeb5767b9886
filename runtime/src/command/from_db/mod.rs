//! Command `from-db`: YAML of a resource from an existing table.

mod default;
pub(super) mod faults;
mod name;
pub(super) mod table;
mod yaml;

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};

use super::output;
use crate::server::ServerState;
use charter_core::error::{Error, Result};
use charter_core::suggest::hint;

pub(super) fn command() -> Command {
    Command::new("from-db")
        .about("Print the YAML of a resource for an existing table; changes nothing")
        .arg(Arg::new("table").required(true).help("Name of the table"))
        .arg(Arg::new("name").long("name").help("Name of the resource; by default the singular of the table's name"))
}

pub(super) async fn run(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let argument = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let table = argument("table").unwrap_or_default();
    if let Some(entry) = state.catalog.entries().iter().find(|entry| entry.meta.table == table) {
        return Err(Error::internal(format!("the table `{table}` belongs to the resource `{}`", entry.meta.name)));
    }
    let (dialect, connection) = (state.db.dialect(), state.db.reader());
    let names = table::names(dialect, connection).await?;
    if !names.iter().any(|name| name == table) {
        let hint = hint(table, names.iter().map(String::as_str));
        return Err(Error::internal(format!("the database has no table `{table}`{hint}")));
    }
    if !name::is_name(table) {
        return Err(Error::internal(format!("`{table}` is not in snake_case, as the table of a resource must be")));
    }
    let found = table::read(dialect, connection, table).await?;
    let entries = state.catalog.entries();
    let (name, better) = argument("name").map_or_else(|| name::of_table(table, entries), |name| (name.into(), None));
    if !name::is_name(&name) {
        let problem =
            format!("`{name}` is not in snake_case, or not a valid name in Rust; choose another with `--name`");
        return Err(Error::internal(problem));
    }
    if !name::is_free(&name, entries) {
        let problem = format!(
            "`{name}` is a word of Rust, or the name, plural or path of another resource; choose another with `--name`"
        );
        return Err(Error::internal(problem));
    }
    let resources: Vec<(&str, &str)> =
        state.catalog.entries().iter().map(|entry| (entry.meta.table, entry.meta.name)).collect();
    let text = yaml::write(dialect, (&name, better.as_deref()), table, &found, &resources);
    let text = text.ok_or_else(|| Error::internal(format!("no column of `{table}` can be a field of a resource")))?;
    output::line(text.trim_end())
}
