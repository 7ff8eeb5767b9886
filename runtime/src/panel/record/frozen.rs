//! Frozen records: the reason on the page, in place of the buttons that would change the record.

use maud::{Markup, html};

use crate::language::text;
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use charter_core::error::Result;
use charter_core::ops::input::checks::frozen_by;
use charter_core::ops::records;
use charter_core::query::Condition;

/// The id of the record of a singleton.
const SINGLETON_ID: i64 = 1;

/// The condition by which a record is frozen, if it is.
///
/// # Errors
/// When the database fails.
pub(in crate::panel) async fn condition(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
) -> Result<Option<&'static str>> {
    let (context, entry) = (request.context(), target.entry);
    if entry.meta.frozen.is_none() || target.is_list() {
        return Ok(None);
    }
    // The caller has read the record with its own rights.
    let id = target.id.unwrap_or(SINGLETON_ID);
    match records::load(&context, entry, id, &Condition::always(), false).await? {
        Some(row) => frozen_by(&context, entry.meta, &row).await,
        None => Ok(None),
    }
}

/// The reason.
pub(in crate::panel) fn reason(condition: &str) -> String {
    text!("This record is frozen, because {condition}. Its fields no longer change.", condition = condition)
}

/// The reason, above the fields; nothing for a record that may change.
pub(super) fn notice(condition: Option<&str>) -> Markup {
    html! { @if let Some(condition) = condition { div .notice role="status" { (reason(condition)) } } }
}
