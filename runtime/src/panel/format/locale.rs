//! How the company writes: the time zone, the numbers and the money that its settings name.

use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chrono_tz::Tz;
use sea_orm::QueryResult;

use super::amount::Amounts;
use crate::catalog::Entry;
use crate::context::State;
use crate::db::Sql;
use crate::error::Result;
use crate::meta::{FieldMeta, Rule};

/// A change is seen within this time.
const REMEMBERED: Duration = Duration::from_secs(5);

/// The setting that names the time zone.
const ZONE: &str = "timezone";

/// What a resource has that says how amounts are written, in the order in which they are read.
const WAYS: [&str; 5] = ["symbol", "symbol_position", "decimal_places", "thousand_separator", "decimal_separator"];

/// How times and numbers are written: UTC and `1,234.50` where no settings say otherwise.
#[derive(Debug, Default)]
pub struct Locale {
    pub zone: Tz,
    pub amounts: Amounts,
}

/// What was read last.
#[derive(Debug, Default)]
pub struct Locales(Mutex<Option<(Arc<Locale>, Instant)>>);

impl Locales {
    pub async fn current(&self, state: &State) -> Result<Arc<Locale>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((locale, read)) = known
            && read.elapsed() < REMEMBERED
        {
            return Ok(locale);
        }
        let locale = Arc::new(read(state).await?);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((locale.clone(), Instant::now()));
        Ok(locale)
    }
}

/// The settings are the resource of one record that has a time zone or names a currency.
async fn read(state: &State) -> Result<Locale> {
    let entries = state.catalog.entries();
    let is_locale = |entry: &&Entry| entry.field(ZONE).is_some() || way_of_money(state, entry).is_some();
    let Some(settings) = entries.iter().filter(|entry| entry.meta.singleton).find(is_locale) else {
        return Ok(Locale::default());
    };
    let mut sql = Sql::new(state.db.dialect(), "SELECT ");
    match settings.field(ZONE) {
        Some(field) => sql.push("s.").name(field.name),
        None => sql.push("NULL"),
    };
    let money = way_of_money(state, settings);
    for way in WAYS.iter().filter(|_| money.is_some()) {
        sql.push(", c.").name(way);
    }
    sql.push(" FROM ").name(settings.meta.table).push(" AS s");
    if let Some((field, target, code)) = money {
        sql.push(" LEFT JOIN ").name(target.meta.table).push(" AS c ON c.").name(code);
        sql.push(" = s.").name(field.name);
    }
    let Some(row) = sql.one(state.db.reader()).await? else { return Ok(Locale::default()) };
    let zone: Option<String> = row.try_get_by_index(0)?;
    let zone = zone.and_then(|name| Tz::from_str(&name).ok()).unwrap_or_default();
    let amounts = if money.is_some() { amounts(&row)? } else { None };
    Ok(Locale { zone, amounts: amounts.unwrap_or_default() })
}

/// The setting that names a currency, the resource that says how it is written, and its field that is named.
fn way_of_money<'s>(state: &'s State, settings: &Entry) -> Option<(&'static FieldMeta, &'s Entry, &'static str)> {
    settings.meta.fields.iter().find_map(|field| {
        field.rules.iter().find_map(|rule| {
            let Rule::Exists { resource, field: code } = rule else { return None };
            let target = state.catalog.linked(resource);
            WAYS.iter().all(|way| target.field(way).is_some()).then_some((field, target, *code))
        })
    })
}

fn amounts(row: &QueryResult) -> Result<Option<Amounts>> {
    let Some(symbol) = row.try_get_by_index::<Option<String>>(1)? else { return Ok(None) };
    Ok(Some(Amounts {
        symbol,
        is_before: row.try_get_by_index::<String>(2)? == "before",
        places: usize::try_from(row.try_get_by_index::<i32>(3)?).unwrap_or_default(),
        thousands: row.try_get_by_index(4)?,
        point: row.try_get_by_index(5)?,
    }))
}
