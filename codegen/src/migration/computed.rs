//! Columns that a migration computes: those of computed fields, and of fields whose default is an expression.

use super::step::Step;
use super::table::{Column, Table};
use crate::snapshot::{Computation, Field, Resource};

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
    field.computation.as_ref().map(|computation| compute(&table.name, &field.name, computation))
}

/// The step that sets a column to an expression.
fn compute(table: &str, column: &str, computation: &Computation) -> Step {
    let Computation { sqlite, postgres, .. } = computation.clone();
    Step::Compute { table: table.to_owned(), column: column.to_owned(), sqlite, postgres }
}

/// A column that a migration sets to its default, in all rows or where it is null.
pub struct Initial {
    column: String,
    computation: Computation,
}

impl Initial {
    /// The default of a new column; none for one that is no expression of the row.
    pub fn of_new(field: &Field) -> Option<Initial> {
        Some(Initial { column: field.name.clone(), computation: field.initial.clone()? })
    }

    /// The default of a column that keeps its values.
    pub fn of_missing(field: &Field) -> Option<Initial> {
        let Initial { column, computation } = Initial::of_new(field)?;
        let or_default = |sql: &str| format!("COALESCE(\"{column}\", {sql})");
        let (sqlite, postgres) = (or_default(&computation.sqlite), or_default(&computation.postgres));
        Some(Initial { column, computation: Computation { sqlite, postgres, ..computation } })
    }
}

/// The steps of the defaults of a table, each after those that it names. The check refuses circles.
pub fn defaults(table: &Table, mut due: Vec<Initial>) -> Vec<Step> {
    let mut steps = Vec::new();
    while !due.is_empty() {
        let is_free = |one: &Initial| !due.iter().any(|other| one.computation.fields.contains(&other.column));
        let at = due.iter().position(is_free).unwrap_or_default();
        let Initial { column, computation } = due.remove(at);
        steps.push(compute(&table.name, &column, &computation));
    }
    steps
}

/// False if the migration may set values: rows without one are filled when a column becomes not null.
pub fn has_same_values(then: &Column, now: &Column) -> bool {
    then.storage == now.storage && then.nullable == now.nullable
}
