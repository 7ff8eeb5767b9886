// Generated from tests/golden/delivery.yaml. `cargo charter expand delivery` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "delivery",
    plural = "deliveries",
    table = "deliveries",
    label = "Delivery",
    type_name = "Delivery",
    path = "deliveries",
    ability = "subscriptions"
)]
#[resource(
    under(resource = "subscription", field = "subscription_id"),
    operations("list", "show")
)]
#[resource(read_permission = "hooks.view", write_permission = "hooks.manage")]
#[resource(ordered("subscription_id"))]
pub struct Model {
    pub id: i64,
    #[field(reference("subscription"), required, immutable)]
    pub subscription_id: i64,
    #[field(string(100), required)]
    pub event: String,
    #[field(integer, required, min = "1")]
    pub attempt: i32,
    #[field(integer)]
    pub response_status: Option<i32>,
    #[field(text)]
    pub response_body: Option<String>,
    #[field(integer, required)]
    pub duration_ms: i32,
    #[field(timestamp(seconds))]
    pub next_attempt_at: Option<DateTimeUtc>,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
