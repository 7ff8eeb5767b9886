//! `columns` of a resource: the columns of its list in the panel.

use charter_migrations::prelude::*;
use charter_runtime::generated::Resource;
use charter_runtime::ops::Route;
use sea_orm::entity::prelude::DateTimeUtc;
use serde_json::json;

use super::remembered_columns::headings;
use super::signed_in;
use crate::support::{nothing, on_both, own_fixture};

mod wage {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "wage", columns("note", "amount", "created_at", "name"))]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub name: String,
        #[field(read = "wages.view")]
        pub amount: Option<i32>,
        #[field(text, detail)]
        pub note: Option<String>,
        #[field(string(80))]
        pub place: Option<String>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

own_fixture! {
    /// The service with wages, whose list has declared columns.
    Wages, "wages", [Route::of::<wage::Entity>()], nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let times = [timestamp("created_at"), timestamp("updated_at")];
        let columns =
            [string("name", 80), integer("amount").nullable(), text("note").nullable(), string("place", 80).nullable()];
        Table::on(manager, "wages").create([id()].into_iter().chain(columns).chain(times)).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "wages").drop().await
    }
}

on_both!(list_has_the_declared_columns_until_a_user_chooses_others);

async fn list_has_the_declared_columns_until_a_user_chooses_others(server: Wages) {
    let wage = json!({ "name": "Ann", "amount": 5, "note": "By the week" });
    server.admin().post("/wages", wage).await.created("wage");
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    assert_eq!(headings(&mut admin, "/wages").await, ["Note", "Amount", "Created at", "Name"]);
    admin.get("/wages").await.says("By the week");
    // A column that the user may not read is left out.
    let (user, _) = server.user(&[], &["*"]).await;
    let mut user = signed_in(&server, &user).await;
    assert_eq!(headings(&mut user, "/wages").await, ["Note", "Created at", "Name"]);
    let chosen = [("columns", "place"), ("columns", "name")];
    user.submit("/wages/columns", &chosen).await.status(303);
    assert_eq!(headings(&mut user, "/wages").await, ["Place", "Name"]);
    user.submit("/wages/columns?forget=1", &chosen).await.status(303);
    assert_eq!(headings(&mut user, "/wages").await, ["Note", "Created at", "Name"]);
}
