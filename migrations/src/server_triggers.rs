//! Triggers that the server creates on tables, and creates again at its start: a migration drops those that its change makes
//! invalid.

use sea_orm_migration::sea_orm::{DbBackend, DbErr};

use crate::Table;

/// Prefix of the triggers that count the records of a table.
pub(crate) const COUNT_TRIGGER_PREFIX: &str = "charter_count_";

/// Prefix of the triggers that set rollups.
const ROLLUP_TRIGGER_PREFIX: &str = "charter_rollup_";

/// Prefix of the triggers that update the substring index (FTS5) of a table on SQLite.
pub(crate) const SEARCH_TRIGGER_PREFIX: &str = "charter_search_";

impl Table<'_> {
    /// Drops the triggers whose names have this prefix, and on SQLite only those whose SQL contains `word`: the change makes
    /// them invalid. The server recreates them at its next start, with the data that they maintain.
    pub(crate) async fn drop_triggers(&self, prefix: &str, word: &str) -> Result<(), DbErr> {
        let table = self.name;
        let (query, on) = match self.database() {
            DbBackend::Sqlite => (
                format!(
                    "SELECT name FROM sqlite_schema
                     WHERE type = 'trigger' AND tbl_name = '{table}' AND instr(sql, '{word}') > 0"
                ),
                String::new(),
            ),
            _ => (
                format!(
                    "SELECT tgname::text FROM pg_trigger WHERE tgrelid = to_regclass('\"{table}\"') AND NOT tgisinternal"
                ),
                format!(" ON \"{table}\""),
            ),
        };
        for name in self.texts(&query).await?.iter().filter(|name| name.starts_with(prefix)) {
            self.run(&format!("DROP TRIGGER \"{name}\"{on}")).await?;
        }
        Ok(())
    }

    /// Drops the triggers that set rollups from rows of the table or in them, and whose SQL names `column`, or all for an empty
    /// name. They are on other tables too. The server creates them at its next start, and computes the values.
    pub(crate) async fn drop_rollup_triggers(&self, column: &str) -> Result<(), DbErr> {
        let table = self.name;
        let word = if column.is_empty() { String::new() } else { format!("\"{column}\"") };
        let query = match self.database() {
            DbBackend::Sqlite => format!(
                "SELECT 'DROP TRIGGER \"' || name || '\"' FROM sqlite_schema WHERE type = 'trigger'
                 AND substr(name, 1, 15) = '{ROLLUP_TRIGGER_PREFIX}' AND instr(sql, '\"{table}\"') > 0 AND instr(sql, '{word}') > 0"
            ),
            _ => format!(
                "SELECT format('DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass) FROM pg_trigger t
                 JOIN pg_proc p ON p.oid = t.tgfoid WHERE NOT t.tgisinternal AND left(t.tgname, 15) = '{ROLLUP_TRIGGER_PREFIX}'
                 AND (t.tgrelid = to_regclass('\"{table}\"') OR strpos(p.prosrc, '\"{table}\"') > 0)
                 AND strpos(p.prosrc, '{word}') > 0"
            ),
        };
        for statement in self.texts(&query).await? {
            self.run(&statement).await?;
        }
        Ok(())
    }
}
