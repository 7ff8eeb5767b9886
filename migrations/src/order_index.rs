//! The order of a list as an index: the column, and the id behind it, which tells equal values apart.

use sea_orm_migration::sea_orm::DbBackend;

/// The order of one column, up or down.
#[derive(Debug, Clone, Copy)]
pub struct Order<'c> {
    pub(crate) column: &'c str,
    pub(crate) live: bool,
    text: bool,
    nullable: bool,
}

/// The order of this column, whose values are numbers, times or the like, and never null.
pub fn by(column: &str) -> Order<'_> {
    Order { column, live: false, text: false, nullable: false }
}

impl Order<'_> {
    /// The values are text: it is ordered without regard to case, then by code point. It may have 255 characters, so that
    /// it fits into a page of the index twice.
    ///
    /// PostgreSQL alone has such an index: one of SQLite may not depend on a function that the application brings, or no
    /// other tool could write to the table.
    pub fn text(self) -> Self {
        Order { text: true, ..self }
    }

    /// Rows may have no value, and those come first.
    pub fn nullable(self) -> Self {
        Order { nullable: true, ..self }
    }

    /// Of the rows that are not deleted, for which alone every list of a resource with soft deletes asks.
    pub fn live(self) -> Self {
        Order { live: true, ..self }
    }

    /// The keys of the index; none where the database has no such index.
    pub(crate) fn keys(&self, database: DbBackend) -> Option<String> {
        let (column, nulls) = (self.column, if self.nullable { " NULLS FIRST" } else { "" });
        match (self.text, database) {
            (true, DbBackend::Sqlite) => None,
            (true, _) => Some(format!("charter_fold(\"{column}\"){nulls}, \"{column}\"{nulls}, \"id\"")),
            // Null is the smallest value there.
            (false, DbBackend::Sqlite) => Some(format!("\"{column}\", \"id\"")),
            (false, _) => Some(format!("\"{column}\"{nulls}, \"id\"")),
        }
    }
}
