//! A saved view applied to a list request: merged with what the request says itself.

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

/// A view that the caller may use on this list.
#[derive(Debug, Clone)]
pub struct View {
    model: Model,
    columns: Vec<String>,
    filters: Vec<Filter>,
}

/// The condition of filters that a request gives itself, in the form in which a view keeps them.
///
/// # Errors
/// 422 under `filters` with everything that is wrong with them.
pub fn filtered(planner: Planner<'_>, text: &str) -> Result<Condition> {
    let mut errors = FieldErrors::default();
    let json = serde_json::from_str(text).map_err(|error| format!("must be JSON: a list of objects; {error}"));
    let json = json.and_then(|json| check_numbers(text).map(|()| json));
    let filters = json.and_then(record::read_filters).unwrap_or_else(|problem| {
        errors.add("filters", problem);
        Vec::new()
    });
    if filters.iter().map(|filter| planner.conditions(&filter.field)).sum::<usize>() > MAX_CONDITIONS {
        errors.add("filters", record::too_many_conditions());
        return errors.into_result().map(|()| Condition::always());
    }
    let condition = fold(planner, filters.iter(), |index, problem| {
        errors.add("filters", format!("{problem} (filter {})", index + 1));
    });
    errors.into_result().map(|()| condition)
}

/// Filters joined from the first to the last; one that makes no sense is left out, and told.
fn fold<'f>(
    planner: Planner<'_>,
    filters: impl Iterator<Item = &'f Filter>,
    mut told: impl FnMut(usize, String),
) -> Condition {
    let mut folded: Option<Condition> = None;
    for (index, filter) in filters.enumerate() {
        let condition = match filter.term().and_then(|term| planner.term(&term)) {
            Ok(condition) => condition,
            Err(problem) => {
                told(index, problem);
                continue;
            }
        };
        let condition = match filter.logic {
            Logic::And | Logic::Or => condition,
            Logic::Nand | Logic::Nor => condition.not(),
        };
        folded = Some(match (folded, filter.logic) {
            (None, _) => condition,
            (Some(before), Logic::And | Logic::Nand) => before.and(condition),
            (Some(before), Logic::Or | Logic::Nor) => before.or(condition),
        });
    }
    folded.unwrap_or_else(Condition::always)
}

/// Finds the view of a `view_id` parameter.
///
/// # Errors
/// 422 under `view_id` when there is none, when the caller may not see it, or when it is of another entity type.
pub async fn find(context: &Context<'_>, entry: &Entry, view_id: &str) -> Result<View> {
    let unknown = || Error::invalid("view_id", format!("names no view of {}", entry.meta.plural));
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
    /// Merges the view into a request and answers the condition of its filters. What the request says itself wins: its
    /// sort, its page size, and any `q` of the very field and predicate of a filter.
    ///
    /// A filter whose field is gone is left out, so that the view goes on working.
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
        fold(planner, filters, |_, _| {})
    }

    /// The sparse shape: the id and the view's columns, as far as they still exist.
    pub fn shape(&self, planner: Planner<'_>) -> Shape {
        let entry = planner.entry;
        let columns = self.columns.iter().filter_map(|column| column.strip_prefix("cf."));
        let custom: Vec<String> = columns.filter(|name| planner.custom.contains_key(*name)).map(String::from).collect();
        let wanted = |name: &str, kind: Kind| {
            name == "id" || self.columns.iter().any(|c| c == name) || (kind == Kind::CustomFields && !custom.is_empty())
        };
        let fields = entry.meta.fields.iter().filter(|f| f.shown != Shown::Never && wanted(f.name, f.kind));
        let mut shape = entry.shape(fields);
        let whole = self.columns.iter().any(|c| c == "custom_fields");
        for column in shape.columns.iter_mut().filter(|c| c.source.field.kind == Kind::CustomFields && !whole) {
            column.only = Some(custom.clone());
        }
        shape
    }

    /// Its columns, in its order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What `meta.view` says.
    pub fn meta(&self) -> serde_json::Value {
        json!({ "id": self.model.id, "name": self.model.name })
    }
}
