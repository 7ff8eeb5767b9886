//! Locks of the records whose rollups a write of embedded records changes, such as the tags that count their tickets.

use sea_orm::Value;

use super::EmbeddedSet;
use crate::db::Dialect;
use crate::error::Result;
use crate::meta::Kind;
use crate::ops::Context;
use crate::rollups::{self, Children};

/// Locks these records before the first statement. The statements would lock them in the order of the list, so that two clients
/// with the same records in two orders would wait for each other.
pub(super) async fn lock(context: &Context<'_>, sets: &[EmbeddedSet]) -> Result<()> {
    let changed = || sets.iter().filter(|set| !set.is_unchanged());
    if context.state().db.dialect() == Dialect::Sqlite || changed().next().is_none() {
        return Ok(());
    }
    let written: Vec<Children<'_>> = changed().map(children).collect();
    rollups::lock_parents(context.db(), context.catalog(), &written).await
}

/// The rows that the write of one list removes, changes and inserts. Their own record is locked, or has been inserted.
fn children(set: &EmbeddedSet) -> Children<'_> {
    let (mut ids, mut references): (Vec<i64>, _) = (set.removed.keys().copied().collect(), Vec::new());
    for item in set.items.iter().filter(|item| item.id.is_none() || !item.changes.is_empty()) {
        ids.extend(item.id);
        references.extend(item.changes.iter().filter_map(|(field, value)| match (field.kind, value) {
            (Kind::Ref { .. }, Value::BigInt(Some(id))) => Some((field.name, *id)),
            _ => None,
        }));
    }
    Children { meta: set.meta, ids, references, locked: Some(set.by()) }
}
