//! Sort index of a list: one column, with the id as the tiebreaker.

use sea_orm_migration::sea_orm::DbBackend;

/// A sort index over one column. It serves both directions.
#[derive(Debug, Clone, Copy)]
pub struct OrderIndex<'c> {
    pub(crate) column: &'c str,
    pub(crate) live: bool,
    text: bool,
    nullable: bool,
}

/// The sort index of a column that is not text and not nullable.
pub fn by(column: &str) -> OrderIndex<'_> {
    OrderIndex { column, live: false, text: false, nullable: false }
}

impl OrderIndex<'_> {
    /// The column is text, ordered without regard to case, then by code point. It may have at most 255 characters,
    /// because an index entry contains it twice.
    ///
    /// Only PostgreSQL gets this index. On SQLite, it would depend on a function of the application, and other tools could
    /// no longer write to the table.
    pub fn text(self) -> Self {
        OrderIndex { text: true, ..self }
    }

    /// The column is nullable. NULL comes first.
    pub fn nullable(self) -> Self {
        OrderIndex { nullable: true, ..self }
    }

    /// The index contains only rows that are not soft-deleted.
    pub fn live(self) -> Self {
        OrderIndex { live: true, ..self }
    }

    /// The keys of the index as SQL, or `None` if the database does not get this index.
    pub(crate) fn keys(&self, database: DbBackend) -> Option<String> {
        let (column, nulls) = (self.column, if self.nullable { " NULLS FIRST" } else { "" });
        match (self.text, database) {
            (true, DbBackend::Sqlite) => None,
            (true, _) => Some(format!("charter_fold(\"{column}\"){nulls}, \"{column}\"{nulls}, \"id\"")),
            // SQLite sorts NULL first by default.
            (false, DbBackend::Sqlite) => Some(format!("\"{column}\", \"id\"")),
            (false, _) => Some(format!("\"{column}\"{nulls}, \"id\"")),
        }
    }
}
