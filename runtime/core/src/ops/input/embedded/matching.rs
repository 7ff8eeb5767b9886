//! Embedded records of a write and the stored rows that they match, by `id` or by their unique values.

use std::collections::HashMap;

use super::{Item, Origin, StoredRows, rows, target, unique_values};
use crate::error::Result;
use crate::ops::Context;
use crate::ops::field_access;
use crate::ops::input::changeset::Changes;
use crate::ops::write::update;

/// Matches the records that a body sets with the stored ones, and drops the values that equal those. `id` is that of the
/// record that contains them; `None` for a new record. Links are matched by their check.
///
/// # Errors
/// Those of the database.
pub async fn match_sent(context: &Context<'_>, changes: &mut Changes, id: Option<i64>) -> Result<()> {
    match_rows(context, changes, id, Origin::Request).await
}

/// [`match_sent`] for the records of one origin. A set that is matched stays as it is.
pub(super) async fn match_rows(
    context: &Context<'_>,
    changes: &mut Changes,
    id: Option<i64>,
    origin: Origin,
) -> Result<()> {
    let unmatched = changes.embedded.iter_mut().filter(|set| set.origin == origin && !set.is_matched);
    for set in unmatched.filter(|set| !set.is_links()) {
        let Some((entry, by)) = target(context.catalog(), set.field) else { continue };
        set.is_matched = true;
        let mut stored = match id {
            Some(id) => rows(context, entry, by, id).await?,
            None => StoredRows::new(),
        };
        for item in &mut set.items {
            item.match_row(item.id, &mut stored);
        }
        let mut ids_by_values = HashMap::new();
        for (id, row) in &stored {
            let row = Changes::new(entry.meta, Some(row.clone()));
            ids_by_values.extend(unique_values(context, &row, by)?.into_iter().map(|(_, values)| (values, *id)));
        }
        for item in &mut set.items {
            if item.id.is_none() {
                let item_values = unique_values(context, &item.changes, by)?;
                let id = item_values.iter().find_map(|(_, values)| ids_by_values.get(values).copied());
                item.match_row(id, &mut stored);
            }
            if origin == Origin::Request {
                field_access::keep_unread(context, entry, &mut item.changes);
            }
            update::drop_unchanged(&mut item.changes)?;
        }
        set.removed = stored;
    }
    Ok(())
}

impl Item {
    /// Makes the item an update of the stored row with this id and removes that from `stored`; an insert if there is
    /// none.
    fn match_row(&mut self, id: Option<i64>, stored: &mut StoredRows) {
        let row = id.and_then(|id| Some((id, stored.remove(&id)?)));
        self.id = row.as_ref().map(|(id, _)| *id);
        self.changes.before = row.map(|(_, row)| row);
    }
}
