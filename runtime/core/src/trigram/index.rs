//! Trigram index of a table in the database: an FTS5 virtual table and the triggers that maintain it.

use crate::catalog::Entry;
use crate::db::{Connection, Dialect, Sql};
use crate::error::{Result, SEARCH_TABLE_PREFIX};
use crate::hash::fnv1a;
use crate::query::INDEX_TRIGGERS;

/// Column names that FTS5 reserves.
const RESERVED: [&str; 2] = ["rank", "rowid"];

/// The index of a table.
#[derive(Debug)]
pub(super) struct Index {
    pub table: &'static str,
    /// The name contains a hash of all statements, so that a release with other statements has another index.
    pub name: String,
    columns: &'static [&'static str],
}

impl Index {
    pub(super) fn of(entry: &Entry) -> Option<Index> {
        let meta = entry.meta;
        let mut index = Index { table: meta.table, name: "x".into(), columns: meta.search };
        let statements = format!("{} {}", index.table_text(), index.triggers().join(" "));
        index.name = format!("{SEARCH_TABLE_PREFIX}{}_{:08x}", meta.table, fnv1a(&statements));
        (!meta.search.is_empty()).then_some(index)
    }

    /// True if the name is that of an index on the same table, from any release.
    pub(super) fn is_same_table(&self, name: &str) -> bool {
        table_of(name) == Some(self.table)
    }

    /// External content, without positions and column sizes: candidates only need the rows that contain a trigram.
    pub(super) fn table_text(&self) -> String {
        let (name, table) = (&self.name, self.table);
        format!(
            "CREATE VIRTUAL TABLE \"{name}\" USING fts5({}, content = '{table}', content_rowid = 'id', \
             tokenize = 'trigram', detail = none, columnsize = 0)",
            self.column_names()
        )
    }

    /// Column names of the FTS5 table, with `_` appended to reserved ones. No query names them, and the content is
    /// never read through them.
    fn column_names(&self) -> String {
        let is_reserved = |column: &&str| RESERVED.iter().any(|name| name.eq_ignore_ascii_case(column));
        let fts_columns =
            self.columns.iter().map(|column| format!("\"{column}{}\"", if is_reserved(column) { "_" } else { "" }));
        fts_columns.collect::<Vec<_>>().join(", ")
    }

    /// The triggers for an external content table, as in FTS5's documentation.
    pub(super) fn triggers(&self) -> Vec<String> {
        let (name, table, columns, fts_columns) =
            (&self.name, self.table, quoted(self.columns, ""), self.column_names());
        let (old, new) = (quoted(self.columns, "OLD."), quoted(self.columns, "NEW."));
        let into = format!("INSERT INTO \"{name}\"");
        let remove = format!("{into} (\"{name}\", rowid, {fts_columns}) VALUES ('delete', OLD.\"id\", {old});");
        let add = format!("{into} (rowid, {fts_columns}) VALUES (NEW.\"id\", {new});");
        let changed: Vec<String> = self
            .columns
            .iter()
            .chain(&["id"])
            .map(|column| format!("OLD.\"{column}\" IS NOT NEW.\"{column}\" COLLATE BINARY"))
            .collect();
        let trigger = |name: &str, on: &str, when: &str, body: &str| {
            let quoted_name = format!("\"{}_{name}\"", self.name);
            format!("CREATE TRIGGER {quoted_name} AFTER {on} ON \"{table}\"{when} BEGIN {body} END")
        };
        // `id` is the rowid, which statements can also name `rowid`, `_rowid_` or `oid`.
        let changing = format!("UPDATE OF \"id\", rowid, _rowid_, oid, {columns}");
        let [delete, insert, update] = INDEX_TRIGGERS;
        vec![
            trigger(delete, "DELETE", "", &remove),
            trigger(insert, "INSERT", "", &add),
            trigger(update, &changing, &format!(" WHEN {}", changed.join(" OR ")), &format!("{remove} {add}")),
        ]
    }

    /// True if the table and all its triggers exist. The transaction that creates them also fills the index.
    pub(super) async fn is_complete(&self, connection: &Connection) -> Result<bool> {
        let existing = triggers_of(connection, &self.name).await?;
        Ok(existing.iter().map(|(_, text)| text).eq(&self.triggers()))
    }

    /// Creates the table, fills it and creates its triggers. FTS5's `rebuild` would read the content by the renamed
    /// columns.
    pub(super) async fn create(&self, transaction: &Connection) -> Result<()> {
        let (name, table, columns, fts_columns) =
            (&self.name, self.table, quoted(self.columns, ""), self.column_names());
        let fill = format!("INSERT INTO \"{name}\" (rowid, {fts_columns}) SELECT \"id\", {columns} FROM \"{table}\"");
        for text in [self.table_text(), fill].into_iter().chain(self.triggers()) {
            Sql::new(Dialect::Sqlite, text).run(transaction).await?;
        }
        Ok(())
    }
}

/// The columns, comma-separated: `OLD."name", OLD."sku"`.
fn quoted(columns: &[&str], row: &str) -> String {
    columns.iter().map(|column| format!("{row}\"{column}\"")).collect::<Vec<_>>().join(", ")
}

/// Names of the existing indexes from any release, of one table or of all.
pub(super) async fn names(connection: &Connection, table: Option<&str>) -> Result<Vec<String>> {
    let text = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE %'";
    let rows = Sql::new(Dialect::Sqlite, text).all(connection).await?;
    let names: Vec<String> = rows.iter().map(|row| row.try_get("", "name")).collect::<Result<_, _>>()?;
    let is_of = |name: &String| table_of(name).is_some_and(|other| table.is_none_or(|table| table == other));
    Ok(names.into_iter().filter(is_of).collect())
}

/// The table of an index, from its name between `charter_search_` and the hash.
fn table_of(index: &str) -> Option<&str> {
    let (table, hash) = index.strip_prefix(SEARCH_TABLE_PREFIX)?.rsplit_once('_')?;
    (hash.len() == 8).then_some(table)
}

/// The triggers of an index with their statements, ordered by name. Triggers that older releases named differently
/// are included.
async fn triggers_of(connection: &Connection, index: &str) -> Result<Vec<(String, String)>> {
    let mut sql =
        Sql::new(Dialect::Sqlite, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND instr(name, ");
    sql.bind(format!("{index}_")).push(") = 1 ORDER BY name");
    let rows = sql.all(connection).await?;
    rows.iter().map(|row| Ok((row.try_get("", "name")?, row.try_get("", "sql")?))).collect()
}

/// Drops an index and its triggers.
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
    fn column_may_have_a_name_that_fts5_reserves() {
        let index =
            Index { table: "ships", name: "charter_search_ships_0".into(), columns: &["rank", "rowid", "name"] };
        let table = "CREATE TABLE ships (id INTEGER PRIMARY KEY, rank TEXT, \"rowid\" TEXT, name TEXT)";
        let statements = [vec![table.to_string(), index.table_text()], index.triggers()].concat();
        let database = Connection::open_in_memory().unwrap();
        let run = |text: &str| database.execute_batch(text).unwrap();
        statements.iter().for_each(|text| run(text));
        let found = |text: &str| -> Vec<i64> {
            let query = "SELECT rowid FROM charter_search_ships_0 WHERE charter_search_ships_0 MATCH ?1 ORDER BY rowid";
            let mut statement = database.prepare(query).unwrap();
            statement.query_map([format!("\"{text}\"")], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        run("INSERT INTO ships VALUES (1, 'captain', 'first row', 'Vasa'), (2, 'admiral', 'second row', 'Wasa')");
        assert_eq!((found("cap"), found("row"), found("asa")), (vec![1], vec![1, 2], vec![1, 2]));
        run("UPDATE ships SET rank = 'boatswain' WHERE id = 1; DELETE FROM ships WHERE id = 2");
        assert_eq!((found("cap"), found("oat"), found("adm")), (vec![], vec![1], vec![]));
    }
}
