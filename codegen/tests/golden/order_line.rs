// Generated from tests/golden/order_line.yaml. `cargo charter expand order_line` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "order_line",
    plural = "order_lines",
    table = "order_lines",
    label = "Order line",
    type_name = "OrderLine",
    path = "order_lines",
    ability = "order_lines"
)]
#[resource(description = "A line of an order, with computed fields.")]
#[resource(ordered("total"))]
pub struct Model {
    pub id: i64,
    #[field(string(80), required)]
    pub name: String,
    #[field(integer, required, min = "0", max = "1000")]
    pub quantity: i32,
    #[field(decimal(10, 2), required, min = "0")]
    pub unit_price: Decimal<2>,
    #[field(decimal(4, 2))]
    pub discount: Option<Decimal<2>>,
    #[field(date)]
    pub due_on: Option<Date>,
    #[field(decimal(14, 2))]
    #[field(value = "quantity * unit_price")]
    pub total: Decimal<2>,
    #[field(decimal(14, 2))]
    #[field(
        label = "Net",
        value = "round(quantity * unit_price * (1 - coalesce(discount, 0) * 0.01), 2)"
    )]
    pub net: Decimal<2>,
    #[field(boolean)]
    #[field(value = "quantity * unit_price > 1000")]
    pub is_large: bool,
    #[field(date)]
    #[field(value = "due_on - 7 days")]
    pub remind_on: Option<Date>,
    #[field(enumeration("small", "large"))]
    #[field(value = "if(quantity < 10, small, large)")]
    pub size: Size,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
