//! Access rules of attachments: an attachment has the visibility, abilities and permissions of the record that it is
//! attached to.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::SimpleExpr;

use super::{pending_deletion, record};
use charter_core::ability::READ;
use charter_core::catalog::Entry;
use charter_core::db::Sql;
use charter_core::error::{Error, Result};
use charter_core::ops::Context;
use charter_core::ops::{Access, attachable, load, row_access, visible};
use charter_core::query::Condition;
use charter_core::resource::Resource;

/// Scope of attachments: the caller sees attachments of visible records, of resources that the caller may read or
/// write.
pub(super) fn scope(context: &Context<'_>) -> Option<Condition> {
    let fields = record::Entity::meta().fields;
    let field = |name: &str| fields.iter().find(|field| field.name == name);
    let (Some(of_type), Some(id)) = (field("attachable_type"), field("attachable_id")) else { return None };
    let mut seen = Vec::new();
    for target in context.catalog().attachables() {
        // A caller who may only write may delete attachments.
        let access = [Access::read(target), Access::write(target, "delete")];
        if access.iter().any(|access| access.allows(context.caller())) {
            // Checked even if everyone sees the resource, because a cascade in the database may have deleted the
            // record.
            let exists = Condition::refers(id, target.meta, visible(context, target));
            seen.push(Condition::equals(of_type, target.meta.type_name).and(exists));
        }
    }
    Some(Condition::Any(seen))
}

/// Checks that the caller may read or write attachments of the record that this one belongs to. `scope` checks that
/// the record is visible.
///
/// # Errors
/// [`Error::NotFound`] if not, as for a record that the caller cannot see; 403 if it may read the record only.
pub async fn check_access(context: &Context<'_>, id: i64, verb: &'static str) -> Result<()> {
    let attachment = record::Entity::find_by_id(id).one(context.db()).await?.ok_or(Error::NotFound)?;
    let target = attachable(context.catalog(), &attachment.attachable_type).ok_or(Error::NotFound)?;
    check_permission(context, target, verb).map_err(|_| Error::NotFound)?;
    match verb {
        READ => Ok(()),
        _ if !target_exists(context, target, attachment.attachable_id, false).await? => Err(Error::NotFound),
        _ => row_access::check_changeable(context, target, attachment.attachable_id).await,
    }
}

/// Checks the ability and permission to read or write attachments of a resource.
///
/// # Errors
/// 403 if an ability or a permission is missing.
pub(super) fn check_permission(context: &Context<'_>, target: &Entry, verb: &'static str) -> Result<()> {
    Access::of(context.catalog(), target, verb).check(context.caller())
}

/// Reports whether the record exists and the caller sees it. With `lock`, the row is locked until the transaction ends.
pub(super) async fn target_exists(context: &Context<'_>, target: &Entry, id: i64, lock: bool) -> Result<bool> {
    let condition = visible(context, target);
    Ok(load(context, target, id, &condition, lock).await?.is_some())
}

/// Deletes attachments whose record the database deleted in a cascade.
pub(super) async fn delete_orphans(context: &Context<'_>) -> Result<()> {
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

async fn remove(context: &Context<'_>, condition: SimpleExpr) -> Result<()> {
    let found = record::Entity::find().filter(condition.clone()).all(context.db()).await?;
    for attachment in &found {
        pending_deletion::schedule(context.db(), context.state().db.dialect(), attachment.uuid, context.now()).await?;
    }
    if !found.is_empty() {
        record::Entity::delete_many().filter(condition).exec(context.db()).await?;
    }
    Ok(())
}
