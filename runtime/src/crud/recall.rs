//! The rows of a numbered page: found as the plan says, or by the ids that were found before, where they are the same.
//!
//! To find the page of a filtered list may take long, to read records by their ids never does. A page that was found is
//! remembered by its ids, and is the same for as long as no record has changed that the list finds.

use std::sync::Arc;

use super::count::{Basis, count, counting, question, told};
use super::page::{Part, Reading, length, select};
use crate::context::Context;
use crate::db::Rows;
use crate::error::Result;
use crate::total::Question;

/// The rows of the plan's page, and the total where it is asked for.
pub(super) async fn numbered(
    context: &Context<'_>,
    reading: Reading<'_>,
    basis: &Basis,
) -> Result<(Arc<Rows>, Option<i64>)> {
    let statement = select(context, reading, basis, Part::Numbered);
    let page = if is_lasting(reading, basis) { question(context, &statement) } else { None };
    let recalled = match &page {
        Some(page) => recall(context, reading, basis, page).await?,
        None => Recalled::Nothing,
    };
    let learned = match recalled {
        Recalled::Page(rows, total) => return Ok((rows, Some(total))),
        Recalled::Total(total) => Some(total),
        Recalled::Nothing => None,
    };
    let narrowed = reading.narrowed(context).await?;
    let rows = context.read(select(context, narrowed, basis, Part::Numbered)).await?;
    if let Some(page) = page
        && let Some(changes) = told(reading, &rows)?
    {
        context.state().totals.keep_page(page, changes, rows.iter().map(|row| reading.id(row)).collect::<Result<_>>()?);
    }
    // What was learned during this request is not counted again, unless the page has come to hold more since.
    let least = if rows.is_empty() { 0 } else { reading.plan.offset() + length(&rows) };
    let learned = learned.filter(|total| *total >= least);
    let total = match (basis, shown(reading, &rows).or(learned)) {
        (Basis::Unasked, _) => None,
        (_, Some(total)) => Some(total),
        (basis, None) => Some(count(context, reading, basis, (told(reading, &rows)?, length(&rows))).await?),
    };
    Ok((rows, total))
}

/// Whether the page follows from the records of one table alone, and is worth remembering.
fn is_lasting(reading: Reading<'_>, basis: &Basis) -> bool {
    let own = || reading.plan.sources().iter().all(|source| source.join.is_none());
    matches!(basis, Basis::Changes { alone: true, .. }) && own()
}

/// The total, where the page is not full and so tells it.
fn shown(reading: Reading<'_>, rows: &Rows) -> Option<i64> {
    let (found, plan) = (length(rows), reading.plan);
    (found < plan.per_page && (found > 0 || plan.page == 1)).then(|| plan.offset() + found)
}

/// What the page that was found before comes to.
enum Recalled {
    /// It is the same: its records as they are now, and the total.
    Page(Arc<Rows>, i64),
    /// It may be another; this is the total.
    Total(i64),
    Nothing,
}

/// The page as it was found before, with its records as they are now.
async fn recall(context: &Context<'_>, reading: Reading<'_>, basis: &Basis, page: &Question) -> Result<Recalled> {
    let known = &context.state().totals;
    let Some(kept) = known.page(page) else { return Ok(Recalled::Nothing) };
    let rows = context.read(select(context, reading, basis, Part::Known(&kept.ids))).await?;
    let Some(changes) = told(reading, &rows)? else { return Ok(Recalled::Nothing) };
    // Some are gone, or are none of this list's any more.
    if rows.len() != kept.ids.len() {
        return Ok(Recalled::Nothing);
    }
    if changes != kept.changes {
        // What is learned of the total says which records changed since.
        let total = count(context, reading, basis, (Some(changes), length(&rows))).await?;
        let first = reading.plan.page == 1;
        let same = question(context, &counting(context, reading, basis))
            .is_some_and(|question| known.is_same(&question, &kept, first, changes));
        return Ok(if same { Recalled::Page(rows, total) } else { Recalled::Total(total) });
    }
    let total = match shown(reading, &rows) {
        Some(total) => total,
        None => count(context, reading, basis, (Some(changes), length(&rows))).await?,
    };
    Ok(Recalled::Page(rows, total))
}
