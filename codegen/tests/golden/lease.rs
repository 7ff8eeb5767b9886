// Generated from tests/golden/lease.yaml. `cargo charter expand lease` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "lease",
    plural = "leases",
    table = "leases",
    label = "Lease",
    type_name = "Lease",
    path = "leases",
    ability = "leases"
)]
#[resource(description = "A lease, whose defaults are expressions.")]
pub struct Model {
    pub id: i64,
    #[field(reference("order_line"), required)]
    pub line_id: i64,
    #[field(date, default_value = "today")]
    pub lent_on: Date,
    #[field(integer, default = "1", min = "1", max = "1000")]
    pub quantity: i32,
    #[field(date, default_value = "lent_on + 28 days")]
    pub due_on: Date,
    #[field(decimal(14, 2), default_value = "line.unit_price * quantity")]
    pub deposit: Decimal<2>,
    #[field(string(80), default_value = "line.name")]
    pub label: String,
    #[field(
        enumeration("small", "large"),
        default_value = "if(quantity < 10, small, large)"
    )]
    pub size: Size,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
