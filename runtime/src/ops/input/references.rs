//! The rules that need other records: references that must lead somewhere, values that must exist or be unique.

use sea_orm::Value;

use super::changeset::Changes;
use super::rules;
use crate::catalog::{Catalog, Entry};
use crate::context::Context;
use crate::db::{Dialect, Operand, Sql, TRUE};
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{FieldMeta, Kind, ResourceMeta, Rule};
use crate::ops::visibility;
use crate::query::{Condition, write_condition};
use crate::record::write_from;

/// Checks every changed field; problems are collected in `changes.errors`. The rows of `replaced` do not stand in the
/// way of a unique value: that of the record itself, and those that the same write replaces.
pub async fn check(context: &Context<'_>, changes: &mut Changes, replaced: &[i64]) -> Result<()> {
    let given: Vec<(&'static FieldMeta, Value)> =
        changes.iter().filter(|(_, v)| **v != v.as_null()).map(|(f, v)| (f, v.clone())).collect();
    for (field, value) in given {
        check_field(context, field, &value, &mut changes.errors).await?;
        if field.rules.contains(&Rule::Unique) {
            check_unique(context, changes, &[field.name], replaced).await?;
        }
    }
    check_polymorphic(context, changes).await?;
    for set in changes.meta.unique {
        if set.iter().any(|name| changes.get(name).is_some()) && !set.iter().any(|name| changes.errors.contains(name)) {
            check_unique(context, changes, set, replaced).await?;
        }
    }
    Ok(())
}

/// Checks a record that comes back after it was deleted: its unique values may be another's by now, and what it cannot be
/// without may be deleted. A reference that may be null stays as it is, wherever it leads: while the record was there it
/// would have too.
pub async fn check_restored(context: &Context<'_>, changes: &mut Changes, id: i64) -> Result<()> {
    let meta = changes.meta;
    for field in meta.fields.iter().filter(|field| !field.nullable) {
        let Kind::Ref { resource } = field.kind else { continue };
        let (target, value) = (context.catalog().linked(resource), changes.current(field.name)?);
        let Some(value) = value.filter(|_| target.meta.soft_delete || target.required_parents.is_some()) else {
            continue;
        };
        let mut sql = Sql::new(context.state().db.dialect(), "");
        write_found_of(&mut sql, target, &visibility::present(target), "id", Operand::Bound(value));
        if sql.one(context.db()).await?.is_none() {
            let label = label(context.catalog(), resource);
            changes.errors.add(field.name, format!("names a {label} that is deleted; restore that one first"));
        }
    }
    for set in meta.unique_sets() {
        check_unique(context, changes, set, &[id]).await?;
    }
    Ok(())
}

/// Checks the parameters of an action: what they refer to, and what they are to one another.
/// `errors`: what was found wrong with them before; such a one has no value.
pub async fn check_parameters(
    context: &Context<'_>,
    fields: &'static [FieldMeta],
    values: &[Value],
    mut errors: FieldErrors,
) -> Result<()> {
    for (field, value) in fields.iter().zip(values).filter(|(_, v)| **v != v.as_null()) {
        check_field(context, field, value, &mut errors).await?;
    }
    let value = |name: &str| fields.iter().position(|f| f.name == name).map(|at| &values[at]);
    let current = |name: &str| Ok(value(name).filter(|v| **v != v.as_null()).cloned());
    for (field, problem) in rules::broken_record_rules(fields, |_, _| true, current)? {
        errors.add(field, problem);
    }
    errors.into_result()
}

/// What one value refers to must be there.
async fn check_field(context: &Context<'_>, field: &FieldMeta, value: &Value, errors: &mut FieldErrors) -> Result<()> {
    let catalog = context.catalog();
    match field.kind {
        Kind::Ref { resource } if !exists(context, catalog.linked(resource), "id", value.clone()).await? => {
            errors.add(field.name, format!("names no {}", label(catalog, resource)));
        }
        Kind::RefList { resource } => {
            let missing = missing(context, catalog.linked(resource), value).await?;
            if !missing.is_empty() {
                let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
                errors.add(field.name, format!("names no {}: {}", label(catalog, resource), missing.join(", ")));
            }
        }
        _ => {}
    }
    for rule in field.rules {
        if let Rule::Exists { resource, field: other } = rule
            && !exists(context, catalog.linked(resource), other, value.clone()).await?
        {
            errors.add(field.name, format!("is not the {other} of any {}", label(catalog, resource)));
        }
    }
    Ok(())
}

async fn exists(context: &Context<'_>, target: &Entry, field: &str, value: Value) -> Result<bool> {
    let mut sql = Sql::new(context.state().db.dialect(), "");
    write_found(&mut sql, context, target, field, Operand::Bound(value));
    Ok(sql.one(context.db()).await?.is_some())
}

/// Writes a query that finds a row if such a record is seen.
fn write_found(sql: &mut Sql, context: &Context<'_>, target: &Entry, field: &str, value: Operand<'_>) {
    write_found_of(sql, target, &visibility::visible(context, target), field, value);
}

/// Writes a query that finds a row if there is such a record for which `condition` holds.
fn write_found_of(sql: &mut Sql, target: &Entry, condition: &Condition, field: &str, value: Operand<'_>) {
    let mut sources = Vec::new();
    condition.sources(&mut sources);
    sql.push("SELECT 1");
    write_from(sql, target.meta.table, &sources);
    sql.push(" WHERE t.").name(field).push(" = ").operand(value).push(" AND ");
    write_condition(sql, condition);
    sql.push(" LIMIT 1");
}

/// Writes one condition that holds if [`check`] finds nothing wrong, and answers whether there is one: lists of
/// references, and those to records of any kind, are looked up one after the other. `value`: the expression that a field has
/// its value from; `own`: the one of the id of a record that is there.
pub fn write_are_valid(
    sql: &mut Sql,
    context: &Context<'_>,
    changes: &Changes,
    value: impl Fn(&str) -> String,
    own: Option<&str>,
) -> Result<bool> {
    let catalog = context.catalog();
    sql.push(TRUE);
    let write_there = |sql: &mut Sql, target: &Entry, field: &str, value: &str| {
        sql.push(" AND (").push(value).push(" IS NULL OR EXISTS (");
        write_found(sql, context, target, field, Operand::Expression(value));
        sql.push("))");
    };
    for (field, given) in changes.iter() {
        match field.kind {
            Kind::RefList { .. } | Kind::PolymorphicRef { .. } | Kind::PolymorphicType { .. }
                if *given != given.as_null() =>
            {
                return Ok(false);
            }
            Kind::Ref { resource } => write_there(sql, catalog.linked(resource), "id", &value(field.name)),
            _ => {}
        }
        for rule in field.rules {
            if let Rule::Exists { resource, field: other } = rule {
                write_there(sql, catalog.linked(resource), other, &value(field.name));
            }
        }
    }
    for set in checked_sets(changes) {
        let values: Vec<String> = set.iter().map(|name| value(name)).collect();
        let values = values.iter().map(|value| Operand::Expression(value));
        sql.push(" AND NOT EXISTS (");
        write_same(sql, changes.meta, set, values);
        if let Some(own) = own {
            sql.push(" AND t.\"id\" <> ").push(own);
        }
        sql.push(" LIMIT 1)");
    }
    Ok(true)
}

/// The unique values, one or several together, of which some are given.
pub fn checked_sets(changes: &Changes) -> impl Iterator<Item = &'static [&'static str]> {
    changes.meta.unique_sets().filter(|set| set.iter().any(|name| changes.get(name).is_some()))
}

/// Those of a list of references that name nothing the caller sees. No foreign key guards a list: what it names stays until
/// it is written, so that whoever deletes one of them finds it there.
async fn missing(context: &Context<'_>, target: &Entry, value: &Value) -> Result<Vec<i64>> {
    let Value::Json(Some(json)) = value else { return Ok(Vec::new()) };
    let wanted: Vec<i64> = json.as_array().into_iter().flatten().filter_map(serde_json::Value::as_i64).collect();
    let (seen, mut sources) = (visibility::visible(context, target), Vec::new());
    seen.sources(&mut sources);
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT t.\"id\" AS \"id\"");
    write_from(&mut sql, target.meta.table, &sources);
    sql.push(" WHERE ").in_ids("t.\"id\"", &wanted).push(" AND ");
    write_condition(&mut sql, &seen);
    if sql.dialect == Dialect::Postgres {
        sql.push(" ORDER BY t.\"id\" FOR SHARE OF t");
    }
    let mut found = Vec::new();
    for row in sql.all(context.db()).await? {
        found.push(row.try_get::<i64>("", "id")?);
    }
    Ok(wanted.into_iter().filter(|id| !found.contains(id)).collect())
}

/// A deleted record is no record to refer to, and does not stand in the way of a unique value.
fn leave_out_deleted(sql: &mut Sql, meta: &ResourceMeta) {
    if meta.soft_delete {
        sql.push(" AND t.\"deleted_at\" IS NULL");
    }
}

/// Type and id of a polymorphic reference go together, and lead to a record.
async fn check_polymorphic(context: &Context<'_>, changes: &mut Changes) -> Result<()> {
    for field in changes.meta.fields {
        let Kind::PolymorphicRef { type_field } = field.kind else { continue };
        let given = [field.name, type_field].map(|name| (changes.get(name).is_some(), changes.errors.contains(name)));
        // Of one that cannot be read the other is not judged.
        if given.iter().all(|(given, _)| !given) || given.iter().any(|(_, wrong)| *wrong) {
            continue;
        }
        match (changes.current(type_field)?, changes.current(field.name)?) {
            (None, None) => {}
            (Some(_), None) => changes.errors.add(field.name, format!("is required with {type_field}")),
            (None, Some(_)) => changes.errors.add(type_field, format!("is required with {}", field.name)),
            (Some(Value::String(Some(name))), Some(id)) => {
                let found = match context.catalog().by_type(&name) {
                    Some(target) => exists(context, target, "id", id).await?,
                    None => false,
                };
                if !found {
                    changes.errors.add(field.name, format!("names no {name}"));
                }
            }
            _ => return Err(Error::internal(format!("`{type_field}` is not text"))),
        }
    }
    Ok(())
}

/// No other record that is not deleted has the same values. A set with a null is not compared, as in SQL.
async fn check_unique(
    context: &Context<'_>,
    changes: &mut Changes,
    set: &[&'static str],
    replaced: &[i64],
) -> Result<()> {
    let Some(values) = compared(changes, set)? else { return Ok(()) };
    let mut sql = Sql::new(context.state().db.dialect(), "");
    write_same(&mut sql, changes.meta, set, values.into_iter().map(Operand::Bound));
    if !replaced.is_empty() {
        sql.push(" AND NOT (").in_ids("t.\"id\"", replaced).push(")");
    }
    sql.push(" LIMIT 1");
    if sql.one(context.db()).await?.is_some() {
        add_not_unique(&mut changes.errors, set);
    }
    Ok(())
}

/// The values of a set as they will be; `None` when one is null.
fn compared(changes: &Changes, set: &[&'static str]) -> Result<Option<Vec<Value>>> {
    set.iter().map(|name| changes.current(name)).collect()
}

/// Writes a query that finds the rows that are not deleted and have these values.
fn write_same<'e>(sql: &mut Sql, meta: &ResourceMeta, set: &[&str], values: impl Iterator<Item = Operand<'e>>) {
    sql.push("SELECT 1 FROM ").name(meta.table).push(" AS t WHERE ").push(TRUE);
    for (name, value) in set.iter().zip(values) {
        sql.push(" AND t.").name(name).push(" = ").operand(value);
    }
    leave_out_deleted(sql, meta);
}

/// The problem of values that another record has. The last of a set is what tells its records apart.
pub fn add_not_unique(errors: &mut FieldErrors, set: &[&'static str]) {
    match set {
        [] => {}
        [alone] => errors.add(*alone, "is already taken"),
        [others @ .., last] => errors.add(*last, format!("is already taken together with {}", others.join(", "))),
    }
}

fn label(catalog: &Catalog, resource: &str) -> String {
    catalog.linked(resource).meta.label.to_lowercase()
}
