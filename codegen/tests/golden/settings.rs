// Generated from tests/golden/settings.yaml. `cargo charter expand settings` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "settings",
    plural = "settings",
    table = "settings",
    label = "Settings",
    type_name = "Settings",
    path = "settings",
    ability = "settings"
)]
#[resource(singleton, events)]
#[resource(read_permission = "settings.manage", write_permission = "settings.manage")]
pub struct Model {
    pub id: i64,
    #[field(string(255), default = "")]
    pub company_name: String,
    #[field(string(3), default = "GBP", exists = "currency.code")]
    pub base_currency: String,
    #[field(string(64), default = "UTC")]
    pub timezone: String,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
