//! An index of substrings as it stands in the database: a virtual table and the triggers that keep it.

use crate::catalog::Entry;
use crate::db::{Connection, Dialect, Sql, TRUE};
use crate::error::{Result, SEARCH};
use crate::index::hash;
use crate::query::KEEPING;

/// What the names of the triggers end in while the index is being made.
const MAKE: [&str; 3] = ["making_delete", "making_insert", "making_update"];

/// Names that no column of an FTS5 table has.
const RESERVED: [&str; 2] = ["rank", "rowid"];

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
        index.name = format!("{SEARCH}{}_{:08x}", meta.table, hash(&statements));
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
            self.own()
        )
    }

    /// What its own columns are called. FTS5 keeps two names for itself, and nothing that is asked names a column: those of
    /// the table are not read through it.
    fn own(&self) -> String {
        let is_reserved = |column: &&str| RESERVED.iter().any(|name| name.eq_ignore_ascii_case(column));
        let own =
            self.columns.iter().map(|column| format!("\"{column}{}\"", if is_reserved(column) { "_" } else { "" }));
        own.collect::<Vec<_>>().join(", ")
    }

    /// As FTS5's documentation has them for tables whose contents are elsewhere.
    pub fn triggers(&self, upto: Upto) -> Vec<String> {
        let (name, table, columns, own) = (&self.name, self.table, quoted(self.columns, ""), self.own());
        let (old, new) = (quoted(self.columns, "OLD."), quoted(self.columns, "NEW."));
        let (names, remains, comes) = match upto {
            Upto::Id(id) => (MAKE, format!("OLD.\"id\" <= {id}"), format!("NEW.\"id\" <= {id}")),
            Upto::End => (KEEPING, "TRUE".to_string(), "TRUE".to_string()),
        };
        let into = format!("INSERT INTO \"{name}\"");
        let remove = format!("{into} (\"{name}\", rowid, {own}) SELECT 'delete', OLD.\"id\", {old} WHERE {remains};");
        let add = format!("{into} (rowid, {own}) SELECT NEW.\"id\", {new} WHERE {comes};");
        let changed: Vec<String> = self
            .columns
            .iter()
            .chain(&["id"])
            .map(|column| format!("OLD.\"{column}\" IS NOT NEW.\"{column}\" COLLATE BINARY"))
            .collect();
        let trigger = |name: &str, on: &str, when: &str, does: &str| {
            let called = format!("\"{}_{name}\"", self.name);
            format!("CREATE TRIGGER {called} AFTER {on} ON \"{table}\" WHEN {when} BEGIN {does} END")
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
        let (name, table, columns, own) = (&self.name, self.table, quoted(self.columns, ""), self.own());
        let behind = last.map_or_else(|| TRUE.to_string(), |last| format!("\"id\" > {last}"));
        let rows = format!("FROM \"{table}\" WHERE {behind}");
        let end = format!("SELECT \"id\" {rows} ORDER BY \"id\" LIMIT 1 OFFSET {}", most.saturating_sub(1));
        let upto = match Sql::new(Dialect::Sqlite, end).one(transaction).await? {
            Some(row) => Upto::Id(row.try_get("", "id")?),
            None => Upto::End,
        };
        let bound = if let Upto::Id(id) = upto { format!(" AND \"id\" <= {id}") } else { String::new() };
        let text = format!("INSERT INTO \"{name}\" (rowid, {own}) SELECT \"id\", {columns} {rows}{bound}");
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
    let (table, print) = index.strip_prefix(SEARCH)?.rsplit_once('_')?;
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

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn a_column_may_have_a_name_that_fts5_keeps_for_itself() {
        let index =
            Index { table: "ships", name: "charter_search_ships_0".into(), columns: &["rank", "rowid", "name"] };
        let there = "CREATE TABLE ships (id INTEGER PRIMARY KEY, rank TEXT, \"rowid\" TEXT, name TEXT)";
        let statements = [vec![there.to_string(), index.table_text()], index.triggers(Upto::End)].concat();
        let database = Connection::open_in_memory().unwrap();
        let run = |text: &str| database.execute_batch(text).unwrap();
        statements.iter().for_each(|text| run(text));
        let found = |text: &str| -> Vec<i64> {
            let asked = "SELECT rowid FROM charter_search_ships_0 WHERE charter_search_ships_0 MATCH ?1 ORDER BY rowid";
            let mut statement = database.prepare(asked).unwrap();
            statement.query_map([format!("\"{text}\"")], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        run("INSERT INTO ships VALUES (1, 'captain', 'first row', 'Vasa'), (2, 'admiral', 'second row', 'Wasa')");
        assert_eq!((found("cap"), found("row"), found("asa")), (vec![1], vec![1, 2], vec![1, 2]));
        run("UPDATE ships SET rank = 'boatswain' WHERE id = 1; DELETE FROM ships WHERE id = 2");
        assert_eq!((found("cap"), found("oat"), found("adm")), (vec![], vec![1], vec![]));
    }
}
