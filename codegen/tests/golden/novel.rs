// Generated from tests/golden/novel.yaml. `cargo charter expand novel` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "novel",
    plural = "novels",
    table = "novels",
    label = "Novel",
    type_name = "Novel",
    path = "novels",
    ability = "novels"
)]
#[resource(index("author_id", "finished_on"))]
pub struct Model {
    pub id: i64,
    #[field(reference("author"), required)]
    pub author_id: i64,
    #[field(string(80), required)]
    pub name: String,
    #[field(integer, default = "0", min = "0", max = "10000")]
    #[field(read = "pages.view")]
    pub pages: i32,
    #[field(integer)]
    #[field(read = "pages.view", value = "pages * 2")]
    pub sheets: i32,
    #[field(decimal(8, 2), default = "0")]
    pub price: Decimal<2>,
    #[field(date)]
    pub finished_on: Option<Date>,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
