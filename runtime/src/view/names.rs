//! What a saved view may name of its resource: columns, filters, the order.

use super::record::Filter;
use crate::catalog::{Catalog, Entry};
use crate::context::Context;
use crate::custom_field::{self, CustomFieldTypes};
use crate::error::Result;
use crate::meta::Shown;
use crate::query::{Planner, hint};

/// The names that one resource has for its views.
pub struct Names<'c> {
    catalog: &'c Catalog,
    entry: &'c Entry,
    custom: CustomFieldTypes,
}

impl<'c> Names<'c> {
    pub async fn of(context: &Context<'c>, entry: &'c Entry) -> Result<Names<'c>> {
        let custom = match entry.meta.custom_fields {
            true => custom_field::load_types(context.db(), entry.meta.plural).await?,
            false => CustomFieldTypes::default(),
        };
        Ok(Names { catalog: context.catalog(), entry, custom })
    }

    fn planner(&self) -> Planner<'_> {
        Planner { catalog: self.catalog, entry: self.entry, custom: &self.custom }
    }

    /// # Errors
    /// What is wrong with a column, to complete "this field ...".
    pub fn column(&self, column: &str) -> Result<(), String> {
        let known = match column.strip_prefix("cf.") {
            Some(name) => self.entry.meta.custom_fields && self.custom.contains_key(name),
            None => self.entry.field(column).is_some_and(|f| f.shown != Shown::Never),
        };
        if known {
            return Ok(());
        }
        let names = self.entry.meta.fields.iter().filter(|f| f.shown != Shown::Never).map(|f| f.name);
        Err(format!("names an unknown column `{column}`{}", hint(column, names)))
    }

    /// # Errors
    /// What is wrong with a filter.
    pub fn filter(&self, filter: &Filter) -> Result<(), String> {
        filter.term().and_then(|term| self.planner().term(&term)).map(drop)
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
