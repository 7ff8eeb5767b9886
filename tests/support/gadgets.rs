//! Fixture of a resource with field rights: gadgets with a cost, and parts that refer to them.

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

own_fixture! {
    /// The service with these resources.
    Gadgets, "gadgets", [Route::of::<gadget::Entity>(), Route::of::<part::Entity>()], nothing
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
        Table::on(manager, "parts").create(parts.into_iter().chain(times())).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "parts").drop().await?;
        Table::on(manager, "gadgets").drop().await
    }
}
