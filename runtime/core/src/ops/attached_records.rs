//! Records that are attached to others by a type name and an id, as attachments are.

use sea_orm::Value;

use crate::catalog::{Catalog, Entry};
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::meta::FieldMeta;
use crate::ops::Context;
use crate::query::Condition;

/// Field with the type name of the record that another is attached to.
const TYPE_FIELD: &str = "attachable_type";
/// Field with its id.
const ID_FIELD: &str = "attachable_id";

/// Condition for the records that are attached to one record. `entry` is their resource, `target` that of the record.
pub fn attached_to(entry: &Entry, target: &Entry, id: i64) -> Result<Condition> {
    attached_to_any(entry, target, &[id])
}

/// Condition for the records that are attached to one of several records.
pub(super) fn attached_to_any(entry: &Entry, target: &Entry, ids: &[i64]) -> Result<Condition> {
    let field = |name: &str| entry.field(name).ok_or_else(|| Error::internal(format!("`{name}` is not a field")));
    let of_type = Condition::equals(field(TYPE_FIELD)?, target.meta.type_name);
    let field = field(ID_FIELD)?;
    Ok(of_type.and(match ids {
        [id] => Condition::equals(field, *id),
        ids => Condition::is_one_of(field, ids),
    }))
}

/// Finds an attachable resource by type name or singular name, ignoring case.
pub fn attachable<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c Entry> {
    let is_it = |entry: &&Entry| [entry.meta.type_name, entry.meta.name].iter().any(|n| n.eq_ignore_ascii_case(name));
    catalog.attachables().find(is_it)
}

/// The resource and id of the record that an attachment belongs to, read from the attachment's fields.
///
/// # Errors
/// If a value cannot be read.
pub(super) fn target<'c>(
    catalog: &'c Catalog,
    entry: &Entry,
    value: impl Fn(&FieldMeta) -> Result<Option<Value>>,
) -> Result<Option<(&'c Entry, i64)>> {
    let of = |name: &str| entry.field(name).map_or(Ok(None), &value);
    Ok(match (of(TYPE_FIELD)?, of(ID_FIELD)?) {
        (Some(Value::String(Some(name))), Some(Value::BigInt(Some(id)))) => {
            attachable(catalog, &name).map(|target| (target, id))
        }
        _ => None,
    })
}

/// The ids of the records of `entry` that are attached to a record of `target`.
///
/// # Errors
/// When the database fails.
pub(super) async fn attached_ids(context: &Context<'_>, entry: &Entry, target: &Entry, id: i64) -> Result<Vec<i64>> {
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT \"id\" FROM ");
    sql.name(entry.meta.table).push(" WHERE ").name(TYPE_FIELD).push(" = ").bind(target.meta.type_name);
    sql.push(" AND ").name(ID_FIELD).push(" = ").bind(id).push(" ORDER BY \"id\"");
    let rows = sql.all(context.db()).await?;
    Ok(rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?)
}
