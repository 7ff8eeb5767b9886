//! Inputs of the filter form, decoded into conditions. A condition without a field or a value is kept, so that the form
//! shows it again.

use super::columns::Column;
use super::filter_row::{self, FilterRow, LOGIC_WORDS};
use super::params::{ListParams, MAX_CONDITIONS};
use crate::panel::format::datetime;
use charter_core::meta::Kind;
use charter_core::query::{Predicate, Reads};

/// Parameter with the incomplete conditions of the filter form, in the format of `filters`.
pub(super) const INCOMPLETE: &str = "incomplete";

/// Input of the filter form: the number of its condition, its part of it, and the value.
pub(super) type FormPart = (usize, &'static str, String);

/// Returns true if a form field is an input of the filter form.
pub(crate) fn is_filter_input(name: &str) -> bool {
    parse_filter_input(name).is_some()
}

/// The number of the condition and the part: `(3, "value")` for `f3.value`.
pub(super) fn parse_filter_input(name: &str) -> Option<(usize, &'static str)> {
    let (number, part) = name.strip_prefix('f')?.split_once('.')?;
    let part = ["logic", "field", "predicate", "value", "word"].into_iter().find(|known| *known == part)?;
    Some((number.parse().ok().filter(|number| *number < MAX_CONDITIONS)?, part))
}

/// The conditions of the parameter [`INCOMPLETE`].
pub(super) fn read_incomplete(text: &str) -> Vec<FilterRow> {
    serde_json::from_str(text).ok().and_then(|json| filter_row::from_json(&json)).unwrap_or_default()
}

/// Adds the conditions of the filter form. The first `from_filters` came from the parameter `filters`.
pub(super) fn add_rows(
    params: &mut ListParams,
    mut parts: Vec<FormPart>,
    from_filters: usize,
    columns: &[Column],
    zone: chrono_tz::Tz,
) {
    parts.sort_by_key(|(number, ..)| *number);
    for parts in parts.chunk_by(|(one, ..), (other, ..)| one == other) {
        let Some(row) = decode(parts, from_filters, columns, zone) else { continue };
        match row.is_complete() {
            true => params.rows.push(row),
            false => params.incomplete.push(row),
        }
    }
    params.rows = filter_row::normalize_first(std::mem::take(&mut params.rows));
}

/// The condition of these inputs. `None` if neither a field nor a value was entered.
fn decode(parts: &[FormPart], from_filters: usize, columns: &[Column], zone: chrono_tz::Tz) -> Option<FilterRow> {
    let part = |name: &str| {
        let found = parts.iter().rfind(|(_, part, _)| *part == name);
        found.map(|(.., value)| value.clone()).unwrap_or_default()
    };
    let (field, predicate, word) = (part("field"), part("predicate"), part("word"));
    let known = Predicate::from_name(&predicate)?;
    let mut value = match known.reads() {
        // One checkbox for each element.
        Reads::List => {
            let all = parts.iter().filter(|(_, part, _)| *part == "value");
            let all = all.flat_map(|(.., text)| text.split(',').map(str::trim));
            all.filter(|element| !element.is_empty()).collect::<Vec<_>>().join(",")
        }
        Reads::Value if !word.is_empty() => word,
        _ => part("value"),
    };
    if field.is_empty() && value.trim().is_empty() {
        return None;
    }
    let is_time = columns.iter().any(|c| c.name == field && matches!(c.kind, Kind::Timestamp { .. }));
    if is_time && !known.is_switch() {
        value = value.split(',').map(|time| datetime::from_input(zone, time.trim())).collect::<Vec<_>>().join(",");
    }
    let logic = Some(part("logic")).filter(|logic| LOGIC_WORDS.contains(&logic.as_str()));
    let logic = logic.unwrap_or_else(|| "and".into());
    let is_from_filters = parts.first().is_some_and(|(number, ..)| *number < from_filters);
    Some(FilterRow { logic, field, predicate, value, is_from_filters })
}
