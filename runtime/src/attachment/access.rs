//! Who may see an attachment: whoever may see the record that it hangs on. That record's abilities are the attachment's.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, SimpleExpr};
use sea_orm::{QueryOrder, Value};

use super::{leftover, record};
use crate::catalog::{Catalog, Entry};
use crate::context::Context;
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::meta::FieldMeta;
use crate::ops::{load, to_read, to_write, visible};
use crate::query::Condition;
use crate::resource::Resource;

/// The attachments of one record.
pub fn hangs_on(entry: &Entry, target: &Entry, id: i64) -> Result<Condition> {
    let field = |name: &str| entry.field(name).ok_or_else(|| Error::internal(format!("`{name}` is not a field")));
    let of_type = Condition::equals(field("attachable_type")?, target.meta.type_name);
    Ok(of_type.and(Condition::equals(field("attachable_id")?, id)))
}

/// The resource that a client means: by its type name or its singular name, without regard to case.
pub fn attachable<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c Entry> {
    let is_it = |entry: &&Entry| [entry.meta.type_name, entry.meta.name].iter().any(|n| n.eq_ignore_ascii_case(name));
    catalog.attachables().find(is_it)
}

/// The resource and the id of what an attachment hangs on, from the values of its fields.
///
/// # Errors
/// When a value cannot be read.
pub fn target<'c>(
    catalog: &'c Catalog,
    entry: &Entry,
    value: impl Fn(&FieldMeta) -> Result<Option<Value>>,
) -> Result<Option<(&'c Entry, i64)>> {
    let of = |name: &str| entry.field(name).map_or(Ok(None), &value);
    Ok(match (of("attachable_type")?, of("attachable_id")?) {
        (Some(Value::String(Some(name))), Some(Value::BigInt(Some(id)))) => {
            attachable(catalog, &name).map(|target| (target, id))
        }
        _ => None,
    })
}

/// The scope of attachments: the caller sees those of the records that the caller sees, of resources that the caller may read
/// or write.
pub fn scope(context: &Context<'_>) -> Option<Condition> {
    let fields = record::Entity::meta().fields;
    let field = |name: &str| fields.iter().find(|field| field.name == name);
    let (Some(of_type), Some(id)) = (field("attachable_type"), field("attachable_id")) else { return None };
    let mut seen = Vec::new();
    for target in context.catalog().attachables() {
        // Who may only write them deletes them.
        let permissions = [target.meta.read_permission, target.meta.write_permission];
        let has =
            |permission: Option<&str>| permission.is_none_or(|name| context.caller().need_permission(name).is_ok());
        let may = permissions.into_iter().any(has);
        if may {
            // Also where everybody sees all of them: what a record hung on may have gone without a word.
            let there = Condition::refers(id, target.meta, visible(context, target));
            seen.push(Condition::equals(of_type, target.meta.type_name).and(there));
        }
    }
    Some(Condition::Any(seen))
}

/// Makes sure that the caller may read, or write, the attachments of what this one hangs on. Whether the caller sees that is
/// asked by [`scope`].
///
/// # Errors
/// [`Error::NotFound`] otherwise: it is no record that this caller may see.
pub async fn reach(context: &Context<'_>, id: i64, reads: bool) -> Result<()> {
    let attachment = record::Entity::find_by_id(id).one(context.db()).await?.ok_or(Error::NotFound)?;
    let target = attachable(context.catalog(), &attachment.attachable_type).ok_or(Error::NotFound)?;
    may(context, target, reads).map_err(|_| Error::NotFound)
}

/// What the caller needs to read, or write, the attachments of a resource's records.
///
/// # Errors
/// 403 for an ability or a permission that is missing.
pub fn may(context: &Context<'_>, target: &Entry, reads: bool) -> Result<()> {
    let (ability, permission) = if reads { to_read(target) } else { to_write(target) };
    context.caller().need_ability(&ability)?;
    permission.map_or(Ok(()), |permission| context.caller().need_permission(permission))
}

/// Whether the caller sees this record; `lock` keeps it there until the transaction ends.
pub async fn is_there(context: &Context<'_>, target: &Entry, id: i64, lock: bool) -> Result<bool> {
    let condition = visible(context, target);
    Ok(load(context, target, id, &condition, lock).await?.is_some())
}

/// The ids of a record's attachments.
pub async fn of(context: &Context<'_>, target: &Entry, id: i64) -> Result<Vec<i64>> {
    let those = record::Column::AttachableType.eq(target.meta.type_name).and(record::Column::AttachableId.eq(id));
    let found = record::Entity::find().filter(those).order_by_asc(record::Column::Id).all(context.db()).await?;
    Ok(found.iter().map(|attachment| attachment.id).collect())
}

/// Forgets those whose record went without a word: deleted by the database together with another.
pub async fn forget_orphans(context: &Context<'_>) -> Result<()> {
    for target in context.catalog().attachables() {
        let mut sql = Sql::new(
            context.state().db.dialect(),
            "SELECT a.\"id\" AS \"id\" FROM \"attachments\" AS a WHERE a.\"attachable_type\" = ",
        );
        sql.bind(target.meta.type_name).push(" AND NOT EXISTS (SELECT 1 FROM ").name(target.meta.table);
        sql.push(" AS t WHERE t.\"id\" = a.\"attachable_id\") LIMIT 1000");
        let rows = sql.all(context.db()).await?;
        let ids: Vec<i64> = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?;
        if !ids.is_empty() {
            remove(context, record::Column::Id.is_in(ids)).await?;
        }
    }
    Ok(())
}

async fn remove(context: &Context<'_>, those: SimpleExpr) -> Result<()> {
    let found = record::Entity::find().filter(those.clone()).all(context.db()).await?;
    for attachment in &found {
        leftover::add(context.db(), context.state().db.dialect(), attachment.uuid, context.now()).await?;
    }
    if !found.is_empty() {
        record::Entity::delete_many().filter(those).exec(context.db()).await?;
    }
    Ok(())
}
