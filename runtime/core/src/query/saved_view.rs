//! Saved view of a list request, and the query parameter `filters`, which has the format of a view's filters.
//! Explicit parameters take precedence over a view.

use serde::Deserialize;
use serde_json::Value as Json;

use super::request::Quantifier;
use super::{Condition, MAX_CONDITIONS, Planner, Predicate, Request, Term, Values};
use crate::error::{FieldErrors, Result};
use crate::json_scan::check_numbers;
use crate::meta::{Kind, Shown};
use crate::record::Shape;
use crate::suggest::hint;

/// A view that the caller may apply to a list.
#[derive(Debug, Clone)]
pub struct SavedView {
    pub id: i64,
    pub name: String,
    /// Names of the fields in their order; a custom field is `cf.` followed by its name.
    pub columns: Vec<String>,
    pub filters: Vec<Filter>,
    /// The sort as in `sort`: `name` or `-name`.
    pub sort: Option<String>,
    pub per_page: i32,
}

/// One filter of a view, as sent and as stored.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    pub field: String,
    pub predicate: String,
    /// A scalar, or a list for predicates of lists such as `in`; absent for predicates without a value.
    #[serde(default)]
    pub value: Json,
    #[serde(default)]
    pub logic: Logic,
}

/// How a filter is combined with those before it. For the first filter, only the negation counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Option<String>")]
pub enum Logic {
    #[default]
    And,
    Or,
    Nand,
    Nor,
}

/// Case-insensitive; null is the default.
impl TryFrom<Option<String>> for Logic {
    type Error = &'static str;

    fn try_from(word: Option<String>) -> Result<Logic, &'static str> {
        match word.unwrap_or("and".into()).to_ascii_lowercase().as_str() {
            "and" => Ok(Logic::And),
            "or" => Ok(Logic::Or),
            "nand" => Ok(Logic::Nand),
            "nor" => Ok(Logic::Nor),
            _ => Err("`logic` must be one of and, or, nand, nor"),
        }
    }
}

impl Filter {
    /// The condition of the filter.
    ///
    /// # Errors
    /// What is wrong with it, as the predicate of a sentence.
    pub fn condition(&self, planner: Planner<'_>) -> Result<Condition, String> {
        match Quantifier::from_word(&self.predicate) {
            Some(quantifier) => planner.quantified(self, quantifier),
            None => planner.term(&self.term()?),
        }
    }

    /// The error message for a filter of a stored view with this problem.
    pub fn problem(&self, problem: &str) -> String {
        format!("filters by `{}_{}`: {problem}", self.field, self.predicate)
    }

    /// The conditions of a filter with `some` or `none`.
    pub(super) fn parts(&self) -> Result<Vec<Filter>, String> {
        let shape =
            || format!("needs conditions: `{}` takes a list of objects like those of `filters`", self.predicate);
        let parts = read_filters(self.value.clone()).ok().filter(|parts| !parts.is_empty()).ok_or_else(shape)?;
        match parts.iter().find(|part| Quantifier::from_word(&part.predicate).is_some()) {
            Some(part) => {
                Err(format!("has `{}` within `{}`, which is one step too far", part.predicate, self.predicate))
            }
            None => Ok(parts),
        }
    }

    /// The number of conditions: one for each field that it names.
    pub fn conditions(&self, planner: Planner<'_>) -> usize {
        match Quantifier::from_word(&self.predicate).map(|_| self.parts()) {
            Some(parts) => parts.map_or(1, |parts| parts.iter().map(|part| part.field.split("_or_").count()).sum()),
            None => planner.conditions(&self.field),
        }
    }

    /// The terms that may have relative times: its own, or those of its parts.
    pub(super) fn terms(&self) -> Vec<Term> {
        let parts = Quantifier::from_word(&self.predicate).and_then(|_| self.parts().ok());
        match parts {
            Some(parts) => parts.iter().filter_map(|part| part.term().ok()).collect(),
            None => self.term().into_iter().collect(),
        }
    }

    /// The equivalent `q` parameter.
    pub fn term(&self) -> Result<Term, String> {
        let predicate = Predicate::from_name(&self.predicate).ok_or_else(|| {
            let known = Predicate::from_foreign_name(&self.predicate).unwrap_or(&self.predicate);
            format!("refers to an unknown predicate `{}`{}", self.predicate, hint(known, Predicate::names()))
        })?;
        let values = match &self.value {
            Json::Array(list) => Values::Repeated(list.iter().map(text).collect::<Result<_, _>>()?),
            // Predicates such as `present` and `null` default to true.
            Json::Null if predicate.is_switch() => Values::One("true".into()),
            value => Values::One(text(value)?),
        };
        Ok(Term {
            parameter: format!("q[{}_{}]", self.field, self.predicate),
            name: self.field.clone(),
            predicate: Some(predicate),
            key: None,
            values,
        })
    }
}

fn text(value: &Json) -> Result<String, String> {
    match value {
        Json::String(text) => Ok(text.clone()),
        Json::Number(number) => Ok(number.to_string()),
        Json::Bool(value) => Ok(value.to_string()),
        _ => Err("needs a value".into()),
    }
}

/// Parses the filters of a view, without validation against a resource.
pub fn read_filters(json: Json) -> Result<Vec<Filter>, String> {
    // The derived deserializer would accept an array for an object.
    let list = match json {
        Json::Array(list) if list.iter().all(Json::is_object) => list,
        _ => return Err("must be a list of objects".into()),
    };
    // The filters become a tree whose depth is their number.
    if list.len() > MAX_CONDITIONS {
        return Err(format!("must have at most {MAX_CONDITIONS} elements"));
    }
    let read = |(index, filter): (usize, Json)| {
        serde_json::from_value(filter).map_err(|error| format!("cannot be parsed: {error} (filter {})", index + 1))
    };
    list.into_iter().enumerate().map(read).collect()
}

/// Error message for more than [`MAX_CONDITIONS`] conditions.
pub fn too_many_conditions() -> String {
    format!("must have at most {MAX_CONDITIONS} conditions")
}

/// Condition of the query parameter `filters`, which has the format of a view's filters.
///
/// # Errors
/// 422 under `filters` with all problems.
pub fn filters_condition(planner: Planner<'_>, text: &str) -> Result<Condition> {
    let mut errors = FieldErrors::default();
    let json = serde_json::from_str(text).map_err(|error| format!("must be a JSON list of objects: {error}"));
    let json = json.and_then(|json| check_numbers(text).map(|()| json));
    let filters = json.and_then(read_filters).unwrap_or_else(|problem| {
        errors.add("filters", problem);
        Vec::new()
    });
    if filters.iter().map(|filter| filter.conditions(planner)).sum::<usize>() > MAX_CONDITIONS {
        errors.add("filters", too_many_conditions());
        return errors.into_result().map(|()| Condition::always());
    }
    let planned = |filter: &Filter| filter.condition(planner);
    let condition = combine(filters.iter(), planned, |index, problem| {
        errors.add("filters", format!("{problem} (filter {})", index + 1));
    });
    errors.into_result().map(|()| condition)
}

/// Combines filters from left to right. Invalid filters are reported and left out.
pub(super) fn combine<'f>(
    filters: impl Iterator<Item = &'f Filter>,
    planned: impl Fn(&Filter) -> Result<Condition, String>,
    mut report: impl FnMut(usize, String),
) -> Condition {
    let mut combined: Option<Condition> = None;
    for (index, filter) in filters.enumerate() {
        let condition = match planned(filter) {
            Ok(condition) => condition,
            Err(problem) => {
                report(index, problem);
                continue;
            }
        };
        let condition = match filter.logic {
            Logic::And | Logic::Or => condition,
            Logic::Nand | Logic::Nor => condition.not(),
        };
        combined = Some(match (combined, filter.logic) {
            (None, _) => condition,
            (Some(before), Logic::And | Logic::Nand) => before.and(condition),
            (Some(before), Logic::Or | Logic::Nor) => before.or(condition),
        });
    }
    combined.unwrap_or_else(Condition::always)
}

impl SavedView {
    /// Merges the view into a request and returns the condition of its filters. The request's own sort, page size and
    /// `q` parameters with the same field and predicate override the view.
    ///
    /// A filter that cannot be applied for this caller is an error under `view_id`: without it, the list would have more
    /// records than the view.
    pub fn apply(&self, planner: Planner<'_>, request: &mut Request, errors: &mut FieldErrors) -> Condition {
        if request.sort.is_none()
            && let Some(sort) = &self.sort
        {
            request.sort = Some(vec![sort.clone()]);
        }
        request.per_page.get_or_insert_with(|| self.per_page.to_string());
        let given: Vec<_> = request.terms.iter().map(|term| (term, planner.meaning(&term.name))).collect();
        let explicit = |filter: &&Filter| {
            let Ok(term) = filter.term() else { return false };
            let meaning = planner.meaning(&term.name);
            let same = |(other, meant): &(&Term, Option<Vec<String>>)| {
                other.predicate == term.predicate && (other.name == term.name || meant.is_some() && *meant == meaning)
            };
            given.iter().any(same)
        };
        let filters = self.filters.iter().filter(|filter| !explicit(filter));
        let planned = |filter: &Filter| filter.condition(planner).map_err(|problem| filter.problem(&problem));
        combine(filters, planned, |_, problem| errors.add("view_id", problem))
    }

    /// Sparse fieldset: the id and those columns of the view that still exist.
    pub fn shape(&self, planner: Planner<'_>) -> Shape {
        let entry = planner.entry;
        let columns = self.columns.iter().filter_map(|column| column.strip_prefix("cf."));
        let custom: Vec<String> = columns.filter(|name| planner.custom.contains_key(*name)).map(String::from).collect();
        let is_included = |name: &str, kind: Kind| {
            name == "id" || self.columns.iter().any(|c| c == name) || (kind == Kind::CustomFields && !custom.is_empty())
        };
        let fields =
            entry.meta.fields.iter().filter(|f| {
                f.shown != Shown::Never && is_included(f.name, f.kind) && planner.readable(f.name).is_some()
            });
        let mut shape = entry.shape(fields);
        let has_all_custom_fields = self.columns.iter().any(|c| c == "custom_fields");
        for column in
            shape.columns.iter_mut().filter(|c| c.source.field.kind == Kind::CustomFields && !has_all_custom_fields)
        {
            column.only = Some(custom.clone());
        }
        shape
    }

    /// The value of `meta.view`.
    pub fn meta(&self) -> serde_json::Value {
        serde_json::json!({ "id": self.id, "name": self.name })
    }
}
