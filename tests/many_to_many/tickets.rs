//! A service with tickets that go to the trash, and tags, teams and shops that count them.

use charter_migrations::prelude::*;
use charter_runtime::generated::Resource;
use charter_runtime::ops::Route;
use sea_orm::entity::prelude::DateTimeUtc;

use crate::support::{nothing, own_fixture, record_columns};

/// A word for tickets and their lines, which is deleted for good.
pub mod tag {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "tag")]
    pub struct Model {
        pub id: i64,
        #[field(string(40), required)]
        pub name: String,
        #[field(default = "0", rollup(function = "count", of = "ticket_tag", by = "tag_id"))]
        pub tickets: i64,
        #[field(default = "0", rollup(function = "sum", of = "ticket_line", by = "tag_id", field = "minutes"))]
        pub minutes: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

pub mod ticket {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "ticket", soft_delete)]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        #[links("tag_ids", resource = "tag", through = "ticket_tag", by = "ticket_id", to = "tag_id")]
        #[embedded("lines", resource = "ticket_line", by = "ticket_id")]
        pub subject: String,
        #[field(reference("team"))]
        pub team_id: Option<i64>,
        #[field(reference("shop"))]
        pub shop_id: Option<i64>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        #[field(internal)]
        pub deleted_at: Option<DateTimeUtc>,
    }
}

pub mod ticket_tag {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "ticket_tag", operations())]
    #[resource(unique("ticket_id", "tag_id"), index("tag_id"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("ticket"), required, immutable)]
        pub ticket_id: i64,
        #[field(reference("tag"), required, immutable, on_delete = "cascade")]
        pub tag_id: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

pub mod ticket_line {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "ticket_line", operations(), index("tag_id"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("ticket"), required, immutable)]
        pub ticket_id: i64,
        #[field(reference("tag"), required)]
        pub tag_id: i64,
        #[field(required)]
        pub minutes: i32,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// The people of a ticket.
pub mod team {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "team")]
    pub struct Model {
        pub id: i64,
        #[field(string(40), required)]
        pub name: String,
        #[field(default = "0", rollup(function = "count", of = "ticket", by = "team_id"))]
        pub tickets: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// The place of a ticket. Its table comes before that of teams by name, and its triggers after theirs.
pub mod shop {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "shop")]
    pub struct Model {
        pub id: i64,
        #[field(string(40), required)]
        pub name: String,
        #[field(default = "0", rollup(function = "count", of = "ticket", by = "shop_id"))]
        pub tickets: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

fn routes() -> Vec<Route> {
    vec![
        Route::of::<tag::Entity>(),
        Route::of::<ticket::Entity>(),
        Route::of::<ticket_tag::Entity>(),
        Route::of::<ticket_line::Entity>(),
        Route::of::<team::Entity>(),
        Route::of::<shop::Entity>(),
    ]
}

own_fixture! {
    /// The service with tickets.
    Tickets, "tickets", routes(), nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let create =
            async |table: &str, columns: Vec<_>| Table::on(manager, table).create(record_columns(columns)).await;
        let count = |name: &str| bigint(name).default(0);
        create("tags", vec![string("name", 40), count("tickets"), count("minutes")]).await?;
        create("teams", vec![string("name", 40), count("tickets")]).await?;
        create("shops", vec![string("name", 40), count("tickets")]).await?;
        let (team, shop) = (reference("team_id", "teams").nullable(), reference("shop_id", "shops").nullable());
        create("tickets", vec![string("subject", 80), team, shop, timestamp("deleted_at").nullable()]).await?;
        let ticket = || reference("ticket_id", "tickets").cascade();
        create("ticket_tags", vec![ticket(), reference("tag_id", "tags")]).await?;
        Table::on(manager, "ticket_tags").unique(&["ticket_id", "tag_id"]).await?;
        Table::on(manager, "ticket_tags").index(&["tag_id"]).await?;
        create("ticket_lines", vec![ticket(), reference("tag_id", "tags"), integer("minutes")]).await?;
        Table::on(manager, "ticket_lines").index(&["ticket_id"]).await?;
        Table::on(manager, "ticket_lines").index(&["tag_id"]).await?;
        for field in ["team_id", "shop_id"] {
            Table::on(manager, "tickets").index_live(&[field]).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["ticket_lines", "ticket_tags", "tickets", "shops", "teams", "tags"] {
            Table::on(manager, table).drop().await?;
        }
        Ok(())
    }
}
