//! Response cache for list pages and their totals, validated by table versions, which also make the `ETag` of a page.
//!
//! Triggers count the changes of each table: that is its version. One short statement reads the versions of all tables
//! that a page depends on. It is the same for all pages of these tables, so that concurrent requests share it.

use std::fmt;

use bytes::Bytes;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use sha2::{Digest, Sha256};

use super::include_cache_key;
use super::render::render_key;
use super::select::{ListQuery, Slice, select};
use super::total::{TOTAL_COLUMN, TotalSource};
use crate::catalog::Entry;
use crate::counts;
use crate::custom_field;
use crate::db::Sql;
use crate::error::Result;
use crate::meta::IncludeTarget;
use crate::metrics;
use crate::ops::Context;
use crate::ops::etag::tag;
use crate::query::SavedView;
use crate::query::{Condition, Count};
use crate::record::{Cell, Shape, Source};

/// Capacity of the cache, in bytes.
const CAPACITY: u64 = 16 << 20;
/// Maximum length of a cached page.
const MAX_CACHED_PAGE_BYTES: usize = 128 << 10;
/// Estimated size of an entry without its page.
const ENTRY_OVERHEAD: u64 = 256;
/// Number of shards, each with its share of the capacity and its own lock.
const SHARDS: usize = 8;
/// Expected size of an entry, from which the cache derives its initial size.
const EXPECTED_ENTRY_BYTES: usize = 4 << 10;

/// Cached pages and totals, keyed by a digest of everything that they depend on except the contents of tables.
pub struct ResponseCache {
    entries: Cache<Key, Cached, ByBytes>,
    counts: metrics::Cache,
}

type Key = [u8; 32];

/// A value, and the sum of the table versions that it is valid for.
#[derive(Debug, Clone)]
struct Cached {
    version: i64,
    value: Value,
}

#[derive(Debug, Clone)]
enum Value {
    Page(CachedPage),
    Total(i64),
}

/// Weight of an entry in bytes.
#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<Key, Cached> for ByBytes {
    fn weight(&self, _: &Key, entry: &Cached) -> u64 {
        ENTRY_OVERHEAD
            + match &entry.value {
                Value::Page(page) => page.bytes() as u64,
                Value::Total(_) => 0,
            }
    }
}

/// A requested page: its key, and the tables that it depends on.
pub struct CacheKey {
    key: Key,
    tables: Vec<&'static str>,
}

/// A requested page at the current versions of its tables.
pub struct Versioned {
    key: Key,
    version: i64,
    /// Version of the table of custom-field definitions.
    pub definitions: Option<i64>,
    /// The cached page for these versions.
    pub page: Option<CachedPage>,
}

/// Collects everything that a page depends on: its tables, and everything else in a digest.
#[derive(Default)]
pub struct CacheKeyBuilder {
    tables: Vec<&'static str>,
    digest: Sha256,
}

/// A rendered page.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedPage {
    pub body: Bytes,
    /// The cursor of the next page.
    pub next: Option<String>,
}

impl CacheKeyBuilder {
    /// The records of a list, and the release. `None` if the response cannot be cached.
    pub fn of(context: &Context<'_>, query: ListQuery<'_>) -> Option<CacheKeyBuilder> {
        let ListQuery { entry, shape, condition, definitions, plan, .. } = query;
        // The rights of the caller decide about its actions.
        let shows_rights = plan.includes.iter().any(|include| include.target == IncludeTarget::AllowedActions);
        if !shape.computed.is_empty() || query.uses_instant || shows_rights || context.transaction().is_some() {
            return None;
        }
        let mut builder = CacheKeyBuilder::default();
        // Another release, or another version of the application, may render the same rows differently.
        builder.add(env!("CARGO_PKG_VERSION"));
        builder.add(context.catalog().fingerprint());
        builder.depends_on_records(entry, shape, condition);
        if let Some(version) = definitions {
            builder.depends_on_table(custom_field::TABLE);
            // A definition can remove a part of the plan without a trace in the statement.
            builder.add(version.to_le_bytes());
        }
        Some(builder)
    }

    pub fn finish(self) -> CacheKey {
        let CacheKeyBuilder { mut tables, digest } = self;
        tables.sort_unstable();
        tables.dedup();
        CacheKey { key: digest.finalize().into(), tables }
    }

    /// Adds a part of the request to the digest.
    pub fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.digest.update(part.len().to_le_bytes());
        self.digest.update(part);
    }

    /// Adds a table.
    pub fn depends_on_table(&mut self, table: &'static str) {
        self.tables.push(table);
    }

    /// Adds the tables that a value is read from.
    pub fn depends_on_source(&mut self, source: &Source) {
        source.tables(&mut self.tables);
    }

    /// Adds the tables of these columns and of this condition.
    pub fn depends_on_records(&mut self, entry: &Entry, shape: &Shape, condition: &Condition) {
        self.tables.push(entry.meta.table);
        condition.tables(&mut self.tables);
        shape.columns.iter().for_each(|column| column.source.tables(&mut self.tables));
    }
}

impl CacheKey {
    /// `None` for a page that cannot be cached: it has computed fields, rights of the caller or an estimated total, or
    /// the request runs in a transaction, whose own changes other requests cannot see.
    ///
    /// # Errors
    /// When the catalog contradicts itself.
    pub fn of(context: &Context<'_>, query: ListQuery<'_>, view: Option<&SavedView>) -> Result<Option<CacheKey>> {
        let ListQuery { entry, shape, plan, cursor, .. } = query;
        let Some(mut builder) = CacheKeyBuilder::of(context, query).filter(|_| plan.count != Count::Estimate) else {
            return Ok(None);
        };
        plan.sources().iter().for_each(|source| builder.depends_on_source(source));
        let part = match cursor {
            None => Slice::Numbered,
            Some(_) => Slice::After { position: None, limit: plan.per_page + 1 },
        };
        builder.add(select(context, query, &TotalSource::of(query), part).with_literals());
        // All pages after the last record have the same offset.
        builder.add(plan.page.to_le_bytes());
        if let (Some((cursor, _)), Some(text)) = (cursor, &plan.cursor) {
            builder.add(cursor.fingerprint());
            builder.add(text);
        }
        builder.add(render_key(query));
        builder.add(view.map(|view| view.meta().to_string()).unwrap_or_default());
        include_cache_key::add_to_cache_key(context, entry, shape, &plan.includes, &mut builder)?;
        Ok(Some(builder.finish()))
    }

    /// Reads the versions of the tables and looks the page up.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn versioned(self, context: &Context<'_>) -> Result<Option<Versioned>> {
        let CacheKey { key, tables } = self;
        let mut sql = Sql::new(context.state().db.dialect(), "SELECT ");
        counts::write_versions(&mut sql, &tables);
        sql.push(" AS ").name(TOTAL_COLUMN);
        let definitions = custom_field::TABLE;
        let is_defined = tables.contains(&definitions);
        if is_defined {
            sql.push(", ");
            custom_field::write_changes(&mut sql);
            sql.push(" AS \"charter_definitions\"");
        }
        let rows = context.read(sql).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let definitions = if is_defined { Cell::new(row, 1)?.integer()? } else { None };
        let version = Cell::new(row, 0)?.integer()?;
        let cache = &context.state().responses;
        Ok(version.map(|version| Versioned { key, version, definitions, page: cache.page(key, version) }))
    }
}

impl Versioned {
    /// The `ETag` of the page. The page is read after the versions and may be newer. Its tag then matches no later
    /// state, and no client gets 304 for an outdated page.
    pub fn tag(&self) -> String {
        tag(&[&self.key[..], &self.version.to_le_bytes()].concat())
    }

    /// Caches the page, unless it is too long. If tables changed after their versions were read, the entry has an older
    /// version than its contents and is never served for a wrong version.
    pub fn store(self, context: &Context<'_>, page: &CachedPage) {
        context.state().responses.put_page(self.key, self.version, page);
    }
}

/// The key of a total: a digest of the counting statement and its values.
pub fn key_of(sql: &Sql) -> Key {
    let mut builder = CacheKeyBuilder::default();
    builder.add("total");
    builder.add(sql.with_literals());
    builder.digest.finalize().into()
}

impl ResponseCache {
    /// An empty cache, which counts its look-ups in `counts`.
    pub fn new(counts: metrics::Cache) -> ResponseCache {
        let options = OptionsBuilder::new()
            .shards(SHARDS)
            .estimated_items_capacity(CAPACITY as usize / EXPECTED_ENTRY_BYTES)
            .weight_capacity(CAPACITY)
            .build()
            .unwrap_or_else(|_| unreachable!("both capacities are set"));
        let entries = Cache::with_options(options, ByBytes, DefaultHashBuilder::default(), DefaultLifecycle::default());
        ResponseCache { entries, counts }
    }
}

impl fmt::Debug for ResponseCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseCache").field("bytes", &self.entries.weight()).finish_non_exhaustive()
    }
}

impl ResponseCache {
    fn page(&self, key: Key, version: i64) -> Option<CachedPage> {
        let found = match self.find(key, version) {
            Some(Value::Page(page)) => Some(page),
            _ => None,
        };
        self.count("pages", found)
    }

    fn put_page(&self, key: Key, version: i64, page: &CachedPage) {
        if page.bytes() <= MAX_CACHED_PAGE_BYTES {
            // A copy, because the buffer that the page was rendered into may be much larger.
            let page = CachedPage { body: Bytes::copy_from_slice(&page.body), next: page.next.clone() };
            self.put(key, version, Value::Page(page));
        }
    }

    /// The total of a filtered list, if it was counted at this version of its tables.
    pub fn total(&self, key: Key, version: i64) -> Option<i64> {
        let found = match self.find(key, version) {
            Some(Value::Total(total)) => Some(total),
            _ => None,
        };
        self.count("totals", found)
    }

    pub fn put_total(&self, key: Key, version: i64, total: i64) {
        self.put(key, version, Value::Total(total));
    }

    fn find(&self, key: Key, version: i64) -> Option<Value> {
        self.entries.get(&key).filter(|entry| entry.version == version).map(|entry| entry.value)
    }

    fn count<T>(&self, kind: &'static str, found: Option<T>) -> Option<T> {
        match &found {
            Some(_) => self.counts.hit(kind),
            None => self.counts.miss(kind),
        }
        found
    }

    /// Bytes that the entries take.
    pub fn bytes(&self) -> u64 {
        self.entries.weight()
    }

    fn put(&self, key: Key, version: i64, value: Value) {
        // A slower request that began earlier may have an older version.
        if self.entries.peek(&key).is_none_or(|entry| counts::supersedes(version, entry.version)) {
            self.entries.insert(key, Cached { version, value });
        }
    }
}

impl CachedPage {
    fn bytes(&self) -> usize {
        self.body.len() + self.next.as_ref().map_or(0, String::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Dialect;

    const ONE: Key = [1; 32];

    fn page_of(bytes: usize) -> CachedPage {
        CachedPage { body: vec![b'x'; bytes].into(), next: None }
    }

    #[test]
    fn cached_page_is_served_at_its_version_only() {
        let cache = ResponseCache::new(metrics::Cache::default());
        assert_eq!(cache.page(ONE, 7), None);
        cache.put_page(ONE, 7, &page_of(3));
        assert_eq!(cache.page(ONE, 7), Some(page_of(3)));
        assert_eq!(cache.page(ONE, 8), None);
        cache.put_page(ONE, 6, &page_of(2));
        assert_eq!(cache.page(ONE, 7), Some(page_of(3)), "an older version does not replace a newer one");
        assert_eq!(cache.page([2; 32], 7), None);
    }

    #[test]
    fn cached_total_is_used_at_its_version_only() {
        let (cache, mut sql) = (ResponseCache::new(metrics::Cache::default()), Sql::new(Dialect::Sqlite, "SELECT "));
        sql.bind("a\nb").bind("c");
        let key = key_of(&sql);
        cache.put_total(key, 7, 3);
        assert_eq!((cache.total(key, 7), cache.total(key, 8)), (Some(3), None));
        let mut other = Sql::new(Dialect::Sqlite, "SELECT ");
        other.bind("a").bind("b\nc");
        assert_ne!(key_of(&other), key, "bound values are delimited");
    }

    #[test]
    fn etag_depends_on_the_page_and_its_version() {
        let tag = |key, version| Versioned { key, version, definitions: None, page: None }.tag();
        assert_eq!(tag(ONE, 7), tag(ONE, 7));
        assert!(tag(ONE, 7) != tag(ONE, 8) && tag(ONE, 7) != tag([2; 32], 7));
    }

    #[test]
    fn cache_and_its_entries_have_a_maximum_size() {
        let cache = ResponseCache::new(metrics::Cache::default());
        cache.put_page(ONE, 1, &page_of(MAX_CACHED_PAGE_BYTES));
        assert!(cache.page(ONE, 1).is_some());
        cache.put_page([2; 32], 1, &page_of(MAX_CACHED_PAGE_BYTES + 1));
        assert_eq!(cache.page([2; 32], 1), None);
        for number in 0..1_000_u64 {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_le_bytes());
            cache.put_page(key, 1, &page_of(MAX_CACHED_PAGE_BYTES));
        }
        assert!(cache.entries.weight() <= CAPACITY && cache.entries.weight() > CAPACITY / 2);
        assert!(cache.entries.iter().all(|(_, entry)| match entry.value {
            Value::Page(page) => page.bytes() <= MAX_CACHED_PAGE_BYTES,
            Value::Total(_) => false,
        }));
    }
}
