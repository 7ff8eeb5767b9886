//! Locale of the pages: the company's time zone and number format, read from the settings, unless the user has chosen
//! others.

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
use charter_platform::auth::preference::Preferences;

/// Fields of a resource that describes a currency's number format, in the order of the query's columns.
const NUMBER_FORMAT_FIELDS: [&str; 5] =
    ["symbol", "symbol_position", "decimal_places", "thousand_separator", "decimal_separator"];

/// UTC and `1,234.50` by default.
#[derive(Debug, Default)]
pub(crate) struct Locale {
    pub zone: Tz,
    pub numbers: NumberFormat,
}

/// Preference with the code of a language; without it, the browser's.
pub(crate) const LANGUAGE: &str = "language";
/// Preference with the name of a time zone; without it, the company's.
pub(crate) const TIME_ZONE: &str = "time_zone";
/// Preference with one of [`NUMBER_FORMS`]; without it, that of the company's currency.
pub(crate) const NUMBER_FORM: &str = "number_form";

/// The number forms that users can choose, each as an example.
pub(crate) const NUMBER_FORMS: [&str; 4] = ["1,234.50", "1.234,50", "1\u{a0}234,50", "1’234.50"];

impl Locale {
    /// The company's locale with what the user has chosen. A time zone that no longer exists is ignored.
    pub(crate) fn of_user(company: &Arc<Locale>, preferences: &Preferences) -> Arc<Locale> {
        let zone = preferences.get(TIME_ZONE).and_then(|name| name.parse().ok());
        let form = preferences.get(NUMBER_FORM).filter(|form| NUMBER_FORMS.contains(&form.as_str()));
        if zone.is_none() && form.is_none() {
            return company.clone();
        }
        let mut numbers = company.numbers.clone();
        let mut signs = form.into_iter().flat_map(|form| form.chars()).filter(|sign| !sign.is_ascii_digit());
        if let (Some(thousands), Some(decimal)) = (signs.next(), signs.next()) {
            numbers.thousands_separator = thousands.into();
            numbers.decimal_separator = decimal.into();
        }
        Arc::new(Locale { zone: zone.unwrap_or(company.zone), numbers })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_the_companys_locale_except_for_what_they_chose() {
        let company = Arc::new(Locale { zone: Tz::Europe__Berlin, ..Locale::default() });
        for (name, value, zone, number) in [
            (TIME_ZONE, "Asia/Tokyo", Tz::Asia__Tokyo, "1,234.50"),
            (TIME_ZONE, "Atlantis/Capital", Tz::Europe__Berlin, "1,234.50"),
            (NUMBER_FORM, "1.234,50", Tz::Europe__Berlin, "1.234,50"),
            (NUMBER_FORM, "1\u{a0}234,50", Tz::Europe__Berlin, "1\u{a0}234,50"),
            (NUMBER_FORM, "x", Tz::Europe__Berlin, "1,234.50"),
            (LANGUAGE, "de", Tz::Europe__Berlin, "1,234.50"),
        ] {
            let locale = Locale::of_user(&company, &[(name.to_string(), value.to_string())].into());
            assert_eq!((locale.zone, locale.numbers.number("1234.50").as_str()), (zone, number), "{name} {value}");
        }
    }
}
