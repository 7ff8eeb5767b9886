//! Seed data: records that the application needs, inserted at every start if they are missing.

use std::collections::HashSet;
use std::sync::Arc;

use sea_orm::Value;

use crate::auth::Principal;
use crate::catalog::Entry;
use crate::context::{Context, State};
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::meta::{Access, FieldMeta, Kind, Rule};
use crate::ops::{Body, Transaction, insert_seed};

/// Inserts the missing rows of each resource, identified by its unique field, and the only row of every singleton.
/// Existing rows stay as the operator left them.
pub async fn reference(state: &Arc<State>, seeds: &[(&str, &str)]) -> Result<()> {
    let transaction = Transaction::begin(state).await?;
    let operator = Principal::operator();
    let reader_context = Context::new(state, &operator, state.db.reader());
    let context = reader_context.in_transaction(&transaction);
    for (resource, yaml) in seeds {
        let entry = state.catalog.linked(resource);
        let rows: Vec<serde_json::Map<String, serde_json::Value>> =
            serde_yaml::from_str(yaml).map_err(|e| Error::internal(format!("the seed data of {resource}: {e}")))?;
        let key = natural_key(entry)?;
        let existing = existing_keys(&context, entry, key).await?;
        let mut problems = Vec::new();
        for (index, row) in rows.into_iter().enumerate() {
            let text = row.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
            if existing.contains(&text) {
                continue;
            }
            match insert(&context, entry, row).await {
                // Validation errors of all rows are reported together.
                Err(Error::Invalid(errors)) => problems.push(format!("row {} (`{text}`): {}", index + 1, errors.all())),
                Err(error) => {
                    return Err(Error::internal(format!("{resource}, row {} (`{text}`): {error}", index + 1)));
                }
                Ok(()) => {}
            }
        }
        if !problems.is_empty() {
            return Err(Error::internal(format!("the seed data of {resource}:\n{}", problems.join("\n"))));
        }
    }
    for entry in state.catalog.entries().iter().filter(|entry| entry.meta.singleton) {
        let row = Sql::new(state.db.dialect(), format!("SELECT 1 FROM \"{}\"", entry.meta.table));
        if row.one(context.db()).await?.is_none() {
            let name = entry.meta.name;
            let inserted = insert(&context, entry, serde_json::Map::new()).await;
            inserted.map_err(|error| Error::internal(format!("the record of the singleton {name}: {error}")))?;
        }
    }
    transaction.commit(&reader_context).await
}

async fn insert(context: &Context<'_>, entry: &Entry, row: serde_json::Map<String, serde_json::Value>) -> Result<()> {
    let json = serde_json::to_vec(&row).map_err(Error::internal)?;
    let body = Body::read(&json, None)?;
    let id = entry.meta.singleton.then_some(Value::BigInt(Some(1)));
    insert_seed(context, entry, &body, id).await
}

/// The field that identifies the rows of seed data.
fn natural_key(entry: &Entry) -> Result<&'static str> {
    let key = entry.meta.fields.iter().find(|field| is_natural_key(field));
    key.map(|field| field.name)
        .ok_or_else(|| Error::internal(format!("{} has seed data but no unique field", entry.meta.name)))
}

/// Whether every row has its own text in this field: the YAML check selects the same field.
fn is_natural_key(field: &FieldMeta) -> bool {
    let is_text = matches!(field.kind, Kind::String { .. } | Kind::Text);
    is_text && field.rules.contains(&Rule::Unique) && !field.nullable && field.access != Access::ReadOnly
}

async fn existing_keys(context: &Context<'_>, entry: &Entry, key: &str) -> Result<HashSet<String>> {
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT ");
    sql.name(key).push(" AS \"key\" FROM ").name(entry.meta.table);
    let mut keys = HashSet::new();
    for row in sql.all(context.db()).await? {
        keys.insert(row.try_get::<String>("", "key")?);
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn natural_key_is_a_unique_writable_text_that_is_not_null() {
        let unique = || FieldMeta { rules: &[Rule::Unique], ..FieldMeta::new("code", Kind::Text) };
        assert!(is_natural_key(&unique()));
        assert!(!is_natural_key(&FieldMeta::new("code", Kind::Text)));
        assert!(!is_natural_key(&FieldMeta { kind: Kind::Integer, ..unique() }));
        // Existing rows without a value could not be read as keys.
        assert!(!is_natural_key(&FieldMeta { nullable: true, ..unique() }));
        // A hook sets the value, so the rows have none and every start would insert them again.
        assert!(!is_natural_key(&FieldMeta { access: Access::ReadOnly, ..unique() }));
    }
}
