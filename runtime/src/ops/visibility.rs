//! Which records a caller may see: the one place that knows owners, scopes, marks of deletion and parents.
//!
//! Every read, write, reference, include, filter through a relation, attachment and audit entry asks here. A record that
//! belongs to another one is seen only where that one is.

use sea_orm::Value;

use super::input::changeset::stored;
use super::records;
use crate::attachment;
use crate::catalog::{Entry, Source};
use crate::context::Context;
use crate::error::Result;
use crate::meta::FieldMeta;
use crate::query::Condition;
use crate::query::condition::Test;

/// The condition that a record is there and that the caller may see it, whatever the request asks: it is not deleted, nor is
/// any that it cannot be without; it is the caller's own or of no owner; it is within the resource's own scope; and all of
/// that holds for its parent.
pub fn visible(context: &Context<'_>, entry: &Entry) -> Condition {
    present(entry).and(permitted(context, entry))
}

/// The same of deleted records, for those who ask for them. What such a record cannot be without may be deleted too.
pub fn deleted(context: &Context<'_>, entry: &Entry) -> Condition {
    marked(entry, true).and(permitted(context, entry))
}

/// The condition that a record stands in the caller's list: [`visible`] or [`deleted`], and the resource's own scope of lists.
pub fn listed(context: &Context<'_>, entry: &Entry, of_deleted: bool) -> Condition {
    let condition = if of_deleted { deleted(context, entry) } else { visible(context, entry) };
    match entry.route.hooks.list_scope.and_then(|scope| scope(context)) {
        Some(scope) => condition.and(scope),
        None => condition,
    }
}

/// [`visible`], where that hides from the caller any record that is there: what a filter through a relation must ask.
pub fn hidden(context: &Context<'_>, entry: &Entry) -> Option<Condition> {
    (!permitted(context, entry).is_always()).then(|| visible(context, entry))
}

/// The condition that a record is not deleted, nor what it cannot be without.
pub fn present(entry: &Entry) -> Condition {
    let condition = if entry.meta.soft_delete { marked(entry, false) } else { Condition::always() };
    match &entry.required_parents {
        Some(standing) => condition.and(Condition::RequiredParents(standing.clone())),
        None => condition,
    }
}

/// The condition that a record has the mark of deletion, or that it has not.
fn marked(entry: &Entry, negated: bool) -> Condition {
    match entry.field("deleted_at") {
        Some(mark) => Condition::test(Source::own(mark), Test::Null { negated }),
        None => Condition::always(),
    }
}

/// The condition that neither owner nor scope keep a record from the caller, deleted or not: its own, and those of the record
/// that it belongs to.
pub fn permitted(context: &Context<'_>, entry: &Entry) -> Condition {
    let mut condition = Condition::always();
    if let Some(owner) = owner_field(entry)
        && !context.caller().is_admin
    {
        condition = condition.and(Condition::equals(owner, context.caller().user_id.unwrap_or(0)));
    }
    if let Some(scope) = entry.route.hooks.scope.and_then(|scope| scope(context)) {
        condition = condition.and(scope);
    }
    let above = entry.parents.iter().map(|parent| {
        let target = context.catalog().linked(parent.resource);
        (parent, target, permitted(context, target))
    });
    let above: Vec<_> = above.collect();
    // What may be embedded in several is seen in any of them.
    if above.iter().any(|(.., permitted)| !permitted.is_always()) {
        let seen = above.into_iter().map(|(parent, target, to)| Condition::refers(parent.field, target.meta, to));
        let mut seen: Vec<Condition> = seen.collect();
        condition = condition.and(if seen.len() == 1 { seen.remove(0) } else { Condition::Any(seen) });
    }
    condition
}

/// The field that names the user whose a record is.
fn owner_field(entry: &Entry) -> Option<&'static FieldMeta> {
    entry.meta.owner.and_then(|owner| entry.field(owner))
}

/// The user whose a record is who an event tells of, where its resource is restricted: the owner of it and of all that it
/// belongs to. Whom else than administrators that concerns is asked later, without a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Everybody who may read the resource.
    All,
    Owner(i64),
    /// Nobody else: a scope decides, which only a request can ask, or several users are owners.
    Administrators,
}

impl Audience {
    /// The column `owner_id` of an event.
    pub fn stored(self) -> Option<i64> {
        match self {
            Audience::All => Some(0),
            Audience::Owner(id) => Some(id),
            Audience::Administrators => None,
        }
    }
}

/// Who may be told of a record, from the values of its fields.
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
    let (mut audience, mut above) = step(context, entry, value, Audience::All)?;
    while let Some((target, id)) = above.filter(|_| audience != Audience::Administrators) {
        let Some(row) = records::load(context, target, id, &Condition::always(), false).await? else {
            return Ok(Audience::Administrators);
        };
        (audience, above) = step(context, target, |field| stored(&row, field), audience)?;
    }
    Ok(audience)
}

/// The audience once this record has had its say, and the record that it belongs to or hangs on.
fn step<'c>(
    context: &Context<'c>,
    entry: &Entry,
    value: impl Fn(&FieldMeta) -> Result<Option<Value>>,
    audience: Audience,
) -> Result<(Audience, Option<(&'c Entry, i64)>)> {
    if entry.is_attached() {
        let above = attachment::target(context.catalog(), entry, value)?;
        return Ok((if above.is_some() { audience } else { Audience::Administrators }, above));
    }
    if entry.route.hooks.scope.is_some() {
        return Ok((Audience::Administrators, None));
    }
    let number = |field: &FieldMeta| -> Result<Option<i64>> {
        Ok(match value(field)? {
            Some(Value::BigInt(Some(id))) => Some(id),
            _ => None,
        })
    };
    let audience = match owner_field(entry).map(number).transpose()? {
        None => audience,
        Some(Some(id)) if audience == Audience::All || audience == Audience::Owner(id) => Audience::Owner(id),
        Some(_) => Audience::Administrators,
    };
    for parent in &entry.parents {
        let target = context.catalog().linked(parent.resource);
        if let Some(id) = number(parent.field)? {
            return Ok((audience, target.is_restricted.then_some((target, id))));
        }
    }
    Ok((if entry.parents.is_empty() { audience } else { Audience::Administrators }, None))
}
