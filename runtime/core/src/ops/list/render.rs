//! JSON of list pages.

use std::io::Write as _;

use bytes::Bytes;

use super::include::Related;
use super::select::{ListQuery, Page};
use crate::error::{Error, Result};
use crate::query::Count;
use crate::query::SavedView;
use crate::record::{Shape, write_record};

/// Maximum length of a list page, and of the response to a bulk write.
pub const MAX_PAGE_BYTES: usize = 32 << 20;

/// `{"<plural>": [...], "meta": {...}}`
///
/// # Errors
/// If the page is longer than 32 MiB, or a stored value does not fit its field.
pub fn render(query: ListQuery<'_>, page: &Page, related: &Related, view: Option<&SavedView>) -> Result<Bytes> {
    let ListQuery { entry, shape, .. } = query;
    let rows = page.rows();
    let mut out = Vec::with_capacity(256 + rows.len() * 512);
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(entry.meta.plural.as_bytes());
    out.extend_from_slice(b"\":[");
    for (index, row) in rows.iter().enumerate() {
        out.extend_from_slice(if index > 0 { b",{" } else { b"{" });
        write_record(&mut out, shape, *row)?;
        related.write(&mut out, index);
        out.push(b'}');
        if out.len() > MAX_PAGE_BYTES {
            let problem = "is too large: the page exceeds 32 MiB; request fewer records, or fewer `fields`";
            return Err(Error::invalid("per_page", problem));
        }
    }
    out.extend_from_slice(b"],\"meta\":{");
    out.extend_from_slice(&meta(query, page, view));
    out.extend_from_slice(b"}}");
    Ok(out.into())
}

/// `"total":1,"per_page":20,"page":1`
fn meta(query: ListQuery<'_>, page: &Page, view: Option<&SavedView>) -> Vec<u8> {
    let ListQuery { plan, cursor, .. } = query;
    let mut out = Vec::with_capacity(64);
    if let Some(total) = page.total {
        let name = if plan.count == Count::Estimate { "total_estimate" } else { "total" };
        let _ = write!(out, "\"{name}\":{total},");
    }
    let _ = write!(out, "\"per_page\":{}", plan.per_page);
    match (cursor, &page.next) {
        (None, _) => drop(write!(out, ",\"page\":{}", plan.page)),
        // A cursor has no character that JSON escapes.
        (Some(_), Some(next)) => drop(write!(out, ",\"next_cursor\":\"{next}\"")),
        (Some(_), None) => out.extend_from_slice(b",\"next_cursor\":null"),
    }
    if let Some(view) = view {
        let _ = write!(out, ",\"view\":{}", view.meta());
    }
    out
}

/// The part of a cache key for the written fields and their names.
pub fn render_key(query: ListQuery<'_>) -> Vec<u8> {
    let ListQuery { entry, shape: Shape { columns, .. }, .. } = query;
    let mut key = Vec::with_capacity(64 + columns.len() * 24);
    key.extend_from_slice(entry.meta.plural.as_bytes());
    for column in columns {
        key.extend_from_slice(if column.hidden { b"-" } else { column.key.as_bytes() });
        if let Some(only) = &column.only {
            let _ = write!(key, "{only:?}");
        }
        if let Some(hidden) = &column.without {
            let _ = write!(key, "{:?}", hidden.by_text);
        }
    }
    key
}
