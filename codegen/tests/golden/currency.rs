// Generated from tests/golden/currency.yaml. `cargo charter expand currency` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "currency",
    plural = "currencies",
    table = "currencies",
    label = "Currency",
    type_name = "Currency",
    path = "currencies",
    ability = "currencies"
)]
#[resource(operations("list", "show"))]
pub struct Model {
    pub id: i64,
    #[field(string(3), required, pattern = "[A-Z]{3}", unique)]
    pub code: String,
    #[field(string(100), required)]
    pub name: String,
    #[field(string(10), required)]
    pub symbol: String,
    #[field(integer, default = "2", min = "0", max = "4")]
    pub decimal_places: i32,
    #[field(enumeration("before", "after"), default = "before")]
    pub symbol_position: SymbolPosition,
    #[field(string(1), default = ",")]
    pub thousand_separator: String,
    #[field(string(1), default = ".")]
    pub decimal_separator: String,
    #[field(boolean, default = "true")]
    pub is_enabled: bool,
    #[field(timestamp(offset), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(offset), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
