//! Tables of PostgreSQL with triggers, rules, policies or generated columns, which can change what a statement stores.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::db::{Dialect, Sql};
use crate::error::Result;
use crate::ops::Context;

/// Maximum age of the cached list of tables: a new trigger is noticed within this time.
const MAX_AGE: Duration = Duration::from_secs(60);

/// Cached names of these tables.
#[derive(Debug, Default)]
pub struct DatabaseSideEffects(Mutex<Option<(Instant, Arc<HashSet<String>>)>>);

const TABLES: &str = r#"
SELECT c.relname::text AS "table" FROM pg_class c
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_table_is_visible(c.oid) AND (
    c.relkind <> 'r' OR c.relhasrules OR c.relrowsecurity OR c.relhassubclass
    OR EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated <> '')
    OR EXISTS (
        SELECT 1 FROM pg_trigger t
        WHERE t.tgrelid = c.oid AND NOT t.tgisinternal
            AND t.tgname NOT LIKE 'charter\_count\_%' AND t.tgname NOT LIKE 'charter\_rollup\_%'
    )
)"#;

impl DatabaseSideEffects {
    /// True if the database may store something else than a statement writes.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn has_triggers_or_rules(&self, context: &Context<'_>, table: &str) -> Result<bool> {
        let now = context.state().clock.instant();
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((read_at, tables)) = cached
            && now.saturating_duration_since(read_at) < MAX_AGE
        {
            return Ok(tables.contains(table));
        }
        let rows = Sql::new(Dialect::Postgres, TABLES).all(context.read_connection()).await?;
        let tables = rows.iter().map(|row| row.try_get("", "table")).collect::<Result<HashSet<String>, _>>()?;
        let is_listed = tables.contains(table);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, Arc::new(tables)));
        Ok(is_listed)
    }
}
