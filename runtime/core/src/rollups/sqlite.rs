//! Triggers of SQLite: one writer at a time, and one call for each row.

use charter_model::RollupFunction;

use super::group::{Group, Rollup};
use super::{PREFIX, install::Trigger};
use crate::db::Dialect;
use crate::error::ROLLUP_RANGE;

/// The triggers of a group.
pub(super) fn triggers(group: &Group, hash: &str) -> Vec<Trigger> {
    let (table, by) = (group.child.table, group.by);
    let is_changed = format!("OLD.\"{by}\" IS NOT NEW.\"{by}\"");
    let changed = group.rollups.iter().map(|rollup| {
        let value = |row: &str| rollup.value(group.child, row, Dialect::Sqlite);
        format!(" OR ({}) IS NOT ({})", value("OLD"), value("NEW"))
    });
    let changed: String = changed.collect();
    let (added, removed) = (add(group), remove(group));
    let events = [
        ("insert", format!("NEW.\"{by}\" IS NOT NULL"), format!("{added}{}", guard(group, "NEW"))),
        ("delete", format!("OLD.\"{by}\" IS NOT NULL"), format!("{removed}{}", guard(group, "OLD"))),
        (
            "update",
            format!("{is_changed}{changed}"),
            format!("{removed}{added}{}{}", guard(group, "OLD"), guard(group, "NEW")),
        ),
    ];
    let trigger = |(event, when, body): (&str, String, String)| {
        let name = format!("{PREFIX}{hash}_{event}");
        let statement = format!("CREATE TRIGGER \"{name}\" AFTER {event} ON \"{table}\" WHEN {when} BEGIN {body}END");
        Trigger { name, statements: vec![statement] }
    };
    events.into_iter().map(trigger).collect()
}

/// The statement that adds the new row to its parent.
fn add(group: &Group) -> String {
    let set = group.rollups.iter().map(|rollup| {
        let (column, value) = (rollup.column.name, rollup.value(group.child, "NEW", Dialect::Sqlite));
        match rollup.function {
            RollupFunction::Count | RollupFunction::Sum => format!("\"{column}\" = \"{column}\" + ({value})"),
            // With two arguments they are functions of a row, and null if one argument is.
            RollupFunction::Min | RollupFunction::Max => {
                let function = rollup.aggregate();
                format!("\"{column}\" = COALESCE({function}(\"{column}\", ({value})), \"{column}\", ({value}))")
            }
        }
    });
    update(group, set, "NEW")
}

/// The statement that takes the old row from its parent.
fn remove(group: &Group) -> String {
    let set = group.rollups.iter().map(|rollup| {
        let (column, value) = (rollup.column.name, rollup.value(group.child, "OLD", Dialect::Sqlite));
        match rollup.is_extreme() {
            false => format!("\"{column}\" = \"{column}\" - ({value})"),
            true => format!(
                "\"{column}\" = CASE WHEN \"{column}\" = ({value}) THEN ({}) ELSE \"{column}\" END",
                extreme(group, rollup)
            ),
        }
    });
    update(group, set, "OLD")
}

fn update(group: &Group, set: impl Iterator<Item = String>, row: &str) -> String {
    let set = set.collect::<Vec<_>>().join(", ");
    format!("UPDATE \"{}\" SET {set} WHERE \"id\" = {row}.\"{}\"; ", group.parent.table, group.by)
}

/// The smallest or largest value among the children of the parent of the old row.
fn extreme(group: &Group, rollup: &Rollup) -> String {
    let Some(field) = rollup.field else { return "NULL".to_owned() };
    let condition = rollup.condition(group.child, "c", Dialect::Sqlite);
    let condition = condition.map(|condition| format!(" AND {condition}")).unwrap_or_default();
    format!(
        "SELECT {}(c.\"{}\") FROM \"{}\" AS c WHERE c.\"{by}\" = OLD.\"{by}\"{condition}",
        rollup.aggregate(),
        field.name,
        group.child.table,
        by = group.by,
    )
}

/// The statement that refuses a sum out of its range.
fn guard(group: &Group, row: &str) -> String {
    let Some(exceeded) = exceeded(group) else { return String::new() };
    format!(
        "SELECT RAISE(ABORT, '{ROLLUP_RANGE}') FROM \"{}\" WHERE \"id\" = {row}.\"{}\" AND ({exceeded}); ",
        group.parent.table, group.by,
    )
}

/// The condition that a sum of a parent is out of its range; none if none can be. A sum that exceeds 64 bits is a float in
/// SQLite.
pub(super) fn exceeded(group: &Group) -> Option<String> {
    let limits = group.rollups.iter().filter_map(|rollup| Some((rollup.column.name, rollup.range()?)));
    let exceeded: Vec<String> = limits
        .map(|(column, most)| {
            format!("typeof(\"{column}\") <> 'integer' OR \"{column}\" > {most} OR \"{column}\" < -{most}")
        })
        .collect();
    (!exceeded.is_empty()).then(|| exceeded.join(" OR "))
}
