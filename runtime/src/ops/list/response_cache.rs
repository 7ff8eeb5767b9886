//! Response cache for list pages and their totals, validated by table versions; the same versions make the `ETag` of a page.
//!
//! The database counts the changes of each table, which is its version. One short statement reads the versions of the tables
//! that a page is read from. It is the same for all pages of these tables, so that concurrent requests share it.

use std::fmt;

use bytes::Bytes;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use sha2::{Digest, Sha256};

use super::include;
use super::render::render_key;
use super::select::{Reading, Slice, select};
use super::total::{TOTAL_COLUMN, TotalSource};
use crate::catalog::Entry;
use crate::context::Context;
use crate::counts;
use crate::custom_field;
use crate::db::Sql;
use crate::error::Result;
use crate::metrics;
use crate::ops::etag::tag;
use crate::query::{Condition, Count};
use crate::record::{Cell, Shape};
use crate::view::View;

/// Capacity of the cache, in bytes.
const CAPACITY: u64 = 16 << 20;
/// An answer of more bytes is not kept.
const MAX_ANSWER_BYTES: usize = 128 << 10;
/// Bytes that an entry takes beside its answer.
const ENTRY_OVERHEAD: u64 = 256;
/// The cache is divided into this many shards, each with its share of the capacity and a lock of its own.
const SHARDS: usize = 8;
/// Expected bytes of an entry, from which the cache derives its size at the beginning.
const EXPECTED_ENTRY_BYTES: usize = 4 << 10;

/// Cached answers and totals of lists, by a digest of all that they depend on beside the contents of tables.
pub struct ResponseCache {
    entries: Cache<Key, Cached, ByBytes>,
    counts: metrics::Cache,
}

type Key = [u8; 32];

/// A value, and the sum of the versions of its tables for which it is valid.
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
                Value::Page(answer) => answer.bytes() as u64,
                Value::Total(_) => 0,
            }
    }
}

/// A requested page: its key, and the tables that it depends on.
pub(crate) struct CacheKey {
    key: Key,
    tables: Vec<&'static str>,
}

/// A requested page at the current versions of its tables.
pub(crate) struct Versioned {
    key: Key,
    version: i64,
    /// Version of the table of custom-field definitions.
    pub definitions: Option<i64>,
    /// The cached answer for these versions.
    pub answer: Option<CachedPage>,
}

/// Collects what an answer depends on: tables, and everything else as a digest.
#[derive(Default)]
pub(crate) struct CacheKeyBuilder {
    tables: Vec<&'static str>,
    said: Sha256,
}

/// A page as it is answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CachedPage {
    pub body: Bytes,
    /// The cursor of the next page.
    pub next: Option<String>,
}

impl CacheKeyBuilder {
    /// Adds a part of the request to the digest.
    pub fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.said.update(part.len().to_le_bytes());
        self.said.update(part);
    }

    /// Adds a table.
    pub fn depends_on_table(&mut self, table: &'static str) {
        self.tables.push(table);
    }

    /// Adds the tables of these columns and of this condition.
    pub fn depends_on_records(&mut self, entry: &Entry, shape: &Shape, condition: &Condition) {
        self.tables.push(entry.meta.table);
        condition.tables(&mut self.tables);
        shape.columns.iter().for_each(|column| column.source.tables(&mut self.tables));
    }
}

impl CacheKey {
    /// `None` for an answer that cannot be cached: it has computed fields or an estimated total, or the request runs in a
    /// transaction, whose own changes nobody else sees.
    ///
    /// # Errors
    /// When the catalog contradicts itself.
    pub(crate) fn of(context: &Context<'_>, reading: Reading<'_>, view: Option<&View>) -> Result<Option<CacheKey>> {
        let Reading { entry, shape, condition, plan, cursor, definitions, .. } = reading;
        if !shape.computed.is_empty() || plan.count == Count::Estimate || context.transaction().is_some() {
            return Ok(None);
        }
        let mut ground = CacheKeyBuilder::default();
        // Another release, or another version of the application, may write the same rows otherwise.
        ground.add(env!("CARGO_PKG_VERSION"));
        ground.add(context.catalog().fingerprint());
        ground.depends_on_records(entry, shape, condition);
        plan.sources().iter().for_each(|source| source.tables(&mut ground.tables));
        if let Some(version) = definitions {
            ground.depends_on_table(custom_field::table());
            // A definition can remove a part of the plan, of which the statement then has no trace.
            ground.add(version.to_le_bytes());
        }
        let part = match cursor {
            None => Slice::Numbered,
            Some(_) => Slice::After { place: None, most: plan.per_page + 1 },
        };
        ground.add(select(context, reading, &TotalSource::of(reading), part).with_literals());
        // All pages after the last record have the same offset.
        ground.add(plan.page.to_le_bytes());
        if let (Some((cursor, _)), Some(place)) = (cursor, &plan.cursor) {
            ground.add(cursor.fingerprint());
            ground.add(place);
        }
        ground.add(render_key(reading));
        ground.add(view.map(|view| view.meta().to_string()).unwrap_or_default());
        include::add_to_cache_key(context, entry, shape, &plan.includes, &mut ground)?;
        let CacheKeyBuilder { mut tables, said } = ground;
        tables.sort_unstable();
        tables.dedup();
        Ok(Some(CacheKey { key: said.finalize().into(), tables }))
    }

    /// Reads the versions of the tables, and looks the answer up.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) async fn versioned(self, context: &Context<'_>) -> Result<Option<Versioned>> {
        let CacheKey { key, tables } = self;
        let mut sql = Sql::new(context.state().db.dialect(), "SELECT ");
        counts::write_versions(&mut sql, &tables);
        sql.push(" AS ").name(TOTAL_COLUMN);
        let definitions = custom_field::table();
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
        Ok(version.map(|version| Versioned { key, version, definitions, answer: cache.page(key, version) }))
    }
}

impl Versioned {
    /// The `ETag` of the page. The page is read after the versions, and may be newer: then the tag matches no later state, and
    /// no client is told that its page is current.
    pub(crate) fn tag(&self) -> String {
        tag(&[&self.key[..], &self.version.to_le_bytes()].concat())
    }

    /// Caches the answer, unless it is too long. If tables changed after their versions were read, the entry is taken for
    /// older than it is, and never served wrongly.
    pub(crate) fn store(self, context: &Context<'_>, answer: &CachedPage) {
        context.state().responses.put_page(self.key, self.version, answer);
    }
}

/// The key of a total: a digest of the statement that counts, and of its values.
pub(crate) fn key_of(sql: &Sql) -> Key {
    let mut ground = CacheKeyBuilder::default();
    ground.add("total");
    ground.add(sql.with_literals());
    ground.said.finalize().into()
}

impl ResponseCache {
    /// An empty cache, which counts its look-ups in `counts`.
    pub fn new(counts: metrics::Cache) -> ResponseCache {
        let options = OptionsBuilder::new()
            .shards(SHARDS)
            .estimated_items_capacity(CAPACITY as usize / EXPECTED_ENTRY_BYTES)
            .weight_capacity(CAPACITY)
            .build()
            .unwrap_or_else(|_| unreachable!("both capacities are given"));
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
            Some(Value::Page(answer)) => Some(answer),
            _ => None,
        };
        self.count("pages", found)
    }

    fn put_page(&self, key: Key, version: i64, answer: &CachedPage) {
        if answer.bytes() <= MAX_ANSWER_BYTES {
            // A copy, because the buffer that the answer was written into may be much larger.
            let answer = CachedPage { body: Bytes::copy_from_slice(&answer.body), next: answer.next.clone() };
            self.put(key, version, Value::Page(answer));
        }
    }

    /// The total of a filtered list, if it was counted at this version of its tables.
    pub(crate) fn total(&self, key: Key, version: i64) -> Option<i64> {
        let found = match self.find(key, version) {
            Some(Value::Total(total)) => Some(total),
            _ => None,
        };
        self.count("totals", found)
    }

    pub(crate) fn put_total(&self, key: Key, version: i64, total: i64) {
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
        // A request that began earlier and took longer has an older version.
        if self.entries.peek(&key).is_none_or(|entry| entry.version <= version) {
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

    fn answer(bytes: usize) -> CachedPage {
        CachedPage { body: vec![b'x'; bytes].into(), next: None }
    }

    #[test]
    fn an_answer_is_served_at_its_version_only() {
        let cache = ResponseCache::new(metrics::Cache::default());
        assert_eq!(cache.page(ONE, 7), None);
        cache.put_page(ONE, 7, &answer(3));
        assert_eq!(cache.page(ONE, 7), Some(answer(3)));
        assert_eq!(cache.page(ONE, 8), None);
        cache.put_page(ONE, 6, &answer(2));
        assert_eq!(cache.page(ONE, 7), Some(answer(3)), "an older version does not replace a newer one");
        assert_eq!(cache.page([2; 32], 7), None);
    }

    #[test]
    fn a_total_is_known_at_its_version_only() {
        let (cache, mut sql) = (ResponseCache::new(metrics::Cache::default()), Sql::new(Dialect::Sqlite, "SELECT "));
        sql.bind("a\nb").bind("c");
        let key = key_of(&sql);
        cache.put_total(key, 7, 3);
        assert_eq!((cache.total(key, 7), cache.total(key, 8)), (Some(3), None));
        let mut other = Sql::new(Dialect::Sqlite, "SELECT ");
        other.bind("a").bind("b\nc");
        assert_ne!(key_of(&other), key, "values are told apart");
    }

    #[test]
    fn a_tag_is_of_one_page_at_one_version() {
        let tag = |key, version| Versioned { key, version, definitions: None, answer: None }.tag();
        assert_eq!(tag(ONE, 7), tag(ONE, 7));
        assert!(tag(ONE, 7) != tag(ONE, 8) && tag(ONE, 7) != tag([2; 32], 7));
    }

    #[test]
    fn the_cache_has_a_bounded_size_and_keeps_an_answer_up_to_its_limit() {
        let cache = ResponseCache::new(metrics::Cache::default());
        cache.put_page(ONE, 1, &answer(MAX_ANSWER_BYTES));
        assert!(cache.page(ONE, 1).is_some());
        cache.put_page([2; 32], 1, &answer(MAX_ANSWER_BYTES + 1));
        assert_eq!(cache.page([2; 32], 1), None);
        for number in 0..1_000_u64 {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_le_bytes());
            cache.put_page(key, 1, &answer(MAX_ANSWER_BYTES));
        }
        assert!(cache.entries.weight() <= CAPACITY && cache.entries.weight() > CAPACITY / 2);
        assert!(cache.entries.iter().all(|(_, entry)| match entry.value {
            Value::Page(answer) => answer.bytes() <= MAX_ANSWER_BYTES,
            Value::Total(_) => false,
        }));
    }
}
