//! Trigram index of a table as it stands in the database: an FTS5 virtual table and the triggers that keep it up to date.

use crate::catalog::Entry;
use crate::db::{Connection, Dialect, Sql};
use crate::error::{Result, SEARCH};
use crate::online_indexes::hash;
use crate::query::INDEX_TRIGGERS;

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

impl Index {
    pub fn of(entry: &Entry) -> Option<Index> {
        let meta = entry.meta;
        let mut index = Index { table: meta.table, name: "x".into(), columns: meta.search };
        let statements = format!("{} {}", index.table_text(), index.triggers().join(" "));
        index.name = format!("{SEARCH}{}_{:08x}", meta.table, hash(&statements));
        (!meta.search.is_empty()).then_some(index)
    }

    /// Whether a name is that of an index of the same table, of whichever release.
    pub fn is_same_table(&self, name: &str) -> bool {
        table_of(name) == Some(self.table)
    }

    /// Which rows hold a trigram, and nothing else: where in which column does not matter to a candidate.
    pub fn table_text(&self) -> String {
        let (name, table) = (&self.name, self.table);
        format!(
            "CREATE VIRTUAL TABLE \"{name}\" USING fts5({}, content = '{table}', content_rowid = 'id', \
             tokenize = 'trigram', detail = none, columnsize = 0)",
            self.column_names()
        )
    }

    /// What its own columns are called. FTS5 keeps two names for itself, and nothing that is asked names a column: those of
    /// the table are not read through it.
    fn column_names(&self) -> String {
        let is_reserved = |column: &&str| RESERVED.iter().any(|name| name.eq_ignore_ascii_case(column));
        let own =
            self.columns.iter().map(|column| format!("\"{column}{}\"", if is_reserved(column) { "_" } else { "" }));
        own.collect::<Vec<_>>().join(", ")
    }

    /// As FTS5's documentation has them for tables whose contents are elsewhere.
    pub fn triggers(&self) -> Vec<String> {
        let (name, table, columns, own) = (&self.name, self.table, quoted(self.columns, ""), self.column_names());
        let (old, new) = (quoted(self.columns, "OLD."), quoted(self.columns, "NEW."));
        let into = format!("INSERT INTO \"{name}\"");
        let remove = format!("{into} (\"{name}\", rowid, {own}) VALUES ('delete', OLD.\"id\", {old});");
        let add = format!("{into} (rowid, {own}) VALUES (NEW.\"id\", {new});");
        let changed: Vec<String> = self
            .columns
            .iter()
            .chain(&["id"])
            .map(|column| format!("OLD.\"{column}\" IS NOT NEW.\"{column}\" COLLATE BINARY"))
            .collect();
        let trigger = |name: &str, on: &str, when: &str, does: &str| {
            let called = format!("\"{}_{name}\"", self.name);
            format!("CREATE TRIGGER {called} AFTER {on} ON \"{table}\"{when} BEGIN {does} END")
        };
        // An id has names that no column has.
        let changing = format!("UPDATE OF \"id\", rowid, _rowid_, oid, {columns}");
        let [delete, insert, update] = INDEX_TRIGGERS;
        vec![
            trigger(delete, "DELETE", "", &remove),
            trigger(insert, "INSERT", "", &add),
            trigger(update, &changing, &format!(" WHEN {}", changed.join(" OR ")), &format!("{remove} {add}")),
        ]
    }

    /// Whether the table and all its triggers are there. The transaction that makes them fills the index too.
    pub async fn is_complete(&self, connection: &Connection) -> Result<bool> {
        let there = triggers_of(connection, &self.name).await?;
        Ok(there.iter().map(|(_, text)| text).eq(&self.triggers()))
    }

    /// Creates the table, fills it and creates its triggers. Not FTS5's `rebuild`, which would read the columns by their names here.
    pub async fn create(&self, transaction: &Connection) -> Result<()> {
        let (name, table, columns, own) = (&self.name, self.table, quoted(self.columns, ""), self.column_names());
        let fill = format!("INSERT INTO \"{name}\" (rowid, {own}) SELECT \"id\", {columns} FROM \"{table}\"");
        for text in [self.table_text(), fill].into_iter().chain(self.triggers()) {
            Sql::new(Dialect::Sqlite, text).run(transaction).await?;
        }
        Ok(())
    }
}

/// The columns with commas between: `OLD."name", OLD."sku"`.
fn quoted(columns: &[&str], row: &str) -> String {
    columns.iter().map(|column| format!("{row}\"{column}\"")).collect::<Vec<_>>().join(", ")
}

/// The names of the indexes that are there, of whichever release; those of a table alone, if one is named.
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

/// The triggers of an index, each with its statement, ordered by name: also those that an older release gave other names.
async fn triggers_of(connection: &Connection, index: &str) -> Result<Vec<(String, String)>> {
    let mut sql =
        Sql::new(Dialect::Sqlite, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND instr(name, ");
    sql.bind(format!("{index}_")).push(") = 1 ORDER BY name");
    let rows = sql.all(connection).await?;
    rows.iter().map(|row| Ok((row.try_get("", "name")?, row.try_get("", "sql")?))).collect()
}

/// Drops an index with its triggers.
pub(super) async fn drop_index(transaction: &Connection, index: &str) -> Result<()> {
    for (trigger, _) in triggers_of(transaction, index).await? {
        Sql::new(Dialect::Sqlite, format!("DROP TRIGGER \"{trigger}\"")).run(transaction).await?;
    }
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
        let statements = [vec![there.to_string(), index.table_text()], index.triggers()].concat();
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
