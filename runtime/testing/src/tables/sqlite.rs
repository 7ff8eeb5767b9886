//! Reads the tables of SQLite from its schema.

use charter_runtime::db::Connection;

use super::{Column, Index, Table, Tables, plain_default, rows, text};

pub(super) async fn read(connection: &Connection) -> Tables {
    let mut tables = Tables::new();
    let names = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    for row in rows(connection, names).await {
        let name = text(&row, "name");
        let table = table(connection, &name).await;
        tables.insert(name, table);
    }
    tables
}

async fn table(connection: &Connection, name: &str) -> Table {
    let mut table = Table::default();
    let columns = format!("SELECT name, type, \"notnull\", dflt_value FROM pragma_table_info('{name}')");
    for row in rows(connection, &columns).await {
        let default: Option<String> = row.try_get("", "dflt_value").expect("a text or null");
        let column = Column {
            kind: text(&row, "type").to_lowercase(),
            nullable: row.try_get::<i32>("", "notnull").expect("0 or 1") == 0,
            default: default.map(|written| plain_default(&written)),
        };
        table.columns.insert(text(&row, "name"), column);
    }
    let references =
        format!("SELECT \"from\" AS name, \"table\" AS target, on_delete FROM pragma_foreign_key_list('{name}')");
    for row in rows(connection, &references).await {
        table.references.insert(text(&row, "name"), text(&row, "target"));
        table.cascades.extend((text(&row, "on_delete") == "CASCADE").then(|| text(&row, "name")));
    }
    let indexes = format!(
        "SELECT i.name, i.\"unique\", i.partial, coalesce(s.sql, '') AS sql
         FROM pragma_index_list('{name}') AS i LEFT JOIN sqlite_schema AS s ON s.name = i.name"
    );
    for row in rows(connection, &indexes).await {
        let keys = format!(
            "SELECT coalesce(name, 'an expression') AS name, coll FROM pragma_index_xinfo('{}') WHERE key = 1 ORDER BY seqno",
            text(&row, "name")
        );
        let key = |row| match text(&row, "coll").as_str() {
            "NOCASE" => format!("folded {}", text(&row, "name")),
            _ => text(&row, "name"),
        };
        table.indexes.push(Index {
            keys: rows(connection, &keys).await.into_iter().map(key).collect(),
            unique: row.try_get::<i32>("", "unique").expect("0 or 1") == 1,
            partial: row.try_get::<i32>("", "partial").expect("0 or 1") == 1,
            live: text(&row, "sql").ends_with("WHERE \"deleted_at\" IS NULL"),
            substrings: false,
        });
    }
    table
}
