//! An entry of the trail as a record: read like any other, written by no client.

use charter_macros::Resource;
use sea_orm::entity::prelude::*;

use crate::crud::Route;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "audit_entry", label = "Audit entry", plural = "audit_entries")]
#[resource(operations("list", "show"), read_permission = "audit.read")]
#[resource(index("entity_type", "record_id"), index("user_id"), index("created_at"))]
pub struct Model {
    pub id: i64,
    /// `create`, `update`, `delete`, `restore`, or the name of the action.
    #[field(string(64), read_only)]
    pub action: String,
    /// The plural name of the resource.
    #[field(string(64), read_only)]
    pub entity_type: String,
    #[field(read_only)]
    pub record_id: i64,
    /// Nobody for the operator's commands.
    #[field(read_only)]
    pub user_id: Option<i64>,
    #[field(read_only)]
    pub token_id: Option<i64>,
    /// The header `X-Request-Id` of the answer.
    #[field(string(255), read_only)]
    pub request_id: Option<String>,
    /// `{"name": {"old": "Lamp", "new": "Light"}}`
    #[field(json, read_only, no_filter, no_sort)]
    pub changes: Json,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
