//! Cache of custom field definitions, validated by the statements that use them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{CustomFieldTypes, Definition, TABLE, load};
use crate::counts;
use crate::db::{Connection, Sql};
use crate::error::Result;

/// Cached definitions by entity type. They may be outdated: a statement that depends on them compares them with the
/// database, by [`write_definitions`] or, for types only, by [`write_changes`].
#[derive(Debug, Default)]
pub struct DefinitionCache {
    definitions: Mutex<HashMap<&'static str, Arc<Definitions>>>,
    types: Mutex<HashMap<&'static str, Arc<Types>>>,
}

/// The definitions of one entity type.
#[derive(Debug)]
pub struct Definitions {
    pub list: Vec<Definition>,
    /// The rows as text, for comparison.
    pub text: String,
}

/// Types of the custom fields, for planning a request.
#[derive(Debug, Default)]
pub struct Types {
    pub of: CustomFieldTypes,
    /// Version of all definitions when they were read, from [`write_changes`].
    pub changes: i64,
}

impl DefinitionCache {
    /// Returns the cached definitions, or loads them.
    pub async fn get(&self, connection: &Connection, entity_type: &'static str) -> Result<Arc<Definitions>> {
        if let Some(known) = lock(&self.definitions).get(entity_type) {
            return Ok(known.clone());
        }
        let mut sql = Sql::new(crate::db::Dialect::Postgres, "SELECT ");
        write_definitions(&mut sql, entity_type);
        // Read the text first: after a concurrent change it is older than the list, and the comparison fails safely.
        let row = sql.push(" AS \"text\"").clone().one(connection).await?;
        let text = row.map(|row| row.try_get("", "text")).transpose()?.unwrap_or_default();
        let known = Arc::new(Definitions { list: load(connection, entity_type).await?, text });
        lock(&self.definitions).insert(entity_type, known.clone());
        Ok(known)
    }

    /// Removes an entry, which the next [`DefinitionCache::get`] loads again.
    pub fn invalidate(&self, entity_type: &str) {
        lock(&self.definitions).remove(entity_type);
    }

    /// The cached types, if any.
    pub fn types(&self, entity_type: &str) -> Option<Arc<Types>> {
        lock(&self.types).get(entity_type).cloned()
    }

    /// Stores types unless newer ones are cached.
    pub fn store_types(&self, entity_type: &'static str, types: Arc<Types>) {
        let mut known = lock(&self.types);
        if known.get(entity_type).is_none_or(|known| counts::supersedes(types.changes, known.changes)) {
            known.insert(entity_type, types);
        }
    }
}

fn lock<T>(known: &Mutex<T>) -> MutexGuard<'_, T> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a subquery that returns the rows of an entity type's definitions as text, on PostgreSQL.
pub fn write_definitions(sql: &mut Sql, entity_type: &str) {
    sql.push(
        "(SELECT COALESCE(string_agg(f::text, ',' ORDER BY f.\"id\"), '') FROM \"custom_fields\" AS f \
         WHERE f.\"entity_type\" = ",
    );
    sql.bind(entity_type).push(")");
}

/// Writes a subquery that returns the version of all definitions, which a statement planned with cached types compares.
pub fn write_changes(sql: &mut Sql) {
    counts::write_versions(sql, &[TABLE]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_types_do_not_replace_newer_ones() {
        let known = DefinitionCache::default();
        for (changes, kept) in [(3, 3), (2, 3), (4, 4)] {
            known.store_types("products", Arc::new(Types { changes, ..Types::default() }));
            assert_eq!(known.types("products").map(|types| types.changes), Some(kept));
        }
    }
}
