//! Triggers of PostgreSQL: one call for each statement, with its old and new rows.
//!
//! A trigger locks the parents in the order of their ids. It adds the difference to a count or a sum, and computes a smallest
//! or largest value again if its row has gone: in a statement after the lock, which sees what other transactions that changed
//! the parent have committed.

use charter_model::RollupFunction;

use super::PREFIX;
use super::group::{Group, Rollup};
use super::install::Trigger;
use crate::db::Dialect;

/// The rows of a statement that a trigger reads.
const OLD: (&str, &str) = ("OLD TABLE AS \"old_rows\"", "old_rows");
const NEW: (&str, &str) = ("NEW TABLE AS \"new_rows\"", "new_rows");

/// The triggers of a group, each with its function.
pub(super) fn triggers(group: &Group, hash: &str) -> Vec<Trigger> {
    let trigger = |event: &str, rows: String, body: String| {
        let name = format!("{PREFIX}{hash}_{event}");
        let table = group.child.table;
        let function = format!(
            "CREATE OR REPLACE FUNCTION \"{name}\"() RETURNS trigger LANGUAGE plpgsql AS $charter$\n{body}$charter$"
        );
        let trigger = format!(
            "CREATE TRIGGER \"{name}\" AFTER {event} ON \"{table}\"{rows} FOR EACH STATEMENT EXECUTE FUNCTION \"{name}\"()"
        );
        Trigger { name, statements: vec![function, trigger] }
    };
    vec![
        trigger("insert", format!(" REFERENCING {}", NEW.0), change(group, false, true)),
        trigger("update", format!(" REFERENCING {} {}", OLD.0, NEW.0), change(group, true, true)),
        trigger("delete", format!(" REFERENCING {}", OLD.0), change(group, true, false)),
        trigger("truncate", String::new(), truncate(group)),
    ]
}

/// The body of a function after rows changed.
fn change(group: &Group, has_old: bool, has_new: bool) -> String {
    let (parent, by) = (group.parent.table, group.by);
    let differences = differences(group, has_old, has_new);
    let sums = |of: &dyn Fn(usize, &Rollup) -> Option<String>| -> Vec<String> {
        group.rollups.iter().enumerate().filter_map(|(index, rollup)| of(index, rollup)).collect()
    };
    let matters = sums(&|index, rollup| {
        Some(match (rollup.is_extreme(), has_old && has_new) {
            (false, _) => format!("SUM(d.\"n{index}\") <> 0"),
            (true, true) => {
                let function = rollup.aggregate();
                format!("{function}(d.\"o{index}\") IS DISTINCT FROM {function}(d.\"n{index}\")")
            }
            (true, false) if has_new => format!("COUNT(d.\"n{index}\") > 0"),
            (true, false) => format!("COUNT(d.\"o{index}\") > 0"),
        })
    });
    // The parents that change: the same in each statement.
    let of_changed = format!("FROM ({differences}) AS d GROUP BY d.\"parent\" HAVING {}", matters.join(" OR "));
    let mut body = format!(
        "DECLARE parents bigint[];\nBEGIN\n\
         SELECT array_agg(p.\"parent\" ORDER BY p.\"parent\") INTO parents FROM (SELECT d.\"parent\" {of_changed}) AS p;\n\
         IF parents IS NULL THEN RETURN NULL; END IF;\n\
         PERFORM 1 FROM \"{parent}\" AS p WHERE p.\"id\" = ANY(parents) ORDER BY p.\"id\" FOR NO KEY UPDATE;\n"
    );
    let added = sums(&|index, rollup| {
        let column = rollup.column.name;
        match rollup.function {
            RollupFunction::Count | RollupFunction::Sum => {
                Some(format!("\"{column}\" = p.\"{column}\" + d.\"n{index}\""))
            }
            RollupFunction::Min if has_new => Some(format!("\"{column}\" = LEAST(p.\"{column}\", d.\"n{index}\")")),
            RollupFunction::Max if has_new => Some(format!("\"{column}\" = GREATEST(p.\"{column}\", d.\"n{index}\")")),
            _ => None,
        }
    });
    if !added.is_empty() {
        let read = sums(&|index, rollup| {
            let is_read = has_new || !rollup.is_extreme();
            is_read.then(|| format!("{}(d.\"n{index}\") AS \"n{index}\"", rollup.aggregate()))
        });
        body.push_str(&format!(
            "UPDATE \"{parent}\" AS p SET {} FROM (SELECT d.\"parent\", {} {of_changed}) AS d \
             WHERE p.\"id\" = d.\"parent\";\n",
            added.join(", "),
            read.join(", ")
        ));
    }
    if has_old {
        for (index, rollup) in group.rollups.iter().enumerate() {
            let (true, Some(field)) = (rollup.is_extreme(), rollup.field) else { continue };
            let (column, function) = (rollup.column.name, rollup.aggregate());
            let condition = rollup.condition(group.child, "c", Dialect::Postgres);
            let condition = condition.map(|condition| format!(" AND {condition}")).unwrap_or_default();
            body.push_str(&format!(
                "UPDATE \"{parent}\" AS p SET \"{column}\" = (SELECT {function}(c.\"{}\") FROM \"{}\" AS c \
                 WHERE c.\"{by}\" = p.\"id\"{condition}) \
                 FROM (SELECT d.\"parent\", {function}(d.\"o{index}\") AS \"gone\" {of_changed}) AS d \
                 WHERE p.\"id\" = d.\"parent\" AND p.\"{column}\" = d.\"gone\";\n",
                field.name, group.child.table
            ));
        }
    }
    body.push_str("RETURN NULL;\nEND\n");
    body
}

/// The rows of the statement, each with its parent. Of a count and a sum they have the number to add, of a smallest or largest
/// value those of old and new rows.
fn differences(group: &Group, has_old: bool, has_new: bool) -> String {
    let select = |rows: &str, is_old: bool| {
        let mut columns = vec![format!("r.\"{}\" AS \"parent\"", group.by)];
        for (index, rollup) in group.rollups.iter().enumerate() {
            let value = rollup.value(group.child, "r", Dialect::Postgres);
            match (rollup.is_extreme(), is_old) {
                (false, true) => columns.push(format!("-({value}) AS \"n{index}\"")),
                (false, false) => columns.push(format!("({value}) AS \"n{index}\"")),
                (true, _) => {
                    for (name, is_filled) in [("o", is_old), ("n", !is_old)] {
                        let value = if is_filled { format!("({value})") } else { "NULL".to_owned() };
                        let is_read = if name == "o" { has_old } else { has_new };
                        columns.extend(is_read.then(|| format!("{value} AS \"{name}{index}\"")));
                    }
                }
            }
        }
        format!("SELECT {} FROM \"{rows}\" AS r WHERE r.\"{}\" IS NOT NULL", columns.join(", "), group.by)
    };
    let parts = [(has_old, OLD.1, true), (has_new, NEW.1, false)];
    let parts = parts.into_iter().filter(|(is_there, ..)| *is_there).map(|(_, rows, is_old)| select(rows, is_old));
    parts.collect::<Vec<_>>().join(" UNION ALL ")
}

/// The body of the function after `TRUNCATE`: no parent has children.
fn truncate(group: &Group) -> String {
    let (mut set, mut differs) = (Vec::new(), Vec::new());
    for rollup in &group.rollups {
        let (column, empty) = (rollup.column.name, if rollup.is_extreme() { "NULL" } else { "0" });
        set.push(format!("\"{column}\" = {empty}"));
        differs.push(format!("\"{column}\" IS DISTINCT FROM {empty}"));
    }
    format!(
        "BEGIN\nUPDATE \"{}\" SET {} WHERE {};\nRETURN NULL;\nEND\n",
        group.parent.table,
        set.join(", "),
        differs.join(" OR ")
    )
}
