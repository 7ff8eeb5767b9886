//! Resources of the matrix that lead to hidden records without a reference to one: links, rollups, and embedded records whose
//! derived field needs a right.

use charter_migrations::prelude::*;
use charter_runtime::generated::Resource;
use sea_orm::entity::prelude::DateTimeUtc;

/// The links of receipts to vaults, those that the caller does not see too.
pub mod receipt_vault {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "receipt_vault", operations())]
    #[resource(unique("receipt_id", "vault_id"), index("vault_id"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("receipt"), required, immutable)]
        pub receipt_id: i64,
        #[field(reference("vault"), required, immutable)]
        pub vault_id: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }

    pub fn columns() -> Vec<charter_migrations::Column> {
        vec![reference("receipt_id", "receipts").cascade(), reference("vault_id", "vaults")]
    }
}

/// Embedded in a dossier, no field of which needs a right but its derived one.
pub mod sheet {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "sheet", operations())]
    pub struct Model {
        pub id: i64,
        #[field(reference("dossier"), required)]
        pub dossier_id: i64,
        #[field(string(80), required)]
        pub caption: String,
        #[field(reference("vault"))]
        #[derived("vault_memo", from = "vault_id.memo")]
        pub vault_id: Option<i64>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }

    pub fn columns() -> Vec<charter_migrations::Column> {
        let vault = reference("vault_id", "vaults").nullable();
        vec![reference("dossier_id", "dossiers").cascade(), string("caption", 80), vault]
    }
}

/// Visible to everybody. Its rollups count the dossiers that are not.
pub mod room {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "room")]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub place: String,
        #[field(default = "0", rollup(function = "count", of = "dossier", by = "room_id", where = "state = open"))]
        pub open_dossiers: i64,
        #[field(rollup(function = "max", of = "dossier", by = "room_id", field = "pages"))]
        pub most_pages: Option<i32>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }

    pub fn columns() -> Vec<charter_migrations::Column> {
        vec![string("place", 80), bigint("open_dossiers").default(0), integer("most_pages").nullable()]
    }
}
