//! Reference data: the records that an application cannot do without, made sure of at every start.

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

/// Inserts each resource's missing rows, found by its unique field, and the one row of every singleton. Rows that are
/// there stay as the operator left them.
pub async fn reference(state: &Arc<State>, seeds: &[(&str, &str)]) -> Result<()> {
    let transaction = Transaction::begin(state).await?;
    let operator = Principal::operator();
    let outside = Context::new(state, &operator, state.db.reader());
    let context = outside.in_transaction(&transaction);
    for (resource, yaml) in seeds {
        let entry = state.catalog.linked(resource);
        let rows: Vec<serde_json::Map<String, serde_json::Value>> = serde_yaml::from_str(yaml)
            .map_err(|e| Error::internal(format!("the reference data of {resource}: {e}")))?;
        let key = natural_key(entry)?;
        let known = known_keys(&context, entry, key).await?;
        let mut problems = Vec::new();
        for (index, row) in rows.into_iter().enumerate() {
            let text = row.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
            if known.contains(&text) {
                continue;
            }
            match insert(&context, entry, row).await {
                // What its values decide is told of every row at once.
                Err(Error::Invalid(errors)) => problems.push(format!("row {} (`{text}`): {}", index + 1, errors.all())),
                Err(error) => {
                    return Err(Error::internal(format!("{resource}, row {} (`{text}`): {error}", index + 1)));
                }
                Ok(()) => {}
            }
        }
        if !problems.is_empty() {
            return Err(Error::internal(format!("the reference data of {resource}:\n{}", problems.join("\n"))));
        }
    }
    for entry in state.catalog.entries().iter().filter(|entry| entry.meta.singleton) {
        let row = Sql::new(state.db.dialect(), format!("SELECT 1 FROM \"{}\"", entry.meta.table));
        if row.one(context.db()).await?.is_none() {
            let name = entry.meta.name;
            let made = insert(&context, entry, serde_json::Map::new()).await;
            made.map_err(|error| Error::internal(format!("the one record of {name}: {error}")))?;
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

/// The field that tells the rows of reference data apart.
fn natural_key(entry: &Entry) -> Result<&'static str> {
    let key = entry.meta.fields.iter().find(|field| tells_apart(field));
    key.map(|field| field.name)
        .ok_or_else(|| Error::internal(format!("{} has reference data but no unique field", entry.meta.name)))
}

/// Whether each record has a unique text there, and has it from its row: the check of the YAML takes the same field.
fn tells_apart(field: &FieldMeta) -> bool {
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
    fn rows_are_told_apart_by_what_each_gives() {
        let unique = || FieldMeta { rules: &[Rule::Unique], ..FieldMeta::new("code", Kind::Text) };
        assert!(tells_apart(&unique()));
        assert!(!tells_apart(&FieldMeta::new("code", Kind::Text)));
        assert!(!tells_apart(&FieldMeta { kind: Kind::Integer, ..unique() }));
        // A record may have none, and then the next start could not read the keys.
        assert!(!tells_apart(&FieldMeta { nullable: true, ..unique() }));
        // What the hook sets is in no row, so that every start would insert the row again.
        assert!(!tells_apart(&FieldMeta { access: Access::ReadOnly, ..unique() }));
    }
}
