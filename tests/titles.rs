//! `title` of a resource: the text that stands for its records in the panel, the search and references.

use charter_migrations::prelude::*;
use charter_runtime::generated::Resource;
use charter_runtime::ops::Route;
use sea_orm::entity::prelude::DateTimeUtc;
use serde_json::{Value, json};

use crate::panel::signed_in;
use crate::support::{Client, nothing, on_both, own_fixture};

mod gadget {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "gadget", title = "{model} ({sku})", search("model"))]
    pub struct Model {
        pub id: i64,
        // Without the title, the records would be named by it.
        #[field(string(80))]
        pub name: Option<String>,
        #[field(string(80), required)]
        pub model: String,
        #[field(integer, read = "gadgets.sku")]
        pub sku: Option<i32>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

mod repair {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "repair")]
    pub struct Model {
        pub id: i64,
        #[field(reference("gadget"))]
        pub gadget_id: Option<i64>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

own_fixture! {
    /// The service with gadgets, which are named by two fields, and their repairs.
    Gadgets, "titled_gadgets", [Route::of::<gadget::Entity>(), Route::of::<repair::Entity>()], nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let times = || [timestamp("created_at"), timestamp("updated_at")];
        let gadgets = Table::on(manager, "gadgets");
        let columns = [id(), string("name", 80).nullable(), string("model", 80), integer("sku").nullable()];
        gadgets.create(columns.into_iter().chain(times())).await?;
        gadgets.search("model").await?;
        let repairs = Table::on(manager, "repairs");
        repairs.create([id(), reference("gadget_id", "gadgets").nullable()].into_iter().chain(times())).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "repairs").drop().await?;
        Table::on(manager, "gadgets").drop().await
    }
}

on_both!(
    panel_names_records_by_the_title,
    picker_and_search_show_the_title_and_find_by_its_first_field,
    field_that_the_caller_may_not_read_is_left_out,
);

async fn gadget(client: &Client, model: &str, sku: Option<i32>) -> i64 {
    let body = json!({ "model": model, "sku": sku, "name": "other" });
    client.post("/gadgets", body).await.created("gadget")["id"].as_i64().expect("an id")
}

async fn panel_names_records_by_the_title(server: Gadgets) {
    let admin = server.admin();
    let full = gadget(&admin, "Drill", Some(12)).await;
    let bare = gadget(&admin, "Saw", None).await;
    admin.post("/repairs", json!({ "gadget_id": full })).await.created("repair");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get(&format!("/gadgets/{full}")).await.status(200).says("Drill (12)");
    panel.get(&format!("/gadgets/{bare}")).await.status(200).says("Saw</h1>");
    panel.get(&format!("/gadgets/{full}/delete")).await.status(200).says("Drill (12)");
    panel.get(&format!("/gadgets/{full}/history")).await.status(200).says("Drill (12)");
    // Neither page shows the fields of the title, but reads them.
    panel.get("/repairs/1").await.status(200).says("Drill (12)");
    panel.get("/gadgets?columns=created_at").await.status(200).says("Drill (12)");
}

async fn picker_and_search_show_the_title_and_find_by_its_first_field(server: Gadgets) {
    let admin = server.admin();
    gadget(&admin, "Old drill", Some(11)).await;
    gadget(&admin, "Drill", Some(12)).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let found = panel.get("/panel/titles/gadgets?q=drill").await;
    let found: Value = serde_json::from_str(&found.status(200).text).expect("JSON");
    let titles: Vec<&Value> = found.as_array().expect("a list").iter().map(|one| &one["title"]).collect();
    assert_eq!(titles, ["Drill (12)", "Old drill (11)"]);
    let found = admin.get("/search?q=drill").await.ok();
    let titles: Vec<&Value> = found["data"].as_array().expect("a list").iter().map(|one| &one["title"]).collect();
    assert_eq!(titles, ["Drill (12)", "Old drill (11)"]);
}

async fn field_that_the_caller_may_not_read_is_left_out(server: Gadgets) {
    gadget(&server.admin(), "Drill", Some(12)).await;
    let (user, other) = server.user(&[], &["*"]).await;
    let found = other.get("/search?q=drill").await.ok();
    assert_eq!(found["data"][0]["title"], "Drill");
    let mut panel = signed_in(&server, &user).await;
    let page = panel.get("/gadgets/1").await;
    assert!(!page.status(200).says("Drill").text.contains("(12)"), "{}", page.text);
}
