//! The service with shelves, whose bins have notes and seals, and teams with lamps, phones and contracts.

use charter_migrations::prelude::*;
use charter_runtime::generated::Resource;
use charter_runtime::ops::Route;
use sea_orm::entity::prelude::DateTimeUtc;

use crate::support::{nothing, own_fixture, record_columns};

mod shelf {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "shelf", plural = "shelves", events)]
    pub struct Model {
        pub id: i64,
        #[field(string(50), required)]
        pub name: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

mod bin {
    use charter_runtime::ops::Context;
    use charter_runtime::{Error, Result};

    use super::*;

    /// A bin on a shelf, possibly within another bin.
    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "bin", events)]
    pub struct Model {
        pub id: i64,
        #[field(string(50), required)]
        pub name: String,
        #[field(reference("shelf"), on_delete = "cascade")]
        pub shelf_id: Option<i64>,
        #[field(reference("bin"), on_delete = "cascade")]
        pub outer_id: Option<i64>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }

    trait Behaviour {
        fn before_delete(context: &Context<'_>, bin: &Model) -> impl Future<Output = Result<()>> + Send;
    }

    impl Behaviour for Entity {
        async fn before_delete(_: &Context<'_>, bin: &Model) -> Result<()> {
            match bin.name.as_str() {
                "nailed" => Err(Error::Conflict("It is nailed down.".into())),
                _ => Ok(()),
            }
        }
    }

    pub fn route() -> Route {
        charter_runtime::route!(Entity, Behaviour, hooks(before_delete), actions())
    }
}

mod note {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "note", soft_delete, events)]
    pub struct Model {
        pub id: i64,
        #[field(string(50), required)]
        pub name: String,
        #[field(reference("bin"), on_delete = "clear")]
        pub bin_id: Option<i64>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        pub deleted_at: Option<DateTimeUtc>,
    }
}

mod seal {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "seal", owner = "kept_by")]
    pub struct Model {
        pub id: i64,
        #[field(reference("bin"), on_delete = "restrict")]
        pub bin_id: Option<i64>,
        #[field(reference("shelf"), on_delete = "cascade")]
        pub shelf_id: Option<i64>,
        #[field(reference("user"), default_caller)]
        pub kept_by: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

mod team {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "team", soft_delete)]
    pub struct Model {
        pub id: i64,
        #[field(string(50), required)]
        pub name: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        pub deleted_at: Option<DateTimeUtc>,
    }
}

mod lamp {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "lamp", soft_delete, events)]
    pub struct Model {
        pub id: i64,
        #[field(string(50), required, unique)]
        pub name: String,
        #[field(reference("team"), required, on_delete = "cascade")]
        pub team_id: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        pub deleted_at: Option<DateTimeUtc>,
    }
}

mod phone {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "phone")]
    pub struct Model {
        pub id: i64,
        #[field(reference("team"), on_delete = "clear")]
        pub team_id: Option<i64>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

mod contract {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "contract")]
    pub struct Model {
        pub id: i64,
        #[field(reference("team"), required, on_delete = "restrict")]
        pub team_id: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

fn routes() -> [Route; 8] {
    [
        Route::of::<shelf::Entity>(),
        bin::route(),
        Route::of::<note::Entity>(),
        Route::of::<seal::Entity>(),
        Route::of::<team::Entity>(),
        Route::of::<lamp::Entity>(),
        Route::of::<phone::Entity>(),
        Route::of::<contract::Entity>(),
    ]
}

own_fixture! {
    /// The service with shelves, whose bins have notes and seals, and teams with lamps, phones and contracts.
    Shelves, "shelves", routes(), nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let name = || string("name", 50);
        let deleted = || timestamp("deleted_at").nullable();
        let refers = |field: &str, table: &str| reference(field, table).nullable();
        let tables: [(&str, Vec<Column>); 8] = [
            ("shelves", vec![name()]),
            ("bins", vec![name(), refers("shelf_id", "shelves"), refers("outer_id", "bins")]),
            ("notes", vec![name(), refers("bin_id", "bins"), deleted()]),
            ("seals", vec![refers("bin_id", "bins"), refers("shelf_id", "shelves"), reference("kept_by", "users")]),
            ("teams", vec![name(), deleted()]),
            ("lamps", vec![name(), reference("team_id", "teams"), deleted()]),
            ("phones", vec![refers("team_id", "teams")]),
            ("contracts", vec![reference("team_id", "teams")]),
        ];
        for (table, columns) in tables {
            Table::on(manager, table).create(record_columns(columns)).await?;
        }
        Table::on(manager, "lamps").unique_live(&["name"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["contracts", "phones", "lamps", "teams", "seals", "notes", "bins", "shelves"] {
            Table::on(manager, table).drop().await?;
        }
        Ok(())
    }
}
