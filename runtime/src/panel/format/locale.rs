//! Locale of the pages: the company's time zone and number format, read from the settings.

use std::str::FromStr;
use std::sync::Arc;

use chrono_tz::Tz;
use sea_orm::QueryResult;

use super::money::NumberFormat;
use crate::panel::cache::VersionedCache;
use crate::server::ServerState;
use charter_core::catalog::Entry;
use charter_core::db::Sql;
use charter_core::error::Result;
use charter_core::meta::{FieldMeta, Rule};

/// The setting with the time zone.
const TIME_ZONE_FIELD: &str = "timezone";

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

/// Reads the settings: the singleton with a time zone or a reference to a currency.
async fn read(state: &ServerState) -> Result<Locale> {
    let entries = state.catalog.entries();
    let is_locale = |entry: &&Entry| entry.field(TIME_ZONE_FIELD).is_some() || currency_setting(state, entry).is_some();
    let Some(settings) = entries.iter().filter(|entry| entry.meta.singleton).find(is_locale) else {
        return Ok(Locale::default());
    };
    let mut sql = Sql::new(state.db.dialect(), "SELECT ");
    match settings.field(TIME_ZONE_FIELD) {
        Some(field) => sql.push("s.").name(field.name),
        None => sql.push("NULL"),
    };
    let currency_field = currency_setting(state, settings);
    for name in NUMBER_FORMAT_FIELDS.iter().filter(|_| currency_field.is_some()) {
        sql.push(", c.").name(name);
    }
    sql.push(" FROM ").name(settings.meta.table).push(" AS s");
    if let Some((field, referenced, code)) = currency_field {
        sql.push(" LEFT JOIN ").name(referenced.meta.table).push(" AS c ON c.").name(code);
        sql.push(" = s.").name(field.name);
    }
    let Some(row) = sql.one(state.db.reader()).await? else { return Ok(Locale::default()) };
    let zone: Option<String> = row.try_get_by_index(0)?;
    let zone = zone.and_then(|name| Tz::from_str(&name).ok()).unwrap_or_default();
    let numbers = if currency_field.is_some() { number_format(&row)? } else { None };
    Ok(Locale { zone, numbers: numbers.unwrap_or_default() })
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
    let Some(symbol) = row.try_get_by_index::<Option<String>>(1)? else { return Ok(None) };
    Ok(Some(NumberFormat {
        symbol,
        is_symbol_first: row.try_get_by_index::<String>(2)? == "before",
        min_decimals: usize::try_from(row.try_get_by_index::<i32>(3)?).unwrap_or_default(),
        thousands_separator: row.try_get_by_index(4)?,
        decimal_separator: row.try_get_by_index(5)?,
    }))
}
