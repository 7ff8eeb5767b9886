//! Records that do not change, because they are frozen or a rule keeps them from the user: the reason, in place of the buttons
//! that would change them.

use std::collections::HashMap;

use maud::{Markup, html};

use crate::language::{message, text};
use crate::panel::format::rule_words::because_frozen;
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use charter_core::catalog::Entry;
use charter_core::error::{Error, Result};
use charter_core::meta::ResourceMeta;
use charter_core::ops::protection::{Protection, may_refer, protections};
use charter_core::ops::row_access::{NOT_CHANGEABLE, NOT_CREATABLE};

/// The id of the record of a singleton.
const SINGLETON_ID: i64 = 1;

/// Why the record does not change, if it does not. The user has read it with its own rights.
///
/// # Errors
/// When the database fails.
pub(in crate::panel) async fn of(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Option<Protection>> {
    if target.is_list() {
        return Ok(None);
    }
    let id = target.id.unwrap_or(SINGLETON_ID);
    Ok(of_records(request, target.entry, [id]).await?.remove(&id))
}

/// Those of the records of a page that do not change, by id.
///
/// # Errors
/// When the database fails.
pub(in crate::panel) async fn of_records(
    request: &PanelRequest<'_>,
    entry: &Entry,
    ids: impl IntoIterator<Item = i64>,
) -> Result<HashMap<i64, Protection>> {
    let ids: Vec<i64> = ids.into_iter().collect();
    protections(&request.context(), entry, &ids).await
}

/// Returns false if a rule over the parent lets the user create no record under it.
///
/// # Errors
/// When the database fails.
pub(in crate::panel) async fn may_create(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<bool> {
    let by = target.entry.meta.under.and_then(|under| target.entry.field(under.field));
    match (target.parent, by) {
        (Some((_, id)), Some(by)) => may_refer(&request.context(), target.entry, by, id).await,
        _ => Ok(true),
    }
}

/// The answer to a request for the form of a new record that [`may_create`] excludes.
pub(in crate::panel) fn not_creatable() -> Error {
    Error::Forbidden(message(NOT_CREATABLE))
}

/// The answer to a request for the form or the question of a change.
pub(in crate::panel) fn error(meta: &'static ResourceMeta, protection: Protection) -> Error {
    match protection {
        Protection::Frozen(condition) => Error::Frozen(reason(meta, condition)),
        Protection::Rule => Error::Forbidden(message(NOT_CHANGEABLE)),
    }
}

/// The reason why a record is frozen, and what that means. Triggers keep its totals up to date all the same.
fn reason(meta: &'static ResourceMeta, condition: &'static str) -> String {
    let effect = match meta.fields.iter().any(|field| field.rollup.is_some()) {
        true => text!("Its own fields no longer change; its totals follow the records that they count."),
        false => text!("Its fields no longer change."),
    };
    format!("{} {effect}", because_frozen(meta, condition))
}

/// The reason, above the fields; nothing for a record that is not frozen.
pub(super) fn notice(meta: &'static ResourceMeta, protection: Option<Protection>) -> Markup {
    html! {
        @if let Some(Protection::Frozen(condition)) = protection { div .notice role="status" { (reason(meta, condition)) } }
    }
}
