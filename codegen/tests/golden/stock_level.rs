// Generated from tests/golden/stock_level.yaml. `cargo charter expand stock_level` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "stock_level",
    plural = "stock_levels",
    table = "stock_levels",
    label = "Stock level",
    type_name = "StockLevel",
    path = "stock_levels",
    ability = "stock_levels"
)]
#[resource(events)]
#[resource(index("product_id", "location"))]
pub struct Model {
    pub id: i64,
    #[field(reference("product"), required, immutable)]
    #[derived("product_name", from = "product_id.name")]
    pub product_id: i64,
    #[field(string(100))]
    pub location: Option<String>,
    #[field(decimal(12, 1), default = "0", min = "0")]
    pub quantity_held: Decimal<1>,
    #[field(list(64), max_length = 1000)]
    pub serial_numbers: Json,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
