//! The effects of a deletion on the records that refer to the deleted one, for the description of the operation.

use super::english;
use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::OnDelete;
use charter_core::ops::write::on_delete::{Referring, referring};

/// The description of the operation that deletes a record.
pub(super) fn description(catalog: &Catalog, entry: &Entry) -> String {
    let meta = entry.meta;
    let marked = match (meta.soft_delete, meta.keeps_deleted()) {
        (_, true) => " This is a soft delete: `deleted=only` still shows the record.",
        (true, false) => " This is a soft delete, but the API no longer shows the record.",
        (false, false) => "",
    };
    let (one, consequences, frozen) =
        (english::record_with_article(meta), sentences(catalog, entry), english::frozen(meta));
    format!("Deletes {one}.{marked}{consequences}{frozen}")
}

/// A sentence for each field with `on_delete` that refers to the resource; empty without one.
fn sentences(catalog: &Catalog, entry: &Entry) -> String {
    let sentence = |Referring { entry, field, effect }: Referring<'_>| {
        let (records, field) = (english::records(entry.meta), field.name);
        match effect {
            OnDelete::Restrict => format!(" Fails while {records} refer to it by `{field}`."),
            OnDelete::Clear => format!(" The {records} that refer to it by `{field}` lose the reference."),
            OnDelete::Cascade => format!(" The {records} that refer to it by `{field}` are deleted, too."),
        }
    };
    referring(catalog, entry).into_iter().map(sentence).collect()
}

/// True if a hook can refuse the deletion of the record, or of one that is deleted with it.
pub(super) fn can_refuse(catalog: &Catalog, entry: &Entry) -> bool {
    let (mut found, mut next) = (vec![entry], 0);
    while let Some(entry) = found.get(next).copied() {
        next += 1;
        for other in referring(catalog, entry).into_iter().filter(|by| by.effect == OnDelete::Cascade) {
            if !found.iter().any(|known| known.index == other.entry.index) {
                found.push(other.entry);
            }
        }
    }
    found.iter().any(|entry| entry.behavior.can_refuse_deletion)
}
