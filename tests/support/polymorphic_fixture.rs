//! Fixture of two resources for features that no resource of the service has: a polymorphic reference to several
//! resources, embedded records, labels of codes, an owner and an immutable field.

use charter_migrations::prelude::*;
use charter_runtime::generated::Resource;
use charter_runtime::ops::Route;
use sea_orm::entity::prelude::{DateTimeUtc, Json};

use super::custom_app::own_fixture;
use super::server::nothing;

/// The owner of the embedded records.
pub mod gathering {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "gathering", owner = "owned_by", attachments, events)]
    #[resource(include(name = "regarding", via = "regarding_id"), include(name = "teller", via = "t"))]
    pub struct Model {
        pub id: i64,
        #[field(string(255), required)]
        pub subject: String,
        #[field(polymorphic_type("member", "product_group"), no_sort)]
        pub regarding_type: Option<String>,
        #[field(polymorphic_id(type_field = "regarding_type"))]
        pub regarding_id: Option<i64>,
        #[field(reference("user"), default_caller)]
        pub owned_by: i64,
        #[field(code(1 = "Planned", 2 = "Held"), default = "1")]
        #[derived("status_name", from = "status_id.label")]
        pub status_id: i32,
        #[field(string(10), required, immutable)]
        #[embedded("guests", resource = "guest", by = "gathering_id")]
        pub code: String,
        /// Named like the table alias of every statement.
        #[field(reference("member"))]
        #[derived("t_name", from = "t.name")]
        pub t: Option<i64>,
        /// Ends like a predicate.
        #[field(string(20))]
        pub is_not: Option<String>,
        #[field(json)]
        pub notes: Option<Json>,
        /// References to other gatherings.
        #[field(ref_list("gathering"))]
        pub follows: Option<Json>,
        #[field(timestamp(millis), read_only)]
        pub created_at: DateTimeUtc,
        #[field(timestamp(millis), read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// An embedded record.
pub mod guest {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "guest", operations(), unique("gathering_id", "member_id"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("gathering"), required)]
        pub gathering_id: i64,
        #[field(reference("member"), required)]
        #[derived("member_name", from = "member_id.name")]
        pub member_id: i64,
        #[field(default = "false")]
        pub mute: bool,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

own_fixture! {
    /// The service with the gatherings.
    Gatherings, "gatherings", [Route::of::<gathering::Entity>(), Route::of::<guest::Entity>()], nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let gatherings = Table::on(manager, "gatherings");
        gatherings
            .create([
                id(),
                string("subject", 255),
                enumeration("regarding_type").nullable(),
                bigint("regarding_id").nullable(),
                reference("owned_by", "users"),
                integer("status_id").default(1),
                string("code", 10),
                reference("t", "members").nullable(),
                string("is_not", 20).nullable(),
                json("notes").nullable(),
                json("follows").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        let guests = Table::on(manager, "guests");
        guests
            .create([
                id(),
                reference("gathering_id", "gatherings").cascade(),
                reference("member_id", "members"),
                boolean("mute").default(false),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        guests.unique(&["gathering_id", "member_id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "guests").drop().await?;
        Table::on(manager, "gatherings").drop().await
    }
}
