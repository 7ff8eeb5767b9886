//! The triggers that the server has installed on the tables of resources.

use super::{Connection, Db, Dialect, Sql};
use crate::error::Result;

/// A trigger of the database.
#[derive(Debug)]
pub struct InstalledTrigger {
    pub name: String,
    pub table: String,
    /// It has a comment; on SQLite, which has none, always true.
    pub has_comment: bool,
}

impl InstalledTrigger {
    /// The triggers whose names begin with `prefix`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn with_prefix(db: &Db, prefix: &str) -> Result<Vec<InstalledTrigger>> {
        let text = match db.dialect() {
            Dialect::Postgres => {
                "SELECT t.tgname::text AS \"name\", c.relname::text AS \"table\", \
                 (obj_description(t.oid, 'pg_trigger') IS NOT NULL) AS \"comment\" FROM pg_trigger t \
                 JOIN pg_class c ON c.oid = t.tgrelid WHERE pg_table_is_visible(c.oid) AND NOT t.tgisinternal"
            }
            Dialect::Sqlite => {
                "SELECT \"name\", \"tbl_name\" AS \"table\", 1 = 1 AS \"comment\" FROM sqlite_master WHERE \"type\" = 'trigger'"
            }
        };
        let mut found = Vec::new();
        for row in Sql::new(db.dialect(), text).all(db.reader()).await? {
            let name: String = row.try_get("", "name")?;
            if name.starts_with(prefix) {
                let (table, has_comment) = (row.try_get("", "table")?, row.try_get("", "comment")?);
                found.push(InstalledTrigger { name, table, has_comment });
            }
        }
        Ok(found)
    }

    /// Drops it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn drop(&self, transaction: &Connection, dialect: Dialect) -> Result<()> {
        let on = if dialect == Dialect::Postgres { format!(" ON \"{}\"", self.table) } else { String::new() };
        Sql::new(dialect, format!("DROP TRIGGER \"{}\"{on}", self.name)).run(transaction).await.map(drop)
    }
}
