//! Unique values: the sets of fields that a write sets, their values, and the records that have the same.

use sea_orm::Value;

use super::changeset::Changes;
use super::checks::checked;
use crate::catalog::Entry;
use crate::db::{Operand, Sql, fold};
use crate::error::{FieldErrors, Result};
use crate::expression;
use crate::meta::{FieldMeta, ResourceMeta, UniqueMeta};
use crate::ops::Context;
use crate::query::RowExpression;

/// True if a write sets a field of a set or of its condition.
pub fn is_touched(set: UniqueMeta, changes: &Changes) -> Result<bool> {
    let is_set = |name: &str| changes.get(name).is_some();
    if set.fields.iter().any(|name| is_set(name)) {
        return Ok(true);
    }
    let Some(rows) = set.rows else { return Ok(false) };
    Ok(checked(rows, changes.meta)?.fields().into_iter().any(is_set))
}

/// The unique sets that a write touches.
pub fn touched_sets(changes: &Changes) -> Result<Vec<UniqueMeta>> {
    let mut touched = Vec::new();
    for set in changes.meta.unique_sets() {
        if is_touched(set, changes)? {
            touched.push(set);
        }
    }
    Ok(touched)
}

/// The values of a set after the write. `None` if one is null, as in SQL, or if the record does not count. Without regard to
/// case, texts are folded.
pub fn values(context: &Context<'_>, changes: &Changes, set: UniqueMeta) -> Result<Option<Vec<Value>>> {
    if !counts(context, changes, set)? {
        return Ok(None);
    }
    let values = set.fields.iter().map(|name| Ok(changes.current(name)?.map(|value| folded(set, value))));
    values.collect()
}

/// True if a record meets the condition of a set after the write.
pub fn counts(context: &Context<'_>, changes: &Changes, set: UniqueMeta) -> Result<bool> {
    let Some(rows) = set.rows else { return Ok(true) };
    let node = checked(rows, changes.meta)?;
    let holds = expression::holds(node, &context.request_without_day(), &|field| changes.current(&field.name))?;
    Ok(holds == Some(true))
}

/// A value as a set compares it.
pub fn folded(set: UniqueMeta, value: Value) -> Value {
    match value {
        Value::String(Some(text)) if set.ignore_case => Value::from(fold(&text)),
        other => other,
    }
}

/// The opening and the closing of the expression by which a set compares a field.
pub fn folding(set: UniqueMeta, field: Option<&FieldMeta>) -> (&'static str, &'static str) {
    let is_text = field.is_some_and(|field| field.kind.facts().is_folded);
    if set.ignore_case && is_text { ("charter_fold(", ")") } else { ("", "") }
}

/// Writes a query that returns rows with these values that count and are not deleted.
pub fn write_duplicates<'e>(
    sql: &mut Sql,
    context: &Context<'_>,
    meta: &'static ResourceMeta,
    set: UniqueMeta,
    values: impl Iterator<Item = Operand<'e>>,
) -> Result<()> {
    sql.push("SELECT 1 FROM ").name(meta.table).push(" AS t WHERE ").push(crate::db::TRUE);
    for (name, value) in set.fields.iter().zip(values) {
        let (open, close) = folding(set, meta.fields.iter().find(|field| field.name == *name));
        sql.push(" AND ").push(open).push("t.").name(name).push(close).push(" = ");
        sql.push(open).operand(value).push(close);
    }
    write_counted(sql, context, meta, set)
}

/// Appends the condition of the rows that count and are not deleted.
pub fn write_counted(sql: &mut Sql, context: &Context<'_>, meta: &'static ResourceMeta, set: UniqueMeta) -> Result<()> {
    // A soft-deleted record does not conflict with a unique value.
    if meta.soft_delete {
        sql.push(" AND t.\"deleted_at\" IS NULL");
    }
    if let Some(rows) = set.rows {
        let node = checked(rows, meta)?;
        sql.push(" AND ");
        RowExpression::new(rows, node, sql.dialect, &context.request_without_day(), &|_| None).write(sql, "t");
    }
    Ok(())
}

/// Checks that no other record that counts has the same values. Rows in `replaced` do not conflict.
pub async fn check(context: &Context<'_>, changes: &mut Changes, set: UniqueMeta, replaced: &[i64]) -> Result<()> {
    let Some(values) = values(context, changes, set)? else { return Ok(()) };
    let mut sql = Sql::new(context.state().db.dialect(), "");
    write_duplicates(&mut sql, context, changes.meta, set, values.into_iter().map(Operand::Bound))?;
    if !replaced.is_empty() {
        sql.push(" AND NOT (").in_ids("t.\"id\"", replaced).push(")");
    }
    sql.push(" LIMIT 1");
    if sql.one(context.db()).await?.is_some() {
        add_not_unique(&mut changes.errors, set.fields);
    }
    Ok(())
}

/// Writes a condition that is true if no row has the values of the sets that a write touches. `value` returns the SQL expression
/// of a field's value, `own` is that of the id of an existing record.
pub fn write_uniqueness_condition(
    sql: &mut Sql,
    context: &Context<'_>,
    changes: &Changes,
    value: impl Fn(&str) -> String,
    own: Option<&str>,
) -> Result<()> {
    for set in touched_sets(changes)? {
        if !counts(context, changes, set)? {
            continue;
        }
        let values: Vec<String> = set.fields.iter().map(|name| value(name)).collect();
        sql.push(" AND NOT EXISTS (");
        write_duplicates(sql, context, changes.meta, set, values.iter().map(|value| Operand::Expression(value)))?;
        if let Some(own) = own {
            sql.push(" AND t.\"id\" <> ").push(own);
        }
        sql.push(" LIMIT 1)");
    }
    Ok(())
}

/// Adds the error for values that another record has, on the last field of the set.
pub fn add_not_unique(errors: &mut FieldErrors, fields: &[&'static str]) {
    match fields {
        [] => {}
        [alone] => errors.add(*alone, "is already taken"),
        [others @ .., last] => errors.add(*last, format!("is already taken together with {}", others.join(", "))),
    }
}

/// Adds the error for an embedded record with the values of an earlier one in the same list, on the last field of the set that a
/// client sets. `by` refers to the record that has the list, and clients do not see it.
pub fn add_repeated(errors: &mut FieldErrors, fields: &[&'static str], by: &str) {
    let own: Vec<&'static str> = fields.iter().copied().filter(|name| *name != by).collect();
    match &own[..] {
        [] => errors.add("id", "must be the only one in the list"),
        [alone] => errors.add(*alone, "is in the list twice"),
        [others @ .., last] => errors.add(*last, format!("is in the list twice together with {}", others.join(", "))),
    }
}

/// The fields of a set, with their metadata.
pub fn fields_of(entry: &Entry, set: UniqueMeta) -> Vec<&'static FieldMeta> {
    set.fields.iter().filter_map(|name| entry.field(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_embedded_record_is_reported_on_a_field_of_the_client() {
        for (fields, name, message) in [
            (&["call_id"][..], "id", "must be the only one in the list"),
            (&["call_id", "member_id"], "member_id", "is in the list twice"),
            (&["member_id", "call_id"], "member_id", "is in the list twice"),
            (&["code"], "code", "is in the list twice"),
            (&["call_id", "day", "room", "seat"], "seat", "is in the list twice together with day, room"),
        ] {
            let mut errors = FieldErrors::default();
            add_repeated(&mut errors, fields, "call_id");
            let body = errors.into_result().expect_err("an error").body("");
            assert_eq!(body["errors"], serde_json::json!({ name: [message] }));
        }
    }
}
