//! Unique index over some rows of a table, or without regard to case.

use sea_orm_migration::sea_orm::DbBackend;

/// A unique index.
#[derive(Debug, Clone, Copy)]
pub struct UniqueIndex<'c> {
    pub(crate) columns: &'c [&'c str],
    folded: &'c [&'c str],
    rows: Option<(&'c str, &'c str)>,
    live: bool,
}

/// A unique index over all rows, in which texts are the same only if each character is.
pub fn set<'c>(columns: &'c [&'c str]) -> UniqueIndex<'c> {
    UniqueIndex { columns, folded: &[], rows: None, live: false }
}

impl<'c> UniqueIndex<'c> {
    /// Texts of these columns are the same without regard to case.
    ///
    /// On SQLite, only ASCII letters are folded. An index that depends on a function of the application would prevent other
    /// tools from writing to the table. The application checks other scripts before it writes.
    pub fn ignore_case(self, columns: &'c [&'c str]) -> Self {
        UniqueIndex { folded: columns, ..self }
    }

    /// The index contains only rows that meet a condition, in SQL of SQLite and of PostgreSQL.
    pub fn rows(self, sqlite: &'c str, postgres: &'c str) -> Self {
        UniqueIndex { rows: Some((sqlite, postgres)), ..self }
    }

    /// The index contains only rows that are not soft-deleted.
    pub fn live(self) -> Self {
        UniqueIndex { live: true, ..self }
    }

    /// The keys and the condition of the index, as SQL.
    pub(crate) fn over(&self, database: DbBackend) -> String {
        let conditions = self.conditions(database);
        let condition =
            if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
        format!("({}){condition}", self.keys(database).join(", "))
    }

    /// A query with the lowest and the highest id of the rows of each value that repeats. Nulls are distinct.
    pub(crate) fn repeated(&self, table: &str, database: DbBackend) -> String {
        let filled = self.columns.iter().map(|column| format!("\"{column}\" IS NOT NULL"));
        let conditions: Vec<String> = filled.chain(self.conditions(database).into_iter().map(str::to_owned)).collect();
        format!(
            "SELECT min(\"id\") AS low, max(\"id\") AS high FROM \"{table}\" WHERE {} GROUP BY {} HAVING count(*) > 1",
            conditions.join(" AND "),
            self.keys(database).join(", ")
        )
    }

    /// True if the index does not contain all rows.
    pub(crate) fn is_partial(&self) -> bool {
        self.rows.is_some()
    }

    fn keys(&self, database: DbBackend) -> Vec<String> {
        let key = |column: &&str| match (self.folded.contains(column), database) {
            (true, DbBackend::Sqlite) => format!("\"{column}\" COLLATE NOCASE"),
            (true, _) => format!("charter_fold(\"{column}\")"),
            (false, _) => format!("\"{column}\""),
        };
        self.columns.iter().map(key).collect()
    }

    fn conditions(&self, database: DbBackend) -> Vec<&'c str> {
        let live = self.live.then_some("\"deleted_at\" IS NULL");
        let rows = self.rows.map(|(sqlite, postgres)| if database == DbBackend::Sqlite { sqlite } else { postgres });
        live.into_iter().chain(rows).collect()
    }
}
