// Generated from tests/golden/repair.yaml. `cargo charter expand repair` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "repair",
    plural = "repairs",
    table = "repairs",
    label = "Repair",
    type_name = "Repair",
    path = "repairs",
    ability = "repairs"
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
    #[field(reference("repair"))]
    #[field(on_delete = "clear")]
    pub previous_id: Option<i64>,
    #[field(reference("repair"))]
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
