//! The columns and the page size of a list that a user has chosen, which hold on each visit without a saved view.

use super::columns::{self, Column};
use super::params::ListParams;
use crate::language::text;
use crate::panel::redirect;
use crate::panel::request::{PanelRequest, form_value};
use crate::panel::target::Target;
use crate::server::Response;
use charter_core::catalog::Entry;
use charter_core::error::{Error, Result};
use charter_core::query::{MAX_PER_PAGE, Pair};
use charter_platform::auth::preference;

/// Query parameter with which the column picker goes back to the columns of the resource.
pub(super) const FORGET: &str = "forget";

fn columns_preference(entry: &Entry) -> String {
    format!("columns/{}", entry.meta.plural)
}

fn rows_preference(entry: &Entry) -> String {
    format!("per_page/{}", entry.meta.plural)
}

/// The remembered columns in their order.
pub(super) fn columns(request: &PanelRequest<'_>, entry: &Entry) -> Option<Vec<String>> {
    let names = request.raw.preferences.get(&columns_preference(entry))?;
    Some(names.split(',').map(String::from).collect())
}

/// The remembered page size.
pub(super) fn per_page(request: &PanelRequest<'_>, entry: &Entry) -> Option<String> {
    request.raw.preferences.get(&rows_preference(entry)).cloned()
}

/// Returns true if the user has chosen columns or a page size.
pub(super) fn has_choice(request: &PanelRequest<'_>, entry: &Entry) -> bool {
    columns(request, entry).is_some() || per_page(request, entry).is_some()
}

/// Shows the chosen columns and page size, and remembers them unless they change a saved view.
///
/// # Errors
/// [`Error::Malformed`] for a page size that is no number, and those of the list's parameters.
pub(in crate::panel) async fn choose(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    form: &[Pair],
) -> Result<Response> {
    let entry = target.entry;
    let known = columns::load(request, entry).await?;
    let pairs = form.iter().filter(|pair| pair.name != "_token").cloned().collect();
    let mut params = ListParams::parse(pairs, &known, request.locale.zone)?;
    if form_value(&request.raw.query_pairs()?, FORGET).is_some() {
        (params.columns, params.per_page) = (None, None);
    }
    let is_known = |name: &String| known.iter().any(|column: &Column| column.name == *name);
    let mut chosen: Vec<String> = Vec::new();
    for name in params.columns.take().unwrap_or_default().into_iter().filter(is_known) {
        if !chosen.contains(&name) {
            chosen.push(name);
        }
    }
    params.columns = Some(chosen.clone()).filter(|chosen| !chosen.is_empty());
    let rows = params.per_page.clone().unwrap_or_default();
    if !rows.is_empty() && !rows.parse().is_ok_and(|rows: i64| (1..=MAX_PER_PAGE).contains(&rows)) {
        return Err(Error::Malformed(text!("The number of rows is no number: {rows}", rows = rows)));
    }
    if params.view_id.is_none()
        && let Some(user_id) = request.user.principal.user_id
    {
        preference::set(request.state, user_id, &columns_preference(entry), &chosen.join(",")).await?;
        preference::set(request.state, user_id, &rows_preference(entry), &rows).await?;
    }
    Ok(redirect(&params.page_url(target)))
}
