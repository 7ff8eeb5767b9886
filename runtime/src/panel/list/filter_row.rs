//! One condition of a list, converted between query parameter, saved view and filter form.

use serde_json::{Value, json};

use super::columns::Column;
use crate::panel::format::datetime;
use charter_core::meta::Kind;
use charter_core::query::{Filter, Logic, read_filters};
use charter_core::query::{Predicate, Reads};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FilterRow {
    /// How the condition is combined with those before it: one of [`LOGIC_WORDS`].
    pub logic: String,
    pub field: String,
    pub predicate: String,
    /// List elements are separated by commas.
    pub value: String,
    /// True if the condition came from `filters`. With a saved view, `filters` narrows the view, while `q[...]`
    /// replaces the view's condition.
    pub is_from_filters: bool,
}

pub(crate) const LOGIC_WORDS: &[&str] = &["and", "or", "nand", "nor"];

impl FilterRow {
    /// Parses `q[name_cont]`; `None` if there is no column `name`.
    pub(crate) fn from_parameter(parameter: &str, value: &str, columns: &[Column]) -> Option<FilterRow> {
        let key = parameter.strip_prefix("q[")?.trim_end_matches("[]").strip_suffix(']')?;
        let known = |name: &str| columns.iter().any(|column| column.name == name);
        let (field, predicate) = Predicate::splits(key).find(|(name, _)| known(name))?;
        let (field, predicate) = (field.to_string(), predicate.name().to_string());
        Some(FilterRow { logic: "and".into(), field, predicate, value: value.into(), is_from_filters: false })
    }

    fn from_filter(filter: &Filter) -> Option<FilterRow> {
        let reads = Predicate::from_name(&filter.predicate)?.reads();
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        };
        let element = |value: &Value| text(value).filter(|text| !text.contains(','));
        let value = match (&filter.value, reads) {
            (Value::Array(list), Reads::List) => list.iter().map(element).collect::<Option<Vec<_>>>()?.join(","),
            (Value::Null, _) => String::new(),
            (one, _) => text(one)?,
        };
        let logic = match filter.logic {
            Logic::And => "and",
            Logic::Or => "or",
            Logic::Nand => "nand",
            Logic::Nor => "nor",
        };
        let (field, predicate) = (filter.field.clone(), filter.predicate.clone());
        Some(FilterRow { logic: logic.into(), field, predicate, value, is_from_filters: false })
    }

    /// `name_cont`, as in `q[name_cont]`
    pub(crate) fn parameter_key(&self) -> String {
        format!("{}_{}", self.field, self.predicate)
    }

    /// The value of the parameter. A switch without a value is `true`.
    pub(crate) fn parameter_value(&self) -> String {
        let switch = Predicate::from_name(&self.predicate).is_some_and(Predicate::is_switch);
        match switch && self.value.trim().is_empty() {
            true => "true".into(),
            false => self.value.clone(),
        }
    }

    /// Returns true if the condition has a field, and a value if its predicate reads one.
    pub(crate) fn is_complete(&self) -> bool {
        let is_switch = Predicate::from_name(&self.predicate).is_some_and(Predicate::is_switch);
        !self.field.is_empty() && (is_switch || !self.value.trim().is_empty())
    }

    /// Returns true if the filter form preserves the condition: it offers the field and the predicate, it does not drop
    /// or trim the value, and a timestamp is not ambiguous in the time zone.
    fn is_editable(&self, index: usize, columns: &[Column], zone: chrono_tz::Tz) -> bool {
        let is_logic_valid =
            LOGIC_WORDS.contains(&self.logic.as_str()) && (index > 0 || matches!(self.logic.as_str(), "and" | "nand"));
        let Some(column) = columns.iter().find(|column| column.name == self.field) else { return false };
        let Some(predicate) = column.predicates.iter().find(|predicate| predicate.name() == self.predicate) else {
            return false;
        };
        let instant = |time: &str| chrono::DateTime::parse_from_rfc3339(time).ok();
        let round_trips = |text: &str| {
            let local = Some(text).filter(|_| matches!(column.kind, Kind::Timestamp { .. }));
            let local = local.and_then(|time| datetime::to_input(zone, time));
            local.is_none_or(|local| instant(&datetime::from_input(zone, &local)) == instant(text))
        };
        let is_bare = |text: &str| !text.is_empty() && text.trim() == text;
        let is_preserved = match predicate.reads() {
            Reads::Switch => true,
            Reads::List => self.value.split(',').all(|element| is_bare(element) && round_trips(element)),
            _ => !self.value.trim().is_empty() && round_trips(self.value.trim()),
        };
        is_logic_valid && is_preserved && !self.value.contains(['\r', '\n'])
    }
}

/// Parses the conditions of a saved view or of `filters`; `None` if the API rejects them or a [`FilterRow`] cannot hold
/// them.
pub(crate) fn from_json(filters: &Value) -> Option<Vec<FilterRow>> {
    read_filters(filters.clone()).ok()?.iter().map(FilterRow::from_filter).collect()
}

/// Sets the logic of the first condition to `and` or `nand`: only its negation has a meaning.
pub(crate) fn normalize_first(mut rows: Vec<FilterRow>) -> Vec<FilterRow> {
    if let Some(first) = rows.first_mut() {
        first.logic = match first.logic.starts_with('n') {
            true => "nand".into(),
            false => "and".into(),
        };
    }
    rows
}

/// The conditions as a saved view stores them.
pub(crate) fn to_json(rows: &[FilterRow]) -> Value {
    let filter = |row: &FilterRow| {
        let reads = Predicate::from_name(&row.predicate).map(Predicate::reads);
        let value = match reads {
            Some(Reads::List) => json!(row.value.split(',').collect::<Vec<_>>()),
            Some(Reads::Switch) => json!(row.parameter_value()),
            _ => json!(row.value),
        };
        json!({ "field": row.field, "predicate": row.predicate, "value": value, "logic": row.logic })
    };
    Value::Array(rows.iter().map(filter).collect())
}

/// Returns true if the filter form preserves all conditions.
pub(crate) fn are_editable(rows: &[FilterRow], columns: &[Column], zone: chrono_tz::Tz) -> bool {
    rows.iter().enumerate().all(|(index, row)| row.is_editable(index, columns, zone))
}
