//! The field by which an import finds records: one that the caller may read.

use charter_migrations::prelude::*;
use charter_runtime::generated::Resource;
use charter_runtime::ops::Route;
use sea_orm::entity::prelude::DateTimeUtc;
use serde_json::{Value, json};

use super::{Form, act, path, send, uploaded};
use crate::panel::signed_in;
use crate::rights::{client_of, user_with};
use crate::support::{Client, nothing, on_both, own_fixture};

on_both!(key_that_the_caller_may_not_read_is_refused_as_an_unknown_field);

mod badge {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "badge")]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub name: String,
        // Those who set it do not see those of others.
        #[field(string(20), unique, read = "pins.view", write = "pins.set")]
        pub pin: Option<String>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

own_fixture! {
    /// The service with badges.
    Badges, "badges", [Route::of::<badge::Entity>()], nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let badges = Table::on(manager, "badges");
        let columns =
            [id(), string("name", 80), string("pin", 20).nullable(), timestamp("created_at"), timestamp("updated_at")];
        badges.create(columns).await?;
        badges.unique(&["pin"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "badges").drop().await
    }
}

const TEXT: &str = "name,pin\nBen,1234\n";

async fn by(client: &Client, field: &str) -> crate::support::Answer {
    let form = Form::default().field("entity_type", "badges").field("match_by", field);
    send(client, form.file("x.csv", TEXT.as_bytes())).await
}

/// Options of the selects in the panel that name the pin.
async fn options(server: &Badges, user: &Value, import: &Value) -> usize {
    let mut panel = signed_in(server, user).await;
    panel.get(&path(import)).await.status(200).text.matches("value=\"pin\"").count()
}

async fn key_that_the_caller_may_not_read_is_refused_as_an_unknown_field(server: Badges) {
    let admin = server.admin();
    admin.post("/badges", json!({ "name": "Ada", "pin": "1234" })).await.created("badge");
    let abilities = ["badges:read", "badges:write", "imports:read", "imports:write"];
    let user = user_with(&server, &abilities, &["pins.set"]).await;
    let client = client_of(&server, &user).await;
    let import = uploaded(&client, "badges", TEXT).await;
    assert_eq!(import["mapping"], json!({ "name": "name", "pin": "pin" }));
    // A key that is not chosen is none that tells of the values of others.
    assert_eq!(import["match_by"], Value::Null);
    let unknown = by(&client, "nothing").await.invalid("match_by");
    assert_eq!(unknown, "must be a field that a column is mapped to");
    assert_eq!(by(&client, "pin").await.invalid("match_by"), unknown);
    assert_eq!(by(&client, "pinn").await.invalid("match_by"), unknown);
    assert_eq!(client.patch(&path(&import), json!({ "match_by": "pin" })).await.invalid("match_by"), unknown);
    // As if the right had been taken since.
    server.sql(&format!("UPDATE \"imports\" SET \"match_by\" = 'pin' WHERE \"id\" = {}", import["id"])).await;
    for action in ["rehearse", "run"] {
        assert_eq!(act(&client, &import, action).await.invalid("match_by"), unknown);
    }
    let reader = user_with(&server, &abilities, &["pins.set", "pins.view"]).await;
    let reading = client_of(&server, &reader).await;
    assert_eq!(uploaded(&reading, "badges", TEXT).await["match_by"], "pin");
    let theirs = by(&reading, "pin").await.created("import");
    assert!(by(&reading, "pinn").await.invalid("match_by").contains("pin"));
    // One for each of the two columns, and one more as a key.
    assert_eq!(options(&server, &user, &import).await, 0);
    assert_eq!(options(&server, &reader, &theirs).await, 3);
}
