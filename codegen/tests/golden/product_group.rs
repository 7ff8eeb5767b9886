// Generated from tests/golden/product_group.yaml. `cargo charter expand product_group` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "product_group",
    plural = "product_groups",
    table = "product_groups",
    label = "Product group",
    type_name = "ProductGroup",
    path = "product_groups",
    ability = "product_groups"
)]
#[resource(events)]
pub struct Model {
    pub id: i64,
    #[field(string(255), required, unique)]
    pub name: String,
    #[field(text)]
    pub description: Option<String>,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
