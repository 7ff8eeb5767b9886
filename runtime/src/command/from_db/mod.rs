//! Command `from-db`: YAML of a resource from an existing table.

mod default;
pub(super) mod faults;
mod name;
mod pairs;
pub(super) mod table;
mod yaml;

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};

use self::pairs::Links;
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
    let links = pairs::find(dialect, table, &found, entries);
    if let Some(links) = links.as_ref().filter(|links| links.changes.is_empty()) {
        return output::line(field_of_links(table, links).trim_end());
    }
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
    let suggestion = links.as_ref().map(|links| unfit_pairs(table, links)).unwrap_or_default();
    output::line(format!("{suggestion}{text}").trim_end())
}

/// The field that makes links of a table of pairs.
fn field_of_links(table: &str, Links { holder, field, ids, .. }: &Links) -> String {
    format!(
        "# The table `{table}` has pairs, and needs no file. Add this field to that of `{holder}`: clients read and write\n\
         # `{ids}`. Then run `cargo charter migration snapshot`.\n\
         fields:\n  {field}\n"
    )
}

/// The same as a comment, for a table that links cannot use as it is.
fn unfit_pairs(table: &str, Links { holder, field, ids, changes }: &Links) -> String {
    let mut text = format!(
        "# The table `{table}` has pairs. Instead of this file, the one of `{holder}` can have the field\n\
         # `{field}`: clients then read and write `{ids}`.\n\
         # Before that, a migration must change the table:\n"
    );
    changes.iter().for_each(|change| text.push_str(&format!("# - {change}\n")));
    text + "#\n"
}
