//! The conditions of a saved view in its form: chosen as those of a list are, and sent as the API takes them.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::columns::{self, Column};
use super::condition::{LOGICS, Row, Wish, from_json, is_form_field};
use super::visit::Visit;
use super::{filter, zone};
use crate::catalog::Entry;
use crate::error::Result;
use crate::meta::Kind;
use crate::query::Pair;

/// The field of the form that says of which list the conditions are.
const OF: &str = "_conditions";

/// The field of the form that has the conditions as they were: numbers that are numbers stay so where nothing is changed.
const WAS: &str = "_filters";

/// The field of a record that has them.
pub const FIELD: &str = "filters";

/// The inputs for the conditions of a view whose list is known, unless they have a form that no input has.
///
/// # Errors
/// When the database fails.
pub async fn inputs(visit: &Visit<'_>, entry: &Entry, record: &Value) -> Result<Option<Markup>> {
    let plural = record["entity_type"].as_str().filter(|_| entry.meta.name == "custom_view");
    let Some(target) = plural.and_then(|plural| visit.state.catalog.by_plural(plural)) else { return Ok(None) };
    let filters = match &record[FIELD] {
        Value::Null => json!([]),
        // As the declaration has its default.
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        filters => filters.clone(),
    };
    let Some(rows) = from_json(&filters) else { return Ok(None) };
    let columns = columns::all(visit, target).await?;
    if !rows.iter().enumerate().all(|(index, row)| has_inputs(visit, index, row, &columns)) {
        return Ok(None);
    }
    Ok(Some(html! {
        fieldset #field-filters tabindex="-1" {
            legend { "Conditions" }
            input type="hidden" name=(OF) value=(target.meta.plural);
            input type="hidden" name=(WAS) value=(filters);
            (filter::rows(visit, &rows, &columns))
            div .buttons { button type="button" data-add-condition { "Add a condition" } }
            p .help { "What its records must meet, joined from the first to the last." }
        }
    }))
}

/// Whether the form gives a condition back as it is: its field and question are offered, its value is none that is left
/// out, and its time none that the company's clock shows twice.
fn has_inputs(visit: &Visit<'_>, index: usize, row: &Row, columns: &[Column]) -> bool {
    let joins = LOGICS.contains(&row.logic.as_str()) && (index > 0 || matches!(row.logic.as_str(), "and" | "nand"));
    let Some(column) = columns.iter().find(|column| column.name == row.field) else { return false };
    let Some(predicate) = column.predicates.iter().find(|predicate| predicate.name() == row.predicate) else {
        return false;
    };
    let instant = |time: &str| chrono::DateTime::parse_from_rfc3339(time).ok();
    let returns = |time: &str| {
        let local = zone::local(visit.zone, time);
        local.is_none_or(|local| instant(&zone::utc(visit.zone, &local)) == instant(time))
    };
    let is_time = matches!(column.kind, Kind::Timestamp { .. });
    let keeps = !row.value.trim().is_empty() && (!is_time || row.value.split(',').all(|time| returns(time.trim())));
    joins && (predicate.is_switch() || keeps)
}

/// The conditions that a form of a view has, and of which list they are.
pub struct Sent {
    pub filters: Value,
    pub plural: String,
}

/// Takes the conditions out of a form; what is left are the fields of the record.
///
/// # Errors
/// When the database fails.
pub async fn read(visit: &Visit<'_>, form: &[Pair]) -> Result<(Vec<Pair>, Option<Sent>)> {
    let plural = form.iter().find(|pair| pair.name == OF).map(|pair| pair.value.as_str());
    let Some(target) = plural.and_then(|plural| visit.state.catalog.by_plural(plural)) else {
        return Ok((form.to_vec(), None));
    };
    let columns = columns::all(visit, target).await?;
    let (chosen, rest): (Vec<Pair>, Vec<Pair>) = form.iter().cloned().partition(|pair| is_form_field(&pair.name));
    let wish = Wish::read(chosen, &columns, visit.zone);
    let was = form.iter().find(|pair| pair.name == WAS).and_then(|pair| serde_json::from_str(&pair.value).ok());
    let same = was.filter(|was| from_json(was).is_some_and(|rows| rows == wish.rows));
    let filters = same.unwrap_or_else(|| wish.filters());
    Ok((rest, Some(Sent { filters, plural: target.meta.plural.to_string() })))
}
