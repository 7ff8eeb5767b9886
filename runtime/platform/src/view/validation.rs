//! Validation of saved views against the fields of their resource.

use std::sync::Arc;

use sea_orm::EntityTrait;

use super::record::{Entity, Model};
use charter_core::catalog::{Catalog, Entry};
use charter_core::custom_field::{self, Types};
use charter_core::error::{Error, Result};
use charter_core::meta::{FieldMeta, Shown};
use charter_core::ops::Context;
use charter_core::principal::Principal;
use charter_core::query::{Filter, Planner, RelativeTo};
use charter_core::stale_reference::StaleReference;
use charter_core::suggest::hint;

/// Validates columns, filters and sort columns of one resource.
pub(super) struct ViewValidator<'c> {
    catalog: &'c Catalog,
    entry: &'c Entry,
    caller: &'c Principal,
    custom: Arc<Types>,
    relative_to: RelativeTo,
}

impl<'c> ViewValidator<'c> {
    pub(super) async fn of(context: &Context<'c>, entry: &'c Entry) -> Result<ViewValidator<'c>> {
        let custom = match entry.meta.custom_fields {
            true => {
                let state = context.state();
                custom_field::load_types(&state.custom_fields, &state.db, context.db(), entry.meta.plural).await?
            }
            false => Arc::default(),
        };
        // A word is valid whatever it stands for: the caller of a list has another time and another user.
        let user = context.caller().user_id.unwrap_or_default();
        let relative_to = RelativeTo::in_utc(context.now(), Some(user));
        Ok(ViewValidator { catalog: context.catalog(), entry, caller: context.caller(), custom, relative_to })
    }

    fn planner(&self) -> Planner<'_> {
        // Names do not depend on the records that the caller sees.
        Planner {
            catalog: self.catalog,
            entry: self.entry,
            custom: &self.custom.of,
            deleted: false,
            caller: self.caller,
            visible: &|_| None,
            relative_to: &self.relative_to,
        }
    }

    /// # Errors
    /// Why the column is invalid, as the predicate of a sentence.
    pub(super) fn column(&self, column: &str) -> Result<(), String> {
        let known = match column.strip_prefix("cf.") {
            Some(name) => self.entry.meta.custom_fields && self.custom.of.contains_key(name),
            None => self.planner().readable(column).is_some_and(|f| f.shown != Shown::Never),
        };
        if known {
            return Ok(());
        }
        let is_shown = |f: &&FieldMeta| f.shown != Shown::Never && self.planner().readable(f.name).is_some();
        let names = self.entry.meta.fields.iter().filter(is_shown).map(|f| f.name);
        Err(format!("refers to an unknown column `{column}`{}", hint(column, names)))
    }

    /// Returns the number of values in a filter.
    ///
    /// # Errors
    /// Why the filter is invalid.
    pub(super) fn filter(&self, filter: &Filter) -> Result<usize, String> {
        filter.condition(self.planner()).map(|condition| condition.values())
    }

    /// Number of conditions; each field of an `_or_` counts as one.
    pub(super) fn conditions(&self, filters: &[Filter]) -> usize {
        filters.iter().map(|filter| filter.conditions(self.planner())).sum()
    }

    /// # Errors
    /// Why the sort column is invalid.
    pub(super) fn sort_column(&self, column: &str) -> Result<(), String> {
        if column.starts_with('-') || self.planner().order(column).is_none() {
            return Err(format!("refers to `{column}`, by which {} cannot be sorted", self.entry.meta.plural));
        }
        Ok(())
    }
}

/// Saved views that name columns, filters or sort columns which no longer exist. Lists ignore such columns, and reject such
/// filters.
pub async fn stale_references(context: &Context<'_>) -> Result<Vec<StaleReference>> {
    let mut found = Vec::new();
    for view in Entity::find().all(context.db()).await? {
        for problem in problems(context, &view).await? {
            found.push(StaleReference { kind: "custom_views", id: view.id, name: view.name.clone(), problem });
        }
    }
    Ok(found)
}

async fn problems(context: &Context<'_>, view: &Model) -> Result<Vec<String>> {
    let Some(entry) = context.catalog().by_plural(&view.entity_type).filter(|entry| entry.is_listed()) else {
        return Ok(vec![format!("is for `{}`, which has no list", view.entity_type)]);
    };
    let validator = ViewValidator::of(context, entry).await?;
    let columns: Vec<String> = serde_json::from_value(view.columns.clone()).map_err(Error::internal)?;
    let filters: Vec<Filter> = serde_json::from_value(view.filters.clone()).map_err(Error::internal)?;
    let mut problems: Vec<String> = columns.iter().filter_map(|column| validator.column(column).err()).collect();
    for filter in &filters {
        problems.extend(validator.filter(filter).err().map(|problem| filter.problem(&problem)));
    }
    problems.extend(view.sort_column.as_ref().and_then(|column| validator.sort_column(column).err()));
    Ok(problems)
}
