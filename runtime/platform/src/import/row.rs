//! The report of an import by row: a read-only resource below the import.

use charter_macros::Resource;
use sea_orm::entity::prelude::*;

use charter_core::ops::Route;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "import_row", label = "Import row", plural = "import_rows", path = "rows", table = "import_rows")]
#[resource(ability = "imports", under(resource = "import", field = "import_id"), operations("list", "show"))]
#[resource(index("import_id", "outcome", "id"), index("import_id", "number"))]
#[resource(description = "The outcome of one row of an import, or of its rehearsal.")]
pub struct Model {
    pub id: i64,
    #[field(reference("import"), internal)]
    pub import_id: i64,
    #[field(read_only, description = "The line of the file, or the row of the sheet, from 1.", example = "7")]
    pub number: i64,
    #[field(
        enumeration("created", "changed", "unchanged", "refused", "undone", "left"),
        read_only,
        description = "The effect of the row, or in a rehearsal the expected one. After an undo, `undone`, or `left` if the record \
                       stayed as it was; `errors` has the reason."
    )]
    pub outcome: String,
    #[field(
        read_only,
        description = "The id of the record; null for a refused row, and for one that would be created."
    )]
    pub record_id: Option<i64>,
    #[field(
        json,
        read_only,
        no_filter,
        no_sort,
        description = "The problems by field; those of the whole row are under `row`."
    )]
    pub errors: Json,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
