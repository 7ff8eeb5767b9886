//! The panel's labels of fields and choices, by which an import reads a file that the panel exported for people.

use crate::language::{Tables, text};
use crate::panel::format::labels;
use crate::panel::record::choices;
use charter_core::catalog::Catalog;
use charter_core::meta::Kind;
use charter_platform::import::{ImportLabels, is_importable};

/// The labels in each language of the panel, English first.
pub(crate) fn import_labels(catalog: &Catalog, languages: &Tables) -> ImportLabels {
    let mut found = ImportLabels::default();
    for language in languages.all() {
        language.sync_scope(|| {
            for entry in catalog.entries().iter().filter(|entry| is_importable(entry)) {
                for field in entry.meta.fields {
                    let label = labels::field(field);
                    if matches!(field.kind, Kind::Ref { .. }) {
                        found.add_field(entry, field, text!("{label} (record)", label = label));
                    }
                    found.add_field(entry, field, label);
                    for (value, label) in choices::for_kind(catalog, field.kind).unwrap_or_default() {
                        found.add_value(entry, field, &label, value);
                    }
                }
            }
        });
    }
    found
}
