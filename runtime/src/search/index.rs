//! An index of substrings as it stands in the database: a virtual table and the triggers that keep it.

use crate::catalog::Entry;
use crate::db::{Connection, Dialect, Sql};
use crate::error::Result;
use crate::index::hash;
use crate::query::KEEPING;

/// What the names begin with of the indexes, and of their triggers.
const PREFIX: &str = "charter_search_";

/// What the names of the triggers end in while the index is being made.
const MAKE: [&str; 3] = ["making_delete", "making_insert", "making_update"];

/// The index of a table.
#[derive(Debug)]
pub(super) struct Index {
    pub table: &'static str,
    /// Its name holds a fingerprint of all its statements: another spelling of a later release is another index.
    pub name: String,
    columns: &'static [&'static str],
}

/// Up to which id the triggers hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Upto {
    Id(i64),
    End,
}

impl Index {
    pub fn of(entry: &Entry) -> Option<Index> {
        let meta = entry.meta;
        let mut index = Index { table: meta.table, name: "x".into(), columns: meta.search };
        let statements = format!("{} {}", index.table_text(), index.triggers(Upto::End).join(" "));
        index.name = format!("{PREFIX}{}_{:08x}", meta.table, hash(&statements));
        (!meta.search.is_empty()).then_some(index)
    }

    /// Whether a name is that of an index of the same table, of whichever release.
    pub fn has_place(&self, name: &str) -> bool {
        table_of(name) == Some(self.table)
    }

    /// Which rows hold a trigram, and nothing else: where in which column does not matter to a candidate.
    pub fn table_text(&self) -> String {
        let (name, table) = (&self.name, self.table);
        format!(
            "CREATE VIRTUAL TABLE \"{name}\" USING fts5({}, content = '{table}', content_rowid = 'id', \
             tokenize = 'trigram', detail = none, columnsize = 0)",
            quoted(self.columns, "")
        )
    }

    /// As FTS5's documentation has them for tables whose contents are elsewhere.
    pub fn triggers(&self, upto: Upto) -> Vec<String> {
        let (name, table, columns) = (&self.name, self.table, quoted(self.columns, ""));
        let (old, new) = (quoted(self.columns, "OLD."), quoted(self.columns, "NEW."));
        let (names, remains, comes) = match upto {
            Upto::Id(id) => (MAKE, format!("OLD.\"id\" <= {id}"), format!("NEW.\"id\" <= {id}")),
            Upto::End => (KEEPING, "TRUE".to_string(), "TRUE".to_string()),
        };
        let into = format!("INSERT INTO \"{name}\"");
        let remove =
            format!("{into} (\"{name}\", rowid, {columns}) SELECT 'delete', OLD.\"id\", {old} WHERE {remains};");
        let add = format!("{into} (rowid, {columns}) SELECT NEW.\"id\", {new} WHERE {comes};");
        let changed: Vec<String> = self
            .columns
            .iter()
            .chain(&["id"])
            .map(|column| format!("OLD.\"{column}\" IS NOT NEW.\"{column}\" COLLATE BINARY"))
            .collect();
        let trigger = |name: &str, on: &str, when: &str, does: &str| {
            let own = format!("\"{}_{name}\"", self.name);
            format!("CREATE TRIGGER {own} AFTER {on} ON \"{table}\" WHEN {when} BEGIN {does} END")
        };
        // An id has names that no column has.
        let changing = format!("UPDATE OF \"id\", rowid, _rowid_, oid, {columns}");
        vec![
            trigger(names[0], "DELETE", "TRUE", &remove),
            trigger(names[1], "INSERT", "TRUE", &add),
            trigger(names[2], &changing, &changed.join(" OR "), &format!("{remove} {add}")),
        ]
    }

    /// The texts of the triggers that are there, in order.
    pub async fn triggers_there(&self, connection: &Connection) -> Result<Vec<String>> {
        let mut sql = Sql::new(Dialect::Sqlite, "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ");
        sql.bind(self.table).push(" AND instr(name, ").bind(format!("{}_", self.name)).push(") = 1 ORDER BY sql");
        let rows = sql.all(connection).await?;
        rows.iter().map(|row| Ok(row.try_get("", "sql")?)).collect()
    }

    /// Takes at most so many of the rows behind an id.
    pub async fn take(&self, transaction: &Connection, last: Option<i64>, most: u64) -> Result<Upto> {
        let (name, table, columns) = (&self.name, self.table, quoted(self.columns, ""));
        let behind = last.map_or_else(|| "TRUE".to_string(), |last| format!("\"id\" > {last}"));
        let rows = format!("FROM \"{table}\" WHERE {behind}");
        let end = format!("SELECT \"id\" {rows} ORDER BY \"id\" LIMIT 1 OFFSET {}", most.saturating_sub(1));
        let upto = match Sql::new(Dialect::Sqlite, end).one(transaction).await? {
            Some(row) => Upto::Id(row.try_get("", "id")?),
            None => Upto::End,
        };
        let bound = if let Upto::Id(id) = upto { format!(" AND \"id\" <= {id}") } else { String::new() };
        let text = format!("INSERT INTO \"{name}\" (rowid, {columns}) SELECT \"id\", {columns} {rows}{bound}");
        Sql::new(Dialect::Sqlite, text).run(transaction).await?;
        Ok(upto)
    }
}

/// The columns with commas between: `OLD."name", OLD."sku"`.
fn quoted(columns: &[&str], row: &str) -> String {
    columns.iter().map(|column| format!("{row}\"{column}\"")).collect::<Vec<_>>().join(", ")
}

/// The names of the indexes that are there, complete or not; those of a table alone, if one is named.
pub(super) async fn names(connection: &Connection, table: Option<&str>) -> Result<Vec<String>> {
    let text = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE %'";
    let rows = Sql::new(Dialect::Sqlite, text).all(connection).await?;
    let names: Vec<String> = rows.iter().map(|row| row.try_get("", "name")).collect::<Result<_, _>>()?;
    let is_of = |name: &String| table_of(name).is_some_and(|other| table.is_none_or(|table| table == other));
    Ok(names.into_iter().filter(is_of).collect())
}

/// The table of an index, by its name: what stands between `charter_search_` and a fingerprint.
fn table_of(index: &str) -> Option<&str> {
    let (table, print) = index.strip_prefix(PREFIX)?.rsplit_once('_')?;
    (print.len() == 8).then_some(table)
}

/// Drops the triggers of an index, whichever they are.
pub(super) async fn drop_triggers(transaction: &Connection, index: &str) -> Result<()> {
    for event in KEEPING.iter().chain(&MAKE) {
        Sql::new(Dialect::Sqlite, format!("DROP TRIGGER IF EXISTS \"{index}_{event}\"")).run(transaction).await?;
    }
    Ok(())
}

/// Drops an index with its triggers.
pub(super) async fn drop_index(transaction: &Connection, index: &str) -> Result<()> {
    drop_triggers(transaction, index).await?;
    Sql::new(Dialect::Sqlite, format!("DROP TABLE IF EXISTS \"{index}\"")).run(transaction).await?;
    Ok(())
}
