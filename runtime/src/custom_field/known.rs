//! The definitions as this process last read them, and what tells a statement whether they are still the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{CustomFieldTypes, Definition, Entity, load};
use crate::counts;
use crate::db::{Connection, Sql};
use crate::error::Result;
use crate::resource::Resource;

/// What is known of each entity type, by its plural name. It may have changed since, in this process or another: who uses
/// it asks in the statement that decides, by [`write_text`] or, for the types alone, by [`write_changes`].
#[derive(Debug, Default)]
pub struct Known {
    definitions: Mutex<HashMap<&'static str, Arc<Definitions>>>,
    types: Mutex<HashMap<&'static str, Arc<Types>>>,
}

/// The definitions of one entity type.
#[derive(Debug)]
pub struct Definitions {
    pub list: Vec<Definition>,
    /// The rows that they are read from.
    pub text: String,
}

/// The types alone, for planning a request.
#[derive(Debug, Default)]
pub struct Types {
    pub of: CustomFieldTypes,
    /// How often any definition had changed then, as [`write_changes`] writes it.
    pub changes: i64,
}

impl Known {
    /// The definitions as they were lately.
    pub async fn get(&self, connection: &Connection, entity_type: &'static str) -> Result<Arc<Definitions>> {
        if let Some(known) = lock(&self.definitions).get(entity_type) {
            return Ok(known.clone());
        }
        let mut sql = Sql::new(crate::db::Dialect::Postgres, "SELECT ");
        write_text(&mut sql, entity_type);
        // The text first: what changes in between makes it the older of the two, and so another than the next one read.
        let row = sql.push(" AS \"text\"").clone().one(connection).await?;
        let text = row.map(|row| row.try_get("", "text")).transpose()?.unwrap_or_default();
        let known = Arc::new(Definitions { list: load(connection, entity_type).await?, text });
        lock(&self.definitions).insert(entity_type, known.clone());
        Ok(known)
    }

    /// Reads them anew the next time.
    pub fn forget(&self, entity_type: &str) {
        lock(&self.definitions).remove(entity_type);
    }

    /// The types as they lately were, where they were read.
    pub fn types(&self, entity_type: &str) -> Option<Arc<Types>> {
        lock(&self.types).get(entity_type).cloned()
    }

    /// Keeps types, unless those that are known were read later.
    pub fn keep_types(&self, entity_type: &'static str, types: Arc<Types>) {
        let mut known = lock(&self.types);
        if known.get(entity_type).is_none_or(|known| known.changes <= types.changes) {
            known.insert(entity_type, types);
        }
    }
}

fn lock<T>(known: &Mutex<T>) -> MutexGuard<'_, T> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the rows of an entity type's definitions as one text, on PostgreSQL.
pub fn write_text(sql: &mut Sql, entity_type: &str) {
    sql.push(
        "(SELECT COALESCE(string_agg(f::text, ',' ORDER BY f.\"id\"), '') FROM \"custom_fields\" AS f \
         WHERE f.\"entity_type\" = ",
    );
    sql.bind(entity_type).push(")");
}

/// Writes how often any definition has changed: a statement that was planned with types tells by it whether they are still those.
pub fn write_changes(sql: &mut Sql) {
    counts::write_versions(sql, &[table()]);
}

/// The table of the definitions.
pub fn table() -> &'static str {
    Entity::meta().table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_were_read_earlier_do_not_take_the_place_of_later_ones() {
        let known = Known::default();
        for (changes, kept) in [(3, 3), (2, 3), (4, 4)] {
            known.keep_types("products", Arc::new(Types { changes, ..Types::default() }));
            assert_eq!(known.types("products").map(|types| types.changes), Some(kept));
        }
    }
}
