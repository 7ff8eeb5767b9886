//! The records that an expression reads one step over the references of a record that is being written.

use std::collections::HashMap;
use std::sync::Arc;

use sea_orm::{QueryResult, Value};

use super::changeset::{Changes, stored_named};
use crate::catalog::Entry;
use crate::error::Result;
use crate::expression::{Field, Node, Via};
use crate::meta::FieldMeta;
use crate::ops::{Context, records};
use crate::query::Condition;

/// The stored rows, by the field of the reference.
pub struct ReferredRecords {
    rows: HashMap<String, (&'static [FieldMeta], Arc<QueryResult>)>,
}

impl ReferredRecords {
    /// Loads the records of `node` that meet the condition for their resource. The others have no values.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn load(
        context: &Context<'_>,
        changes: &Changes,
        node: &Node,
        condition: impl Fn(&Entry) -> Condition,
    ) -> Result<ReferredRecords> {
        let mut references: Vec<&Via> = Vec::new();
        node.visit(&mut |part| {
            if let Node::Field(Field { via: Some(via), .. }) = part
                && !references.contains(&via)
            {
                references.push(via);
            }
        });
        let mut rows = HashMap::new();
        for via in references {
            let Some(Value::BigInt(Some(id))) = changes.current(&via.field)? else { continue };
            let entry = context.catalog().linked(&via.resource);
            if let Some(row) = records::load(context, entry, id, &condition(entry), false).await? {
                rows.insert(via.field.clone(), (entry.meta.fields, row));
            }
        }
        Ok(ReferredRecords { rows })
    }

    /// The value of a field of the record, or of one that it refers to.
    ///
    /// # Errors
    /// An internal error for a stored value of another type.
    pub fn current(&self, changes: &Changes, field: &Field) -> Result<Option<Value>> {
        let Some(via) = &field.via else { return changes.current(&field.name) };
        self.rows.get(&via.field).map_or(Ok(None), |(fields, row)| stored_named(row, fields, &field.name))
    }
}
