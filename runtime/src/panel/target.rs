//! The collection, record or singleton that a panel path addresses. Panel paths are the API's without `/api/v1`.

use charter_core::catalog::{Catalog, Entry};

/// A collection, one of its records, or a singleton.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'c> {
    pub entry: &'c Entry,
    /// The parent record of a nested collection.
    pub parent: Option<(&'c Entry, i64)>,
    pub id: Option<i64>,
}

impl<'c> Target<'c> {
    /// Resolves the first segments of a path; the remaining ones are returned.
    pub(super) fn resolve<'s>(catalog: &'c Catalog, segments: &'s [&'s str]) -> Option<(Target<'c>, &'s [&'s str])> {
        let [first, rest @ ..] = segments else { return None };
        let entry = catalog.entries().iter().find(|e| e.meta.under.is_none() && e.meta.path == *first)?;
        let top = Target { entry, parent: None, id: None };
        if entry.is_attached() {
            return None;
        }
        if entry.meta.singleton {
            return Some((top, rest));
        }
        let [id, after_id @ ..] = rest else { return Some((top, rest)) };
        let Ok(id) = id.parse::<i64>() else { return Some((top, rest)) };
        let record = Target { id: Some(id), ..top };
        let [nested, after_nested @ ..] = after_id else { return Some((record, after_id)) };
        let under =
            |e: &&Entry| e.meta.path == *nested && e.meta.under.is_some_and(|under| under.resource == entry.meta.name);
        let Some(child) = catalog.entries().iter().find(under) else { return Some((record, after_id)) };
        let children = Target { entry: child, parent: Some((entry, id)), id: None };
        match after_nested {
            [id, last @ ..] if id.parse::<i64>().is_ok() => Some((Target { id: id.parse().ok(), ..children }, last)),
            _ => Some((children, after_nested)),
        }
    }

    pub(super) fn is_list(&self) -> bool {
        self.id.is_none() && !self.entry.meta.singleton
    }

    /// Singletons have no list and no separate edit page.
    pub(super) fn is_singleton(&self) -> bool {
        self.entry.meta.singleton
    }

    /// `/products/7/accessories`
    pub(super) fn collection(&self) -> String {
        match self.parent {
            Some((parent, id)) => format!("/{}/{id}/{}", parent.meta.path, self.entry.meta.path),
            None => format!("/{}", self.entry.meta.path),
        }
    }

    /// `/products/7/accessories/3`, or the collection.
    pub(super) fn path(&self) -> String {
        match self.id {
            Some(id) => format!("{}/{id}", self.collection()),
            None => self.collection(),
        }
    }

    /// Returns true if a local URL is that of the list of this collection, with any conditions.
    pub(super) fn is_own_list(&self, url: &str) -> bool {
        url.split(['?', '#']).next() == Some(self.collection().as_str())
    }

    /// A record of the same collection.
    pub(super) fn record(&self, id: i64) -> Target<'c> {
        Target { id: Some(id), ..*self }
    }
}
