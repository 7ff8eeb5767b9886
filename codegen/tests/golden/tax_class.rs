// Generated from tests/golden/tax_class.yaml. `cargo charter expand tax_class` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "tax_class",
    plural = "tax_classes",
    table = "tax_classes",
    label = "Tax class",
    type_name = "TaxClass",
    path = "tax_classes",
    ability = "tax_classes"
)]
#[resource(events)]
pub struct Model {
    pub id: i64,
    #[field(string(255), required, unique)]
    pub name: String,
    #[field(decimal(6, 2), default = "0", min = "0", max = "100")]
    pub percentage: Decimal<2>,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
