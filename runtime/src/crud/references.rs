//! The rules that need other records: references that must lead somewhere, values that must exist or be unique.

use sea_orm::Value;

use super::changes::Changes;
use super::{rules, store};
use crate::catalog::{Catalog, Entry};
use crate::context::Context;
use crate::db::Sql;
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{FieldMeta, Kind, ResourceMeta, Rule};
use crate::query::write_condition;
use crate::record::write_from;

/// Checks every changed field; problems are collected in `changes.errors`. The rows of `replaced` do not stand in the
/// way of a unique value: that of the record itself, and those that the same write replaces.
pub async fn check(context: &Context<'_>, changes: &mut Changes, replaced: &[i64]) -> Result<()> {
    let given: Vec<(&'static FieldMeta, Value)> =
        changes.iter().filter(|(_, v)| **v != v.as_null()).map(|(f, v)| (f, v.clone())).collect();
    for (field, value) in given {
        if changes.errors.contains(field.name) {
            continue;
        }
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

/// Checks the parameters of an action: what they refer to, and what they are to one another.
pub async fn check_parameters(context: &Context<'_>, fields: &'static [FieldMeta], values: &[Value]) -> Result<()> {
    let mut errors = FieldErrors::default();
    for (field, value) in fields.iter().zip(values).filter(|(_, v)| **v != v.as_null()) {
        check_field(context, field, value, &mut errors).await?;
    }
    let value = |name: &str| fields.iter().position(|f| f.name == name).map(|at| &values[at]);
    let current = |name: &str| Ok(value(name).filter(|v| **v != v.as_null()).cloned());
    for (field, problem) in rules::broken_together(fields, |_, _| true, current)? {
        errors.add(field, problem);
    }
    errors.into_result()
}

/// What one value refers to must be there.
async fn check_field(context: &Context<'_>, field: &FieldMeta, value: &Value, errors: &mut FieldErrors) -> Result<()> {
    let catalog = context.catalog();
    match field.kind {
        Kind::Ref { resource } if !exists(context, catalog.get(resource), "id", value.clone()).await? => {
            errors.add(field.name, format!("names no {}", label(catalog, resource)));
        }
        Kind::RefList { resource } => {
            let missing = missing(context, catalog.get(resource), value).await?;
            if !missing.is_empty() {
                let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
                errors.add(field.name, format!("names no {}: {}", label(catalog, resource), missing.join(", ")));
            }
        }
        _ => {}
    }
    for rule in field.rules {
        if let Rule::Exists { resource, field: other } = rule
            && !exists(context, catalog.get(resource), other, value.clone()).await?
        {
            errors.add(field.name, format!("is not the {other} of any {}", label(catalog, resource)));
        }
    }
    Ok(())
}

async fn exists(context: &Context<'_>, target: &Entry, field: &str, value: Value) -> Result<bool> {
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT 1");
    let visible = store::visible(context, target)?;
    let mut sources = Vec::new();
    visible.sources(&mut sources);
    write_from(&mut sql, target.meta.table, &sources);
    sql.push(" WHERE t.").name(field).push(" = ").bind(value).push(" AND ");
    write_condition(&mut sql, &visible);
    Ok(sql.push(" LIMIT 1").clone().one(context.db()).await?.is_some())
}

async fn missing(context: &Context<'_>, target: &Entry, value: &Value) -> Result<Vec<i64>> {
    let Value::Json(Some(json)) = value else { return Ok(Vec::new()) };
    let wanted: Vec<i64> = json.as_array().into_iter().flatten().filter_map(serde_json::Value::as_i64).collect();
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT t.\"id\" AS \"id\" FROM ");
    sql.name(target.meta.table).push(" AS t WHERE ").among("t.\"id\"", &wanted);
    leave_out_deleted(&mut sql, target.meta);
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
        if changes.get(field.name).is_none() && changes.get(type_field).is_none() {
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
    let meta = changes.meta;
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT 1 FROM ");
    sql.name(meta.table).push(" AS t WHERE TRUE");
    for name in set {
        let Some(value) = changes.current(name)? else { return Ok(()) };
        sql.push(" AND t.").name(name).push(" = ").bind(value);
    }
    if !replaced.is_empty() {
        sql.push(" AND NOT (").among("t.\"id\"", replaced).push(")");
    }
    leave_out_deleted(&mut sql, meta);
    if sql.push(" LIMIT 1").clone().one(context.db()).await?.is_some() {
        add_taken(&mut changes.errors, set);
    }
    Ok(())
}

/// The problem of values that another record has. The last of a set is what tells its records apart.
pub fn add_taken(errors: &mut FieldErrors, set: &[&'static str]) {
    match set {
        [] => {}
        [alone] => errors.add(*alone, "is already taken"),
        [others @ .., last] => errors.add(*last, format!("is already taken together with {}", others.join(", "))),
    }
}

fn label(catalog: &Catalog, resource: &str) -> String {
    catalog.get(resource).meta.label.to_lowercase()
}
