//! Rows of related records and of forms: what is found, what they begin with, what stands in one and what in its menu.
#![allow(clippy::duplicated_attributes, reason = "two actions may both be on a record")]

use charter_migrations::prelude::*;
use charter_runtime::ops::Route;
use serde_json::json;

use super::visitor;
use crate::support::{nothing, on_both, own_fixture};

on_both!(
    records_are_related_by_a_reference_that_only_filters_name,
    a_derived_reference_is_shown_as_a_plain_one,
    one_link_of_a_row_is_called_open,
    actions_that_do_not_fit_a_row_stand_in_its_menu,
    a_form_begins_with_every_default,
    a_row_of_embedded_records_begins_with_its_defaults_and_is_none_until_more_is_filled_in,
    a_decimal_has_all_its_places_whatever_the_currency,
);

/// A box that many things can be done with.
mod chest {
    use charter_runtime::Result;
    use charter_runtime::generated::{Decimal, Resource};
    use charter_runtime::ops::{Context, Draft, Route};
    use sea_orm::entity::prelude::DateTimeUtc;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "chest", ordered("inside_id"))]
    #[resource(action(name = "open", on = "record"), action(name = "close", on = "record"))]
    #[resource(action(name = "seal", on = "record"), action(name = "ship", on = "record"))]
    #[resource(action(name = "weigh", on = "record"))]
    pub struct Model {
        pub id: i64,
        #[field(string(50), required)]
        pub name: String,
        #[field(decimal(10, 2), default = "1.50", widget = "money")]
        pub price: Decimal<2>,
        #[field(reference("chest"))]
        #[embedded("tags", resource = "tag", by = "chest_id")]
        pub inside_id: Option<i64>,
        #[field(reference("user"), default_caller)]
        pub packed_by: i64,
        #[field(default_now)]
        pub packed_on: chrono::NaiveDate,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }

    trait Behaviour {
        fn open(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
        fn close(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
        fn seal(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
        fn ship(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
        fn weigh(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    }

    macro_rules! nothing {
        ($($name:ident),*) => {
            $(async fn $name(_: &Context<'_>, _: &mut Draft<Entity>) -> Result<()> { Ok(()) })*
        };
    }

    impl Behaviour for Entity {
        nothing!(open, close, seal, ship, weigh);
    }

    pub fn route() -> Route {
        charter_runtime::route!(
            Entity,
            Behaviour,
            hooks(),
            actions(record open, record close, record seal, record ship, record weigh)
        )
    }
}

/// What hangs on it, and is a part of it.
mod tag {
    use charter_runtime::generated::Resource;
    use sea_orm::entity::prelude::DateTimeUtc;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "tag", operations())]
    pub struct Model {
        pub id: i64,
        #[field(reference("chest"), required)]
        pub chest_id: i64,
        #[field(string(50), required)]
        pub word: String,
        #[field(default = "3")]
        pub copies: i32,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// What lies in it: found by its chest, as `filters` says, without an index of its own.
mod coin {
    use charter_runtime::generated::Resource;
    use sea_orm::entity::prelude::DateTimeUtc;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "coin", ordered("chest_id"))]
    pub struct Model {
        pub id: i64,
        #[field(string(50), required)]
        pub name: String,
        #[field(reference("chest"), required)]
        #[derived("around_id", from = "chest_id.inside_id")]
        pub chest_id: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

own_fixture! {
    /// The service with these resources beside its own.
    Chests, "chests", [chest::route(), Route::of::<tag::Entity>(), Route::of::<coin::Entity>()], nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let times = || [timestamp("created_at"), timestamp("updated_at")];
        let make = async |table: &str, columns: Vec<Column>| {
            Table::on(manager, table).create([id()].into_iter().chain(columns).chain(times())).await
        };
        let chest = vec![
            string("name", 50),
            decimal("price", 10, 2),
            reference("inside_id", "chests").nullable(),
            reference("packed_by", "users"),
            date("packed_on"),
        ];
        make("chests", chest).await?;
        make("tags", vec![reference("chest_id", "chests").cascade(), string("word", 50), integer("copies")]).await?;
        make("coins", vec![string("name", 50), reference("chest_id", "chests")]).await?;
        Table::on(manager, "coins").order(by("chest_id")).await?;
        Table::on(manager, "chests").order(by("inside_id")).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["coins", "tags", "chests"] {
            Table::on(manager, table).drop().await?;
        }
        Ok(())
    }
}

/// A visitor who is an administrator, and a chest within another with a coin in it.
async fn packed(server: &Chests) -> super::Visitor {
    let admin = server.admin();
    admin.post("/chests", json!({ "name": "Hold", "price": "12.50" })).await.created("chest");
    admin.post("/chests", json!({ "name": "Coffer", "inside_id": 1 })).await.created("chest");
    admin.post("/coins", json!({ "name": "Ducat", "chest_id": 2 })).await.created("coin");
    visitor(server, &json!({ "id": 1 })).await
}

async fn records_are_related_by_a_reference_that_only_filters_name(server: Chests) {
    let mut visitor = packed(&server).await;
    let page = visitor.get("/chests/2").await;
    page.status(200).says("Ducat").says("/coins?q[chest_id_eq]=2");
}

async fn a_derived_reference_is_shown_as_a_plain_one(server: Chests) {
    let mut visitor = packed(&server).await;
    for path in ["/coins/1", "/coins?columns=name,chest_id,around_id"] {
        let page = visitor.get(path).await;
        page.status(200).says("<a href=\"/chests/2\">Coffer</a>").says("<a href=\"/chests/1\">Hold</a>");
    }
}

async fn one_link_of_a_row_is_called_open(server: Chests) {
    let mut visitor = packed(&server).await;
    let page = visitor.get("/chests/1").await;
    let (_, related) = page.text.split_once("What can be done").expect("a list of chests within");
    let (row, _) = related.split_once("</tr></tbody>").expect("its end");
    assert_eq!(row.matches(">Open<").count(), 1, "{row}");
    assert!(row.contains("aria-label=\"View Coffer\">View</a>"), "{row}");
}

async fn actions_that_do_not_fit_a_row_stand_in_its_menu(server: Chests) {
    let mut visitor = packed(&server).await;
    let page = visitor.get("/chests/1").await;
    let (_, related) = page.text.split_once("What can be done").expect("a list of chests within");
    let (row, menu) = related.split_once("<details").expect("a menu");
    assert!(row.contains("Open") && row.contains("Close") && !row.contains("Seal"), "{row}");
    let (menu, _) = menu.split_once("</details>").expect("its end");
    for deed in ["Seal", "Ship", "Weigh", "Edit"] {
        assert!(menu.contains(&format!(">{deed}<")), "{deed}: {menu}");
    }
    let (_, head) = page.text.split_once("<div class=\"actions\">").expect("the head");
    let (beside, menu) = head.split_once("<details").expect("a menu");
    assert!(beside.contains(">Seal<") && !beside.contains(">Ship<") && menu.contains(">Ship<"), "{beside}");
}

async fn a_form_begins_with_every_default(server: Chests) {
    let mut visitor = packed(&server).await;
    let page = visitor.get("/chests/new").await;
    let today = server.state.clock.now().date_naive();
    page.status(200).says("value=\"1.50\"").says(&format!("value=\"{today}\"")).says("Administrator");
}

async fn a_row_of_embedded_records_begins_with_its_defaults_and_is_none_until_more_is_filled_in(server: Chests) {
    let mut visitor = packed(&server).await;
    visitor.get("/chests/new").await.status(200).says("name=\"tags[0][copies]\" value=\"3\"");
    let form = [("name", "Casket"), ("tags[0][word]", ""), ("tags[0][copies]", "3")];
    visitor.submit("/chests", &form).await.status(303);
    assert_eq!(server.admin().get("/chests/3").await.record("chest")["tags"], json!([]));
    let form = [("name", "Casket"), ("tags[0][word]", "Fragile"), ("tags[0][copies]", "3")];
    visitor.submit("/chests", &form).await.status(303);
    let tags = server.admin().get("/chests/4").await.record("chest")["tags"].clone();
    assert_eq!([&tags[0]["word"], &tags[0]["copies"]], [&json!("Fragile"), &json!(3)]);
}

async fn a_decimal_has_all_its_places_whatever_the_currency(server: Chests) {
    let mut visitor = packed(&server).await;
    visitor.get("/chests/1").await.status(200).says("12.50");
    visitor.get("/chests").await.status(200).says("12.50");
}
