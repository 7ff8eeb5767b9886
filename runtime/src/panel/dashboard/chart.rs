//! Small plots, drawn as SVG by the server: bars over days, and lines over time.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use maud::{Markup, html};

use super::listing::Fields;
use super::place::Place;
use super::visit::Visit;
use super::words;
use crate::catalog::Entry;
use crate::db::Sql;
use crate::error::Result;
use crate::meta::{DefaultValue, FieldMeta, Kind};

/// Days that bars are drawn for.
const DAYS: i64 = 14;
const WIDTH: f64 = 280.0;
const HEIGHT: f64 = 56.0;
/// How far the last value of a line is drawn: it holds until there is another.
const HELD: f64 = 24.0;
/// So many of the latest rows are looked at, so that a plot costs the same however long a log is.
const LATEST: i64 = 20_000;

/// What happened on one day: how often it went well, and how often not.
#[derive(Debug, Clone, Copy, Default)]
pub struct Day {
    pub good: i64,
    pub bad: i64,
}

/// Bars of the last days, today at the right.
pub fn bars(days: &[(NaiveDate, Day)], what: &str, bad: Option<&str>) -> Markup {
    let sum: Day =
        days.iter().fold(Day::default(), |sum, (_, day)| Day { good: sum.good + day.good, bad: sum.bad + day.bad });
    let said = match bad {
        Some(bad) => format!("{}: {} in {} days, {} {bad}", what, sum.good + sum.bad, days.len(), sum.bad),
        None => format!("{}: {} in {} days", what, sum.good, days.len()),
    };
    html! { figure .plot { (drawn(days, &said)) figcaption .faint { (said) } } }
}

/// Bars without words beside them; what they say is for who does not see them.
pub fn drawn(days: &[(NaiveDate, Day)], said: &str) -> Markup {
    let most = days.iter().map(|(_, day)| day.good + day.bad).max().unwrap_or(0).max(1) as f64;
    let slot = WIDTH / days.len().max(1) as f64;
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(said) preserveAspectRatio="none" {
            @for (index, (date, day)) in days.iter().enumerate() {
                @let (good, bad) = (day.good as f64 / most * HEIGHT, day.bad as f64 / most * HEIGHT);
                @let x = index as f64 * slot + 1.0;
                g {
                    title { (date.format("%-d %b")) ": " (day.good + day.bad) }
                    rect .ground x=(x) y=(HEIGHT - 1.0) width=(slot - 2.0) height="1" {}
                    @if day.good > 0 { rect .good x=(x) y=(HEIGHT - good) width=(slot - 2.0) height=(good) {} }
                    @if day.bad > 0 { rect .bad x=(x) y=(HEIGHT - good - bad) width=(slot - 2.0) height=(bad) {} }
                }
            }
        }
    }
}

/// The last days of a statement that answers `at`, and whether it went `bad`, for each row; those without a row too.
async fn by_day(visit: &Visit<'_>, sql: Sql) -> Result<Vec<(NaiveDate, Day)>> {
    let mut days: Vec<(NaiveDate, Day)> = Vec::new();
    for row in sql.all(visit.state.db.reader()).await? {
        let (at, bad): (DateTime<Utc>, bool) = (row.try_get("", "at")?, row.try_get::<i32>("", "bad")? != 0);
        let date = at.with_timezone(&visit.locale.zone).date_naive();
        let index = match days.iter().position(|(known, _)| *known == date) {
            Some(index) => index,
            None => {
                days.push((date, Day::default()));
                days.len() - 1
            }
        };
        let day = &mut days[index].1;
        if bad { day.bad += 1 } else { day.good += 1 }
    }
    let today = visit.state.clock.now().with_timezone(&visit.locale.zone).date_naive();
    let known = |date| days.iter().find(|(known, _)| *known == date).map(|(_, day)| *day).unwrap_or_default();
    Ok((0..DAYS).rev().map(|back| today - TimeDelta::days(back)).map(|date| (date, known(date))).collect())
}

/// How a webhook's deliveries went, on its page.
pub async fn deliveries(visit: &Visit<'_>, place: &Place<'_>) -> Result<Markup> {
    let (true, Some(id)) = (place.entry.meta.name == "webhook", place.id) else { return Ok(html! {}) };
    let since = visit.state.clock.now() - TimeDelta::days(DAYS);
    let mut sql = Sql::new(
        visit.state.db.dialect(),
        "SELECT \"created_at\" AS \"at\", CASE WHEN \"response_status\" BETWEEN 200 AND 299 THEN 0 ELSE 1 END AS \"bad\" \
         FROM \"webhook_logs\" WHERE \"webhook_id\" = ",
    );
    sql.bind(id).push(" AND \"created_at\" > ").bind(since).push(&format!(" ORDER BY \"id\" DESC LIMIT {LATEST}"));
    let days = by_day(visit, sql).await?;
    Ok(html! { section .card { h2 { "Deliveries" } (bars(&days, "Attempts", Some("failed"))) } })
}

/// What a line is drawn of: the records that say what a number is from some time on have a required decimal, a time that
/// is now unless somebody says otherwise, and words that say whose number it is.
struct Lined {
    number: &'static FieldMeta,
    time: &'static FieldMeta,
    words: Vec<&'static FieldMeta>,
}

fn lined(entry: &Entry) -> Option<Lined> {
    let fields = entry.meta.fields;
    let timed = |f: &&FieldMeta| f.default == DefaultValue::Now && matches!(f.kind, Kind::Timestamp { .. });
    Some(Lined {
        number: fields.iter().find(|field| field.required && matches!(field.kind, Kind::Decimal { .. }))?,
        time: fields.iter().find(timed)?,
        words: fields.iter().filter(|field| field.required && matches!(field.kind, Kind::String { .. })).collect(),
    })
}

/// What lines are drawn of, where any are: the fields, and the order in which the latest come first.
pub fn asked(entry: &Entry) -> Option<(String, String)> {
    let Lined { number, time, words } = lined(entry)?;
    let fields: Vec<&str> = [number, time].into_iter().chain(words).map(|field| field.name).collect();
    Some((fields.join(","), format!("-{}", time.name)))
}

/// How a number changed over time: one line for each that has the same words.
pub fn lines(visit: &Visit<'_>, entry: &Entry, records: &[impl Fields]) -> Markup {
    let Some(Lined { number, time, words }) = lined(entry) else { return html! {} };
    let mut series: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for record in records {
        let at = record.value(time.name).as_str().and_then(|text| DateTime::parse_from_rfc3339(text).ok());
        let value = record.value(number.name).as_str().and_then(|text| text.parse::<f64>().ok());
        let (Some(at), Some(value)) = (at, value) else { continue };
        let name = words.iter().filter_map(|field| record.value(field.name).as_str()).collect::<Vec<_>>().join(" → ");
        let point = (at.timestamp() as f64, value);
        match series.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => series.push((name, vec![point])),
        }
    }
    series.retain(|(_, points)| points.len() > 1);
    html! {
        @if !series.is_empty() {
            div .lines {
                @for (name, points) in series.into_iter().take(6) { (line(visit, &name, points, words::field(number))) }
            }
        }
    }
}

fn line(visit: &Visit<'_>, name: &str, mut points: Vec<(f64, f64)>, what: String) -> Markup {
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let least = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).fold(f64::INFINITY, f64::min);
    let most = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).fold(f64::NEG_INFINITY, f64::max);
    let (left, right, low, high) = (least(|p| p.0), most(|p| p.0), least(|p| p.1), most(|p| p.1));
    let scale = |value: f64, from: f64, to: f64, size: f64| {
        if to > from { (value - from) / (to - from) * size } else { size / 2.0 }
    };
    let path: Vec<String> = points
        .iter()
        .enumerate()
        .map(|(index, (x, y))| {
            let (x, y) = (scale(*x, left, right, WIDTH - HELD), HEIGHT - 4.0 - scale(*y, low, high, HEIGHT - 8.0));
            // A rate holds until the next one: steps, not slopes.
            if index == 0 { format!("M{x:.1} {y:.1}") } else { format!("H{x:.1} V{y:.1}") }
        })
        .collect();
    let path = format!("{} H{WIDTH}", path.join(" "));
    let day = |at: f64| {
        let at = DateTime::from_timestamp(at as i64, 0);
        at.map(|at| at.with_timezone(&visit.locale.zone).format("%-d %b %Y").to_string()).unwrap_or_default()
    };
    let number = |number: f64| visit.locale.amounts.number(&number.to_string());
    html! {
        figure .plot {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label={ (name) ": " (what) " from " (number(low)) " to " (number(high)) } preserveAspectRatio="none" {
                path .line d=(path) {}
            }
            figcaption .faint { strong { (name) } " " (number(low)) "–" (number(high)) ", " (day(left)) " to " (day(right)) }
        }
    }
}
