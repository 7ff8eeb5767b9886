//! Fixture of a resource with field rights: gadgets with a cost, parts that refer to them, and kits with embedded items.

use charter_migrations::prelude::*;
use charter_runtime::generated::Resource;
use charter_runtime::ops::Route;
use sea_orm::entity::prelude::DateTimeUtc;

use super::custom_app::own_fixture;
use super::server::nothing;

/// Its cost and its supplier can be read with `costs.view`, and the cost set with `costs.manage`.
pub mod gadget {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "gadget", events, soft_delete, search("name", "supplier"))]
    pub struct Model {
        pub id: i64,
        #[field(string(255), required)]
        pub name: String,
        #[field(integer, default = "0", read = "costs.view", write = "costs.manage")]
        pub cost: i32,
        #[field(string(255), read = "costs.view")]
        pub supplier: Option<String>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        #[field(internal)]
        pub deleted_at: Option<DateTimeUtc>,
    }
}

/// A part of a gadget, which shows the cost of the gadget.
pub mod part {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "part", include(name = "gadget", via = "gadget_id"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("gadget"), required)]
        #[derived("gadget_cost", from = "gadget_id.cost")]
        pub gadget_id: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// A set of gadgets. None of its own fields needs a right.
pub mod kit {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "kit", events)]
    pub struct Model {
        pub id: i64,
        #[field(string(255), required)]
        #[embedded("items", resource = "kit_item", by = "kit_id")]
        pub name: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// Embedded in a kit. None of its columns needs a right, but the source of its derived field does.
pub mod kit_item {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "kit_item", operations())]
    pub struct Model {
        pub id: i64,
        #[field(reference("kit"), required)]
        pub kit_id: i64,
        #[field(reference("gadget"), required)]
        #[derived("gadget_cost", from = "gadget_id.cost")]
        pub gadget_id: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

own_fixture! {
    /// The service with these resources.
    Gadgets, "gadgets",
    [
        Route::of::<gadget::Entity>(),
        Route::of::<part::Entity>(),
        Route::of::<kit::Entity>(),
        Route::of::<kit_item::Entity>(),
    ],
    nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let times = || [timestamp("created_at"), timestamp("updated_at")];
        let gadgets = [
            id(),
            string("name", 255),
            integer("cost").default(0),
            string("supplier", 255).nullable(),
            timestamp("deleted_at").nullable(),
        ];
        Table::on(manager, "gadgets").create(gadgets.into_iter().chain(times())).await?;
        let parts = [id(), reference("gadget_id", "gadgets")];
        Table::on(manager, "parts").create(parts.into_iter().chain(times())).await?;
        Table::on(manager, "kits").create([id(), string("name", 255)].into_iter().chain(times())).await?;
        let items = [id(), reference("kit_id", "kits").cascade(), reference("gadget_id", "gadgets")];
        Table::on(manager, "kit_items").create(items.into_iter().chain(times())).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "kit_items").drop().await?;
        Table::on(manager, "kits").drop().await?;
        Table::on(manager, "parts").drop().await?;
        Table::on(manager, "gadgets").drop().await
    }
}
