//! The audit log resource: read-only entries.

use std::collections::BTreeMap;

use charter_macros::Resource;
use sea_orm::entity::prelude::*;

use charter_core::ability::READ;
use charter_core::ops::{Access, Context, Route, field_access, permitted};
use charter_core::query::Condition;
use charter_core::record::{HiddenMembers, Shape};
use charter_core::resource::Resource;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "audit_entry", menu = "Administration", label = "Audit entry", plural = "audit_entries")]
#[resource(operations("list", "show"), read_permission = "audit.read")]
#[resource(index("entity_type", "record_id"), index("user_id"), index("created_at"))]
pub struct Model {
    pub id: i64,
    /// `create`, `update`, `delete`, `restore`, the name of the action, or an event such as `sign_in`.
    #[field(string(64), read_only)]
    pub action: String,
    /// The plural name of the resource.
    #[field(string(64), read_only)]
    pub entity_type: String,
    /// 0 if the entry is about no single record, such as an export.
    #[field(read_only)]
    pub record_id: i64,
    /// Null for commands of the operator.
    #[field(read_only)]
    pub user_id: Option<i64>,
    #[field(read_only)]
    pub token_id: Option<i64>,
    /// The header `X-Request-Id` of the response.
    #[field(string(255), read_only)]
    pub request_id: Option<String>,
    /// The client's IP address. Null for commands of the operator.
    #[field(string(45), read_only)]
    pub address: Option<String>,
    /// The import that made the change; null for every other change.
    #[field(read_only)]
    pub import_id: Option<i64>,
    /// `{"name": {"old": "Lamp", "new": "Light"}}`
    #[field(json, read_only, no_filter, no_sort)]
    pub changes: Json,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
}

pub fn route() -> Route {
    let mut route = Route::of::<Entity>();
    route.hooks.scope = Some(scope);
    route.hooks.narrow = Some(narrow);
    route
}

/// Scope: an entry is visible if the caller may read its resource, and its record, soft-deleted records included. Entries
/// of records of restricted resources that no longer exist are visible to administrators only.
fn scope(context: &Context<'_>) -> Option<Condition> {
    let is_admin = context.caller().is_admin;
    let field = |name: &str| Entity::meta().fields.iter().find(|field| field.name == name);
    let (of_type, id) = (field("entity_type")?, field("record_id")?);
    let mut seen = Condition::always();
    for entry in context.catalog().entries().iter().filter(|entry| entry.meta.name != Entity::meta().name) {
        let is_other = Condition::equals(of_type, entry.meta.plural).not();
        if !Access::of(context.catalog(), entry, READ).allows(context.caller()) {
            seen = seen.and(is_other);
        } else if entry.is_restricted && !is_admin {
            seen = seen.and(is_other.or(Condition::refers(id, entry.meta, permitted(context, entry))));
        }
    }
    (!seen.is_always()).then_some(seen)
}

/// Leaves the fields out of `changes` that the caller may not read.
fn narrow(context: &Context<'_>, shape: &mut Shape) {
    let mut by_text = BTreeMap::new();
    for entry in context.catalog().entries().iter().filter(|entry| entry.has_field_rights) {
        // The change of an embedded record is one value: it is left out if the caller may not read some of it.
        let fields = entry.meta.fields.iter().filter(|field| field_access::hides(context, entry, field));
        let names: Vec<&str> = fields.map(|field| field.name).collect();
        if !names.is_empty() {
            by_text.insert(entry.meta.plural, names);
        }
    }
    if by_text.is_empty() {
        return;
    }
    shape.hide(Entity::meta(), "entity_type");
    let column = shape.position("entity_type").unwrap_or_default();
    for changes in shape.columns.iter_mut().filter(|changes| changes.name == "changes") {
        changes.without = Some(HiddenMembers { column, by_text: by_text.clone() });
    }
}
