//! Tables and their indexes: what a migration does, in statements that both databases take.
//!
//! Names follow from what they name: `<table>_<columns>_idx`, `_key` when it is unique, `_trgm` for substrings, `_sort`
//! for the order of text; `<table>_<column>_fkey` for a foreign key. A longer name than PostgreSQL takes is cut, and a
//! fingerprint of the whole stands before its ending.

use sea_orm_migration::SchemaManager;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, DbErr, TransactionTrait};
use sea_orm_migration::sea_query::{self, Alias};

use crate::alter::{COUNT, SEARCH};
use crate::patience::Patience;
use crate::{Column, Order, sqlite};

/// The column that is set when a record of a resource with soft deletes is deleted.
const DELETED_AT: &str = "deleted_at";

/// The column that a table has whose rows are changed.
const UPDATED_AT: &str = "updated_at";

/// A table in the database that is being migrated.
pub struct Table<'m> {
    pub(crate) manager: &'m SchemaManager<'m>,
    pub(crate) name: &'m str,
    /// On PostgreSQL, indexes are made and dropped beside those who write.
    pub(crate) online: bool,
}

impl<'m> Table<'m> {
    pub fn on(manager: &'m SchemaManager<'m>, name: &'m str) -> Table<'m> {
        Table { manager, name, online: false }
    }

    /// A table that others write to meanwhile. The migration must have no transaction around it, which
    /// `use_transaction` says; each call stands by itself, and can be made again when the next one failed.
    pub fn online(manager: &'m SchemaManager<'m>, name: &'m str) -> Table<'m> {
        Table { manager, name, online: true }
    }

    /// Makes the table with these columns and the foreign keys that they declare.
    ///
    /// On PostgreSQL the pages of a table whose rows are changed stay a tenth empty: an update that finds room beside the old
    /// row, and changes no indexed column, touches no index.
    pub async fn create(&self, columns: impl IntoIterator<Item = Column>) -> Result<(), DbErr> {
        let mut statement = sea_query::Table::create();
        statement.table(Alias::new(self.name));
        let mut changes = false;
        for column in columns {
            changes |= column.name == UPDATED_AT;
            statement.col(column.definition(self.name, self.database()));
        }
        if changes && self.database() == DbBackend::Postgres {
            statement.extra("WITH (fillfactor = 90)");
        }
        self.manager.create_table(statement).await
    }

    /// Drops the table and with it its indexes.
    pub async fn drop(&self) -> Result<(), DbErr> {
        if self.database() == DbBackend::Sqlite {
            // It deletes the rows first, one by one, and none to which another of them refers.
            self.edit(sqlite::without_references).await?;
        }
        self.manager.drop_table(sea_query::Table::drop().table(Alias::new(self.name)).to_owned()).await
    }

    /// Adds a column to a table that may hold rows: it must be nullable or have a default.
    pub async fn add(&self, column: Column) -> Result<(), DbErr> {
        let mut definition = column.definition(self.name, self.database());
        let statement = sea_query::Table::alter().table(Alias::new(self.name)).add_column(&mut definition).to_owned();
        self.manager.alter_table(statement).await
    }

    /// Drops a column, and with it the indexes that it is in.
    pub async fn remove(&self, column: &str) -> Result<(), DbErr> {
        if column == DELETED_AT {
            self.forget(COUNT, "").await?;
        }
        if self.database() == DbBackend::Sqlite {
            self.forget(SEARCH, &format!("\"{column}\"")).await?;
            // SQLite refuses to drop a column that an index or a constraint names.
            for index in self.indexes_with(column).await? {
                self.run(&format!("DROP INDEX \"{index}\"")).await?;
            }
            self.edit(|text| sqlite::with_column(text, column, sqlite::without_reference)).await?;
        }
        let statement =
            sea_query::Table::alter().table(Alias::new(self.name)).drop_column(Alias::new(column)).to_owned();
        self.manager.alter_table(statement).await
    }

    /// The indexes of SQLite that a column is in, also by an expression or the condition of their rows, which no pragma
    /// tells. Those that the server makes are such, and its next start makes anew what is then wanted.
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

    /// An index over these columns in this order.
    pub async fn index(&self, columns: &[&str]) -> Result<(), DbErr> {
        self.btree(columns, Rows::All, false).await
    }

    /// An index over the rows that are not deleted: every list of a resource with soft deletes asks for those alone.
    pub async fn index_live(&self, columns: &[&str]) -> Result<(), DbErr> {
        self.btree(columns, Rows::Live, false).await
    }

    /// No two rows have the same values in these columns.
    pub async fn unique(&self, columns: &[&str]) -> Result<(), DbErr> {
        self.btree(columns, Rows::All, true).await
    }

    /// No two rows that are not deleted have the same values in these columns.
    pub async fn unique_live(&self, columns: &[&str]) -> Result<(), DbErr> {
        self.btree(columns, Rows::Live, true).await
    }

    /// An index over these columns, as SQL, that holds only the rows for which a condition holds: of a queue, what waits.
    pub async fn index_where(&self, columns: &str, what: &str, condition: &str) -> Result<(), DbErr> {
        let (table, name) = (self.name, self.index_name(&[what], "idx"));
        self.run(&format!("CREATE INDEX \"{name}\" ON \"{table}\" ({columns}) WHERE {condition}")).await
    }

    /// No two rows have the same text in this column, without regard to case.
    ///
    /// On SQLite that holds for ASCII alone: an index there may not depend on a function that the application brings,
    /// or no other tool could write to the table. The application checks the other scripts before it writes.
    pub async fn unique_folded(&self, column: &str) -> Result<(), DbErr> {
        let (table, name) = (self.name, self.index_name(&[column], "key"));
        let folded = match self.database() {
            DbBackend::Sqlite => format!("\"{column}\" COLLATE NOCASE"),
            _ => format!("charter_fold(\"{column}\")"),
        };
        self.make_index(true, &name, &format!("ON \"{table}\" ({folded})"), None).await
    }

    /// An index that finds substrings of this column without regard to case, on PostgreSQL.
    ///
    /// It serves `charter_fold(column) LIKE '%…%'` for three characters and more.
    pub async fn search(&self, column: &str) -> Result<(), DbErr> {
        let (table, name) = (self.name, self.index_name(&[column], "trgm"));
        let over = format!("ON \"{table}\" USING gin (charter_fold(\"{column}\") gin_trgm_ops)");
        self.make_index_on_postgres(&name, &over).await
    }

    /// An index that lists the rows in an order.
    pub async fn order(&self, order: Order<'_>) -> Result<(), DbErr> {
        let Some(keys) = order.keys(self.database()) else { return Ok(()) };
        let (table, name) = (self.name, self.index_name(&[order.column], "sort"));
        let rows = if order.live { Rows::Live } else { Rows::All };
        self.make_index(false, &name, &format!("ON \"{table}\" ({keys}){}", rows.condition()), None).await
    }

    /// Drops the index of this name, where there is one: those for substrings are PostgreSQL's alone.
    pub async fn drop_index(&self, name: &str) -> Result<(), DbErr> {
        let concurrently = self.concurrently();
        self.run(&format!("DROP INDEX {concurrently}IF EXISTS \"{name}\"")).await
    }

    async fn btree(&self, columns: &[&str], rows: Rows, unique: bool) -> Result<(), DbErr> {
        let name = self.index_name(columns, if unique { "key" } else { "idx" });
        let quoted: Vec<String> = columns.iter().map(|column| format!("\"{column}\"")).collect();
        let over = format!("ON \"{}\" ({}){}", self.name, quoted.join(", "), rows.condition());
        self.make_index(unique, &name, &over, Some(columns)).await
    }

    async fn make_index_on_postgres(&self, name: &str, over: &str) -> Result<(), DbErr> {
        if self.database() == DbBackend::Postgres { self.make_index(false, name, over, None).await } else { Ok(()) }
    }

    async fn make_index(&self, unique: bool, name: &str, over: &str, columns: Option<&[&str]>) -> Result<(), DbErr> {
        let concurrently = self.concurrently();
        if !concurrently.is_empty() {
            // One that was given up half-way stays and is of no use.
            let left = format!(
                "SELECT indexrelid::regclass::text FROM pg_index
                 WHERE indexrelid = to_regclass('\"{name}\"') AND NOT indisvalid"
            );
            if !self.texts(&left).await?.is_empty() {
                self.drop_index(name).await?;
            }
        }
        let kind = if unique { "UNIQUE INDEX" } else { "INDEX" };
        if self.online && self.is_made(name, kind, over, columns).await? {
            return Ok(());
        }
        self.run(&format!("CREATE {kind} {concurrently}\"{name}\" {over}")).await
    }

    /// Whether the index is there already, from a run that failed behind it.
    ///
    /// # Errors
    /// When something else has the name: two indexes would have one.
    async fn is_made(&self, name: &str, kind: &str, over: &str, columns: Option<&[&str]>) -> Result<bool, DbErr> {
        let unique = kind != "INDEX";
        let (question, expected) = match self.database() {
            DbBackend::Postgres => {
                let question = format!(
                    "SELECT concat_ws(' ', i.indrelid = to_regclass('\"{}\"'), i.indisunique, (
                         SELECT string_agg(a.attname, ' ' ORDER BY k.position)
                         FROM unnest(i.indkey) WITH ORDINALITY AS k (number, position)
                         JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number))
                     FROM pg_class AS c LEFT JOIN pg_index AS i ON i.indexrelid = c.oid
                     WHERE c.oid = to_regclass('\"{name}\"')",
                    self.name
                );
                let rows = if unique { "t t" } else { "t f" };
                // Of expressions, the table and whether they are unique is what can be compared.
                (question, columns.map_or_else(|| rows.to_owned(), |columns| format!("{rows} {}", columns.join(" "))))
            }
            _ => {
                let question = format!("SELECT sql FROM sqlite_master WHERE name = '{name}'");
                (question, format!("CREATE {kind} \"{name}\" {over}"))
            }
        };
        let exactly = columns.is_some() || self.database() == DbBackend::Sqlite;
        match self.texts(&question).await?.first() {
            None => Ok(false),
            Some(found) if *found == expected || !exactly && found.starts_with(&expected) => Ok(true),
            Some(_) => Err(DbErr::Custom(format!(
                "there is something else called \"{name}\", which is to be an index {over}: call a column something else"
            ))),
        }
    }

    fn concurrently(&self) -> &'static str {
        if self.online && self.database() == DbBackend::Postgres { "CONCURRENTLY " } else { "" }
    }

    fn index_name(&self, columns: &[&str], ending: &str) -> String {
        named(self.name, columns, ending)
    }

    pub(crate) fn database(&self) -> DbBackend {
        self.manager.get_database_backend()
    }

    pub(crate) async fn run(&self, statement: &str) -> Result<(), DbErr> {
        let connection = self.manager.get_connection();
        // An index that is made beside others has no transaction, and waits for theirs without keeping anybody out.
        if !self.online || self.database() != DbBackend::Postgres || statement.contains(" CONCURRENTLY ") {
            return connection.execute_unprepared(statement).await.map(|_| ());
        }
        let mut patience = Patience::default();
        loop {
            let transaction = connection.begin().await?;
            patience.begin(&transaction).await?;
            match transaction.execute_unprepared(statement).await {
                Ok(_) => return transaction.commit().await,
                Err(problem) => {
                    transaction.rollback().await?;
                    patience.pause(connection, problem).await?;
                }
            }
        }
    }
}

/// The rows that an index holds.
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

/// The length from which a name is cut: with a fingerprint and an ending it has the 63 bytes that PostgreSQL takes.
const LONGEST: usize = 49;

/// What an index or a constraint over these columns is called. PostgreSQL would cut a longer name without a word, and then
/// take two with one beginning for the same.
fn named(table: &str, columns: &[&str], ending: &str) -> String {
    let name = format!("{table}_{}", columns.join("_"));
    match name.get(..LONGEST) {
        Some(beginning) => format!("{beginning}_{:08x}_{ending}", fingerprint(&name)),
        None => format!("{name}_{ending}"),
    }
}

/// What a table makes by itself is called: of a long name PostgreSQL leaves out the end, and never that of the ending.
pub(crate) fn owned(table: &str, ending: &str) -> String {
    format!("{}{ending}", table.get(..63 - ending.len()).unwrap_or(table))
}

/// What a foreign key is called.
pub(crate) fn foreign_key(table: &str, column: &str) -> String {
    named(table, &[column], "fkey")
}

/// FNV-1a of a name: the same for ever, unlike the standard library's hashes.
fn fingerprint(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn the_fingerprint_is_that_of_the_published_algorithm() {
        assert_eq!(fingerprint(""), 0x811c_9dc5);
        assert_eq!(fingerprint("foobar"), 0xbf9c_f968);
    }
}
