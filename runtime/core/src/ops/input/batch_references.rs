//! Checks of the references and unique values of many changes at once: one query for each table that they refer to and
//! for each unique set, instead of queries for each record.

use std::collections::{BTreeMap, HashMap, HashSet};

use sea_orm::sea_query::ArrayType;
use sea_orm::{QueryResult, Value};

use super::changeset::{Changes, stored};
use super::choices;
use super::references::{self, PolymorphicReference, ids};
use super::unique::{self, add_not_unique, folding};
use crate::catalog::Entry;
use crate::db::{Dialect, Sql};
use crate::error::Result;
use crate::meta::{FieldMeta, Kind, Rule, UniqueMeta};
use crate::ops::Context;
use crate::ops::visibility::visible;
use crate::query::{Condition, write_condition};
use crate::record::write_from;

/// Rows in one query of a unique set of several fields, each of which is a condition of its own.
const MAX_SETS_PER_QUERY: usize = 100;

/// Changes to check, with the id of the stored record; `None` for a new one.
#[derive(Debug)]
pub struct Checked<'c> {
    pub changes: &'c mut Changes,
    pub id: Option<i64>,
}

/// The resource and the field that must have a value, and the condition `where` of the reference; empty for none.
type Place = (&'static str, &'static str, &'static str);
/// Values to find.
type Wanted = BTreeMap<Place, BTreeMap<String, Value>>;
/// The values that were found.
type Found = HashMap<Place, HashSet<String>>;

/// Checks every changed field as [`references::check`] does, and adds errors to each row's `changes.errors`. All rows
/// belong to the resource `entry`.
///
/// # Errors
/// When the database fails.
pub async fn check(context: &Context<'_>, entry: &Entry, rows: &mut [Checked<'_>]) -> Result<()> {
    let catalog = context.catalog();
    let mut wanted = Wanted::new();
    let is_locked = |resource: &str| {
        let fields = entry.meta.fields.iter();
        let mut referring = fields.filter(|field| matches!(field.kind, Kind::Ref { resource: own } if own == resource));
        referring.any(|field| references::is_locked(field, catalog.linked(resource)))
    };
    let mut polymorphic: Vec<Vec<PolymorphicReference<'_>>> = Vec::with_capacity(rows.len());
    for Checked { changes, .. } in rows.iter_mut() {
        for (field, value) in changes.iter().filter(|(_, value)| **value != value.as_null()) {
            for (target, values) in referred(field, value) {
                wanted.entry(target).or_default().extend(values.into_iter().map(|value| (key(&value), value)));
            }
        }
        let references = references::polymorphic_references(catalog, changes)?;
        for reference in &references {
            if let Some(target) = reference.target {
                let ids = wanted.entry((target.meta.name, "id", "")).or_default();
                ids.insert(key(&reference.id), reference.id.clone());
            }
        }
        polymorphic.push(references);
    }
    let mut found = Found::new();
    for ((resource, name, choices), values) in wanted {
        let target = catalog.linked(resource);
        let mut keys = HashSet::new();
        if let Some(field) = target.field(name) {
            let values = values.into_values().collect();
            let condition = visible(context, target).and(choices::condition(context, choices, target));
            for row in find(context, target, field, values, &condition, name == "id" && is_locked(resource)).await? {
                keys.extend(stored(&row, field)?.as_ref().map(key));
            }
        }
        found.insert((resource, name, choices), keys);
    }
    for (Checked { changes, .. }, references) in rows.iter_mut().zip(polymorphic) {
        add_missing(context, changes, &found);
        let is_found = |reference: &PolymorphicReference<'_>| {
            reference.target.is_some_and(|target| has(&found, (target.meta.name, "id", ""), &reference.id))
        };
        let missing = references.iter().filter(|reference| !is_found(reference));
        missing.for_each(|reference| reference.add_missing(&mut changes.errors));
    }
    for set in entry.meta.unique_sets() {
        check_unique(context, entry, rows, set).await?;
    }
    Ok(())
}

/// The targets of a value, with the values that must exist.
fn referred(field: &FieldMeta, value: &Value) -> Vec<(Place, Vec<Value>)> {
    let mut found = Vec::new();
    match field.kind {
        Kind::Ref { resource } => {
            found.push(((resource, "id", ""), vec![value.clone()]));
            if !field.choices.is_empty() {
                found.push(((resource, "id", field.choices), vec![value.clone()]));
            }
        }
        Kind::RefList { resource } => found.push(((resource, "id", ""), ids(value).map(Value::from).collect())),
        _ => {}
    }
    for rule in field.rules {
        if let Rule::Exists { resource, field: other } = rule {
            found.push(((*resource, *other, ""), vec![value.clone()]));
        }
    }
    found
}

fn has(found: &Found, place: Place, value: &Value) -> bool {
    found.get(&place).is_some_and(|keys| keys.contains(&key(value)))
}

/// Adds an error for each value that refers to nothing.
fn add_missing(context: &Context<'_>, changes: &mut Changes, found: &Found) {
    let catalog = context.catalog();
    let set: Vec<(&'static FieldMeta, Value)> = changes
        .iter()
        .filter(|(field, value)| {
            **value != value.as_null()
                && (matches!(field.kind, Kind::Ref { .. } | Kind::RefList { .. }) || !field.rules.is_empty())
        })
        .map(|(field, value)| (field, value.clone()))
        .collect();
    let errors = &mut changes.errors;
    for (field, value) in set {
        match field.kind {
            Kind::Ref { resource } if !has(found, (resource, "id", ""), &value) => {
                references::add_missing_record(errors, catalog, field, resource);
            }
            Kind::Ref { resource } if !has(found, (resource, "id", field.choices), &value) => {
                choices::add_unfit(errors, catalog, field, resource);
            }
            Kind::RefList { resource } => {
                let missing: Vec<i64> =
                    ids(&value).filter(|id| !has(found, (resource, "id", ""), &Value::from(*id))).collect();
                references::add_missing_records(errors, catalog, field, resource, &missing);
            }
            _ => {}
        }
        for rule in field.rules {
            if let Rule::Exists { resource, field: other } = rule
                && !has(found, (*resource, *other, ""), &value)
            {
                references::add_missing_value(errors, catalog, field, resource, other);
            }
        }
    }
}

/// The id and a field of the records that have one of these values in it and meet a condition. `lock` makes their deletion
/// wait until the transaction ends.
///
/// # Errors
/// When the database fails.
pub async fn find(
    context: &Context<'_>,
    target: &Entry,
    field: &'static FieldMeta,
    values: Vec<Value>,
    condition: &Condition,
    lock: bool,
) -> Result<Vec<QueryResult>> {
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT t.\"id\" AS \"id\"");
    if field.name != "id" {
        sql.push(", t.").name(field.name).push(" AS ").name(field.name);
    }
    let mut sources = Vec::new();
    condition.sources(&mut sources);
    write_from(&mut sql, target.meta.table, &sources);
    sql.push(" WHERE ");
    write_in(&mut sql, field, values);
    sql.push(" AND ");
    write_condition(&mut sql, condition);
    if lock && sql.dialect == Dialect::Postgres {
        sql.push(" ORDER BY t.\"id\" FOR KEY SHARE OF t");
    }
    sql.all(context.db()).await
}

/// Appends the test that a column has one of these values. Few statement texts serve all numbers of ids and texts.
pub fn write_in(sql: &mut Sql, field: &FieldMeta, values: Vec<Value>) {
    let column = format!("t.\"{}\"", field.name);
    let ids = |value: &Value| if let Value::BigInt(Some(id)) = value { Some(*id) } else { None };
    if let Some(ids) = values.iter().map(ids).collect::<Option<Vec<i64>>>() {
        sql.in_ids(&column, &ids);
    } else if sql.dialect == Dialect::Postgres && values.iter().all(|value| matches!(value, Value::String(_))) {
        sql.push(&column).push(" = ANY(").bind(Value::Array(ArrayType::String, Some(Box::new(values)))).push(")");
    } else {
        sql.push(&column).push(" IN ").values_list(&values);
    }
}

/// Checks one unique set of fields.
async fn check_unique(context: &Context<'_>, entry: &Entry, rows: &mut [Checked<'_>], set: UniqueMeta) -> Result<()> {
    let mut sets: Vec<(usize, Vec<Value>)> = Vec::new();
    for (index, Checked { changes, .. }) in rows.iter().enumerate() {
        if unique::is_touched(set, changes)?
            && !set.fields.iter().any(|name| changes.errors.contains(name))
            && let Some(values) = unique::values(context, changes, set)?
        {
            sets.push((index, values));
        }
    }
    let fields = unique::fields_of(entry, set);
    let mut taken: HashMap<String, Vec<i64>> = HashMap::new();
    for portion in sets.chunks(if fields.len() == 1 && !set.ignore_case { usize::MAX } else { MAX_SETS_PER_QUERY }) {
        for row in same_values(context, entry, set, &fields, portion).await? {
            let values = fields.iter().map(|field| {
                let value = stored(&row, field)?.map(|value| unique::folded(set, value));
                Ok(value.as_ref().map(key).unwrap_or_default())
            });
            taken.entry(values.collect::<Result<Vec<_>>>()?.join("\0")).or_default().push(row.try_get("", "id")?);
        }
    }
    for (index, values) in sets {
        let values: Vec<String> = values.iter().map(key).collect();
        let row = &mut rows[index];
        let own = row.id;
        if taken.get(&values.join("\0")).is_some_and(|ids| ids.iter().any(|id| Some(*id) != own)) {
            add_not_unique(&mut row.changes.errors, set.fields);
        }
    }
    Ok(())
}

/// The id and the fields of records that are not deleted and have the values of one of the sets.
async fn same_values(
    context: &Context<'_>,
    entry: &Entry,
    set: UniqueMeta,
    fields: &[&'static FieldMeta],
    sets: &[(usize, Vec<Value>)],
) -> Result<Vec<QueryResult>> {
    if sets.is_empty() {
        return Ok(Vec::new());
    }
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT t.\"id\" AS \"id\"");
    for field in fields {
        sql.push(", t.").name(field.name).push(" AS ").name(field.name);
    }
    sql.push(" FROM ").name(entry.meta.table).push(" AS t WHERE (");
    match fields {
        [field] if !set.ignore_case => {
            let values: BTreeMap<String, Value> =
                sets.iter().flat_map(|(_, values)| values).map(|value| (key(value), value.clone())).collect();
            write_in(&mut sql, field, values.into_values().collect());
        }
        _ => {
            for (index, (_, values)) in sets.iter().enumerate() {
                sql.push(if index > 0 { " OR (" } else { "(" });
                for (position, (field, value)) in fields.iter().zip(values).enumerate() {
                    let (open, close) = folding(set, Some(field));
                    sql.push(if position > 0 { " AND " } else { "" }).push(open).push("t.").name(field.name);
                    sql.push(close).push(" = ").bind(value.clone());
                }
                sql.push(")");
            }
        }
    }
    sql.push(")");
    unique::write_counted(&mut sql, context, entry.meta, set)?;
    sql.all(context.db()).await
}

/// A text that two values share exactly if a unique index takes them for the same.
pub fn key(value: &Value) -> String {
    match value {
        Value::String(Some(text)) => text.clone(),
        Value::BigInt(Some(number)) => number.to_string(),
        // 1.50 and 1.5 are the same number.
        Value::Decimal(Some(number)) => number.normalize().to_string(),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal;

    use super::*;

    #[test]
    fn numbers_of_another_scale_have_the_same_key() {
        assert_eq!(key(&Value::from(Decimal::new(150, 2))), key(&Value::from(Decimal::new(15, 1))));
        assert_ne!(key(&Value::from("a")), key(&Value::from("A")));
    }
}
