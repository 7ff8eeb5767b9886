//! What has happened in the last days, by the events: how many changes there were, and how many records of each kind were made.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use maud::{Markup, html};

use super::plot::{self, Day};
use super::visit::Visit;
use crate::catalog::Entry;
use crate::db::Sql;
use crate::error::Result;

/// Events are kept for so long.
const DAYS: i64 = 30;
/// So many of the latest are looked at, so that the page costs the same however much is going on.
const LATEST: i64 = 20_000;

/// The events of the last days, counted.
#[derive(Debug)]
pub struct Recent {
    /// By name and day.
    counts: HashMap<(String, NaiveDate), i64>,
    /// Whether there were more than were looked at.
    is_partial: bool,
    today: NaiveDate,
}

impl Recent {
    /// Reads the latest events.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn load(visit: &Visit<'_>) -> Result<Recent> {
        let now = visit.state.clock.now();
        let text = format!(
            "SELECT \"name\" AS \"name\", \"created_at\" AS \"at\" FROM \"events\" \
             WHERE \"id\" > (SELECT COALESCE(MAX(\"id\"), 0) - {LATEST} FROM \"events\") AND \"created_at\" > "
        );
        let mut sql = Sql::new(visit.state.db.dialect(), text);
        sql.bind(now - TimeDelta::days(DAYS));
        let rows = sql.all(visit.state.db.reader()).await?;
        let mut counts = HashMap::new();
        for row in &rows {
            let (name, at): (String, DateTime<Utc>) = (row.try_get("", "name")?, row.try_get("", "at")?);
            *counts.entry((name, at.with_timezone(&visit.locale.zone).date_naive())).or_default() += 1;
        }
        let today = now.with_timezone(&visit.locale.zone).date_naive();
        Ok(Recent { counts, is_partial: rows.len() as i64 >= LATEST, today })
    }

    fn days(&self, wanted: impl Fn(&str) -> bool) -> Vec<(NaiveDate, Day)> {
        let count = |date: NaiveDate| {
            let of_day = self.counts.iter().filter(|((name, day), _)| *day == date && wanted(name));
            of_day.map(|(_, count)| count).sum()
        };
        let dates = (0..DAYS).rev().map(|back| self.today - TimeDelta::days(back));
        dates.map(|date| (date, Day { good: count(date), bad: 0 })).collect()
    }

    /// Bars of everything that was created, changed or deleted.
    pub fn all(&self) -> Markup {
        plot::bars(&self.days(|_| true), if self.is_partial { "The latest changes" } else { "Changes" }, None)
    }

    /// Bars of the records of a kind that were made, where the user sees all of them; a line of text for who sees no bars.
    pub fn made(&self, visit: &Visit<'_>, entry: &Entry) -> Markup {
        let name = format!("{}.created", entry.meta.name);
        if entry.is_restricted && !visit.user.principal.is_admin || !visit.state.catalog.events().contains(&name) {
            return html! {};
        }
        let days = self.days(|known| known == name);
        let sum: i64 = days.iter().map(|(_, day)| day.good).sum();
        let least = if self.is_partial { "at least " } else { "" };
        let said = format!("{least}{} made in {DAYS} days", visit.locale.amounts.records(entry.meta, sum));
        html! { span .spark title=(said) { (plot::drawn(&days, &said)) } }
    }
}
