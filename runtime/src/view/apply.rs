//! Application of a saved view to a list request, in which explicit parameters take precedence.

use serde_json::json;

use super::record::{self, Filter, Logic, Model};
use crate::catalog::Entry;
use crate::context::Context;
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{Kind, Shown};
use crate::ops::{check_numbers, load};
use crate::query::{Condition, MAX_CONDITIONS, Planner, Request, Term};
use crate::record::Shape;
use crate::resource::Resource as _;

/// A view that the caller may apply to this list.
#[derive(Debug, Clone)]
pub struct View {
    model: Model,
    columns: Vec<String>,
    filters: Vec<Filter>,
}

/// Condition of the query parameter `filters`, which has the format of a view's filters.
///
/// # Errors
/// 422 under `filters` with all problems.
pub fn filters_condition(planner: Planner<'_>, text: &str) -> Result<Condition> {
    let mut errors = FieldErrors::default();
    let json = serde_json::from_str(text).map_err(|error| format!("must be a JSON list of objects: {error}"));
    let json = json.and_then(|json| check_numbers(text).map(|()| json));
    let filters = json.and_then(record::read_filters).unwrap_or_else(|problem| {
        errors.add("filters", problem);
        Vec::new()
    });
    if filters.iter().map(|filter| planner.conditions(&filter.field)).sum::<usize>() > MAX_CONDITIONS {
        errors.add("filters", record::too_many_conditions());
        return errors.into_result().map(|()| Condition::always());
    }
    let condition = combine(planner, filters.iter(), |index, problem| {
        errors.add("filters", format!("{problem} (filter {})", index + 1));
    });
    errors.into_result().map(|()| condition)
}

/// Combines filters from left to right. Invalid filters are reported and left out.
fn combine<'f>(
    planner: Planner<'_>,
    filters: impl Iterator<Item = &'f Filter>,
    mut report: impl FnMut(usize, String),
) -> Condition {
    let mut combined: Option<Condition> = None;
    for (index, filter) in filters.enumerate() {
        let condition = match filter.term().and_then(|term| planner.term(&term)) {
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

/// Finds the view of the query parameter `view_id`.
///
/// # Errors
/// 422 under `view_id` if there is no such view, the caller may not see it, or it is for another resource.
pub async fn find(context: &Context<'_>, entry: &Entry, view_id: &str) -> Result<View> {
    let unknown = || Error::invalid("view_id", format!("is not a view of {}", entry.meta.plural));
    let id: i64 = view_id.trim().parse().map_err(|_| unknown())?;
    let views = context.catalog().linked(record::Entity::meta().name);
    let visible = crate::ops::visible(context, views);
    let row = load(context, views, id, &visible, false).await?.ok_or_else(unknown)?;
    let model = crate::ops::model::<record::Entity>(&row)?;
    if model.entity_type != entry.meta.plural {
        return Err(unknown());
    }
    let columns = serde_json::from_value(model.columns.clone()).map_err(Error::internal)?;
    let filters = serde_json::from_value(model.filters.clone()).map_err(Error::internal)?;
    Ok(View { model, columns, filters })
}

impl View {
    /// Merges the view into a request and returns the condition of its filters. The request's own sort, page size and
    /// `q` parameters with the same field and predicate override the view.
    ///
    /// Filters on fields that no longer exist are left out, which keeps the view usable.
    pub fn apply(&self, planner: Planner<'_>, request: &mut Request) -> Condition {
        if request.sort.is_none()
            && let Some(column) = &self.model.sort_column
        {
            let sign = if self.model.sort_direction == "desc" { "-" } else { "" };
            request.sort = Some(vec![format!("{sign}{column}")]);
        }
        request.per_page.get_or_insert_with(|| self.model.per_page.to_string());
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
        combine(planner, filters, |_, _| {})
    }

    /// Sparse fieldset: the id and those columns of the view that still exist.
    pub fn shape(&self, planner: Planner<'_>) -> Shape {
        let entry = planner.entry;
        let columns = self.columns.iter().filter_map(|column| column.strip_prefix("cf."));
        let custom: Vec<String> = columns.filter(|name| planner.custom.contains_key(*name)).map(String::from).collect();
        let is_included = |name: &str, kind: Kind| {
            name == "id" || self.columns.iter().any(|c| c == name) || (kind == Kind::CustomFields && !custom.is_empty())
        };
        let fields = entry.meta.fields.iter().filter(|f| f.shown != Shown::Never && is_included(f.name, f.kind));
        let mut shape = entry.shape(fields);
        let has_all_custom_fields = self.columns.iter().any(|c| c == "custom_fields");
        for column in
            shape.columns.iter_mut().filter(|c| c.source.field.kind == Kind::CustomFields && !has_all_custom_fields)
        {
            column.only = Some(custom.clone());
        }
        shape
    }

    /// The view's columns in order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The value of `meta.view`.
    pub fn meta(&self) -> serde_json::Value {
        json!({ "id": self.model.id, "name": self.model.name })
    }
}
