//! One condition of a list: as an address, a saved view and a form have it.

use serde_json::{Value, json};

use super::columns::Column;
use super::zone;
use crate::meta::Kind;
use crate::query::{Predicate, Reads};
use crate::view::{Filter, Logic, read_filters};

/// One condition, as it is chosen and as a saved view keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// How it joins those before it: one of [`LOGICS`].
    pub logic: String,
    pub field: String,
    pub predicate: String,
    /// With commas between several.
    pub value: String,
    /// Whether it came in `filters`. Beside a view that narrows the list, and `q[...]` takes the place of the view's condition.
    pub is_listed: bool,
}

pub const LOGICS: &[&str] = &["and", "or", "nand", "nor"];

impl Row {
    /// `q[name_cont]` is a condition on `name`, where there is such a column.
    pub fn of_parameter(parameter: &str, value: &str, columns: &[Column]) -> Option<Row> {
        let key = parameter.strip_prefix("q[")?.trim_end_matches("[]").strip_suffix(']')?;
        let known = |name: &str| columns.iter().any(|column| column.name == name);
        let (field, predicate) = Predicate::splits(key).find(|(name, _)| known(name))?;
        let (field, predicate) = (field.to_string(), predicate.name().to_string());
        Some(Row { logic: "and".into(), field, predicate, value: value.into(), is_listed: false })
    }

    fn of_filter(filter: &Filter) -> Option<Row> {
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
        Some(Row { logic: logic.into(), field, predicate, value, is_listed: false })
    }

    /// What it asks, as in `q[name_cont]`.
    pub fn key(&self) -> String {
        format!("{}_{}", self.field, self.predicate)
    }

    /// Its value as it is sent. A switch is on by itself.
    pub fn written(&self) -> String {
        let switch = Predicate::from_name(&self.predicate).is_some_and(Predicate::is_switch);
        if switch && self.value.trim().is_empty() { "true".into() } else { self.value.clone() }
    }

    /// Whether a form gives it back as it is: its field and question are offered, its value is none that is left out or written
    /// otherwise, and its time none that the company's clock shows twice.
    fn has_inputs(&self, index: usize, columns: &[Column], zone: chrono_tz::Tz) -> bool {
        let joins =
            LOGICS.contains(&self.logic.as_str()) && (index > 0 || matches!(self.logic.as_str(), "and" | "nand"));
        let Some(column) = columns.iter().find(|column| column.name == self.field) else { return false };
        let Some(predicate) = column.predicates.iter().find(|predicate| predicate.name() == self.predicate) else {
            return false;
        };
        let instant = |time: &str| chrono::DateTime::parse_from_rfc3339(time).ok();
        let returns = |text: &str| {
            let local = Some(text).filter(|_| matches!(column.kind, Kind::Timestamp { .. }));
            let local = local.and_then(|time| zone::local(zone, time));
            local.is_none_or(|local| instant(&zone::utc(zone, &local)) == instant(text))
        };
        let is_bare = |text: &str| !text.is_empty() && text.trim() == text;
        let keeps = match predicate.reads() {
            Reads::Switch => true,
            Reads::List => self.value.split(',').all(|element| is_bare(element) && returns(element)),
            _ => !self.value.trim().is_empty() && returns(self.value.trim()),
        };
        joins && keeps && !self.value.contains(['\r', '\n'])
    }
}

/// The conditions of a saved view, or of `filters`, as the API reads them; nothing when it would not, or when they have a form
/// that is not one of ours.
pub fn from_json(filters: &Value) -> Option<Vec<Row>> {
    read_filters(filters.clone()).ok()?.iter().map(Row::of_filter).collect()
}

/// The same as they begin a list, where of the first only the negation counts.
pub fn led(mut rows: Vec<Row>) -> Vec<Row> {
    if let Some(first) = rows.first_mut() {
        first.logic = if first.logic.starts_with('n') { "nand".into() } else { "and".into() };
    }
    rows
}

/// The conditions as a saved view keeps them.
pub fn to_json(rows: &[Row]) -> Value {
    let filter = |row: &Row| {
        let reads = Predicate::from_name(&row.predicate).map(Predicate::reads);
        let value = match reads {
            Some(Reads::List) => json!(row.value.split(',').collect::<Vec<_>>()),
            Some(Reads::Switch) => json!(row.written()),
            _ => json!(row.value),
        };
        json!({ "field": row.field, "predicate": row.predicate, "value": value, "logic": row.logic })
    };
    Value::Array(rows.iter().map(filter).collect())
}

/// Whether a form gives all of them back as they are.
pub fn have_inputs(rows: &[Row], columns: &[Column], zone: chrono_tz::Tz) -> bool {
    rows.iter().enumerate().all(|(index, row)| row.has_inputs(index, columns, zone))
}
