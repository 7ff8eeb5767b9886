//! References by title: the ids of records that cells call by their name, found with one query for each resource.

use std::collections::{BTreeMap, HashMap};

use charter_core::catalog::{Entry, name_field};
use charter_core::error::Result;
use charter_core::meta::Kind;
use charter_core::ops::input::batch_references;
use charter_core::ops::{Access, Context, visible};
use sea_orm::Value;

use super::plan::{Plan, Target};
use super::reader::{Cell, Row};

/// The records with a title.
#[derive(Debug, Clone, Copy)]
enum Titled {
    One(i64),
    Several,
}

/// Records by resource and title.
#[derive(Debug, Default)]
pub(super) struct Titles {
    found: HashMap<(&'static str, String), Titled>,
    /// The resources whose titles the caller may read.
    readable: Vec<&'static str>,
}

/// True for an id: any other text is a title.
pub(super) fn is_id(text: &str) -> bool {
    text.trim().parse::<i64>().is_ok()
}

/// The elements of a list cell: separated by commas or line breaks.
pub(super) fn elements(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', '\n']).map(str::trim).filter(|element| !element.is_empty())
}

impl Titles {
    /// Finds the records that the cells of these rows call by a title.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn load(context: &Context<'_>, plan: &Plan<'_>, rows: &[Row]) -> Result<Titles> {
        let mut wanted: BTreeMap<&'static str, BTreeMap<String, Value>> = BTreeMap::new();
        for (column, target) in plan.targets.iter().enumerate() {
            let (Target::Field(field) | Target::Parent(field)) = target else { continue };
            let (resource, is_list) = match field.kind {
                Kind::Ref { resource } => (resource, false),
                Kind::RefList { resource } | Kind::Links { resource, .. } => (resource, true),
                _ => continue,
            };
            let cells = rows.iter().filter_map(|row| row.cells.as_ref().ok()?.get(column));
            let texts = cells.filter_map(|cell| if let Cell::Text(text) = cell { Some(text.as_str()) } else { None });
            let titles = wanted.entry(resource).or_default();
            for text in texts.filter(|text| !text.starts_with('[')) {
                let elements: Vec<&str> = if is_list { elements(text).collect() } else { vec![text.trim()] };
                let named = elements.into_iter().filter(|text| !is_id(text));
                titles.extend(named.map(|text| (text.to_string(), Value::from(text))));
            }
        }
        let mut titles = Titles::default();
        for (resource, names) in wanted {
            let target = context.catalog().linked(resource);
            titles.find(context, target, names).await?;
        }
        Ok(titles)
    }

    async fn find(&mut self, context: &Context<'_>, target: &Entry, names: BTreeMap<String, Value>) -> Result<()> {
        let Some(field) = name_field(target).filter(|field| field.is_column()) else { return Ok(()) };
        if !Access::read(target).allows(context.caller()) || !target.may_read_field(field, context.caller()) {
            return Ok(());
        }
        self.readable.push(target.meta.name);
        let names: Vec<Value> = names.into_values().collect();
        for row in batch_references::find(context, target, field, names, &visible(context, target), false).await? {
            let (id, name): (i64, Option<String>) = (row.try_get("", "id")?, row.try_get("", field.name)?);
            let entry = self.found.entry((target.meta.name, name.unwrap_or_default()));
            entry.and_modify(|titled| *titled = Titled::Several).or_insert(Titled::One(id));
        }
        Ok(())
    }

    /// The id of a record by its id or title.
    ///
    /// # Errors
    /// Why the text names no record.
    pub(super) fn id(&self, target: &Entry, text: &str) -> Result<String, String> {
        let text = text.trim();
        if is_id(text) {
            return Ok(text.to_string());
        }
        let label = target.meta.label.to_lowercase();
        if !self.readable.contains(&target.meta.name) {
            return Err(format!("must be the id of a record: {text} is not a number"));
        }
        match self.found.get(&(target.meta.name, text.to_string())) {
            Some(Titled::One(id)) => Ok(id.to_string()),
            Some(Titled::Several) => Err(format!("More than one {label} is called {text}. Write its id.")),
            None => Err(format!("No {label} is called {text}.")),
        }
    }
}
