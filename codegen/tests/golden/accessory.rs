// Generated from tests/golden/accessory.yaml. `cargo charter expand accessory` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "accessory",
    plural = "accessories",
    table = "accessories",
    label = "Accessory",
    type_name = "Accessory",
    path = "accessories",
    ability = "products"
)]
#[resource(under(resource = "product", field = "product_id"))]
#[resource(unique("product_id", "accessory_product_id"))]
pub struct Model {
    pub id: i64,
    #[field(reference("product"), required, immutable)]
    pub product_id: i64,
    #[field(reference("product"), required, differs_from = "product_id")]
    #[derived("related_name", from = "accessory_product_id.name")]
    pub accessory_product_id: i64,
    #[field(decimal(10, 1), default = "1", min = "0")]
    pub quantity: Decimal<1>,
    #[field(boolean, default = "false")]
    pub included: bool,
    #[field(boolean, default = "false")]
    pub zero_priced: bool,
    #[field(integer, default = "0")]
    pub sort_order: i32,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
