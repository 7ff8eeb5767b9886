//! Rules that need other records: references must exist, and unique values must not repeat.

use sea_orm::Value;

use super::changeset::Changes;
use super::{choices, rules, unique};
use crate::catalog::{Catalog, Entry};
use crate::db::{Dialect, Operand, Sql, TRUE};
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{FieldMeta, Kind, Rule, UniqueMeta};
use crate::ops::Context;
use crate::ops::visibility;
use crate::query::{Condition, write_condition};
use crate::record::write_from;

/// Checks every changed field and adds errors to `changes.errors`. Rows in `replaced` do not conflict with unique
/// values: the record itself, and rows that the same write replaces.
pub async fn check(context: &Context<'_>, changes: &mut Changes, replaced: &[i64]) -> Result<()> {
    let new_values: Vec<(&'static FieldMeta, Value)> =
        changes.iter().filter(|(_, v)| **v != v.as_null()).map(|(f, v)| (f, v.clone())).collect();
    for (field, value) in new_values {
        check_field(context, field, &value, &mut changes.errors).await?;
        if field.rules.contains(&Rule::Unique) {
            unique::check(context, changes, UniqueMeta::plain(std::slice::from_ref(&field.name)), replaced).await?;
        }
    }
    check_polymorphic(context, changes).await?;
    for set in changes.meta.unique {
        if unique::is_touched(*set, changes)? && !set.fields.iter().any(|name| changes.errors.contains(name)) {
            unique::check(context, changes, *set, replaced).await?;
        }
    }
    Ok(())
}

/// Checks a record before its restore: another record may have its unique values by now, and a required parent may be
/// deleted. A nullable reference stays, even to a deleted record, as if the record had never been deleted.
pub async fn check_restored(context: &Context<'_>, changes: &mut Changes, id: i64) -> Result<()> {
    let meta = changes.meta;
    for field in meta.fields.iter().filter(|field| !field.nullable) {
        let Kind::Ref { resource } = field.kind else { continue };
        let (target, value) = (context.catalog().linked(resource), changes.current(field.name)?);
        let Some(value) = value.filter(|_| target.meta.soft_delete || target.required_parents.is_some()) else {
            continue;
        };
        let mut sql = Sql::new(context.state().db.dialect(), "");
        write_exists_where(&mut sql, target, &visibility::present(target), "id", Operand::Bound(value));
        if sql.one(context.db()).await?.is_none() {
            let label = label(context.catalog(), resource);
            changes.errors.add(field.name, format!("refers to a deleted {label}; restore that record first"));
        }
    }
    for set in meta.unique_sets() {
        unique::check(context, changes, set, &[id]).await?;
    }
    Ok(())
}

/// Checks the parameters of an action: their references, and the rules between two of them. `errors` has the errors of
/// parameters that could not be read and have no value.
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
    for (field, problem) in rules::broken_record_rules(fields, &context.request_without_day(), |_| true, current)? {
        errors.add(field, problem);
    }
    errors.into_result()
}

/// Checks the reference and the `exists` rules of one value.
async fn check_field(context: &Context<'_>, field: &FieldMeta, value: &Value, errors: &mut FieldErrors) -> Result<()> {
    let catalog = context.catalog();
    match field.kind {
        Kind::Ref { resource } => {
            let target = catalog.linked(resource);
            let (choices, lock) = (choices::condition(context, field.choices, target), is_locked(field, target));
            if !can_refer(context, target, &choices, value.clone(), lock).await? {
                let is_unfit = !choices.is_always() && exists(context, target, "id", value.clone()).await?;
                match is_unfit {
                    true => choices::add_unfit(errors, catalog, field, resource),
                    false => add_missing_record(errors, catalog, field, resource),
                }
            }
        }
        Kind::RefList { resource } => {
            // No foreign key protects a list: a concurrent delete waits until the write commits, and then finds the reference.
            let ids: Vec<i64> = ids(value).collect();
            let missing = missing(context, catalog.linked(resource), &ids, "FOR SHARE").await?;
            add_missing_records(errors, catalog, field, resource, &missing);
        }
        _ => {}
    }
    for rule in field.rules {
        if let Rule::Exists { resource, field: other } = rule
            && !exists(context, catalog.linked(resource), other, value.clone()).await?
        {
            add_missing_value(errors, catalog, field, resource, other);
        }
    }
    Ok(())
}

/// Adds the error of a reference to a record that the caller cannot see.
pub(super) fn add_missing_record(errors: &mut FieldErrors, catalog: &Catalog, field: &FieldMeta, resource: &str) {
    errors.add(field.name, format!("does not refer to an existing {}", label(catalog, resource)));
}

/// Adds the error of a list of references with these ids of records that the caller cannot see, if there are any.
pub(super) fn add_missing_records(
    errors: &mut FieldErrors,
    catalog: &Catalog,
    field: &FieldMeta,
    resource: &str,
    missing: &[i64],
) {
    if !missing.is_empty() {
        let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let label = label(catalog, resource);
        errors.add(field.name, format!("does not refer to an existing {label}: {}", missing.join(", ")));
    }
}

/// Adds the error of an `exists` rule.
pub(super) fn add_missing_value(
    errors: &mut FieldErrors,
    catalog: &Catalog,
    field: &FieldMeta,
    resource: &str,
    other: &str,
) {
    errors.add(field.name, format!("is not the {other} of any {}", label(catalog, resource)));
}

/// True if a referred record must stay until the write commits: a foreign key does not see a soft deletion.
pub(super) fn is_locked(field: &FieldMeta, target: &Entry) -> bool {
    field.on_delete.is_some() && target.meta.soft_delete
}

async fn exists(context: &Context<'_>, target: &Entry, field: &str, value: Value) -> Result<bool> {
    let mut sql = Sql::new(context.state().db.dialect(), "");
    write_exists_where(&mut sql, target, &visibility::visible(context, target), field, Operand::Bound(value));
    Ok(sql.one(context.db()).await?.is_some())
}

/// True if the caller can see a record with this id that meets the condition of its choices. With `lock`, a concurrent
/// deletion waits for the write, or the write for it.
async fn can_refer(context: &Context<'_>, target: &Entry, choices: &Condition, id: Value, lock: bool) -> Result<bool> {
    let mut sql = Sql::new(context.state().db.dialect(), "");
    let condition = visibility::visible(context, target).and(choices.clone());
    write_exists_where(&mut sql, target, &condition, "id", Operand::Bound(id));
    if lock && sql.dialect == Dialect::Postgres {
        sql.push(" FOR KEY SHARE OF t");
    }
    Ok(sql.one(context.db()).await?.is_some())
}

/// Writes a query that returns a row if a record with this value meets `condition`.
fn write_exists_where(sql: &mut Sql, target: &Entry, condition: &Condition, field: &str, value: Operand<'_>) {
    let mut sources = Vec::new();
    condition.sources(&mut sources);
    sql.push("SELECT 1");
    write_from(sql, target.meta.table, &sources);
    sql.push(" WHERE t.").name(field).push(" = ").operand(value).push(" AND ");
    write_condition(sql, condition);
    sql.push(" LIMIT 1");
}

/// Writes a condition that is true if [`check`] would find no error. Returns false if no such condition is possible:
/// lists of references, polymorphic references and those that lock their record are checked one by one. `value` returns the SQL expression of a
/// field's value, `own` is that of the id of an existing record.
pub fn write_validity_condition(
    sql: &mut Sql,
    context: &Context<'_>,
    changes: &Changes,
    value: impl Fn(&str) -> String,
    own: Option<&str>,
) -> Result<bool> {
    let catalog = context.catalog();
    sql.push(TRUE);
    let write_reference = |sql: &mut Sql, target: &Entry, choices: Condition, field: &str, value: &str| {
        sql.push(" AND (").push(value).push(" IS NULL OR EXISTS (");
        let condition = visibility::visible(context, target).and(choices);
        write_exists_where(sql, target, &condition, field, Operand::Expression(value));
        sql.push("))");
    };
    for (field, new_value) in changes.iter() {
        match field.kind {
            Kind::RefList { .. } | Kind::PolymorphicRef { .. } | Kind::PolymorphicType { .. }
                if *new_value != new_value.as_null() =>
            {
                return Ok(false);
            }
            Kind::Ref { resource }
                if is_locked(field, catalog.linked(resource)) && *new_value != new_value.as_null() =>
            {
                return Ok(false);
            }
            Kind::Ref { resource } => {
                let target = catalog.linked(resource);
                write_reference(
                    sql,
                    target,
                    choices::condition(context, field.choices, target),
                    "id",
                    &value(field.name),
                );
            }
            _ => {}
        }
        for rule in field.rules {
            if let Rule::Exists { resource, field: other } = rule {
                write_reference(sql, catalog.linked(resource), Condition::always(), other, &value(field.name));
            }
        }
    }
    unique::write_uniqueness_condition(sql, context, changes, value, own)?;
    Ok(true)
}

/// The ids in a list of references.
pub(super) fn ids(list: &Value) -> impl Iterator<Item = i64> {
    let json = if let Value::Json(Some(json)) = list { json.as_array() } else { None };
    json.into_iter().flatten().filter_map(serde_json::Value::as_i64)
}

/// The ids of those records that the caller cannot see. PostgreSQL locks the others by `lock` until the write commits.
pub(super) async fn missing(
    context: &Context<'_>,
    target: &Entry,
    ids: &[i64],
    lock: &'static str,
) -> Result<Vec<i64>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (visible, mut sources) = (visibility::visible(context, target), Vec::new());
    visible.sources(&mut sources);
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT t.\"id\" AS \"id\"");
    write_from(&mut sql, target.meta.table, &sources);
    sql.push(" WHERE ").in_ids("t.\"id\"", ids).push(" AND ");
    write_condition(&mut sql, &visible);
    if sql.dialect == Dialect::Postgres {
        sql.push(" ORDER BY t.\"id\" ").push(lock).push(" OF t");
    }
    let mut found = Vec::new();
    for row in sql.all(context.db()).await? {
        found.push(row.try_get::<i64>("", "id")?);
    }
    Ok(ids.iter().copied().filter(|id| !found.contains(id)).collect())
}

/// Checks polymorphic references: type and id are set together and refer to a record.
async fn check_polymorphic(context: &Context<'_>, changes: &mut Changes) -> Result<()> {
    for reference in polymorphic_references(context.catalog(), changes)? {
        let found = match reference.target {
            Some(target) => exists(context, target, "id", reference.id.clone()).await?,
            None => false,
        };
        if !found {
            reference.add_missing(&mut changes.errors);
        }
    }
    Ok(())
}

/// A polymorphic reference that a write sets.
pub(super) struct PolymorphicReference<'c> {
    field: &'static str,
    type_name: String,
    /// `None` if no resource has the type.
    pub target: Option<&'c Entry>,
    pub id: Value,
}

impl PolymorphicReference<'_> {
    /// Adds the error of a record that the caller cannot see.
    pub(super) fn add_missing(&self, errors: &mut FieldErrors) {
        errors.add(self.field, format!("does not refer to an existing {}", self.type_name));
    }
}

/// The polymorphic references that a write sets. Adds an error for each of which only one half is there.
pub(super) fn polymorphic_references<'c>(
    catalog: &'c Catalog,
    changes: &mut Changes,
) -> Result<Vec<PolymorphicReference<'c>>> {
    let mut references = Vec::new();
    for field in changes.meta.fields {
        let Kind::PolymorphicRef { type_field } = field.kind else { continue };
        let states = [field.name, type_field].map(|name| (changes.get(name).is_some(), changes.errors.contains(name)));
        // A half that could not be read has its own error already.
        if states.iter().all(|(is_set, _)| !is_set) || states.iter().any(|(_, has_error)| *has_error) {
            continue;
        }
        match (changes.current(type_field)?, changes.current(field.name)?) {
            (None, None) => {}
            (Some(_), None) => changes.errors.add(field.name, format!("is required with {type_field}")),
            (None, Some(_)) => changes.errors.add(type_field, format!("is required with {}", field.name)),
            (Some(Value::String(Some(type_name))), Some(id)) => {
                let target = catalog.by_type(&type_name);
                references.push(PolymorphicReference { field: field.name, type_name, target, id });
            }
            _ => return Err(Error::internal(format!("`{type_field}` is not text"))),
        }
    }
    Ok(references)
}

fn label(catalog: &Catalog, resource: &str) -> String {
    catalog.linked(resource).meta.label.to_lowercase()
}
