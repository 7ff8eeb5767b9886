//! Locale of the pages: the company's time zone and number format, read from the settings.

use std::sync::Arc;

use chrono_tz::Tz;
use sea_orm::QueryResult;

use super::money::NumberFormat;
use crate::server::ServerState;
use charter_core::catalog::Entry;
use charter_core::db::Sql;
use charter_core::error::Result;
use charter_core::meta::{FieldMeta, Rule};
use charter_core::ops::company_zone;
use charter_core::versioned_cache::VersionedCache;

/// Fields of a resource that describes a currency's number format, in the order of the query's columns.
const NUMBER_FORMAT_FIELDS: [&str; 5] =
    ["symbol", "symbol_position", "decimal_places", "thousand_separator", "decimal_separator"];

/// UTC and `1,234.50` by default.
#[derive(Debug, Default)]
pub(crate) struct Locale {
    pub zone: Tz,
    pub numbers: NumberFormat,
}

/// Cache of the locale. A change of the settings in this process takes effect at once.
#[derive(Debug, Default)]
pub(crate) struct LocaleCache(VersionedCache<(), Locale>);

impl LocaleCache {
    pub(crate) async fn get(&self, state: &ServerState) -> Result<Arc<Locale>> {
        let version = state.singletons_changed.version() + state.db.server_changes();
        self.0.get((), version, &state.clock, read(state)).await
    }
}

async fn read(state: &ServerState) -> Result<Locale> {
    Ok(Locale { zone: company_zone(state).await?, numbers: read_number_format(state).await?.unwrap_or_default() })
}

/// Reads the number format of the currency that a singleton refers to.
async fn read_number_format(state: &ServerState) -> Result<Option<NumberFormat>> {
    let mut singletons = state.catalog.entries().iter().filter(|entry| entry.meta.singleton);
    let setting = singletons.find_map(|entry| currency_setting(state, entry).map(|setting| (entry, setting)));
    let Some((settings, (field, referenced, code))) = setting else { return Ok(None) };
    let mut sql = Sql::new(state.db.dialect(), "SELECT ");
    for (index, name) in NUMBER_FORMAT_FIELDS.iter().enumerate() {
        sql.push(if index == 0 { "c." } else { ", c." }).name(name);
    }
    sql.push(" FROM ").name(settings.meta.table).push(" AS s");
    sql.push(" LEFT JOIN ").name(referenced.meta.table).push(" AS c ON c.").name(code);
    sql.push(" = s.").name(field.name);
    sql.one(state.db.reader()).await?.map_or(Ok(None), |row| number_format(&row))
}

/// The setting that refers to a currency (a rule `exists`), the resource of currencies, and the field that it refers
/// to.
fn currency_setting<'s>(
    state: &'s ServerState,
    settings: &Entry,
) -> Option<(&'static FieldMeta, &'s Entry, &'static str)> {
    settings.meta.fields.iter().find_map(|field| {
        field.rules.iter().find_map(|rule| {
            let Rule::Exists { resource, field: code } = rule else { return None };
            let referenced = state.catalog.linked(resource);
            NUMBER_FORMAT_FIELDS
                .iter()
                .all(|name| referenced.field(name).is_some())
                .then_some((field, referenced, *code))
        })
    })
}

fn number_format(row: &QueryResult) -> Result<Option<NumberFormat>> {
    let Some(symbol) = row.try_get_by_index::<Option<String>>(0)? else { return Ok(None) };
    Ok(Some(NumberFormat {
        symbol,
        is_symbol_first: row.try_get_by_index::<String>(1)? == "before",
        min_decimals: usize::try_from(row.try_get_by_index::<i32>(2)?).unwrap_or_default(),
        thousands_separator: row.try_get_by_index(3)?,
        decimal_separator: row.try_get_by_index(4)?,
    }))
}
