//! Where the database of PostgreSQL has a say in what is stored that the metadata does not tell of.

use std::collections::HashMap;

use tokio::sync::OnceCell;

use crate::context::Context;
use crate::db::{Dialect, Sql};
use crate::error::Result;
use crate::meta::ResourceMeta;

/// The tables in whose rows the database has a say that the metadata does not tell of. Read once: who gives a table such a
/// thing starts the servers anew.
#[derive(Debug, Default)]
pub struct Outspoken(OnceCell<HashMap<String, Say>>);

#[derive(Debug)]
struct Say {
    /// Triggers and rules that are not Charter's own, columns that it computes, policies, tables that inherit.
    makes: bool,
    /// How many of its indexes let no value stand twice, beside that of the ids.
    uniques: i64,
}

const OUTSPOKEN: &str = r#"
SELECT * FROM (
    SELECT c.relname::text AS "table", (
        c.relkind <> 'r' OR c.relhasrules OR c.relrowsecurity OR c.relhassubclass
        OR EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated <> '')
        OR EXISTS (
            SELECT 1 FROM pg_trigger t
            WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgname NOT LIKE 'charter\_count\_%'
        )
    ) AS "makes", (
        SELECT COUNT(*) FROM pg_index i
        WHERE i.indrelid = c.oid AND NOT i.indisprimary AND (i.indisunique OR i.indisexclusion)
    ) AS "uniques"
    FROM pg_class c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_table_is_visible(c.oid)
) AS s WHERE "makes" OR "uniques" > 0"#;

impl Outspoken {
    async fn of(&self, context: &Context<'_>, table: &str) -> Result<Option<&Say>> {
        let read = async || -> Result<HashMap<String, Say>> {
            let mut said = HashMap::new();
            for row in Sql::new(Dialect::Postgres, OUTSPOKEN).all(context.ahead()).await? {
                let say = Say { makes: row.try_get("", "makes")?, uniques: row.try_get("", "uniques")? };
                said.insert(row.try_get("", "table")?, say);
            }
            Ok(said)
        };
        Ok(self.0.get_or_try_init(read).await?.get(table))
    }

    /// Whether what is stored may be another than what is written.
    pub async fn makes(&self, context: &Context<'_>, table: &str) -> Result<bool> {
        Ok(self.of(context, table).await?.is_some_and(|say| say.makes))
    }

    /// Whether there are unique values beside those that the metadata knows.
    pub async fn has_uniques(&self, context: &Context<'_>, meta: &ResourceMeta) -> Result<bool> {
        let known = meta.unique_sets().count();
        let say = self.of(context, meta.table).await?;
        Ok(say.is_some_and(|say| say.uniques > i64::try_from(known).unwrap_or(i64::MAX)))
    }
}
