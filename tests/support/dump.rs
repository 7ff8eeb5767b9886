//! The rows of all tables as text, to compare a database before and after requests.

use std::collections::{BTreeMap, BTreeSet};

use charter_runtime::db::Dialect;

use super::Server;

/// The rows of each table.
pub type Dump = BTreeMap<String, BTreeSet<String>>;

/// The rows of all tables, without these columns (`table.column`) and tables.
pub async fn dump(server: &Server, without: &[&str]) -> Dump {
    let tables = match server.state.db.dialect() {
        Dialect::Sqlite => {
            "SELECT name AS text FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        }
        Dialect::Postgres => {
            "SELECT relname::text AS text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        }
    };
    let mut dump = Dump::new();
    for table in server.texts(tables).await {
        if without.contains(&table.as_str()) {
            continue;
        }
        let hidden = without.iter().filter_map(|one| one.strip_prefix(&format!("{table}."))).collect::<Vec<_>>();
        let rows = match server.state.db.dialect() {
            Dialect::Sqlite => {
                let names = server.texts(&format!("SELECT name AS text FROM pragma_table_info('{table}')")).await;
                let shown = names.iter().filter(|name| !hidden.contains(&name.as_str()));
                let values: Vec<String> = shown.map(|name| format!("'{name}=' || quote(\"{name}\")")).collect();
                format!("SELECT {} AS text FROM \"{table}\"", values.join(" || ' ' || "))
            }
            Dialect::Postgres => {
                let minus: String = hidden.iter().map(|name| format!(" - '{name}'")).collect();
                format!("SELECT (to_jsonb(t){minus})::text AS text FROM \"{table}\" t")
            }
        };
        dump.insert(table, server.texts(&rows).await.into_iter().collect());
    }
    dump
}

/// The rows that one of the dumps has and the other lacks.
pub fn differences(before: &Dump, after: &Dump) -> Vec<String> {
    let mut found = Vec::new();
    for (table, rows) in before {
        let other = &after[table];
        found.extend(rows.difference(other).map(|row| format!("- {table}: {row}")));
        found.extend(other.difference(rows).map(|row| format!("+ {table}: {row}")));
    }
    found
}
