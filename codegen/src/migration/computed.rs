//! Computed columns in a migration: the rows whose value is computed again.

use super::step::Step;
use super::table::{Column, Table};
use crate::snapshot::{Field, Resource};

/// The steps that compute columns of a table that stays, because the column is new, its expression has changed, or a column
/// that it names has. `kept` has the columns that keep their values, by their former and later names.
pub fn steps(
    (before, after): (&Resource, &Resource),
    (then, now): (&Table, &Table),
    kept: &[(String, String)],
) -> Vec<Step> {
    let former = |name: &str| kept.iter().find(|(_, to)| to == name).map(|(from, _)| from.as_str());
    let is_same = |name: &str| match (former(name).and_then(|from| then.column(from)), now.column(name)) {
        (Some(then), Some(now)) => has_same_values(then, now),
        _ => false,
    };
    let is_due = |field: &&Field| {
        let earlier = former(&field.name).and_then(|name| before.fields.get(name));
        let named = field.computation.iter().flat_map(|computation| &computation.fields);
        earlier.is_none_or(|earlier| earlier.value != field.value) || !named.map(String::as_str).all(is_same)
    };
    let computed = after.ordered().into_iter().filter(|field| field.computation.is_some()).filter(is_due);
    computed.filter_map(|field| step(field, now)).collect()
}

fn step(field: &Field, table: &Table) -> Option<Step> {
    let computation = field.computation.as_ref()?;
    Some(Step::Compute {
        table: table.name.clone(),
        column: field.name.clone(),
        sqlite: computation.sqlite.clone(),
        postgres: computation.postgres.clone(),
    })
}

/// False if the migration may set values: rows without one are filled when a column becomes not null.
fn has_same_values(then: &Column, now: &Column) -> bool {
    then.storage == now.storage && then.nullable == now.nullable
}
