//! Changes of the last 30 days, counted from the events: all of them, and the records created of each resource.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use maud::{Markup, html};

use super::chart::{self, DayCount};
use crate::language::text;
use crate::panel::request::PanelRequest;
use charter_core::catalog::Entry;
use charter_core::db::Sql;
use charter_core::error::Result;

/// Retention of events.
const DAYS: i64 = 30;
/// Events that are read, the latest first: bounds the cost of the page.
const MAX_EVENTS: i64 = 20_000;

#[derive(Debug)]
pub(super) struct RecentChanges {
    /// Events by name and day.
    counts: HashMap<(String, NaiveDate), i64>,
    /// True if there are more events than were read.
    is_partial: bool,
    today: NaiveDate,
}

impl RecentChanges {
    /// # Errors
    /// When the database fails.
    pub(super) async fn load(request: &PanelRequest<'_>) -> Result<RecentChanges> {
        let now = request.state.clock.now();
        let text = format!(
            "SELECT \"name\" AS \"name\", \"created_at\" AS \"at\" FROM \"events\" \
             WHERE \"id\" > (SELECT COALESCE(MAX(\"id\"), 0) - {MAX_EVENTS} FROM \"events\") AND \"created_at\" > "
        );
        let mut sql = Sql::new(request.state.db.dialect(), text);
        sql.bind(now - TimeDelta::days(DAYS));
        let rows = sql.all(request.state.db.reader()).await?;
        let mut counts = HashMap::new();
        for row in &rows {
            let (name, at): (String, DateTime<Utc>) = (row.try_get("", "name")?, row.try_get("", "at")?);
            *counts.entry((name, at.with_timezone(&request.locale.zone).date_naive())).or_default() += 1;
        }
        let today = now.with_timezone(&request.locale.zone).date_naive();
        Ok(RecentChanges { counts, is_partial: rows.len() as i64 >= MAX_EVENTS, today })
    }

    fn days(&self, is_counted: impl Fn(&str) -> bool) -> Vec<(NaiveDate, DayCount)> {
        let count = |date: NaiveDate| {
            let of_day = self.counts.iter().filter(|((name, day), _)| *day == date && is_counted(name));
            of_day.map(|(_, count)| count).sum()
        };
        let dates = (0..DAYS).rev().map(|back| self.today - TimeDelta::days(back));
        dates.map(|date| (date, DayCount { succeeded: count(date), failed: 0 })).collect()
    }

    /// Bar chart of everything that was created, changed or deleted.
    pub(super) fn chart(&self) -> Markup {
        let days = self.days(|_| true);
        let (total, days_count) = (chart::total(&days), days.len());
        let caption = match self.is_partial {
            true => text!("Latest changes: {total} in {days} days", total = total, days = days_count),
            false => text!("Changes: {total} in {days} days", total = total, days = days_count),
        };
        chart::bar_chart(&days, &caption)
    }

    /// Bars of the records of a resource that were created. Empty if the user may see only a part of its records,
    /// because the count would reveal the others.
    pub(super) fn created_sparkline(&self, request: &PanelRequest<'_>, entry: &Entry) -> Markup {
        let name = format!("{}.created", entry.meta.name);
        if entry.is_restricted && !request.user.principal.is_admin || !request.state.catalog.events().contains(&name) {
            return html! {};
        }
        let days = self.days(|known| known == name);
        let records = request.locale.numbers.records(entry.meta, chart::total(&days));
        let description = match self.is_partial {
            true => text!("at least {records} created in {days} days", records = records, days = DAYS),
            false => text!("{records} created in {days} days", records = records, days = DAYS),
        };
        html! { span .spark title=(description) { (chart::bars_svg(&days, &description)) } }
    }
}
