//! Charts as inline SVG: bars per day, and lines over time.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use maud::{Markup, html};

use crate::language::text;
use crate::panel::format::datetime::format_date;
use crate::panel::format::labels;
use crate::panel::list::response::Fields;
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use charter_core::catalog::Entry;
use charter_core::db::Sql;
use charter_core::error::Result;
use charter_core::meta::{DefaultValue, FieldMeta, Kind};

/// Days of the chart of deliveries.
const DELIVERY_DAYS: i64 = 14;
/// Size of the view box.
const WIDTH: f64 = 280.0;
const HEIGHT: f64 = 56.0;
/// Width of the horizontal end of a line: its last value is valid until there is another.
const LAST_VALUE_WIDTH: f64 = 24.0;
/// Line charts on a page.
const MAX_LINES: usize = 6;
/// Delivery attempts that are read, the latest first: bounds the cost of the chart.
const MAX_ATTEMPTS: i64 = 20_000;

/// Successes and failures of one day.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DayCount {
    pub succeeded: i64,
    pub failed: i64,
}

/// All successes and failures of the days.
pub(crate) fn total(days: &[(NaiveDate, DayCount)]) -> i64 {
    days.iter().map(|(_, day)| day.succeeded + day.failed).sum()
}

/// A bar chart with a caption: `Attempts: 12 in 14 days, 3 failed`.
pub(crate) fn bar_chart(days: &[(NaiveDate, DayCount)], caption: &str) -> Markup {
    html! { figure .plot { (bars_svg(days, caption)) figcaption .faint { (caption) } } }
}

/// Bars without a caption; `description` is for screen readers.
pub(crate) fn bars_svg(days: &[(NaiveDate, DayCount)], description: &str) -> Markup {
    let max = days.iter().map(|(_, day)| day.succeeded + day.failed).max().unwrap_or(0).max(1) as f64;
    let slot = WIDTH / days.len().max(1) as f64;
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(description) preserveAspectRatio="none" {
            @for (index, (date, day)) in days.iter().enumerate() {
                @let (succeeded, failed) = (day.succeeded as f64 / max * HEIGHT, day.failed as f64 / max * HEIGHT);
                @let x = index as f64 * slot + 1.0;
                g {
                    title { (format_date(&date.to_string()).unwrap_or_default()) ": " (day.succeeded + day.failed) }
                    rect .ground x=(x) y=(HEIGHT - 1.0) width=(slot - 2.0) height="1" {}
                    @if day.succeeded > 0 { rect .good x=(x) y=(HEIGHT - succeeded) width=(slot - 2.0) height=(succeeded) {} }
                    @if day.failed > 0 { rect .bad x=(x) y=(HEIGHT - succeeded - failed) width=(slot - 2.0) height=(failed) {} }
                }
            }
        }
    }
}

/// Counts the rows of a statement per day, days without rows included. Its columns are `at`, a timestamp, and `failed`,
/// 0 or 1.
async fn count_by_day(request: &PanelRequest<'_>, sql: Sql) -> Result<Vec<(NaiveDate, DayCount)>> {
    let mut days: Vec<(NaiveDate, DayCount)> = Vec::new();
    for row in sql.all(request.state.db.reader()).await? {
        let (at, failed): (DateTime<Utc>, bool) = (row.try_get("", "at")?, row.try_get::<i32>("", "failed")? != 0);
        let date = at.with_timezone(&request.locale.zone).date_naive();
        let index = match days.iter().position(|(known, _)| *known == date) {
            Some(index) => index,
            None => {
                days.push((date, DayCount::default()));
                days.len() - 1
            }
        };
        let day = &mut days[index].1;
        if failed { day.failed += 1 } else { day.succeeded += 1 }
    }
    let today = request.state.clock.now().with_timezone(&request.locale.zone).date_naive();
    let known = |date| days.iter().find(|(known, _)| *known == date).map(|(_, day)| *day).unwrap_or_default();
    Ok((0..DELIVERY_DAYS).rev().map(|back| today - TimeDelta::days(back)).map(|date| (date, known(date))).collect())
}

/// The chart of a webhook's delivery attempts, on its page.
pub(crate) async fn deliveries(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Markup> {
    let (true, Some(id)) = (target.entry.meta.name == "webhook", target.id) else { return Ok(html! {}) };
    let since = request.state.clock.now() - TimeDelta::days(DELIVERY_DAYS);
    let mut sql = Sql::new(
        request.state.db.dialect(),
        "SELECT \"created_at\" AS \"at\", CASE WHEN \"response_status\" BETWEEN 200 AND 299 THEN 0 ELSE 1 END AS \"failed\" \
         FROM \"webhook_logs\" WHERE \"webhook_id\" = ",
    );
    sql.bind(id)
        .push(" AND \"created_at\" > ")
        .bind(since)
        .push(&format!(" ORDER BY \"id\" DESC LIMIT {MAX_ATTEMPTS}"));
    let days = count_by_day(request, sql).await?;
    let failed: i64 = days.iter().map(|(_, day)| day.failed).sum();
    let caption = text!(
        "Attempts: {total} in {days} days, {failed} failed",
        total = total(&days),
        days = days.len(),
        failed = failed
    );
    Ok(html! { section .card { h2 { (text!("Deliveries")) } (bar_chart(&days, &caption)) } })
}

/// The fields of a time series, such as exchange rates: a required decimal, a timestamp whose default is now, and the
/// required strings that name the series.
struct SeriesFields {
    number: &'static FieldMeta,
    time: &'static FieldMeta,
    names: Vec<&'static FieldMeta>,
}

fn series_fields(entry: &Entry) -> Option<SeriesFields> {
    let fields = entry.meta.fields;
    let timed = |f: &&FieldMeta| f.default == DefaultValue::Now && matches!(f.kind, Kind::Timestamp { .. });
    Some(SeriesFields {
        number: fields.iter().find(|field| field.required && matches!(field.kind, Kind::Decimal { .. }))?,
        time: fields.iter().find(timed)?,
        names: fields.iter().filter(|field| field.required && matches!(field.kind, Kind::String { .. })).collect(),
    })
}

/// The API's `fields` and `sort` for a resource that is a time series, the latest records first.
pub(crate) fn time_series_query(entry: &Entry) -> Option<(String, String)> {
    let SeriesFields { number, time, names } = series_fields(entry)?;
    let fields: Vec<&str> = [number, time].into_iter().chain(names).map(|field| field.name).collect();
    Some((fields.join(","), format!("-{}", time.name)))
}

/// A line chart for each series with at least two records.
pub(crate) fn line_charts(request: &PanelRequest<'_>, entry: &Entry, records: &[impl Fields]) -> Markup {
    let Some(SeriesFields { number, time, names }) = series_fields(entry) else { return html! {} };
    let mut series: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for record in records {
        let at = record.value(time.name).as_str().and_then(|text| DateTime::parse_from_rfc3339(text).ok());
        let value = record.value(number.name).as_str().and_then(|text| text.parse::<f64>().ok());
        let (Some(at), Some(value)) = (at, value) else { continue };
        let name = names.iter().filter_map(|field| record.value(field.name).as_str()).collect::<Vec<_>>().join(" → ");
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
                @for (name, points) in series.into_iter().take(MAX_LINES) { (line_chart(request, &name, points, labels::field(number))) }
            }
        }
    }
}

fn line_chart(request: &PanelRequest<'_>, name: &str, mut points: Vec<(f64, f64)>, label: String) -> Markup {
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let min = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).fold(f64::INFINITY, f64::min);
    let max = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).fold(f64::NEG_INFINITY, f64::max);
    let (left, right, low, high) = (min(|p| p.0), max(|p| p.0), min(|p| p.1), max(|p| p.1));
    let scale = |value: f64, from: f64, to: f64, size: f64| {
        if to > from { (value - from) / (to - from) * size } else { size / 2.0 }
    };
    let path: Vec<String> = points
        .iter()
        .enumerate()
        .map(|(index, (x, y))| {
            let (x, y) =
                (scale(*x, left, right, WIDTH - LAST_VALUE_WIDTH), HEIGHT - 4.0 - scale(*y, low, high, HEIGHT - 8.0));
            // Steps instead of slopes: a value is valid until the next one.
            if index == 0 { format!("M{x:.1} {y:.1}") } else { format!("H{x:.1} V{y:.1}") }
        })
        .collect();
    let path = format!("{} H{WIDTH}", path.join(" "));
    let day = |at: f64| {
        let at = DateTime::from_timestamp(at as i64, 0);
        let day = at.map(|at| at.with_timezone(&request.locale.zone).date_naive().to_string());
        day.and_then(|day| format_date(&day)).unwrap_or_default()
    };
    let number = |number: f64| request.locale.numbers.number(&number.to_string());
    html! {
        figure .plot {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(text!("{name}: {field} from {low} to {high}", name = name, field = label, low = number(low), high = number(high))) preserveAspectRatio="none" {
                path .line d=(path) {}
            }
            figcaption .faint { strong { (name) } " " (number(low)) "–" (number(high)) ", " (text!("{first} to {last}", first = day(left), last = day(right))) }
        }
    }
}
