//! Cache for what every page needs: saved views and columns. A change in this process invalidates it at once.

use serde_json::Value;

use super::list::columns::Column;
use charter_core::versioned_cache::VersionedCache;

#[derive(Debug, Default)]
pub(super) struct PageCache {
    /// The saved views that a user may see.
    pub views: VersionedCache<ViewsKey, Vec<Value>>,
    /// The columns of a resource, custom fields included, by its plural and the language of their labels.
    pub columns: VersionedCache<(&'static str, String), Vec<Column>>,
}

/// User id, role ids, and the plural of the resource.
type ViewsKey = (Option<i64>, Vec<i64>, &'static str);
