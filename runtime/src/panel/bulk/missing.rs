//! Selected records that no longer exist. A selection lasts over several pages of a list, so that somebody may have
//! deleted one of its records meanwhile: it is left out, instead of failing the operation on all others.

use maud::{Markup, html};
use serde_json::Value;

use super::change::{self, Change};
use super::{BulkRequest, Selection};
use crate::language::text;
use crate::panel::fetch_many;
use crate::panel::list::trash;
use crate::server::Response;
use charter_core::error::Result;

impl BulkRequest<'_> {
    /// The records of a selection by ids that exist for this change: the deleted ones for a restore. The others are
    /// removed from the selection. `parameters` is appended to the query string.
    pub(super) async fn load_existing(&mut self, change: Change, parameters: &str) -> Result<Vec<Value>> {
        let Selection::Ids(ids) = &mut self.selection else { return Ok(Vec::new()) };
        let deleted = if change == Change::Restored { trash::QUERY_PARAMETER } else { "" };
        let (entry, collection) = (self.target.entry, self.target.collection());
        let parameters = format!("{deleted}{parameters}");
        let responses = fetch_many::fetch(self.request, entry, &collection, ids, &parameters).await?;
        let mut records = Vec::with_capacity(ids.len());
        for response in &responses {
            records.extend(fetch_many::records(entry, response)?);
        }
        let selected = ids.len();
        ids.retain(|id| records.iter().any(|record| record["id"] == *id));
        self.missing += (selected - ids.len()) as i64;
        Ok(records)
    }

    /// Removes the ids of records that do not exist for this change from a selection by ids.
    pub(super) async fn leave_out_missing(&mut self, change: Change) -> Result<()> {
        self.load_existing(change, "&fields=id").await.map(drop)
    }

    /// Returns true if none of the selected ids is left.
    pub(super) fn is_empty(&self) -> bool {
        matches!(&self.selection, Selection::Ids(ids) if ids.is_empty())
    }

    /// The sentence about the records that were left out, if there are any.
    pub(super) fn missing_sentence(&self, change: Change) -> Markup {
        let (numbers, meta) = (&self.request.locale.numbers, self.target.entry.meta);
        html! { @if self.missing > 0 { p { (change::missing(numbers, meta, change, self.missing)) } } }
    }

    /// The page for a selection of which no record is left.
    pub(super) fn nothing_left_page(&self, change: Change) -> Response {
        let content = html! {
            div .notice role="status" { (self.missing_sentence(change)) }
            p { a .button.primary href=(self.return_path) { (text!("Back to the list")) } }
        };
        self.page(&text!("Nothing was changed"), &content)
    }
}
