//! Labels by which a file names fields and choices: those of the panel in each of its languages, as an export for people has
//! them.

use std::collections::HashMap;

use charter_core::catalog::Entry;
use charter_core::meta::FieldMeta;
use charter_core::ops::State;

/// A field of a resource, by their names.
type Key = (&'static str, &'static str);

/// The labels of the resources that can be imported, an extension of the application's state.
#[derive(Debug, Default)]
pub struct ImportLabels {
    fields: HashMap<Key, Vec<String>>,
    /// The values that the API takes, by the label in lower case.
    values: HashMap<Key, HashMap<String, String>>,
}

impl ImportLabels {
    /// Adds a label of a field.
    pub fn add_field(&mut self, entry: &Entry, field: &FieldMeta, label: String) {
        self.fields.entry((entry.meta.name, field.name)).or_default().push(label);
    }

    /// Adds a label of a choice. Of two equal ones, the first is meant.
    pub fn add_value(&mut self, entry: &Entry, field: &FieldMeta, label: &str, value: String) {
        let values = self.values.entry((entry.meta.name, field.name)).or_default();
        values.entry(label.to_lowercase()).or_insert(value);
    }

    /// Those of the application; `None` outside of one.
    pub(super) fn of(state: &State) -> Option<&ImportLabels> {
        state.extension().ok()
    }

    pub(super) fn fields(&self, entry: &Entry, name: &str) -> &[String] {
        let field = entry.field(name);
        field.and_then(|field| self.fields.get(&(entry.meta.name, field.name))).map_or(&[], Vec::as_slice)
    }

    /// The value with a label.
    pub(super) fn value(&self, entry: &Entry, field: &FieldMeta, label: &str) -> Option<&str> {
        let values = self.values.get(&(entry.meta.name, field.name))?;
        values.get(&label.trim().to_lowercase()).map(String::as_str)
    }
}
