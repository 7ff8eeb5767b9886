//! Command `from-db`: YAML of a resource from an existing table.

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
    if !yaml::is_name(table) {
        return Err(Error::internal(format!("`{table}` is not in snake_case, as the table of a resource must be")));
    }
    let found = table::read(dialect, connection, table).await?;
    let name = argument("name").map_or_else(|| singular(table), String::from);
    if !yaml::is_name(&name) {
        let problem =
            format!("`{name}` is not in snake_case, or not a valid name in Rust; choose another with `--name`");
        return Err(Error::internal(problem));
    }
    let resources: Vec<(&str, &str)> =
        state.catalog.entries().iter().map(|entry| (entry.meta.table, entry.meta.name)).collect();
    let text = yaml::write(dialect, &name, table, &found, &resources);
    let text = text.ok_or_else(|| Error::internal(format!("no column of `{table}` can be a field of a resource")))?;
    output::line(text.trim_end())
}

/// The singular of an English plural: `currencies` is `currency`, `boxes` is `box`, `rates` is `rate`.
fn singular(plural: &str) -> String {
    if let Some(stem) = plural.strip_suffix("ies") {
        return format!("{stem}y");
    }
    let es = ["sses", "xes", "ches", "shes"].iter().any(|end| plural.ends_with(end));
    let stem =
        if es { plural.strip_suffix("es") } else { plural.strip_suffix('s').filter(|stem| !stem.ends_with('s')) };
    stem.unwrap_or(plural).to_owned()
}

#[cfg(test)]
mod tests {
    use super::singular;

    #[test]
    fn plural_of_a_table_becomes_singular() {
        let pairs = [
            ("currencies", "currency"),
            ("boxes", "box"),
            ("addresses", "address"),
            ("exchange_rates", "exchange_rate"),
            ("houses", "house"),
            ("glass", "glass"),
            ("stock", "stock"),
        ];
        for (plural, expected) in pairs {
            assert_eq!(singular(plural), expected);
        }
    }
}
