//! All labels of an application in English, which the tables of other languages translate.

use std::collections::BTreeSet;

use super::labels;
use crate::openapi::english;
use crate::panel::PanelExtensions;
use crate::server::ServerState;
use charter_core::catalog::Entry;
use charter_core::meta::{Access, ActionMeta, ActionOutput, FieldMeta, Kind, Shown};

/// The names of resources, fields, groups, choices and actions, the texts that explain them, and the headings of the
/// application's pages and cards.
pub(crate) fn label_texts(state: &ServerState) -> BTreeSet<String> {
    let mut texts: BTreeSet<String> = state.catalog.entries().iter().flat_map(of_resource).collect();
    if let Some(PanelExtensions { pages, cards }) = PanelExtensions::of(state) {
        texts.extend(pages.iter().flat_map(|page| [page.title.to_string(), page.menu.to_string()]));
        texts.extend(cards.iter().map(|card| card.title.to_string()));
    }
    texts.remove("");
    texts
}

fn of_resource(entry: &Entry) -> Vec<String> {
    let meta = entry.meta;
    let mut texts =
        vec![english::noun(meta), english::records(meta), meta.description.to_string(), meta.menu.to_string()];
    let is_shown = |field: &&FieldMeta| field.access != Access::Internal && field.shown != Shown::Never;
    texts.extend(meta.fields.iter().filter(is_shown).flat_map(of_field));
    texts.extend(meta.actions.iter().flat_map(of_action));
    texts.extend(meta.reveals.iter().map(|(_, label)| (*label).to_string()));
    texts
}

fn of_action(action: &ActionMeta) -> Vec<String> {
    let mut texts = vec![labels::name_in_english(action.name), action.confirm.into(), action.description.into()];
    texts.extend(action.input.iter().flat_map(of_field));
    if let ActionOutput::Fields { fields, .. } = action.output {
        texts.extend(fields.iter().flat_map(of_field));
    }
    texts.extend(action.reveals.iter().map(|(_, label)| (*label).to_string()));
    texts
}

fn of_field(field: &FieldMeta) -> Vec<String> {
    let mut texts = vec![labels::field_in_english(field), labels::help_in_english(field).into(), field.group.into()];
    texts.extend([field.placeholder.to_string(), field.description.to_string()]);
    match field.kind {
        Kind::Enum { values } => texts.extend(values.iter().map(|word| labels::name_in_english(word))),
        Kind::Code { values } => texts.extend(values.iter().map(|(_, label)| (*label).to_string())),
        _ => {}
    }
    texts
}
