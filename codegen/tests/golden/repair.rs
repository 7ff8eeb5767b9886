// Generated from tests/golden/ticket.yaml. `cargo charter expand ticket` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "ticket",
    plural = "tickets",
    table = "tickets",
    label = "Ticket",
    type_name = "Ticket",
    path = "tickets",
    ability = "tickets"
)]
#[resource(title = "{number} {subject}")]
#[resource(ordered("created_at"), order("-created_at", "number"))]
pub struct Model {
    pub id: i64,
    #[field(string(20), immutable, unique)]
    #[field(sequence = "TCK-{year}-{0000}", numbering = "gapless")]
    pub number: String,
    #[field(string(200), required)]
    pub subject: String,
    #[field(reference("product"), required)]
    #[field(on_delete = "restrict")]
    pub product_id: i64,
    #[field(reference("ticket"))]
    #[field(on_delete = "clear")]
    pub previous_id: Option<i64>,
    #[field(reference("ticket"))]
    #[field(on_delete = "cascade")]
    pub merged_id: Option<i64>,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
