//! Visibility of records: ownership, scopes, soft delete and parents, combined into one condition.
//!
//! Every read, write, reference, include, filter through a relation, attachment and audit entry uses this module. A
//! child record is visible only if its parent is.

use std::sync::Arc;

use sea_orm::Value;

use super::attached_records;
use super::input::changeset::stored;
use super::records;
use crate::catalog::{Catalog, Entry};
use crate::error::Result;
use crate::expression;
use crate::meta::FieldMeta;
use crate::ops::Context;
use crate::query::condition::Test;
use crate::query::{Condition, RowExpression};
use crate::record::Source;

/// The condition for the records that the caller may see. The record and its required parents are not deleted, its
/// owner is the caller unless the caller is an administrator, it is within the resource's rule and `scope`, and the same holds
/// for its parent.
pub fn visible(context: &Context<'_>, entry: &Entry) -> Condition {
    present(entry).and(permitted(context, entry))
}

/// The same condition for deleted records. Their required parents may be deleted too.
pub fn deleted(context: &Context<'_>, entry: &Entry) -> Condition {
    marked(entry).and(permitted(context, entry))
}

/// The condition for the records of a list: [`visible`] or [`deleted`], and the resource's `list_scope`.
pub fn listed(context: &Context<'_>, entry: &Entry, of_deleted: bool) -> Condition {
    let condition = if of_deleted { deleted(context, entry) } else { visible(context, entry) };
    match context.route(entry).hooks.list_scope.and_then(|scope| scope(context)) {
        Some(scope) => condition.and(scope),
        None => condition,
    }
}

/// [`visible`] if ownership or a scope can hide records from the caller, else `None`. Filters through a relation add
/// it.
pub fn hidden(context: &Context<'_>, entry: &Entry) -> Option<Condition> {
    (!permitted(context, entry).is_always()).then(|| visible(context, entry))
}

/// The condition that neither the record nor any of its required parents is deleted.
pub fn present(entry: &Entry) -> Condition {
    Condition::present(entry)
}

/// The condition that a record is deleted.
fn marked(entry: &Entry) -> Condition {
    match entry.field("deleted_at") {
        Some(mark) => Condition::test(Source::own(mark), Test::Null { negated: true }),
        None => Condition::always(),
    }
}

/// The condition of ownership and scopes alone, deleted or not, on the record and its parents.
pub fn permitted(context: &Context<'_>, entry: &Entry) -> Condition {
    let mut condition = Condition::always();
    if let Some(owner) = owner_field(entry)
        && !context.caller().is_admin
    {
        condition = condition.and(Condition::equals(owner, context.caller().user_id.unwrap_or(0)));
    }
    if let Some(rule) = rule(context, entry, entry.meta.read_rule) {
        condition = condition.and(rule);
    }
    if let Some(scope) = context.route(entry).hooks.scope.and_then(|scope| scope(context)) {
        condition = condition.and(scope);
    }
    let parents = entry.parents.iter().map(|parent| {
        let target = context.catalog().linked(parent.resource);
        (parent, target, permitted(context, target))
    });
    let parents: Vec<_> = parents.collect();
    // A record with several possible parents is visible through any of them.
    if parents.iter().any(|(.., permitted)| !permitted.is_always()) {
        let through = parents
            .into_iter()
            .map(|(parent, target, permitted)| Condition::refers(parent.field, target.meta, permitted));
        let mut through: Vec<Condition> = through.collect();
        condition = condition.and(if through.len() == 1 { through.remove(0) } else { Condition::Any(through) });
    }
    condition
}

/// The condition for the records that the caller may change, of those that it may see; none if it may change all of them.
pub fn changeable(context: &Context<'_>, entry: &Entry) -> Option<Condition> {
    rule(context, entry, entry.meta.write_rule)
}

/// A rule of `access` as a condition; none if there is none, or for an administrator.
fn rule(context: &Context<'_>, entry: &Entry, rule: Option<&'static str>) -> Option<Condition> {
    let text = rule.filter(|_| !context.caller().is_admin)?;
    let find = |name: &str| Some(context.catalog().linked(name).meta);
    // The start has checked every rule. One that is invalid all the same holds for no record.
    let Ok(node) = expression::condition_over(text, entry.meta, &find) else {
        return Some(Condition::Ids(Vec::new()));
    };
    let rule = RowExpression::new(text, node, context.state().db.dialect(), &context.request_without_day(), &find);
    Some(Condition::Expression(Arc::new(rule)))
}

/// The field that refers to the user who owns the record.
fn owner_field(entry: &Entry) -> Option<&'static FieldMeta> {
    entry.meta.owner.and_then(|owner| entry.field(owner))
}

/// Users, besides administrators, that may receive the events of a record. It comes from the owners of the record and
/// its parents, and is stored with the event, because the delivery runs without a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Every user who may read the resource.
    All,
    Owner(i64),
    /// Administrators only: a rule or a `scope` hook decides, which needs a request, or the record and its parents have
    /// different owners.
    Administrators,
}

impl Audience {
    /// The value of the event's column `owner_id`.
    pub fn stored(self) -> Option<i64> {
        match self {
            Audience::All => Some(0),
            Audience::Owner(id) => Some(id),
            Audience::Administrators => None,
        }
    }
}

/// The audience of a record's events, from the values of its fields.
///
/// # Errors
/// When the database fails.
pub async fn audience(
    context: &Context<'_>,
    entry: &Entry,
    value: impl Fn(&FieldMeta) -> Result<Option<Value>>,
) -> Result<Audience> {
    if !entry.is_restricted {
        return Ok(Audience::All);
    }
    let (mut audience, mut parent) = narrow_audience(context, entry, value, Audience::All)?;
    while let Some((target, id)) = parent.filter(|_| audience != Audience::Administrators) {
        let Some(row) = records::load(context, target, id, &Condition::always(), false).await? else {
            return Ok(Audience::Administrators);
        };
        (audience, parent) = narrow_audience(context, target, |field| stored(&row, field), audience)?;
    }
    Ok(audience)
}

/// True if only administrators receive the events of a resource, whatever the record: a rule or a `scope` hook of it, or of
/// each of its parents, needs a request.
pub fn is_for_administrators(catalog: &Catalog, entry: &Entry) -> bool {
    let mut parents = entry.parents.iter().map(|parent| catalog.linked(parent.resource));
    let needs_request = entry.behavior.is_scoped || entry.meta.read_rule.is_some();
    needs_request || !entry.parents.is_empty() && parents.all(|parent| is_for_administrators(catalog, parent))
}

/// Narrows the audience by this record. Also returns its parent, or the record that it is attached to.
fn narrow_audience<'c>(
    context: &Context<'c>,
    entry: &Entry,
    value: impl Fn(&FieldMeta) -> Result<Option<Value>>,
    audience: Audience,
) -> Result<(Audience, Option<(&'c Entry, i64)>)> {
    if entry.is_attached() {
        let target = attached_records::target(context.catalog(), entry, value)?;
        return Ok((if target.is_some() { audience } else { Audience::Administrators }, target));
    }
    if entry.behavior.is_scoped || entry.meta.read_rule.is_some() {
        return Ok((Audience::Administrators, None));
    }
    let id_in = |field: &FieldMeta| -> Result<Option<i64>> {
        Ok(match value(field)? {
            Some(Value::BigInt(Some(id))) => Some(id),
            _ => None,
        })
    };
    let audience = match owner_field(entry).map(id_in).transpose()? {
        None => audience,
        Some(Some(id)) if audience == Audience::All || audience == Audience::Owner(id) => Audience::Owner(id),
        Some(_) => Audience::Administrators,
    };
    for parent in &entry.parents {
        let target = context.catalog().linked(parent.resource);
        if let Some(id) = id_in(parent.field)? {
            return Ok((audience, target.is_restricted.then_some((target, id))));
        }
    }
    Ok((if entry.parents.is_empty() { audience } else { Audience::Administrators }, None))
}
