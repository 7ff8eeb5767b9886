//! What a saved view may name of its resource: columns, filters, the order.

use std::sync::Arc;

use sea_orm::EntityTrait;

use super::record::{Entity, Filter, Model};
use crate::catalog::{Catalog, Entry};
use crate::context::Context;
use crate::custom_field::{self, Types};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::meta::Shown;
use crate::query::{Planner, hint};

/// The names that one resource has for its views.
pub struct Names<'c> {
    catalog: &'c Catalog,
    entry: &'c Entry,
    custom: Arc<Types>,
}

impl<'c> Names<'c> {
    pub async fn of(context: &Context<'c>, entry: &'c Entry) -> Result<Names<'c>> {
        let custom = match entry.meta.custom_fields {
            true => custom_field::load_types(context, entry.meta.plural).await?,
            false => Arc::default(),
        };
        Ok(Names { catalog: context.catalog(), entry, custom })
    }

    fn planner(&self) -> Planner<'_> {
        // Which records a caller sees decides nothing of which names there are.
        Planner {
            catalog: self.catalog,
            entry: self.entry,
            custom: &self.custom.of,
            deleted: false,
            visible: &|_| None,
        }
    }

    /// # Errors
    /// What is wrong with a column, to complete "this value ...".
    pub fn column(&self, column: &str) -> Result<(), String> {
        let known = match column.strip_prefix("cf.") {
            Some(name) => self.entry.meta.custom_fields && self.custom.of.contains_key(name),
            None => self.entry.field(column).is_some_and(|f| f.shown != Shown::Never),
        };
        if known {
            return Ok(());
        }
        let names = self.entry.meta.fields.iter().filter(|f| f.shown != Shown::Never).map(|f| f.name);
        Err(format!("names an unknown column `{column}`{}", hint(column, names)))
    }

    /// How many values a list is given for a filter.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn filter(&self, filter: &Filter) -> Result<usize, String> {
        filter.term().and_then(|term| self.planner().term(&term)).map(|condition| condition.values())
    }

    /// How many conditions these are, each field of an `_or_` being one.
    pub fn conditions(&self, filters: &[Filter]) -> usize {
        filters.iter().map(|filter| self.planner().conditions(&filter.field)).sum()
    }

    /// # Errors
    /// What is wrong with the column of the order.
    pub fn sort_column(&self, column: &str) -> Result<(), String> {
        if column.starts_with('-') || self.planner().order(column).is_none() {
            return Err(format!("names `{column}`, by which {} cannot be sorted", self.entry.meta.plural));
        }
        Ok(())
    }
}

/// The saved views that name what is no more. Lists leave that out, so that nobody sees it in their answers.
pub async fn lost(context: &Context<'_>) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    for view in Entity::find().all(context.db()).await? {
        for problem in problems(context, &view).await? {
            found.push(Finding { kind: "custom_views", id: view.id, name: view.name.clone(), problem });
        }
    }
    Ok(found)
}

async fn problems(context: &Context<'_>, view: &Model) -> Result<Vec<String>> {
    let Some(entry) = context.catalog().by_plural(&view.entity_type).filter(|entry| entry.is_listed()) else {
        return Ok(vec![format!("lists `{}`, which has no list", view.entity_type)]);
    };
    let names = Names::of(context, entry).await?;
    let columns: Vec<String> = serde_json::from_value(view.columns.clone()).map_err(Error::internal)?;
    let filters: Vec<Filter> = serde_json::from_value(view.filters.clone()).map_err(Error::internal)?;
    let mut problems: Vec<String> = columns.iter().filter_map(|column| names.column(column).err()).collect();
    for filter in &filters {
        let asked = format!("{}_{}", filter.field, filter.predicate);
        problems.extend(names.filter(filter).err().map(|problem| format!("filters by `{asked}`: {problem}")));
    }
    problems.extend(view.sort_column.as_ref().and_then(|column| names.sort_column(column).err()));
    Ok(problems)
}
