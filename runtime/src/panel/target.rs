//! Which records a path of the panel means: it is the API's path without `/api/v1`.

use crate::catalog::{Catalog, Entry};

/// A collection, a record of it, or what there is one of.
#[derive(Debug, Clone, Copy)]
pub struct Place<'c> {
    pub entry: &'c Entry,
    /// The record that the collection is under.
    pub parent: Option<(&'c Entry, i64)>,
    pub id: Option<i64>,
}

impl<'c> Place<'c> {
    /// The records that a path begins with, and what follows.
    pub fn find<'s>(catalog: &'c Catalog, segments: &'s [&'s str]) -> Option<(Place<'c>, &'s [&'s str])> {
        let [first, rest @ ..] = segments else { return None };
        let entry = catalog.entries().iter().find(|e| e.meta.under.is_none() && e.meta.path == *first)?;
        let top = Place { entry, parent: None, id: None };
        if entry.is_attached() {
            return None;
        }
        if entry.meta.singleton {
            return Some((top, rest));
        }
        let [id, further @ ..] = rest else { return Some((top, rest)) };
        let Ok(id) = id.parse::<i64>() else { return Some((top, rest)) };
        let record = Place { id: Some(id), ..top };
        let [nested, beyond @ ..] = further else { return Some((record, further)) };
        let under =
            |e: &&Entry| e.meta.path == *nested && e.meta.under.is_some_and(|under| under.resource == entry.meta.name);
        let Some(child) = catalog.entries().iter().find(under) else { return Some((record, further)) };
        let children = Place { entry: child, parent: Some((entry, id)), id: None };
        match beyond {
            [id, last @ ..] if id.parse::<i64>().is_ok() => Some((Place { id: id.parse().ok(), ..children }, last)),
            _ => Some((children, beyond)),
        }
    }

    /// Whether it is a collection.
    pub fn is_list(&self) -> bool {
        self.id.is_none() && !self.entry.meta.singleton
    }

    /// Whether it is edited where it is shown: what there is one of.
    pub fn is_edited(&self) -> bool {
        self.entry.meta.singleton
    }

    /// `/products/7/accessories`
    pub fn collection(&self) -> String {
        match self.parent {
            Some((parent, id)) => format!("/{}/{id}/{}", parent.meta.path, self.entry.meta.path),
            None => format!("/{}", self.entry.meta.path),
        }
    }

    /// `/products/7/accessories/3`, or the collection.
    pub fn path(&self) -> String {
        match self.id {
            Some(id) => format!("{}/{id}", self.collection()),
            None => self.collection(),
        }
    }

    /// Another record of the same collection.
    pub fn of(&self, id: i64) -> Place<'c> {
        Place { id: Some(id), ..*self }
    }
}
