//! Seed data: records that every start inserts if they are missing.

use std::collections::HashSet;
use std::sync::Arc;

use sea_orm::Value;

use charter_core::catalog::Entry;
use charter_core::db::Sql;
use charter_core::error::{Error, Result};
use charter_core::meta::{Access, FieldMeta, Kind, Rule};
use charter_core::ops::Context;
use charter_core::ops::State;
use charter_core::ops::{Body, Transaction, insert_seed};
use charter_core::principal::Principal;

/// Inserts missing rows, identified by a unique field, and the row of each singleton. Existing rows are not changed.
pub(crate) async fn reference(state: &Arc<State>, seeds: &[(&str, &str)]) -> Result<()> {
    let transaction = Transaction::begin(state).await?;
    let operator = Principal::operator();
    let outside = Context::new(state, &operator, state.db.reader());
    let context = outside.in_transaction(&transaction);
    for (resource, yaml) in seeds {
        let entry = state.catalog.linked(resource);
        let rows: Vec<serde_json::Map<String, serde_json::Value>> =
            serde_yaml::from_str(yaml).map_err(|e| Error::internal(format!("seed data of {resource}: {e}")))?;
        let key = natural_key(entry)?;
        let known = known_keys(&context, entry, key).await?;
        let mut problems = Vec::new();
        for (index, row) in rows.into_iter().enumerate() {
            let text = row.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
            if known.contains(&text) {
                continue;
            }
            match insert(&context, entry, row).await {
                // Validation errors of all rows are reported together.
                Err(Error::Invalid(errors)) => {
                    problems.push(format!("row {} (`{text}`): {}", index + 1, errors.to_text()))
                }
                Err(error) => {
                    return Err(Error::internal(format!("{resource}, row {} (`{text}`): {error}", index + 1)));
                }
                Ok(()) => {}
            }
        }
        if !problems.is_empty() {
            return Err(Error::internal(format!("seed data of {resource}:\n{}", problems.join("\n"))));
        }
    }
    for entry in state.catalog.entries().iter().filter(|entry| entry.meta.singleton) {
        let row = Sql::new(state.db.dialect(), format!("SELECT 1 FROM \"{}\"", entry.meta.table));
        if row.one(context.db()).await?.is_none() {
            let name = entry.meta.name;
            let inserted = insert(&context, entry, serde_json::Map::new()).await;
            inserted.map_err(|error| Error::internal(format!("record of {name}: {error}")))?;
        }
    }
    transaction.commit(&outside).await
}

async fn insert(context: &Context<'_>, entry: &Entry, row: serde_json::Map<String, serde_json::Value>) -> Result<()> {
    let json = serde_json::to_vec(&row).map_err(Error::internal)?;
    let body = Body::read(&json, None)?;
    let id = entry.meta.singleton.then_some(Value::BigInt(Some(1)));
    insert_seed(context, entry, &body, id).await
}

/// The unique field that identifies the rows of seed data.
fn natural_key(entry: &Entry) -> Result<&'static str> {
    let key = entry.meta.fields.iter().find(|field| identifies_rows(field));
    key.map(|field| field.name)
        .ok_or_else(|| Error::internal(format!("{} has seed data but no unique field", entry.meta.name)))
}

/// True if each row sets a unique text in the field. The check of the YAML uses the same rule.
fn identifies_rows(field: &FieldMeta) -> bool {
    let is_text = matches!(field.kind, Kind::String { .. } | Kind::Text);
    is_text && field.rules.contains(&Rule::Unique) && !field.nullable && field.access != Access::ReadOnly
}

async fn known_keys(context: &Context<'_>, entry: &Entry, key: &str) -> Result<HashSet<String>> {
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
    fn rows_are_identified_by_a_unique_text_that_each_sets() {
        let unique = || FieldMeta { rules: &[Rule::Unique], ..FieldMeta::new("code", Kind::Text) };
        assert!(identifies_rows(&unique()));
        assert!(!identifies_rows(&FieldMeta::new("code", Kind::Text)));
        assert!(!identifies_rows(&FieldMeta { kind: Kind::Integer, ..unique() }));
        // A null could not be read as a key at the next start.
        assert!(!identifies_rows(&FieldMeta { nullable: true, ..unique() }));
        // A value that a hook sets is not in the row: each start would insert the row again.
        assert!(!identifies_rows(&FieldMeta { access: Access::ReadOnly, ..unique() }));
    }
}
