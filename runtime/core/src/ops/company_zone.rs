//! The company's time zone, a setting, cached.

use std::str::FromStr;

use chrono_tz::Tz;

use super::State;
use crate::db::Sql;
use crate::error::Result;
use crate::versioned_cache::VersionedCache;

/// The setting with the time zone.
const TIME_ZONE_FIELD: &str = "timezone";

/// Cache of the time zone. A change of the settings in this process takes effect at once.
#[derive(Debug, Default)]
pub struct ZoneCache(VersionedCache<(), Tz>);

/// The time zone of the singleton that has one; UTC if there is none.
///
/// # Errors
/// When the database fails.
pub async fn company_zone(state: &State) -> Result<Tz> {
    let version = state.singletons_changed.version() + state.db.server_changes();
    state.company_zone.0.get((), version, &state.clock, read(state)).await.map(|zone| *zone)
}

async fn read(state: &State) -> Result<Tz> {
    let mut singletons = state.catalog.entries().iter().filter(|entry| entry.meta.singleton);
    let Some(settings) = singletons.find(|entry| entry.field(TIME_ZONE_FIELD).is_some()) else {
        return Ok(Tz::default());
    };
    let mut sql = Sql::new(state.db.dialect(), "SELECT ");
    sql.name(TIME_ZONE_FIELD).push(" FROM ").name(settings.meta.table);
    let Some(row) = sql.one(state.db.reader()).await? else { return Ok(Tz::default()) };
    let zone: Option<String> = row.try_get_by_index(0)?;
    Ok(zone.and_then(|name| Tz::from_str(&name).ok()).unwrap_or_default())
}
