// Generated from tests/golden/author.yaml. `cargo charter expand author` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "author",
    plural = "authors",
    table = "authors",
    label = "Author",
    type_name = "Author",
    path = "authors",
    ability = "authors"
)]
#[resource(description = "An author with rollups over novels.")]
#[resource(ordered("novels"))]
pub struct Model {
    pub id: i64,
    #[field(string(80), required)]
    pub name: String,
    #[field(
        bigint,
        default = "0",
        rollup(function = "count", of = "novel", by = "author_id")
    )]
    pub novels: i64,
    #[field(
        bigint,
        default = "0",
        rollup(
            function = "count",
            of = "novel",
            by = "author_id",
            where = "finished_on is null"
        )
    )]
    #[field(label = "Unfinished")]
    pub drafts: i64,
    #[field(
        bigint,
        default = "0",
        rollup(function = "sum", of = "novel", by = "author_id", field = "pages")
    )]
    #[field(read = "pages.view")]
    pub pages: i64,
    #[field(
        decimal(12, 2),
        default = "0",
        rollup(function = "sum", of = "novel", by = "author_id", field = "price")
    )]
    pub earned: Decimal<2>,
    #[field(
        date,
        rollup(function = "max", of = "novel", by = "author_id", field = "finished_on")
    )]
    #[field(description = "The day of the last novel.")]
    pub latest_on: Option<Date>,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
