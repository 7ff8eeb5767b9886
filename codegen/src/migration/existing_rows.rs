//! Verification of rows that are older than a rule: those that break a new or narrower rule are counted, and those that
//! repeat a value of a new unique index stop the migration before it changes anything.

use super::computed::has_same_values;
use super::step::Step;
use super::table::{Index, IndexKind, Table};
use crate::schema_diff::{fields, is_convertible, is_wider};
use crate::snapshot::{Field, Resource, RowRule};

/// The steps that count the rows which break the new and narrower rules of a table that stays.
pub fn verified<'a>(
    (before, after): (&'a Resource, &'a Resource),
    table: &'a str,
) -> impl Iterator<Item = Step> + use<'a> {
    after.row_rules.iter().filter(move |rule| is_due(before, after, rule)).map(move |rule| Step::Verify {
        table: table.to_owned(),
        rule: rule.described(),
        sqlite: rule.sqlite.clone(),
        postgres: rule.postgres.clone(),
    })
}

/// True if rows from before the migration may break the rule.
fn is_due(before: &Resource, after: &Resource, rule: &RowRule) -> bool {
    let Some(name) = &rule.field else { return !before.checks.contains_key(&rule.value) };
    let pairs = fields(&before.fields, &after.fields);
    let pair = pairs.iter().find(|pair| pair.after.is_some_and(|field| field.name == *name));
    let Some((then, Some(now))) = pair.map(|pair| (pair.before, pair.after)) else { return false };
    match then.filter(|then| is_convertible(then, now)) {
        Some(then) if rule.key == "where" => then.choices.as_ref() != Some(&rule.value),
        Some(then) => {
            let then = then.rules.get(rule.key);
            then.is_none_or(|then| *then != rule.value && !is_wider(rule.key, then, &rule.value))
        }
        None => is_due_in_new_column(now, rule),
    }
}

/// A new column has null, its default or its backfill, which the generator has checked by the rules of one value.
fn is_due_in_new_column(field: &Field, rule: &RowRule) -> bool {
    match rule.key {
        "min" | "max" | "above" | "below" | "min_length" => field.computation.is_some() || field.initial.is_some(),
        "where" => field.backfill.is_some(),
        _ => true,
    }
}

/// The step that stops the migration at once if rows repeat a value of a new unique index. None if the migration sets or
/// converts values that decide it: then the step that creates the index finds them.
///
/// `names` has the columns that keep their values, by their former and later names.
pub fn unrepeated(
    resource: &Resource,
    (then, now): (&Table, &Table),
    index: &Index,
    names: &[(String, String)],
) -> Option<Step> {
    let is_set = |name: &str| resource.fields.get(name).is_some_and(|field| field.computation.is_some());
    let former = |name: &String| {
        let found = names.iter().find(|(_, to)| to == name).filter(|_| !is_set(name));
        found.map(|(from, _)| from.clone())
    };
    let all = |columns: &[String]| columns.iter().map(former).collect::<Option<Vec<String>>>();
    let stays = |name: &str| match (then.column(name), now.column(name)) {
        (Some(then), Some(now)) => has_same_values(then, now) && former(&now.name).as_deref() == Some(name),
        _ => false,
    };
    let is_named = |sql: &str, name: &str| sql.contains(&format!("\"{name}\""));
    let has_same_rows = index.rows.as_ref().is_none_or(|rows| {
        now.columns.iter().filter(|column| is_named(&rows.sqlite, &column.name)).all(|column| stays(&column.name))
    });
    if index.kind != IndexKind::Unique || !has_same_rows {
        return None;
    }
    // Before the migration adds the marks, no row is deleted.
    let live = index.live && then.column("deleted_at").is_some();
    let index = Index { columns: all(&index.columns)?, folded: all(&index.folded)?, live, ..index.clone() };
    Some(Step::CheckUnique { table: then.name.clone(), index })
}

/// The verification of a step in a sentence without its full stop.
pub fn described(step: &Step) -> Option<String> {
    match step {
        Step::Verify { table, rule, .. } => Some(format!("warns of rows of `{table}` that break `{rule}`")),
        Step::CheckUnique { table, index } => {
            let fields: Vec<String> = index.columns.iter().map(|name| format!("`{name}`")).collect();
            let case = if index.folded.is_empty() { "" } else { " without regard to case" };
            let rows = index.rows.as_ref().map(|rows| format!(" where `{}`", rows.condition)).unwrap_or_default();
            Some(format!(
                "stops before any change if rows of `{table}` have the same {}{case}{rows}",
                fields.join(", ")
            ))
        }
        _ => None,
    }
}
