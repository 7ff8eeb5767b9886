//! Tables and indexes: the operations of a migration, in SQL for both databases.
//!
//! An index is named `<table>_<columns>_idx`, with the ending `_key` if it is unique, `_trgm` for substring search, and
//! `_sort` for a sort index. A foreign key is named `<table>_<column>_fkey`. A name above PostgreSQL's limit of 63 bytes is
//! cut, with a hash of the full name before its ending.

use sea_orm_migration::SchemaManager;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, DbErr, TransactionTrait};
use sea_orm_migration::sea_query::{self, Alias};

use crate::lock_retry::LockRetry;
use crate::server_triggers::{COUNT_TRIGGER_PREFIX, SEARCH_TRIGGER_PREFIX};
use crate::{Column, OrderIndex, UniqueIndex, sqlite_ddl, unique_index};

/// The time of a soft delete.
const DELETED_AT: &str = "deleted_at";

/// The time of the last update, in every table whose rows are updated.
const UPDATED_AT: &str = "updated_at";

/// A table in the database that is being migrated.
pub struct Table<'m> {
    pub(crate) manager: &'m SchemaManager<'m>,
    pub(crate) name: &'m str,
    /// On PostgreSQL, indexes are created and dropped concurrently, and each statement has its own transaction.
    pub(crate) online: bool,
}

impl<'m> Table<'m> {
    pub fn on(manager: &'m SchemaManager<'m>, name: &'m str) -> Table<'m> {
        Table { manager, name, online: false }
    }

    /// A table that other connections write to during the migration. The migration's `use_transaction` must return
    /// `Some(false)`. Each call commits, and can be repeated after a later call failed.
    pub fn online(manager: &'m SchemaManager<'m>, name: &'m str) -> Table<'m> {
        Table { manager, name, online: true }
    }

    /// Creates the table.
    ///
    /// On PostgreSQL, a table with an `updated_at` gets the fill factor 90. The free space allows heap-only tuple updates,
    /// which write to no index.
    pub async fn create(&self, columns: impl IntoIterator<Item = Column>) -> Result<(), DbErr> {
        let mut statement = sea_query::Table::create();
        statement.table(Alias::new(self.name));
        let mut is_updated = false;
        for column in columns {
            is_updated |= column.name == UPDATED_AT;
            statement.col(column.definition(self.name, self.database()));
        }
        if is_updated && self.database() == DbBackend::Postgres {
            statement.extra("WITH (fillfactor = 90)");
        }
        self.manager.create_table(statement).await
    }

    /// Drops the table and its indexes.
    pub async fn drop(&self) -> Result<(), DbErr> {
        self.drop_rollup_triggers("").await?;
        if self.database() == DbBackend::Sqlite {
            // SQLite deletes the rows first, and fails at a row that another row of the table references.
            self.edit_ddl(sqlite_ddl::without_references).await?;
        }
        self.manager.drop_table(sea_query::Table::drop().table(Alias::new(self.name)).to_owned()).await
    }

    /// Adds a column, which must be nullable or have a default.
    pub async fn add(&self, column: Column) -> Result<(), DbErr> {
        let mut definition = column.definition(self.name, self.database());
        let statement = sea_query::Table::alter().table(Alias::new(self.name)).add_column(&mut definition).to_owned();
        self.manager.alter_table(statement).await
    }

    /// Drops a column and the indexes that contain it.
    pub async fn remove(&self, column: &str) -> Result<(), DbErr> {
        self.drop_rollup_triggers(column).await?;
        if column == DELETED_AT {
            self.drop_triggers(COUNT_TRIGGER_PREFIX, "").await?;
        }
        if self.database() == DbBackend::Sqlite {
            self.drop_triggers(SEARCH_TRIGGER_PREFIX, &format!("\"{column}\"")).await?;
            // SQLite cannot drop a column that an index or a constraint contains.
            for index in self.indexes_with(column).await? {
                self.run(&format!("DROP INDEX \"{index}\"")).await?;
            }
            self.edit_ddl(|text| sqlite_ddl::with_column(text, column, sqlite_ddl::without_reference)).await?;
        }
        let statement =
            sea_query::Table::alter().table(Alias::new(self.name)).drop_column(Alias::new(column)).to_owned();
        self.manager.alter_table(statement).await
    }

    /// The indexes of SQLite that contain a column as a key, in an expression or in their condition. Pragmas list the keys
    /// only. The server recreates its own indexes at its next start.
    async fn indexes_with(&self, column: &str) -> Result<Vec<String>, DbErr> {
        let table = self.name;
        let query = format!(
            "SELECT i.name FROM pragma_index_list('{table}') AS i, pragma_index_xinfo(i.name) AS c
             WHERE c.name = '{column}' AND i.origin = 'c'
             UNION SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = '{table}'
             AND instr(substr(sql, instr(sql, '(')), '\"{column}\"') > 0"
        );
        self.texts(&query).await
    }

    /// Creates an index.
    pub async fn index(&self, columns: &[&str]) -> Result<(), DbErr> {
        self.btree(columns, Rows::All).await
    }

    /// Creates an index over the rows that are not soft-deleted, which are those that lists return.
    pub async fn index_live(&self, columns: &[&str]) -> Result<(), DbErr> {
        self.btree(columns, Rows::Live).await
    }

    /// Creates a unique index.
    ///
    /// # Errors
    /// Fails if rows repeat a value, with their number and the ids of two of them.
    pub async fn unique(&self, columns: &[&str]) -> Result<(), DbErr> {
        self.add_unique(unique_index::set(columns), Some(columns)).await
    }

    /// Creates a unique index over the rows that are not soft-deleted.
    pub async fn unique_live(&self, columns: &[&str]) -> Result<(), DbErr> {
        self.add_unique(unique_index::set(columns).live(), Some(columns)).await
    }

    /// Creates a partial index. `columns` and `condition` are SQL; the index is named `<table>_<rows>_idx`.
    pub async fn index_where(&self, columns: &str, rows: &str, condition: &str) -> Result<(), DbErr> {
        let (table, name) = (self.name, self.index_name(&[rows], "idx"));
        self.run(&format!("CREATE INDEX \"{name}\" ON \"{table}\" ({columns}) WHERE {condition}")).await
    }

    /// Creates a unique index over the rows for which `condition` holds. `columns` and `condition` are SQL; the index is named
    /// `<table>_<rows>_key`.
    pub async fn unique_where(&self, columns: &str, rows: &str, condition: &str) -> Result<(), DbErr> {
        let (table, name) = (self.name, self.index_name(&[rows], "key"));
        self.run(&format!("CREATE UNIQUE INDEX \"{name}\" ON \"{table}\" ({columns}) WHERE {condition}")).await
    }

    /// Creates a unique index without regard to case.
    pub async fn unique_folded(&self, column: &str) -> Result<(), DbErr> {
        self.unique_set(unique_index::set(&[column]).ignore_case(&[column])).await
    }

    /// Creates a unique index over some rows, or without regard to case.
    pub async fn unique_set(&self, index: UniqueIndex<'_>) -> Result<(), DbErr> {
        self.add_unique(index, None).await
    }

    /// Creates a trigram index on PostgreSQL, for substring search without regard to case.
    ///
    /// It serves `charter_fold(column) LIKE '%…%'` with at least three characters.
    pub async fn search(&self, column: &str) -> Result<(), DbErr> {
        let (table, name) = (self.name, self.index_name(&[column], "trgm"));
        let over = format!("ON \"{table}\" USING gin (charter_fold(\"{column}\") gin_trgm_ops)");
        self.create_index_on_postgres(&name, &over).await
    }

    /// Creates a sort index.
    pub async fn order(&self, order: OrderIndex<'_>) -> Result<(), DbErr> {
        let Some(keys) = order.keys(self.database()) else { return Ok(()) };
        let (table, name) = (self.name, self.index_name(&[order.column], "sort"));
        let rows = if order.live { Rows::Live } else { Rows::All };
        self.create_index(false, &name, &format!("ON \"{table}\" ({keys}){}", rows.condition()), None).await
    }

    /// Drops an index, if it exists: some are created on PostgreSQL only.
    pub async fn drop_index(&self, name: &str) -> Result<(), DbErr> {
        let concurrently = self.concurrently();
        self.run(&format!("DROP INDEX {concurrently}IF EXISTS \"{name}\"")).await
    }

    async fn btree(&self, columns: &[&str], rows: Rows) -> Result<(), DbErr> {
        let name = self.index_name(columns, "idx");
        let quoted: Vec<String> = columns.iter().map(|column| format!("\"{column}\"")).collect();
        let over = format!("ON \"{}\" ({}){}", self.name, quoted.join(", "), rows.condition());
        self.create_index(false, &name, &over, Some(columns)).await
    }

    /// Creates a unique index. `columns` are its keys if none is an expression.
    async fn add_unique(&self, index: UniqueIndex<'_>, columns: Option<&[&str]>) -> Result<(), DbErr> {
        let name = self.index_name(index.columns, "key");
        let over = format!("ON \"{}\" {}", self.name, index.over(self.database()));
        if self.online || self.database() == DbBackend::Sqlite {
            let created = self.create_index(true, &name, &over, columns).await;
            return self.explain_repeated(index, created).await;
        }
        // A failed statement ends a transaction of PostgreSQL, in which the rows could no longer be counted.
        let inner = self.manager.get_connection().begin().await?;
        let manager = SchemaManager::new(&inner);
        let created = Table { manager: &manager, ..*self }.create_index(true, &name, &over, columns).await;
        match created {
            Ok(()) => inner.commit().await,
            failed => {
                inner.rollback().await?;
                self.explain_repeated(index, failed).await
            }
        }
    }

    async fn create_index_on_postgres(&self, name: &str, over: &str) -> Result<(), DbErr> {
        if self.database() == DbBackend::Postgres { self.create_index(false, name, over, None).await } else { Ok(()) }
    }

    async fn create_index(&self, unique: bool, name: &str, over: &str, columns: Option<&[&str]>) -> Result<(), DbErr> {
        let concurrently = self.concurrently();
        if !concurrently.is_empty() {
            // A failed concurrent build leaves an invalid index.
            let invalid = format!(
                "SELECT indexrelid::regclass::text FROM pg_index
                 WHERE indexrelid = to_regclass('\"{name}\"') AND NOT indisvalid"
            );
            if !self.texts(&invalid).await?.is_empty() {
                self.drop_index(name).await?;
            }
        }
        let kind = if unique { "UNIQUE INDEX" } else { "INDEX" };
        if self.online && self.index_exists(name, kind, over, columns).await? {
            return Ok(());
        }
        self.run(&format!("CREATE {kind} {concurrently}\"{name}\" {over}")).await
    }

    /// Returns true if an earlier attempt, which failed later, created the index.
    ///
    /// # Errors
    /// Fails if another index or table has this name.
    async fn index_exists(&self, name: &str, kind: &str, over: &str, columns: Option<&[&str]>) -> Result<bool, DbErr> {
        let unique = kind != "INDEX";
        let (query, expected) = match self.database() {
            DbBackend::Postgres => {
                let query = format!(
                    "SELECT concat_ws(' ', i.indrelid = to_regclass('\"{}\"'), i.indisunique, (
                         SELECT string_agg(a.attname, ' ' ORDER BY k.position)
                         FROM unnest(i.indkey) WITH ORDINALITY AS k (number, position)
                         JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number))
                     FROM pg_class AS c LEFT JOIN pg_index AS i ON i.indexrelid = c.oid
                     WHERE c.oid = to_regclass('\"{name}\"')",
                    self.name
                );
                let rows = if unique { "t t" } else { "t f" };
                // The keys of an expression index are not compared.
                (query, columns.map_or_else(|| rows.to_owned(), |columns| format!("{rows} {}", columns.join(" "))))
            }
            _ => {
                let query = format!("SELECT sql FROM sqlite_master WHERE name = '{name}'");
                (query, format!("CREATE {kind} \"{name}\" {over}"))
            }
        };
        let exactly = columns.is_some() || self.database() == DbBackend::Sqlite;
        match self.texts(&query).await?.first() {
            None => Ok(false),
            Some(found) if *found == expected || !exactly && found.starts_with(&expected) => Ok(true),
            Some(_) => Err(DbErr::Custom(format!(
                "\"{name}\" exists and is not the index {over}: rename a column, so that the index gets another name"
            ))),
        }
    }

    fn concurrently(&self) -> &'static str {
        if self.online && self.database() == DbBackend::Postgres { "CONCURRENTLY " } else { "" }
    }

    fn index_name(&self, columns: &[&str], ending: &str) -> String {
        object_name(self.name, columns, ending)
    }

    pub(crate) fn database(&self) -> DbBackend {
        self.manager.get_database_backend()
    }

    pub(crate) async fn run(&self, statement: &str) -> Result<(), DbErr> {
        let connection = self.manager.get_connection();
        // A concurrent index build cannot run in a transaction. It waits for open transactions without blocking writers.
        if !self.online || self.database() != DbBackend::Postgres || statement.contains(" CONCURRENTLY ") {
            return connection.execute_unprepared(statement).await.map(|_| ());
        }
        let mut retry = LockRetry::default();
        loop {
            let transaction = connection.begin().await?;
            retry.set_timeouts(&transaction).await?;
            match transaction.execute_unprepared(statement).await {
                Ok(_) => return transaction.commit().await,
                Err(error) => {
                    transaction.rollback().await?;
                    retry.back_off(connection, error).await?;
                }
            }
        }
    }
}

/// The rows that an index contains.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    All,
    Live,
}

impl Rows {
    fn condition(self) -> String {
        if self == Rows::Live { format!(" WHERE \"{DELETED_AT}\" IS NULL") } else { String::new() }
    }
}

/// A longer name is cut to this length, so that it has at most 63 bytes with the hash and the ending.
const CUT_NAME_BYTES: usize = 49;

/// The name of an index or constraint over these columns. PostgreSQL would cut a name above 63 bytes silently, and two
/// names with the same beginning would collide.
fn object_name(table: &str, columns: &[&str], ending: &str) -> String {
    let name = format!("{table}_{}", columns.join("_"));
    match name.get(..CUT_NAME_BYTES) {
        Some(beginning) => format!("{beginning}_{:08x}_{ending}", fnv1a(&name)),
        None => format!("{name}_{ending}"),
    }
}

/// The name that PostgreSQL gives a sequence or constraint of a table: it cuts a long table name, not the ending.
pub(crate) fn implicit_name(table: &str, ending: &str) -> String {
    format!("{}{ending}", table.get(..63 - ending.len()).unwrap_or(table))
}

/// The name of the foreign key of a column.
pub(crate) fn foreign_key_name(table: &str, column: &str) -> String {
    object_name(table, &[column], "fkey")
}

/// FNV-1a hash. Unlike the standard library's hashes, it is the same in every version.
fn fnv1a(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::fnv1a;

    #[test]
    fn hash_matches_the_published_fnv1a_values() {
        assert_eq!(fnv1a(""), 0x811c_9dc5);
        assert_eq!(fnv1a("foobar"), 0xbf9c_f968);
    }
}
