//! A webhook as a record: an address, the events that it is told of, and how well it has been doing.

use charter_macros::Resource;
use sea_orm::entity::prelude::*;

use crate::crud::Route;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "webhook", owner = "user_id", operations())]
pub struct Model {
    pub id: i64,
    #[field(reference("user"), internal, default_caller)]
    pub user_id: i64,
    #[field(string(2048), required)]
    pub url: String,
    /// Names of events; `*` is every one.
    #[field(list(255), required, min_length = 1)]
    pub events: Json,
    #[field(default = "true")]
    pub is_active: bool,
    #[field(string(255), internal)]
    pub secret: String,
    /// The secret before the last rotation, which signs beside the new one for a while.
    #[field(string(255), internal)]
    pub previous_secret: Option<String>,
    #[field(internal)]
    pub previous_secret_until: Option<DateTimeUtc>,
    /// When the streak of failures began that lasts.
    #[field(read_only)]
    pub failing_since: Option<DateTimeUtc>,
    #[field(internal)]
    pub last_failure_at: Option<DateTimeUtc>,
    #[field(read_only)]
    pub disabled_at: Option<DateTimeUtc>,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
